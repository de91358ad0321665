"""Blocks of Jacobians multiplied over a cut: Σ J(out/cut) J(cut/in) over its values.

Blocks have the shape [*of, *by]. If arguments and outputs are real, a complex value z of the cut
is allowed: J(out/z) holds gradients g with dy = Re(conj(g) dz) there, and J(z/in) derivatives.
Read next: ``bottleneck/mixed.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.primitives import (
    Handle,
    concatenate,
    conj,
    constant,
    convert,
    dot_general,
    real,
    reshape,
)
from tenferro.primitives._aval import Aval
from tenferro.primitives._dtype import promote_dtypes

Term = tuple[Handle, Handle, int]  # J(out/z), J(z/in), and the elements of z


def product_of(terms: Sequence[Term], beside: Handle | None, of: Aval, by: Aval) -> Handle:
    """Return the sum of the products, and of what flows past the cut; zeros if there is nothing."""
    shape = (*of.shape, *by.shape)
    dtype = promote_dtypes(of.dtype, by.dtype)
    found = [] if beside is None else [beside]
    for rotates in (False, True):
        group = [t for t in terms if _is_rotated(t, dtype.is_complex) == rotates]
        if group:
            left = _joined([reshape(out, (of.size, n)) for out, _, n in group], 1)
            right = _joined([reshape(into, (n, by.size)) for _, into, n in group], 0)
            if rotates:
                product = real(dot_general(conj(left), right, (1,), (0,)))
            else:
                left, right = convert(left, dtype), convert(right, dtype)
                product = dot_general(left, right, (1,), (0,))
            found.append(reshape(product, shape))
    if not found:
        return constant(0, dtype, shape)
    total = found[0]
    for more in found[1:]:
        total = total + more
    return total


def _is_rotated(term: Term, complex_results: bool) -> bool:
    """Return True if a term runs over a complex value between real arguments and outputs."""
    return term[1].dtype.is_complex and not complex_results


def _joined(blocks: Sequence[Handle], axis: int) -> Handle:
    return blocks[0] if len(blocks) == 1 else concatenate(blocks, axis)
