"""Derivatives of high order along a path: ``jet``. Read next: ``taylor.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

from tenferro.arrays import Array, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle
from tenferro.tidu import ADContext
from tenferro.transforms.derivatives.directions import (
    LeafPlace,
    as_tuple,
    direction_key,
    flow_key,
    mismatch,
)
from tenferro.transforms.derivatives.grad import check_differentiable
from tenferro.transforms.derivatives.taylor import Taylor
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.record import Recording, record
from tenferro.transforms.recording.run_or_record import key_of, pending, run_or_record


def jet(
    function: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    *,
    backend: Any = None,
    context: ADContext | None = None,
) -> Any:
    """Compute the value and derivatives of any order along a path, by Taylor mode.

    The arguments move along a path x(t). Given are x(0) and the derivatives x'(0), x''(0), …;
    computed are those of f(x(t)). The work grows like a polynomial in the order, where nested
    ``jvp`` doubles it.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers.
    primals : tuple
        Arguments x(0).
    series : tuple
        For each argument, its derivatives from the first on, each with the structure of the
        argument: derivatives, not coefficients of powers of t. None stands for zero. The path
        x + t v has (v, None, None, …), or (v, 0.0, 0.0, …).
    backend : str or Backend, optional
        Backend that runs the computation.
    context : ADContext, optional
        Derivative rules that replace those of the primitives.

    Returns
    -------
    tuple
        (f(x), derivatives): the derivatives of f(x(t)) at t = 0 from the first on, a list with as
        many entries as each argument has in ``series``.

    Raises
    ------
    TangentMismatchError
        If the arguments have differently many derivatives, or one has another shape, dtype or
        structure than its argument.
    DifferentiationInputError
        If an argument holds integers or bools.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.jet(lambda x: x**3, (2.0,), ((1.0, 0.0, 0.0),))
    (np.float64(8.0), [np.float64(12.0), np.float64(12.0), np.float64(6.0)])
    """
    check_function(function, "jet", backend, context)
    primals, series = as_tuple(primals, "primals"), as_tuple(series, "series")
    with Loans() as loans:
        return _jet(function, primals, series, loans, backend, context)


def _jet(
    function: Callable[..., Any],
    primals: tuple[Any, ...],
    series: tuple[Any, ...],
    loans: Loans,
    backend: Any,
    context: ADContext | None,
) -> Any:
    """Compute the value and the derivatives; values of the recording end with this call."""
    order = _order(primals, series)
    recording = record(function, primals, {}, range(len(primals)), loans)
    for key in recording.wrt:
        check_differentiable(key)
    seeds = _seeds(recording, series, order, loans)
    given = [seed for path in seeds for seed in path if seed is not None]
    outputs = [key_of(x) for x in recording.outputs]

    def emit(of: Sequence[ValueKey]) -> list[ValueKey]:
        paths = {
            key: [None if x is None else _over(Handle(x), factorial(n)) for n, x in numbered]
            for key, path in zip(recording.wrt, seeds, strict=True)
            for numbered in [list(enumerate(path, 1))]
        }
        recording.trace.open = True
        try:
            return _coefficients(Taylor(paths, recording.trace, context), of, order)
        finally:
            recording.trace.open = False

    kind = ("jet", tuple([tuple([s is None for s in path]) for path in seeds]), len(outputs),
            context)  # fmt: skip
    leaves = _tree.flatten(series)[0]
    plain = recording.plain and not any([isinstance(leaf, Array) for leaf in leaves])
    if any([is_traced(seed) for seed in given]):
        found = pending(emit(outputs))
    else:
        inputs = [*recording.wrt, *given]
        found = run_or_record(kind, outputs, inputs, emit, plain, backend, rolls=False)
    count = len(outputs)
    parts = [found[start : start + count] for start in range(0, len(found), count)]
    value, *derivatives = [_tree.unflatten(recording.out_spec, part) for part in parts]
    return value, derivatives


def _coefficients(taylor: Taylor, of: Sequence[ValueKey], order: int) -> list[ValueKey]:
    """Return values, then their derivatives of order 1, those of order 2, and so on."""
    found = [*of]
    for n in range(1, order + 1):
        for key in of:
            x = taylor.coefficient(key, n)
            x = None if x is None else x * float(factorial(n)) if n > 1 else x
            found.append(flow_key(key, x))
    return found


def _over(x: Handle, number: int) -> Handle:
    return x if number == 1 else x / float(number)


def _order(primals: Sequence[Any], series: Sequence[Any]) -> int:
    """Return how many derivatives each argument has."""
    if len(series) != len(primals):
        raise mismatch(f"{len(series)} series", f"{len(primals)}, one per argument")
    lengths = []
    for number, path in enumerate(series):
        if not isinstance(path, (tuple, list)):
            text = f"series[{number}] is a tuple or list of derivatives, from the first on"
            raise at_user_line(TypeError(f"jet: {text}; got {type(path).__name__}"))
        lengths.append(len(path))
    if not lengths or min(lengths) < max(lengths) or not lengths[0]:
        got = f"series of {', '.join(map(str, lengths)) or 'no'} derivatives"
        raise mismatch(got, "as many for each argument, and at least one")
    return lengths[0]


def _seeds(
    recording: Recording, series: Sequence[Any], order: int, loans: Loans
) -> list[list[ValueKey | None]]:
    """Return, for each leaf of the arguments, the keys of its derivatives; ``None`` for zero."""
    seeds: list[list[ValueKey | None]] = []
    start = 0
    for number, (spec, path) in enumerate(zip(recording.specs, series, strict=True)):
        keys = recording.wrt[start : start + spec.num_leaves]
        start += spec.num_leaves
        columns: list[list[ValueKey | None]] = [[] for _ in keys]
        for n in range(order):
            for column, seed in zip(
                columns, _of_one(path[n], keys, spec, f"series[{number}][{n}]", loans), strict=True
            ):
                column.append(seed)
        seeds += columns
    return seeds


def _of_one(
    tree: Any, keys: Sequence[ValueKey], spec: Any, called: str, loans: Loans
) -> list[ValueKey | None]:
    """Return the keys of one derivative of an argument."""
    if tree is None:
        return [None] * len(keys)
    leaves, structure = _tree.flatten(tree)
    if not _tree.same_structure(structure, spec):
        raise mismatch(f"{called} of structure {_tree.describe(structure)}", _tree.describe(spec))
    return [
        direction_key(leaf, key, "d", loans, LeafPlace(tree, called, i))
        for i, (leaf, key) in enumerate(zip(leaves, keys, strict=True))
    ]
