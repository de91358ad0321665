"""``checkpoint``, ``name`` and ``barrier``: what reverse mode stores, and what it computes again.

A checkpoint is one equation with the recorded function as its body. The values that a policy keeps
are further outputs of it, which its derivative reads.
Read next: ``primitives/control/checkpoint.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any, ClassVar, TypeVar

from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS
from tenferro.arrays.handle.weak import is_counter, same_number
from tenferro.computegraph import (
    Definition,
    Fragment,
    Operation,
    ValueKey,
    derive_one,
    inputs_of,
    new_leaf,
    postorder,
)
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.control import Checkpoint
from tenferro.tidu import RuleBuilder, Value, flow_of, is_pin
from tenferro.transforms.control.body import (
    Recorded,
    delivered,
    finished,
    given_arrays,
    is_number,
    leaf_of,
    outer_array,
    output,
    record_body,
)
from tenferro.transforms.control.unrolled import is_unrolling
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.unrolled import as_number

__all__ = ["barrier", "checkpoint", "name"]

Policy = str | Callable[[Operation], bool] | Collection[str]
_F = TypeVar("_F", bound=Callable[..., Any])
_POLICIES = ("nothing", "everything", "dots")
_DOTS = frozenset(("std::dot_general",))


class Named(Operation):
    """y = x, under a name that a policy of ``checkpoint`` can keep."""

    transparent: ClassVar[bool] = True
    label: str

    def abstract_eval(self, x: Any) -> Any:
        """Return the aval of the input."""
        return x

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Return the tangents unchanged."""
        return tangents_in


def name(x: Any, label: str) -> Any:
    """Return x under a name, so that ``checkpoint(f, policy=[label])`` keeps it.

    Parameters
    ----------
    x : pytree of arrays
        The values to name.
    label : str
        The name. Several values may share one.

    Returns
    -------
    pytree of arrays
        The same values. Only a recorded function has names: elsewhere a leaf is returned itself,
        also a NumPy array, so writing into the result writes into the argument.

    Raises
    ------
    TypeError
        If the name is not a string.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> def layer(x):
    ...     return np.tanh(tn.name(np.sin(x), "h")) ** 2
    >>> round(float(tn.grad(tn.checkpoint(layer, policy=["h"]))(0.5)), 6)
    0.626938
    """
    given: Any = label
    if not isinstance(given, str):
        text = f"the name of a value is a string, got {type(given).__name__}"
        raise at_user_line(TypeError(text))
    operation = Named(label)

    def named(leaf: Any) -> Any:
        if not isinstance(leaf, Array) or flow_of(leaf.key):
            return leaf
        return same_number(Array(derive_one(operation, (leaf.key,))), leaf)

    return _tree.map_leaves(named, x)


def checkpoint(f: _F, *, policy: Policy = "nothing") -> _F:
    """Return ``f`` with a derivative that computes values again instead of storing them.

    Reverse mode stores the arguments of ``f``, what ``f`` reads from outside, and the values that
    the policy keeps. When the reverse sweep reaches ``f``, it computes all others again. Values and
    derivatives are those of ``f``, at every order; forward mode computes nothing twice. ``f`` is
    recorded like the body of a loop, also outside ``jit``.

    Parameters
    ----------
    f : callable
        Function of pytrees of arrays and numbers.
    policy : str, collection of str, or callable, default "nothing"
        Which values are stored. "nothing": none. "everything": all that the derivative reads, as if
        ``f`` were called directly. "dots": results of matrix products. A list or set of names:
        values that ``name`` marks with one of these. A function of a primitive: the results of the
        primitives for which it returns True. A policy does not look into loops, branches and other
        checkpoints inside ``f``.

    Returns
    -------
    callable
        Function with the arguments and results of ``f``.

    Raises
    ------
    ValueError
        If the policy is none of these, or names a value that ``f`` does not have.
    BodyError
        If ``f`` prints, calls back, or gets or returns anything but arrays and numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> def layer(x):
    ...     return np.sin(np.exp(np.cos(x)))
    >>> value, pull = tn.vjp(tn.checkpoint(layer), 0.5)
    >>> float(pull(1.0)[0]) == float(tn.grad(layer)(0.5))
    True
    """
    check_function(f, "checkpoint")
    given: Any = policy
    is_names = isinstance(given, Collection) and all([isinstance(x, str) for x in given])
    if not (given in _POLICIES if isinstance(given, str) else is_names or callable(given)):
        text = f"checkpoint: unknown policy {policy!r}\n  need       one of {', '.join(_POLICIES)}"
        text += ", a list of names, or a function of a primitive"
        raise at_user_line(ValueError(text))

    @wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        arrays, spec, paths, plain = given_arrays((args, kwargs), "arguments")
        if policy == "everything" or is_unrolling():
            pairs = zip(arrays, paths, strict=True)
            given = [as_number(x, path, is_counter(x)) if is_number(x) else x for x, path in pairs]
            positional, named = _tree.unflatten(spec, given)
            flat, found_spec = _tree.flatten(f(*positional, **named))
            called = [output("checkpoint", y) for y in flat]
            return _tree.unflatten(found_spec, finished(called, arrays, plain, [], "checkpoint"))
        leaves = [leaf_of(x, path) for x, path in zip(arrays, paths, strict=True)]

        def call(values: list[Array]) -> Any:
            positional, named = _tree.unflatten(spec, values)
            return f(*positional, **named)

        recorded = record_body("checkpoint", call, leaves)
        outputs = [y.key for y in recorded.outputs]
        consts = _read_from_outside(recorded, outputs)
        inputs = [*consts, *recorded.inputs]
        kept = _kept(outputs, inputs, policy)
        results = [*dict.fromkeys((*outputs, *kept))]
        if not results:
            return recorded.result
        place = {key: i for i, key in enumerate(results)}
        body = Fragment.of(inputs, results, is_pin)
        operation = Checkpoint(body, tuple([place[key] for key in kept]))
        outer = [outer_array(key) for key in consts]
        values = bind_all(operation, *outer, *arrays)
        found = delivered([values[place[key]] for key in outputs], plain, outer, "checkpoint")
        return _tree.unflatten(recorded.spec, found)

    return checkpointed  # type: ignore[return-value]  # it has the signature of f


def _read_from_outside(recorded: Recorded, outputs: Sequence[ValueKey]) -> list[ValueKey]:
    """Return the values that were there before the call; the rest is computed inside."""
    inside = set(recorded.inputs)

    def definition_of(key: ValueKey) -> Definition | None:
        is_literal = key.definition is not None and key.definition[0].literal
        old = key.serial < recorded.start and not is_literal
        return None if key in inside or old else key.definition

    *_, leaves = postorder(outputs, definition_of)
    return [key for key in leaves if key not in inside]


def _kept(
    outputs: Sequence[ValueKey], inputs: Sequence[ValueKey], policy: Policy
) -> list[ValueKey]:
    """Return the values that a policy keeps.

    Raises ValueError: if there is none of a name.
    """
    if policy == "nothing":
        return []
    ends = set(inputs)
    order, definitions, _ = postorder(outputs, lambda key: None if key in ends else key.definition)
    if policy == "dots" or callable(policy):
        keeps = policy if callable(policy) else _is_dot
        pairs = zip(order, definitions, strict=True)
        return [
            key
            for key, (operation, *_) in pairs
            if not operation.literal and not operation.transparent and keeps(operation)
        ]
    found: dict[ValueKey, str] = {}
    for definition in definitions:
        operation: Any = definition[0]
        if type(operation) is Named and operation.label in policy:
            found[_origin(inputs_of(definition)[0], ends)] = operation.label
    for label in policy:
        if label not in found.values():
            text = f"checkpoint: no value of the function is named {label!r}\n"
            text += (
                "  hint       `tn.name(x, label)` names one; a policy does not look into loops, "
            )
            text += "branches and other checkpoints"
            raise at_user_line(ValueError(text))
    return [key for key in found if key not in ends]


def _origin(key: ValueKey, ends: Collection[ValueKey]) -> ValueKey:
    """Return the value below names of it."""
    while key not in ends and key.definition is not None and type(key.definition[0]) is Named:
        key = inputs_of(key.definition)[0]
    return key


def _is_dot(operation: Any) -> bool:
    return getattr(operation, "key", "") in _DOTS


def barrier(xs: Any, after: Any = None) -> Any:
    """Return the same values with an identity of their own, available once ``after`` is computed.

    Equal expressions are one value in a graph. What is computed from the results of a barrier is
    never merged with what was computed from ``xs``: a rule of ``custom_vjp`` can compute a value
    again, instead of storing it, by starting from ``barrier(xs, after=cotangent)``. Two barriers of
    the same values, after the same, are one.

    Parameters
    ----------
    xs : pytree of arrays
        The values.
    after : pytree of arrays, optional
        Values that the results wait for.

    Returns
    -------
    pytree of arrays
        The values of ``xs``; derivatives pass through. Python's numbers stay what they are.

    Raises
    ------
    BodyError
        If anything but arrays and numbers is given.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> def f(x):
    ...     return np.sin(tn.barrier(x)) + np.sin(x)
    >>> float(tn.grad(f)(0.0))
    2.0
    """
    arrays, spec, _, plain = given_arrays(xs, "xs")
    others, _, _, others_plain = given_arrays(after, "after")
    if not arrays:
        return xs
    leaves = [new_leaf("x", x.aval) for x in (*arrays, *others)]
    body = Fragment.of(leaves, leaves[: len(arrays)])
    values = bind_all(Checkpoint(body, recompute=True), *arrays, *others)
    same = [same_number(y, x) for x, y in zip(arrays, values, strict=False)]
    found = delivered(same, plain and others_plain, [], "barrier")
    given = zip(_tree.flatten(xs)[0], found, strict=True)
    return _tree.unflatten(spec, [x if type(x) in SCALARS else y for x, y in given])
