"""Write a function for one example, run it on a batch: ``vmap``.

The function is recorded on arrays that stand for one example; the recorded graph is then batched
by one rule per primitive, so nothing runs in a loop. Values of an example are unknown while it is
recorded; values that the function closes over stay known. Read next: ``derivatives/jacobian.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import UnknownOperandError, at_user_line
from tenferro.arrays.handle.array import SCALARS
from tenferro.arrays.handle.convert import aval_of_operand, is_operand
from tenferro.arrays.handle.memo import Nested
from tenferro.computegraph import ValueKey, new_leaf
from tenferro.primitives import Handle, transpose
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import in_front
from tenferro.tidu import Trace, pinned_leaf
from tenferro.transforms.batching.batch import batch
from tenferro.transforms.errors import BatchAxisError, check_function
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import Name, has_dtype, make_known, parameter_names
from tenferro.transforms.recording.effects import collecting, perform
from tenferro.transforms.recording.loans import Loans, other, remembered_leaf
from tenferro.transforms.recording.run_or_record import key_of, run_or_record

_SCALARS = frozenset(SCALARS)


class _Mapped(NamedTuple):
    """One mapped leaf: its batch, where the batch axis is, and the placeholder of one example."""

    name: str
    batch: Handle
    axis: int
    example: ValueKey


def vmap(
    function: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    axis_size: int | None = None,
    backend: Any = None,
) -> Callable[..., Any]:
    """Return a function that applies ``function`` to every example of a batch.

    Parameters
    ----------
    function : callable
        Function of one example: pytrees of arrays and numbers.
    in_axes : int, None or sequence, default 0
        Axis along which the examples lie: one for all arguments, or one entry per argument. An
        entry is an integer, None (every example shares the argument), or a prefix of the
        argument's pytree. Keyword arguments are always mapped along axis 0.
    out_axes : int, None or pytree, default 0
        Axis of the result along which the examples lie. None asks for a result that does not
        depend on the example.
    axis_size : int, optional
        Number of examples. It is needed only if no argument is mapped.
    backend : str or Backend, optional
        Backend that runs the computation.

    Returns
    -------
    callable
        Function of batches with the arguments of ``function``.

    Raises
    ------
    BatchAxisError
        If an axis does not exist, or sizes differ.
    ConcretizationError
        If the function asks for the value of an example.
    RuleResultError
        If the batching rule of a primitive returns another shape or dtype than all examples
        together, with their axis in front.

    Examples
    --------
    >>> import tenferro as tn
    >>> per_row = tn.vmap(lambda row, w: (row * w).sum(), in_axes=(0, None))
    >>> print(tn.trace(per_row, tn.Aval((5, 3), "float64"), tn.Aval((3,), "float64")))
    graph(row: f64[5,3], w: f64[3]) {
      %2 = broadcast_in_dim[shape=(5, 3), dimensions=(1,)] %1 : f64[5,3]
      %3 = mul %0 %2                       : f64[5,3]
      %4 = reduce_sum[axes=(1,)] %3        : f64[5]
      return %4
    }
    """
    check_function(function, "vmap", backend)

    @derived(
        "vmap", function, in_axes=in_axes, out_axes=out_axes, axis_size=axis_size, backend=backend
    )
    def mapped(*args: Any, **kwargs: Any) -> Any:
        with Loans() as loans:
            loans.batch_memo_of(function, (axis_size, in_axes), args, kwargs)
            return _Call(function, axis_size, loans).run(args, kwargs, in_axes, out_axes, backend)

    return mapped


class _Call:
    """One call of a mapped function."""

    def __init__(self, function: Callable[..., Any], size: int | None, loans: Loans) -> None:
        self._function = function
        self._size = size
        self._loans = loans
        self._nested: Nested | None = None
        self._trace = Trace(sealed="vmap")
        self._leaves: list[_Mapped] = []
        self._operands = 0  # of the user, so far
        self._plain = True

    def run(
        self, args: Sequence[Any], kwargs: dict[str, Any], in_axes: Any, out_axes: Any, backend: Any
    ) -> Any:
        """Record one example, batch it, and give the result the structure that it had."""
        self._nested = self._loans.nested_batch((args, kwargs))
        if self._nested is not None:
            self._trace = self._nested.trace
        names = parameter_names(self._function, len(args))
        axes = _per_argument(in_axes, len(args))
        given = zip(args, names, axes, strict=True)
        examples = [self._examples(arg, name, axis) for arg, name, axis in given]
        named = {name: self._examples(arg, name, 0) for name, arg in kwargs.items()}
        size = self._joint_size()
        try:
            with collecting() as effects, self._loans.remembering():
                result = self._function(*examples, **named)
        finally:
            self._trace.open = False
        self._loans.mark()
        leaves, spec = _tree.flatten(result)
        outputs = [key_of(leaf) for leaf in leaves]
        places = _prefix(out_axes, result, "out_axes")
        found = self._run_or_record(
            [*outputs, *effects], [*places, *[0] * len(effects)], size, backend
        )
        perform([key_of(token) for token in found[len(outputs) :]])
        return _tree.unflatten(spec, found[: len(outputs)])

    def _run_or_record(
        self, outputs: list[ValueKey], places: Sequence[int | None], size: int, backend: Any
    ) -> list[Any]:
        def emit(outputs: Sequence[ValueKey]) -> list[ValueKey]:
            leaves = {m.example: moved(m.batch, m.axis, 0) for m in self._leaves}
            values = batch(outputs, leaves, size)
            triples = zip(outputs, values, places, strict=True)
            return [_placed(key, value, axis, size).key for key, value, axis in triples]

        kind = ("vmap", size, tuple([m.axis for m in self._leaves]), tuple(places))
        inputs = [m.example for m in self._leaves]
        batches = [m.batch.key for m in self._leaves]
        return run_or_record(kind, outputs, inputs, emit, self._plain, backend, batches)

    def _examples(self, arg: Any, name: str, axes: Any) -> Any:
        """Return the argument with placeholders in the places of its mapped leaves."""
        leaves, spec = _tree.flatten(arg)
        entries = _prefix(axes, arg, "in_axes")
        rows = zip(leaves, entries, _tree.paths(arg, name), strict=True)
        return _tree.unflatten(spec, [self._example(x, axis, label) for x, axis, label in rows])

    def _example(self, leaf: Any, axis: int | None, name: str) -> Any:
        if axis is None:
            return self._shared(leaf, name)
        whole = self._batch(leaf, name)
        if not -whole.ndim <= axis < whole.ndim:
            raise _wrong_axis(name, whole, axis)
        along = axis % whole.ndim
        example = self._placeholder(name, whole.aval.without((along,)))
        self._leaves.append(_Mapped(name, whole, along, example))
        return Array(example)

    def _placeholder(self, name: str, aval: Aval) -> ValueKey:
        """Return what stands for one example: that of the last call where a function remembers."""
        label, place = Name(name, self._trace.id.serial), len(self._leaves)
        if self._nested is None:
            return pinned_leaf(label, aval, self._trace)
        pins = self._nested.pins
        if place == len(pins) or pins[place].aval is not aval:
            pins[place : place + 1] = [remembered_leaf(label, aval, self._trace)]
        return pins[place]

    def _operand(self, leaf: Any, name: str) -> ValueKey:
        """Return the leaf of a user's operand."""
        try:
            aval, label = aval_of_operand(leaf), Name(name, self._trace.id.serial)
        except UnknownOperandError as error:
            error.add_note(f"  leaf       {name}")
            raise
        if self._nested is None:
            key = new_leaf(label, aval)
        else:
            key = other(self._nested, self._operands, label, aval)
        self._operands += 1
        self._loans.lend(key, leaf)
        return key

    def _shared(self, leaf: Any, name: str) -> Any:
        """Return a leaf that all examples share; an array becomes an Array, so that it can be
        indexed.
        """
        if isinstance(leaf, Array):
            self._plain = False
            make_known(leaf)
            return Array(leaf.key, leaf.flow)
        if not is_operand(leaf) or not has_dtype(leaf):
            return leaf
        return Array(self._operand(leaf, name))

    def _batch(self, leaf: Any, name: str) -> Handle:
        """Return the value of a mapped leaf for all examples."""
        if isinstance(leaf, Array):
            self._plain = False
            make_known(leaf)
            return leaf
        if type(leaf) in _SCALARS:
            raise _no_axis(name, f"the number {leaf!r}")
        return Handle(self._operand(leaf, name))

    def _joint_size(self) -> int:
        """Return the number of examples."""
        sizes = {m.batch.shape[m.axis] for m in self._leaves}
        if self._size is not None:
            sizes.add(self._size)
        if len(sizes) == 1:
            return sizes.pop()
        if not sizes:
            got, need = "in_axes=None everywhere", "an argument with a batch axis, or axis_size="
            raise _refused("no argument is mapped", got, need)
        listed = ", ".join(f"{m.name} {m.batch.shape[m.axis]}" for m in self._leaves)
        given = "" if self._size is None else f", axis_size={self._size}"
        need = "one size; in_axes=None shares an argument among all examples"
        raise _refused("sizes of the mapped axes differ", listed + given, need)


def moved(x: Handle, source: int, place: int) -> Handle:
    """Move one axis to another place."""
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(place, source)
    return transpose(x, order)


def _placed(key: ValueKey, value: Handle | None, axis: int | None, size: int) -> Handle:
    """Move the batch axis of an output to where the user wants it."""
    if axis is None:
        if value is not None:
            fact = "out_axes=None for a result that depends on the example"
            raise _refused(fact, str(key.aval), "an axis for this result")
        return Handle(key)
    if not -key.aval.ndim - 1 <= axis <= key.aval.ndim:
        need = f"{-key.aval.ndim - 1} <= axis <= {key.aval.ndim}"
        raise _refused("out_axes out of range", f"axis {axis} for examples {key.aval}", need)
    found = in_front(Handle(key), False, size) if value is None else value
    return moved(found, 0, axis % found.ndim)


def _per_argument(axes: Any, count: int) -> Sequence[Any]:
    """Return one entry of ``in_axes`` per argument."""
    if axes is None or isinstance(axes, int):
        return [axes] * count
    if isinstance(axes, (tuple, list)) and len(axes) == count:
        return axes
    need = f"an integer, None, or a tuple of {count}, one per argument"
    raise _refused("in_axes does not fit the call", repr(axes), need)


def _prefix(axes: Any, tree: Any, what: str) -> list[Any]:
    try:
        found = _tree.spread_prefix(axes, tree)
    except ValueError:
        need = "integers and None in containers that the value has too"
        raise _refused(f"{what} does not fit the value", repr(axes), need) from None
    if any(
        axis is not None and (type(axis) is bool or not isinstance(axis, int)) for axis in found
    ):
        raise _refused(f"{what} holds something else than axes", repr(axes), "integers and None")
    return found


def _is_whole(x: Any) -> bool:
    """Return True if x is an integer; True and False are not."""
    return isinstance(x, int) and not isinstance(x, bool)


def _wrong_axis(name: str, x: Handle, axis: int) -> BatchAxisError:
    if not x.ndim:
        return _no_axis(name, str(x.aval))
    need = f"{-x.ndim} <= axis < {x.ndim}"
    return _refused(f"in_axes of {name} out of range", f"axis {axis} for {x.aval}", need)


def _no_axis(name: str, got: str) -> BatchAxisError:
    need = "an array with a batch axis, or None in in_axes to share the value"
    return _refused(f"{name} has no axis to map", got, need)


def _refused(fact: str, got: str, need: str) -> BatchAxisError:
    text = f"vmap: {fact}\n  got        {got}\n  need       {need}"
    return at_user_line(BatchAxisError(text, got=got, need=need))
