"""Matrices of second derivatives: ``hessian``.

Forward over reverse: the function is recorded once, its reverse sweep is emitted as a graph, and
that graph is pushed forward in all directions of the arguments together, or in one per colour where
second derivatives are sparse. Read next: ``inspection/look.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.computegraph import ValueKey
from tenferro.primitives import TensorPrimitive
from tenferro.tidu import ADContext, linearize_keys
from tenferro.transforms.derivatives.grad import regroup
from tenferro.transforms.derivatives.jacobian import (
    BlockOptions,
    blocks_of,
    check_arguments,
    keys_of,
    refused,
)
from tenferro.transforms.errors import check_function
from tenferro.transforms.patterns.choices import check_choices
from tenferro.transforms.patterns.sparse_results import matrices
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.argnums import Argnames, Argnums, Chosen, choose
from tenferro.transforms.recording.positions import Reads
from tenferro.transforms.recording.record import Loans, Recording, record
from tenferro.transforms.recording.run_or_record import key_of, run_or_record


def hessian(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    argnames: Argnames = None,
    compress: bool | None = None,
    sparse: bool = False,
    has_aux: bool = False,
    holomorphic: bool = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> Callable[..., Any]:
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
    asked = _Asked(
        function, choose(argnums, argnames), compress, sparse, has_aux, holomorphic, backend,
        context,
    )  # fmt: skip

    @derived(
        "hessian",
        function,
        argnums=argnums,
        argnames=argnames,
        compress=compress,
        sparse=sparse,
        has_aux=has_aux,
        holomorphic=holomorphic,
        backend=backend,
        context=context,
    )
    def whole(*args: Any, **kwargs: Any) -> Any:
        with Loans() as loans:
            return _computed(asked, args, kwargs, loans)

    return whole


class _Asked(NamedTuple):
    """Options of a function that ``hessian`` made."""

    function: Callable[..., Any]
    chosen: Chosen
    compress: bool | None
    sparse: bool
    has_aux: bool
    holomorphic: bool
    backend: Any
    context: ADContext | None

    def kind(self, outputs: int) -> tuple[object, ...]:
        """Return the options that the recorded blocks depend on."""
        return "hessian", self.compress, self.sparse, self.holomorphic, outputs, self.context


def _computed(asked: _Asked, args: tuple[Any, ...], kwargs: dict[str, Any], loans: Loans) -> Any:
    """Return the Hessian at these arguments; with ``has_aux`` also the auxiliary result."""
    arranged = asked.chosen.arrange(asked.function, args, kwargs)
    recording, pinned = _record_twice(arranged, loans, asked.has_aux)
    outputs, wrt = [key_of(x) for x in pinned.outputs], recording.wrt
    check_arguments(wrt, outputs, asked.holomorphic)
    if not asked.holomorphic and any([key.aval.dtype.is_complex for key in wrt]):
        raise refused(wrt, *_COMPLEX)
    aux, reads = pinned.aux.keys, Reads()
    patterns: list[SparsePattern] = []

    def emit(_: Sequence[ValueKey]) -> list[ValueKey]:
        return [*aux, *_second_derivatives(asked, recording, pinned, reads, patterns)]

    found = run_or_record(
        asked.kind(len(outputs)),
        [*outputs, *aux],
        wrt,
        emit,
        recording.plain,
        asked.backend,
        reads=reads,
        rolls=False,
        notes=patterns if asked.sparse else None,
    )
    blocks = found[len(aux) :]
    if asked.sparse:
        blocks = matrices(patterns, blocks, wrt)
    nested = _nest(blocks, pinned, asked.chosen.single)
    return (nested, pinned.aux.with_values(found[: len(aux)])) if asked.has_aux else nested


def _second_derivatives(
    asked: _Asked,
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
        linear = linearize_keys(of, places, space=TensorPrimitive.space, context=asked.context)
        return keys_of(blocks_of(linear, of, places, how, reads, patterns))

    recording.trace.open = True  # a rule of the user is recorded: it evaluates nothing
    try:
        how = BlockOptions("reverse", asked.compress, asked.holomorphic)
        first = derivatives(outputs, pinned.wrt, how)
    finally:
        recording.trace.open = False
    alone = len(wrt) == 1 == len(outputs) and not outputs[0].aval.shape
    how = BlockOptions("forward", asked.compress, asked.holomorphic, asked.sparse, symmetric=alone)
    return derivatives(first, wrt, how)


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
