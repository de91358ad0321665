"""The common part of ``jacobian`` and ``hessian``: their options, and the way to a result.

Read next: ``derivatives/jacobian.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.computegraph import ValueKey
from tenferro.tidu import ADContext
from tenferro.transforms.derivatives.grad import check_differentiable
from tenferro.transforms.derivatives.sweeps import BlockOptions
from tenferro.transforms.errors import DifferentiationInputError
from tenferro.transforms.patterns.sparse_results import matrices
from tenferro.transforms.recording.argnums import Argnames, Argnums
from tenferro.transforms.recording.positions import Reads
from tenferro.transforms.recording.record import Recording
from tenferro.transforms.recording.run_or_record import key_of, run_or_record, store_looks

Emit = Callable[[Reads, list[SparsePattern]], list[ValueKey]]
"""Emit the blocks: note the values that they rely on, and the patterns of sparse ones."""


class WholeOptions(NamedTuple):
    """Keyword arguments of ``jacobian``; ``hessian`` has all but ``mode`` and ``convention``."""

    argnums: Argnums = 0
    argnames: Argnames = None
    compress: bool | None = None
    sparse: bool = False
    has_aux: bool = False
    holomorphic: bool = False
    backend: Any = None
    context: ADContext | None = None
    mode: str = "auto"
    convention: str = "hermitian"

    @property
    def conjugate(self) -> bool:
        """True if derivatives with respect to complex arguments are conjugated."""
        return self.convention == "jax" and not self.holomorphic

    def of_blocks(self) -> BlockOptions:
        """Return the options that decide how the blocks are made."""
        return BlockOptions(self.mode, self.compress, self.holomorphic, self.sparse)

    def kind(self, transform: str, outputs: int) -> tuple[object, ...]:
        """Return the name of a program in the cache: all options that change it."""
        return (
            transform, self.mode, self.compress, self.sparse, self.holomorphic, self.conjugate,
            outputs, self.context,
        )  # fmt: skip


def evaluate_blocks(
    transform: str,
    options: WholeOptions,
    recording: Recording,
    wrt: Sequence[ValueKey],
    plain: bool,
    emit: Emit,
    nest: Callable[[Sequence[Any]], Any],
) -> Any:
    """Compute or record the blocks and nest them; with ``has_aux`` add the auxiliary result.

    ``recording`` has the outputs and the auxiliary values; ``wrt`` are the inputs of the program.
    """
    outputs, aux = [key_of(x) for x in recording.outputs], recording.aux.keys
    store_looks(wrt)
    reads = Reads()
    patterns: list[SparsePattern] = []
    found = run_or_record(
        options.kind(transform, len(outputs)),
        [*outputs, *aux],
        wrt,
        lambda _: [*aux, *emit(reads, patterns)],
        plain,
        options.backend,
        reads=reads,
        rolls=False,
        notes=patterns if options.sparse else None,
    )
    blocks = found[len(aux) :]
    if options.sparse:
        blocks = matrices(patterns, blocks, wrt)
    nested = nest(blocks)
    if not options.has_aux:
        return nested
    return nested, recording.aux.with_values(found[: len(aux)])


def check_arguments(
    wrt: Sequence[ValueKey], outputs: Sequence[ValueKey], holomorphic: bool
) -> None:
    """Raise DifferentiationInputError where arguments and outputs have no such derivative."""
    for key in wrt:
        check_differentiable(key)
    given, got = (any(key.aval.dtype.is_complex for key in keys) for keys in (wrt, outputs))
    if holomorphic and not all(key.aval.dtype.is_complex for key in wrt):
        raise DifferentiationInputError(
            "holomorphic=True needs complex arguments\n"
            f"  got        {', '.join(str(key.aval) for key in wrt)}",
            argument="",
            aval=wrt[0].aval,
        )
    if given and got and not holomorphic:
        raise refused(
            wrt,
            "complex outputs have no single Jacobian in complex arguments",
            "pass holomorphic=True if the function is, or differentiate `.real` and\n"
            "             `.imag` of its value",
        )


def refused(wrt: Sequence[ValueKey], fact: str, hint: str) -> DifferentiationInputError:
    """Make the error about complex arguments."""
    error = DifferentiationInputError(
        f"{fact}\n  got        {', '.join(str(key.aval) for key in wrt)}\n  hint       {hint}",
        argument="",
        aval=wrt[0].aval,
    )
    return at_user_line(error)
