"""Warnings about derivatives at equal values of a factorization, at run time.

A derivative of eigenvectors or singular vectors leaves out how the vectors of equal values turn
among themselves. It is wrong for a function that needs that. The check
looks at the distances of neighbouring values, and at the vectors only where some are equal.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.vectors_used import GaugeCheck

__all__ = ["register"]

_NEGLIGIBLE = {"f": 3e-4, "d": 1e-8, "F": 3e-4, "D": 1e-8}  # relative to the largest entry
_LIBRARIES = ("tenferro", "tenferro_numpy", "numpy", "optree", "scipy", "threading", "concurrent")
_registry: dict[Any, Any] = {}  # of Python's filter: a warning is shown once per place


def register(lowerings: Lowerings) -> None:
    """Register the check."""

    @lowerings.register(GaugeCheck)
    def gauge_check(op: GaugeCheck, *xs: Any) -> Any:
        if _is_wrong(op, xs):
            _warn(op, xs[-1])
        return np.array(xs[0])  # its memory must not be that of the operand


def _is_wrong(op: GaugeCheck, xs: Any) -> bool:
    """Return True if values are equal and the derivative needs what the rule dropped there."""
    w = xs[-1]
    if not w.size:
        return False
    bound = op.epsilon * np.abs(w).max(axis=-1, keepdims=True)
    zero = _independent_zeros(op, w, bound)
    ordered = not np.iscomplexobj(w)
    if ordered and not (zero.any() or np.any(np.abs(np.diff(w, axis=-1)) <= bound)):
        return False
    equal = np.abs(w[..., None, :] - w[..., :, None]) <= bound[..., None]
    equal &= ~np.eye(w.shape[-1], dtype=bool)
    if not (zero.any() or equal.any()):
        return False
    if op.is_tangent:
        return _splits(op, xs[-2], equal)
    turns = xs[: op.turns]
    scale = _NEGLIGIBLE[turns[0].dtype.char] * max([np.abs(x).max() for x in turns])
    if not ordered:
        return _sees_general(op, xs, scale, equal)
    both_zero = equal & zero[..., None, :] & zero[..., :, None]
    for x, where in zip(turns, (equal, both_zero), strict=False):
        if np.any(np.abs(_odd(x))[where] > scale):
            return True
    return op.with_values and _sees_values(turns, scale, xs[op.turns], equal, zero)


def _independent_zeros(op: GaugeCheck, w: Any, bound: Any) -> Any:
    """Return the zero singular values whose vectors on both sides rotate independently."""
    if op.turns == 1:
        return np.zeros(w.shape, bool)
    zero = w <= bound
    return zero & (zero.sum(axis=-1, keepdims=True) > op.is_square)


def _sees_general(op: GaugeCheck, xs: Any, scale: float, equal: Any) -> bool:
    """Return True if equal values of a general matrix are distinguished, or used with vectors.

    V and V⁻¹ cancel in the cotangent of V g(w) V⁻¹, and leave rounding errors. So only a use of
    the values tells, and vectors alone are not judged.
    """
    if not op.with_values:
        return False
    if np.any(np.abs(xs[0])[equal] > scale):
        return True
    size = np.abs(xs[1]).max() * _NEGLIGIBLE[xs[1].dtype.char]
    if not size and not scale:
        return True
    return bool(np.any((np.abs(xs[1]) > size) & np.any(equal, axis=-1)))


def _sees_values(turns: Any, scale: float, ct: Any, equal: Any, zero: Any) -> bool:
    """Return True if equal values are distinguished, or used together with their vectors.

    The cotangents of V g(w) Vᴴ are M g and g′ diag M on a space of equal values, for a matrix M.
    If its diagonal happens to be zero, or g is, the rest of M decides.
    """
    size = np.abs(ct).max() * _NEGLIGIBLE[ct.dtype.char]
    if not size and not scale:
        return True
    counts, apart = np.abs(ct) > size, np.abs(ct[..., None, :] - ct[..., :, None]) > size
    if np.any(apart & equal) or np.any(counts & zero):
        return True
    used = counts & np.any(equal, axis=-1)
    if used.any() and np.any(_seen(turns, scale) & used):
        return True
    there = np.logical_or.reduce([np.abs(x) > scale for x in turns])
    silent = ~(np.diagonal(there, axis1=-2, axis2=-1) | counts)
    return bool(np.any(there & equal & silent[..., None, :] & silent[..., :, None]))


def _seen(turns: Any, scale: float) -> Any:
    """Return which vectors have a nonzero cotangent."""
    if len(turns) == 1:
        return np.abs(turns[0]).max(axis=-2) > scale
    even, odd = turns
    left, right = np.abs(odd + even).max(axis=-2), np.abs(odd - even).max(axis=-1)
    return (left > scale) | (right > scale)


def _splits(op: GaugeCheck, p: Any, equal: Any) -> bool:
    """Return True if the direction splits equal values, except along the vectors."""
    if op.turns == 2:
        p = (p + np.conj(np.swapaxes(p, -1, -2))) / 2
    return bool(np.any(np.abs(p)[equal] > _NEGLIGIBLE[p.dtype.char] * np.abs(p).max()))


def _odd(x: Any) -> Any:
    """Return the antihermitian part."""
    return (x - np.conj(np.swapaxes(x, -1, -2))) / 2


def _warn(op: GaugeCheck, w: Any) -> None:
    from tenferro import GaugeWarning  # noqa: PLC0415 - rarely needed

    file, line = _place()
    warnings.warn_explicit(_text(op, w), GaugeWarning, file, line, registry=_registry)


def _text(op: GaugeCheck, w: Any) -> str:
    at = f"  from       {op.line}\n" if op.line else ""
    if op.turns == 1 and op.epsilon >= 1:  # the rule of svd marks vectors beyond the values so
        return (
            "a derivative through the full vectors of svd is wrong\n"
            "  got        a function of the single vectors beyond the singular values;\n"
            f"             the matrix determines the space alone\n{at}"
            "  need       a function of the projector on their space; if it is one, say so:\n"
            "             projectors_only=True\n"
            "  hint       full_matrices=False leaves them out; the projector is I - U₁ U₁ᴴ"
        )
    what, cure = _WORDS[0 if np.iscomplexobj(w) else op.turns]
    return (
        f"a derivative through {what} is wrong where values are equal\n"
        f"  got        values that differ by at most {op.epsilon:g} of the largest: {_listed(w)}\n"
        f"{at}"
        "  need       a function that uses vectors of equal values for the projector on their\n"
        "             space alone; if it does, say so: projectors_only=True\n"
        f"  hint       {cure}"
    )


def _place() -> tuple[str, int]:
    """Return the file and line of the user that asked for the derivative."""
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _LIBRARIES:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "<unknown>", 1  # on a thread of ours


def _listed(w: Any) -> str:
    return np.array2string(w, precision=6, threshold=6, edgeitems=3).replace("\n", "")


_WORDS = {
    0: (
        "eig",
        "tn.linalg.expm, logm and sqrtm are functions of a matrix that are not computed from\n"
        "             vectors; sums of wⁿ are np.trace(np.linalg.matrix_power(a, n)), the product\n"
        "             is np.linalg.det(a)",
    ),
    1: (
        "eigh",
        "tn.linalg.spectral_function(a, g) is V g(w) Vᴴ, with its derivatives there\n"
        "             too; eigh(a, split=True) separates equal values, to first order",
    ),
    2: (
        "svd",
        "tn.linalg.low_rank(a, k) is the truncated U S Vᴴ, and low_rank_factors(a, k)\n"
        "             are two factors of it, with their derivatives there too; svd(a, split=True)\n"
        "             separates equal values, to first order",
    ),
}
