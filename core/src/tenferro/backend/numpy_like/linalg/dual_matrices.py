"""Block triangular matrices [[x, e], [0, x]] as pairs, which multiply at three products for eight.

The blocks are arrays or such pairs again: k levels stand for a matrix 2ᵏ times as large, whose
function holds a k-th Fréchet derivative in its last block of the first row. Functions here take
arrays, too, so that an algorithm is written once. Read next: ``matrix_function.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple


class Dual(NamedTuple):
    """The matrix [[value, change], [0, value]]."""

    value: Any
    change: Any

    def __add__(self, other: Any) -> Dual:
        return Dual(self.value + other.value, self.change + other.change)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.value - other.value, self.change - other.change)

    def __mul__(self, number: Any) -> Dual:
        return Dual(self.value * number, self.change * number)

    def __rmul__(self, number: Any) -> Dual:
        return self.__mul__(number)

    def __truediv__(self, number: Any) -> Dual:
        return Dual(self.value / number, self.change / number)

    def __matmul__(self, other: Dual) -> Dual:
        change = self.value @ other.change + self.change @ other.value
        return Dual(self.value @ other.value, change)


def dual(xp: Any, a: Any, directions: Sequence[Any]) -> Any:
    """X₀ = a, X_k = [[X_{k-1}, 1 ⊗ e_k], [0, X_{k-1}]]: Higham & Relton (2014), theorem 3.5."""
    x = a
    for level, e in enumerate(directions):
        for _ in range(level):
            e = Dual(e, _zeros(xp, e))
        x = Dual(x, e)
    return x


def last_change(x: Any) -> Any:
    """Return the last block of the first row."""
    while isinstance(x, Dual):
        x = x.change
    return x


def array_of(x: Any) -> Any:
    """Return the block on the diagonal."""
    while isinstance(x, Dual):
        x = x.value
    return x


def identity(xp: Any, x: Any) -> Any:
    """Return the identity that is as large as x."""
    if isinstance(x, Dual):
        return Dual(identity(xp, x.value), _zeros(xp, x.value))
    place = xp.arange(x.shape[-1])
    one = xp.equal(place[:, None], place).astype(x.dtype)
    return xp.broadcast_to(one, x.shape)


def _zeros(xp: Any, x: Any) -> Any:
    if isinstance(x, Dual):
        return Dual(_zeros(xp, x.value), _zeros(xp, x.change))
    return xp.zeros_like(x)


def solve(xp: Any, a: Any, b: Any) -> Any:
    """Return a⁻¹ b: where a y = b, a dy = db - da y."""
    if not isinstance(a, Dual):
        return xp.linalg.solve(a, b)
    y = solve(xp, a.value, b.value)
    return Dual(y, solve(xp, a.value, b.change - a.change @ y))


def inverse(xp: Any, a: Any) -> Any:
    """Return a⁻¹, whose change is -a⁻¹ da a⁻¹."""
    if not isinstance(a, Dual):
        return xp.linalg.inv(a)
    y = inverse(xp, a.value)
    return Dual(y, y @ a.change @ y * -1)


def select(xp: Any, condition: Any, x: Any, y: Any) -> Any:
    """Return x where the condition, of shape [*b, 1, 1], holds, and y elsewhere."""
    if isinstance(x, Dual):
        pairs = zip(x, y, strict=True)
        return Dual(*[select(xp, condition, one, other) for one, other in pairs])
    return xp.where(condition, x, y)


def norm(xp: Any, x: Any) -> Any:
    """Return the largest sum of a column; of a pair a bound, the sum of both norms."""
    if isinstance(x, Dual):
        return norm(xp, x.value) + norm(xp, x.change)
    return xp.max(xp.sum(xp.absolute(x), -2), -1)
