"""Directional derivatives: ``jvp``. Read next: ``directions.py``, then ``hvp.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar, overload

from tenferro.arrays import Array, is_traced
from tenferro.computegraph import ValueKey, is_literal
from tenferro.primitives import Handle, TensorPrimitive
from tenferro.tidu import ADContext, pushforward
from tenferro.transforms.derivatives.directions import (
    LeafPlace,
    as_tuple,
    direction_key,
    flow_key,
    literal_key,
    mismatch,
    unit_key,
)
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.record import Recording, record
from tenferro.transforms.recording.run_or_record import (
    emitted_again,
    key_of,
    pending,
    run_or_record,
)

_R = TypeVar("_R")
_Aux = TypeVar("_Aux")


@overload
def jvp(
    function: Callable[..., _R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[False] = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> tuple[_R, _R]: ...
@overload
def jvp(
    function: Callable[..., tuple[_R, _Aux]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[True],
    backend: Any = None,
    context: ADContext | None = None,
) -> tuple[_R, _R, _Aux]: ...
def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> Any:
    """Compute the value and the derivative in one direction, by forward mode.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers.
    primals : tuple
        Arguments at which ``function`` is differentiated.
    tangents : tuple
        Direction, with the structure of ``primals``. None stands for a zero tangent. A Python
        number is a tangent for any dtype.
    has_aux : bool, default False
        If True, ``function`` returns (value, aux), and aux is a third result.
    backend : str or Backend, optional
        Backend that runs the computation.
    context : ADContext, optional
        Derivative rules that replace those of the primitives.

    Returns
    -------
    tuple
        (f(x), J v), or (f(x), J v, aux) with ``has_aux``.

    Raises
    ------
    TangentMismatchError
        If a tangent has another shape, dtype or structure than its primal.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.jvp(lambda x: x * x, (3.0,), (1.0,))
    (np.float64(9.0), np.float64(6.0))
    """
    check_function(function, "jvp", backend, context)
    primals, tangents = as_tuple(primals, "primals"), as_tuple(tangents, "tangents")
    with Loans() as loans:
        return computed_jvp(
            function, primals, tangents, loans, "tangents[{}]", has_aux, backend, context
        )


def computed_jvp(
    function: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    loans: Loans,
    called: str,
    has_aux: bool = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> Any:
    """Compute the value and the derivative; values of the recording end with this call."""
    recording = record(function, primals, {}, range(len(primals)), loans, has_aux)
    seeds = tangent_keys(recording, primals, tangents, loans, called)
    given = [seed for seed in seeds if seed is not None and not is_literal(seed)]
    outputs = [key_of(x) for x in recording.outputs]
    aux = recording.aux

    def emit(primal: Sequence[ValueKey]) -> list[ValueKey]:
        values = [None if seed is None else Handle(seed) for seed in seeds]
        of = primal[: len(outputs)]
        found = pushforward(of, recording.wrt, values, space=TensorPrimitive.space, context=context)
        flow = [flow_key(k, t) for k, t in zip(of, found, strict=True)]
        return [*of, *flow, *primal[len(of) :]]

    known = [seed and seed.operation for seed in seeds]  # of literals, which programs contain
    kind = ("jvp", tuple(known), tuple([s is None for s in seeds]), len(outputs), context)
    plain = recording.plain and not any(isinstance(t, Array) for t in _tree.flatten(tangents)[0])
    inputs, primal = [*recording.wrt, *given], [*outputs, *aux.keys]
    if any([is_traced(seed) for seed in given]):
        found = pending(emitted_again(kind, primal, inputs, partial(emit, primal)))
    else:
        found = run_or_record(kind, primal, inputs, emit, plain, backend)
    count = len(outputs)
    value = _tree.unflatten(recording.out_spec, found[:count])
    tangent = _tree.unflatten(recording.out_spec, found[count : 2 * count])
    if has_aux:
        return value, tangent, aux.with_values(found[2 * count :])
    return value, tangent


def tangent_keys(
    recording: Recording,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    loans: Loans,
    called: str,
) -> list[ValueKey | None]:
    """Return one key per leaf of the primals; ``None`` where the user gave ``None`` or nothing
    varies.

    ``called`` is what messages call a tangent, with its number instead of braces.
    """
    if len(tangents) != len(primals):
        raise mismatch(f"{len(tangents)} tangents", f"{len(primals)}, one per argument")
    seeds: list[ValueKey | None] = []
    start = 0
    for number, (spec, tangent) in enumerate(zip(recording.specs, tangents, strict=True)):
        keys = recording.wrt[start : start + spec.num_leaves]
        start += spec.num_leaves
        if tangent is None:
            seeds += [None] * len(keys)
            continue
        leaves, structure = _tree.flatten(tangent)
        if not _tree.same_structure(structure, spec):
            raise mismatch(
                f"a tangent of structure {_tree.describe(structure)}", _tree.describe(spec)
            )
        for i, (leaf, key) in enumerate(zip(leaves, keys, strict=True)):
            place = LeafPlace(tangent, called.format(number), i)
            literal = unit_key(leaf, key) or literal_key(leaf, key)
            seeds.append(literal or direction_key(leaf, key, "d", loans, place))
    return seeds
