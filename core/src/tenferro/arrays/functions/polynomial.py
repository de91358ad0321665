"""Polynomials as coefficients, the highest power first, as NumPy's older functions have them.

Coefficients that are 0 stay where they are: a shape never depends on values, and so leading zeros
are trimmed by ``polydiv`` alone, which NumPy has do that. Objects of ``np.poly1d`` are not taken.
"""

from __future__ import annotations

from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import found_of
from tenferro.arrays.functions.arithmetic import add, subtract
from tenferro.arrays.functions.broadcasting import at_least
from tenferro.arrays.functions.creation import full, zeros_like
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.searching import together_unstretched
from tenferro.arrays.functions.structural import concatenate, reshape, stack
from tenferro.arrays.handle.array import Array, another_handle, strong
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.promotion.broadcast import cast
from tenferro.arrays.registry import covers
from tenferro.primitives import float64, promote_dtypes
from tenferro.primitives import structural as p


def _coefficients(x: Any) -> Array:
    found = at_least(asarray(x), 1)
    if found.ndim != 1:
        raise at_user_line(ValueError(f"a polynomial has rank 1, not {found.aval}"))
    return found


@covers("polyval")
def polyval(p: Any, x: Any) -> Array:
    """Evaluate a polynomial at each element of x.

    >>> import tenferro as tn
    >>> float(tn.polyval([2.0, 0.0, 1.0], 3.0))  # 2 x² + 1
    19.0
    """
    coefficients, found = together_unstretched(_coefficients(p), strong(as_array(x)))
    if not coefficients.size:
        return zeros_like(as_array(x))
    result = zeros_like(found)
    for i in range(coefficients.size):
        result = result * found + coefficients[i]
    return result


def _aligned(a1: Any, a2: Any) -> tuple[Array, Array]:
    """Prepend zeros so that both polynomials have as many coefficients."""
    a, b = together_unstretched(_coefficients(a1), _coefficients(a2))
    n = max(a.size, b.size)
    return _shifted(a, n - a.size, 0), _shifted(b, n - b.size, 0)


def _shifted(x: Array, low: int, high: int) -> Array:
    y: Array = p.pad(x, 0, (low,), (high,), (0,))  # type: ignore[assignment]
    return y


@covers("polyadd")
def polyadd(a1: Any, a2: Any) -> Array:
    """Return the sum of two polynomials."""
    return add(*_aligned(a1, a2))


@covers("polysub")
def polysub(a1: Any, a2: Any) -> Array:
    """Return the difference of two polynomials."""
    return subtract(*_aligned(a1, a2))


@covers("polymul")
def polymul(a1: Any, a2: Any) -> Array:
    """Return the product of two polynomials; leading zeros stay, so that no shape depends on
    values.
    """
    a, b = together_unstretched(_coefficients(a1), _coefficients(a2))
    if a.size < b.size:
        a, b = b, a
    if not b.size:
        raise at_user_line(ValueError("polymul: a polynomial without coefficients"))
    terms = [_shifted(a * b[i], i, b.size - 1 - i) for i in range(b.size)]
    result = terms[0]
    for term in terms[1:]:
        result = add(result, term)
    return result


@covers("polyder")
def polyder(p: Any, m: int = 1) -> Array:
    """Return the m-th derivative of a polynomial."""
    found = another_handle(_coefficients(p))
    if index(m) < 0:
        raise at_user_line(ValueError("polyder: m must not be negative"))
    for _ in range(index(m)):
        powers = arange(max(found.size - 1, 0), 0, -1)
        found = found[:-1] * powers
    return found


@covers("polyint")
def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """Return the m-th integral of a polynomial with integration constants k, applied in order."""
    found = another_handle(_coefficients(p))
    count = index(m)
    if count < 0:
        raise at_user_line(ValueError("polyint: m must not be negative"))
    for constant in _constants(k, count):
        powers = arange(found.size, 0, -1)
        found = concatenate([found / powers, reshape(constant, (1,))])
    return found


def _constants(k: Any, count: int) -> list[Array]:
    given = at_least(as_array(0.0) if k is None else asarray(k), 1)
    if given.size == 1:
        return [given[0]] * count
    if given.size < count:
        raise at_user_line(ValueError(f"polyint: {given.size} constants for {count} integrals"))
    return [given[i] for i in range(count)]


@covers("polydiv")
def polydiv(u: Any, v: Any) -> tuple[Array, Array]:
    """Divide two polynomials; return the quotient, and the remainder without leading zeros.

    Raises ConcretizationError: under ``jit`` that is not ``dynamic``: the length is a value.
    """
    a, b = together_unstretched(_coefficients(u), _coefficients(v))
    kind = a.dtype if a.dtype.is_inexact else promote_dtypes(a.dtype, float64)
    rest, b = cast(a, kind), cast(b, kind)
    steps = a.size - b.size + 1
    if steps < 1:
        return full((1,), 0, kind), another_handle(_trimmed(rest))
    quotient, scale = [], 1 / b[0]
    for i in range(steps):
        q = scale * rest[i]
        quotient.append(q)
        rest = rest - _shifted(b * q, i, steps - 1 - i)
    return stack(quotient), _trimmed(rest)


def _trimmed(rest: Array) -> Array:
    """Remove leading coefficients of the remainder that are 0 up to rounding."""

    def find(value: Any) -> list[int]:
        (kept,) = (abs(value[:-1]) > 1e-8).nonzero()
        return [int(kept[0]) if kept.size else value.size - 1]

    (first,) = found_of([rest], find, "polydiv", "np.polymul and np.polysub have fixed sizes")
    return rest[first:]
