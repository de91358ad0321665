"""Batch a recorded program: one batching rule per primitive, applied in the order of the graph.

``batch`` takes values that a function was recorded with, each for one example, to values for all
examples, with a batch axis in front; whatever does not depend on an example stays as it is. Flow of
an open pass, and the linear or transposed role of an equation, survive. Read next:
``batching/vmap.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tenferro._runtime import CollectorPaused
from tenferro.arrays.errors import at_user_line
from tenferro.computegraph import (
    Definition,
    Linearized,
    ValueKey,
    infer,
    new_leaf,
    postorder,
)
from tenferro.primitives import Handle, TensorPrimitive, concatenate, constant, reshape, slice
from tenferro.primitives._primitive import bind_all, in_front
from tenferro.primitives._source import source_text
from tenferro.tidu import RuleResultError, Sweep, flow_of, name_images
from tenferro.transforms.errors import BatchingWarning

Examples = dict[ValueKey, Handle]


def batch(
    outputs: Sequence[ValueKey], leaves: Mapping[ValueKey, Handle], size: int
) -> list[Handle | None]:
    """Compute the outputs for all examples; ``None`` where one does not depend on the leaves.

    ``leaves`` takes each value of one example to the values of all: shape [size, *shape].
    """
    if not leaves:
        return [None] * len(outputs)
    found: Examples = dict(leaves)
    oldest = min(key.serial for key in leaves)  # what is older cannot depend on a leaf

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key in leaves or key.serial < oldest else key.definition

    with CollectorPaused():
        order, definitions, _ = postorder(outputs, definition_of)
        equations = _Equations(found, size)
        for key, definition in zip(order, definitions, strict=True):
            if equations.is_batched(definition):
                y = found[key] = equations.output(definition)
                _check(y, key, size, definition[0])
                y.key.source = y.key.source or key.source
    name_images(found)
    return [found.get(key) for key in outputs]


def _check(y: Any, example: ValueKey, size: int, operation: Any) -> None:
    """Raise RuleResultError unless a batching rule returned what stands for all examples."""
    if isinstance(y, Handle):
        aval, one = y.key.aval, example.aval
        if aval.dtype is one.dtype and aval.shape[1:] == one.shape and aval.shape[:1] == (size,):
            return
    got = str(y.aval) if isinstance(y, Handle) else type(y).__name__
    need = f"{example.aval.with_shape((size, *example.aval.shape))}: "
    need += f"{size} examples {example.aval}, along the first axis"
    raise _wrong_batch(operation, got, need, example)


def _wrong_batch(
    operation: Any, got: str, need: str, example: ValueKey | None = None
) -> RuleResultError:
    """Make the error about a batching rule."""
    key = getattr(operation, "key", "") or operation.name
    which = "batching rule" if operation.batch is not None else "decomposition, batched,"
    text = f"{key}: its {which} returned a wrong result\n  got        {got}\n  need       {need}"
    error = RuleResultError(text, primitive=key, rule="batch", got=got, need=need)
    line = source_text(None if example is None else example.source)
    if line is None:
        return at_user_line(error)
    error.add_note(f"  from       {line}")
    return error


class _Equations:
    """The batched equations so far, each applied once for all its outputs."""

    def __init__(self, found: Examples, size: int) -> None:
        self._found = found
        self._size = size
        self._results: dict[ValueKey, Sequence[Handle]] = {}
        self._batched: dict[ValueKey, bool] = {}  # applications
        self._sweeps = {t: Sweep(TensorPrimitive.space, transposed=t) for t in (False, True)}

    def is_batched(self, definition: Definition) -> bool:
        """Return True if an input of an equation differs between examples."""
        if definition[0].output_count == 1:
            return any([value in self._found for value in definition[3:]])
        application = definition[3]
        if application not in self._batched:
            batched = any([value in self._found for value in application.inputs])
            self._batched[application] = batched
        return self._batched[application]

    def output(self, definition: Definition) -> Handle:
        """Return the output that a definition describes, for all examples."""
        operation, role, slot = definition[:3]
        if operation.output_count == 1:
            return self._apply(operation, role, definition[3:])[0]
        application = definition[3]
        if application not in self._results:
            self._results[application] = self._apply(operation, role, application.inputs)
        return self._results[application][slot]

    def _apply(self, operation: Any, role: Any, inputs: Sequence[ValueKey]) -> Sequence[Handle]:
        found = self._found
        batched = tuple([key in found for key in inputs])
        handles = [found[k] if k in found else Handle(k, flow_of(k)) for k in inputs]
        if operation.transparent and not _has_batch(operation):
            return handles
        if not isinstance(role, Linearized):
            return apply_rule(operation, self._size, batched, handles)
        sweep = self._sweeps[role.transposed]  # lends the new equations their role
        active = zip(handles, role.active_mask, strict=True)
        handles = [Handle(x.key, (*x.flow, sweep)) if on else x for x, on in active]
        results = apply_rule(operation, self._size, batched, handles)
        return [Handle(y.key, tuple([p for p in y.flow if p is not sweep])) for y in results]


def _has_batch(operation: Any) -> bool:
    """Return True for an operation with a batching rule; a pin, say, has none."""
    rules = [getattr(operation, name, None) for name in ("batch", "batch_bodies")]
    return any([rule is not None for rule in rules])


def apply_rule(
    operation: Any, size: int, batched: Sequence[bool], handles: Sequence[Handle]
) -> Sequence[Handle]:
    """Return all outputs of an operation, by its rule, its decomposition or example by example."""
    rule = operation.batch
    if operation.batch_bodies is not None:
        rule = partial(operation.batch_bodies, batch)
    if rule is not None:
        result = rule(size, batched, *handles)
        results = result if isinstance(result, (tuple, list)) else (result,)
        if len(results) != operation.output_count:
            raise _wrong_batch(operation, f"{len(results)} results", str(operation.output_count))
        return results
    if operation.decompose is not None:
        return _by_decomposition(operation, size, batched, handles)
    return _one_by_one(operation, size, batched, handles)


def _by_decomposition(
    operation: Any, size: int, batched: Sequence[bool], handles: Sequence[Handle]
) -> Sequence[Handle]:
    """Apply the decomposition to the batch."""
    examples = [_example(x) if on else x for on, x in zip(batched, handles, strict=True)]
    result = operation.decompose(*examples)
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    if len(outputs) != operation.output_count:
        raise _wrong_batch(operation, f"{len(outputs)} results", str(operation.output_count))
    for output in outputs:
        if not isinstance(output, Handle):
            raise _wrong_batch(operation, type(output).__name__, "a value")
    pairs = zip(examples, handles, batched, strict=True)
    leaves = {e.key: x for e, x, on in pairs if on}
    values = batch([output.key for output in outputs], leaves, size)
    kept = zip(values, outputs, strict=True)
    return [in_front(y, False, size) if value is None else value for value, y in kept]


def _example(x: Handle) -> Handle:
    """Make a placeholder for one example of a batch."""
    return Handle(new_leaf("example", x.aval.with_shape(x.shape[1:])))


def _one_by_one(
    operation: Any, size: int, batched: Sequence[bool], handles: Sequence[Handle]
) -> Sequence[Handle]:
    """Apply the operation to each example in turn, and stack the results."""
    warnings.warn(
        f"{operation.name} has no batching rule; it is applied to {size} examples one by one",
        BatchingWarning,
        stacklevel=2,
    )
    if not size:
        pairs = zip(batched, handles, strict=True)
        avals = [x.aval.with_shape(x.shape[int(on) :]) for on, x in pairs]
        return [constant(0, y.dtype, (0, *y.shape)) for y in infer(operation, tuple(avals))]
    columns = []
    for i in range(size):
        pairs = zip(batched, handles, strict=True)
        results = bind_all(operation, *[take_example(x, i) if on else x for on, x in pairs])
        columns.append([reshape(y, (1, *y.shape)) for y in results])
    return [concatenate(column, 0) for column in zip(*columns, strict=True)]


def take_example(x: Handle, i: int) -> Handle:
    """Take example i of a batch."""
    zeros = [0] * (x.ndim - 1)
    row = slice(x, (i, *zeros), (i + 1, *x.shape[1:]))
    return reshape(row, x.shape[1:])
