"""Eigenproblems of general matrices on CuPy: cuSOLVER has them from version 11.7 on.

With an older cuSOLVER they are refused: nothing is computed on the host unasked.
Read next: `../indexing.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend import UnsupportedError
from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg import eig as shared
from tenferro.primitives.linalg.eig import Eig, Eigvals

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any, cusolver: Any = None) -> None:
    """Register eig and eigvals; `cusolver` stands in for `cupyx.cusolver`."""
    found = {record.primitive: record.target for record in _shared(xp)}
    for primitive in (Eig, Eigvals):
        lowerings.register(primitive)(_checked(found[primitive.key], cusolver))


def _shared(xp: Any) -> Lowerings:
    collected = Lowerings()
    shared.register(collected, xp)
    return collected


def _checked(function: Any, cusolver: Any) -> Any:
    """Return a lowering that refuses to run where cuSOLVER is too old."""

    def lower(op: Any, a: Any) -> Any:
        if not (cusolver or _cupyx()).check_availability("geev"):
            raise UnsupportedError(
                f"cupy: {op.name} needs cuSOLVER 11.7 or newer, which comes with CUDA 12.6\n"
                '  hint       install a newer CUDA toolkit, or `jit(f, backend="numpy")`',
                backend="cupy",
                feature=op.name,
                instead="numpy",
            )
        return function(op, a)

    return lower


def _cupyx() -> Any:
    from cupyx import cusolver  # noqa: PLC0415 - with the library only

    return cusolver
