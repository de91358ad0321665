"""Matrices of second derivatives: ``hessian``.

Forward over reverse: the function is recorded once, its reverse sweep is emitted as a graph, and
that graph is pushed forward in all directions of the arguments together, or in one per colour where
second derivatives are sparse. Read next: ``inspection/look.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec

from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.computegraph import ValueKey
from tenferro.primitives import TensorPrimitive
from tenferro.tidu import ADContext, linearize_keys
from tenferro.transforms.derivatives.blocks import blocks_of, keys_of
from tenferro.transforms.derivatives.grad import regroup
from tenferro.transforms.derivatives.sweeps import BlockOptions
from tenferro.transforms.derivatives.whole import (
    WholeOptions,
    check_arguments,
    evaluate_blocks,
    refused,
)
from tenferro.transforms.errors import check_function
from tenferro.transforms.patterns.choices import check_choices
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.argnums import Argnames, Argnums, choose
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.positions import Reads
from tenferro.transforms.recording.record import Recording, record
from tenferro.transforms.recording.run_or_record import key_of

_P = ParamSpec("_P")


def hessian(
    function: Callable[_P, Any],
    argnums: Argnums = 0,
    *,
    argnames: Argnames = None,
    compress: bool | None = None,
    sparse: bool = False,
    has_aux: bool = False,
    holomorphic: bool = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> Callable[_P, Any]:
    """Return a function that computes second derivatives.

    The reverse sweep is recorded once and pushed forward in all directions of the argument
    together. If the graph shows that most second derivatives are zero, fewer directions suffice.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers.
    argnums, argnames, compress, sparse, has_aux, holomorphic, backend, context
        As in ``jacobian``.

    Returns
    -------
    callable
        Function whose result has the shape [*output, *argument, *argument]. For several
        arguments or pytrees it is nested as the Jacobian of the Jacobian is.

    Raises
    ------
    DifferentiationInputError
        If an argument holds integers or bools, or complex numbers without ``holomorphic``.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.trace(tn.hessian(lambda x: (x * x).sum()), tn.Aval((2,), "f64")).program.output_avals
    (f64[2,2],)
    """
    check_function(function, "hessian", backend, context)
    check_choices("hessian", compress, sparse)
    chosen = choose(argnums, argnames)
    options = WholeOptions(
        argnums, argnames, compress, sparse, has_aux, holomorphic, backend, context
    )
    of_jacobian_alone = ("mode", "convention")
    given = {name: x for name, x in options._asdict().items() if name not in of_jacobian_alone}

    @derived("hessian", function, **given)
    def whole(*args: Any, **kwargs: Any) -> Any:
        with Loans() as loans:
            call = chosen.arrange(function, args, kwargs)
            # a name for the recording would hold its values beyond the loans
            return _evaluated(*_record_twice(call, loans, has_aux), options, chosen.single)

    return whole


def _evaluated(recording: Recording, pinned: Recording, options: WholeOptions, single: bool) -> Any:
    """Return the Hessian of a recorded call; with ``has_aux`` also the auxiliary result."""
    wrt = recording.wrt
    check_arguments(wrt, [key_of(x) for x in pinned.outputs], options.holomorphic)
    if not options.holomorphic and any([key.aval.dtype.is_complex for key in wrt]):
        raise refused(wrt, *_COMPLEX)

    def emit(reads: Reads, patterns: list[SparsePattern]) -> list[ValueKey]:
        return _second_derivatives(options, recording, pinned, reads, patterns)

    def nested(blocks: Sequence[Any]) -> Any:
        return _nest(blocks, pinned, single)

    return evaluate_blocks("hessian", options, pinned, wrt, recording.plain, emit, nested)


def _second_derivatives(
    options: WholeOptions,
    recording: Recording,
    pinned: Recording,
    reads: Reads,
    patterns: list[SparsePattern],
) -> list[ValueKey]:
    """Emit the reverse sweep, and push it forward in the directions of the arguments."""
    outputs, wrt = [key_of(x) for x in pinned.outputs], recording.wrt

    def derivatives(
        of: Sequence[ValueKey], places: Sequence[ValueKey], how: BlockOptions
    ) -> list[ValueKey]:
        linear = linearize_keys(of, places, space=TensorPrimitive.space, context=options.context)
        return keys_of(blocks_of(linear, of, places, how, reads, patterns))

    recording.trace.open = True  # a rule of the user is recorded: it evaluates nothing
    try:
        how = options.of_blocks()
        first = derivatives(outputs, pinned.wrt, how._replace(mode="reverse", sparse=False))
    finally:
        recording.trace.open = False
    alone = len(wrt) == 1 == len(outputs) and not outputs[0].aval.shape
    return derivatives(first, wrt, how._replace(mode="forward", symmetric=alone))


def _record_twice(call: Any, loans: Loans, has_aux: bool) -> tuple[Recording, Recording]:
    """Record a call on fresh inputs, and inside on pins of these: one identity per derivative."""
    function, args, kwargs, argnums = call
    inside: list[Recording] = []

    @wraps(function)
    def pinned(*args: Any, **kwargs: Any) -> Any:
        inside.append(record(function, args, kwargs, argnums, loans, has_aux))
        return inside[0].outputs

    return record(pinned, args, kwargs, argnums, loans), inside[0]


def _nest(leaves: Sequence[Any], recording: Recording, single: bool) -> Any:
    """Nest second derivatives: per output leaf, the arguments, and the arguments inside each."""

    def inside(parts: Sequence[Any]) -> Any:
        trees = regroup(parts, recording.specs)
        return trees[0] if single else trees

    count = len(recording.wrt)
    second = [inside(leaves[i : i + count]) for i in range(0, len(leaves), count)]
    first = [inside(second[i : i + count]) for i in range(0, len(second), count)]
    return _tree.unflatten(recording.out_spec, first)


_COMPLEX = (
    "hessian is for real arguments: complex ones have no single matrix of second derivatives",
    "take products with `tenferro.hvp`, or make z of real arguments, `x + 1j * y`;\n"
    "             pass holomorphic=True if the function is",
)
