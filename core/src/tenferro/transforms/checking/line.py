"""A function along a line: t ↦ ⟨w, f(x + t v) − f(x)⟩, and how large its values and errors are.

Read next: ``differences.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tenferro.arrays import Array, imag, vdot
from tenferro.transforms.checking.differences import Break, kinked
from tenferro.transforms.checking.limits import Limits
from tenferro.transforms.checking.pytrees import (
    array_of_floats,
    directions_like,
    inner_product,
    leaves_of,
    norm,
    shifted,
    with_leaves,
)

COMPLEX_STEP = 1e-30
_LEAST_KINK = 1e-5  # of the derivative: how much both sides differ at what is called a kink


class Line:
    """The function t ↦ ⟨w, f(x + t v) − f(x)⟩ of a real number, with fixed irregular weights w.

    Values, sizes and heights are kept: the modes of a check ask for the same ones.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], v: tuple[Any, ...]
    ) -> None:
        self.function = function
        self.args = args
        self.directions = v
        tree = function(*args)
        self._start = [array_of_floats(x) for x in leaves_of(tree)]
        self.weights = directions_like((with_leaves(tree, self._start),), 3)[0]
        self.extent = max([norm(x) for x in leaves_of(args) if x.dtype.is_inexact], default=0.0)
        self._norm = norm(self.weights)
        self._norm_at_start = norm(self._start)
        self._values: dict[float, float] = {}
        self._sizes: dict[float, float] = {}
        self._heights: dict[float, float] = {}

    def __call__(self, t: float) -> float:
        if t not in self._values:
            self._values[t] = self._value(t) if t else 0.0
        return self._values[t]

    def _value(self, t: float) -> float:
        """Return the value at t ≠ 0; NaN if the shape of the result differs."""
        moved = self._moved(t)
        same = len(moved) == len(self._start) and all(
            [x.shape == y.shape for x, y in zip(moved, self._start, strict=True)]
        )
        return inner_product(self.weights, moved) if same else math.nan

    def size(self, step: float) -> float:
        """‖w‖ ‖f(x + hv) − f(x − hv)‖ / 2h, the scale of ⟨w, J v⟩ without cancellation."""
        if step not in self._sizes:
            pairs = zip(self._moved(step), self._moved(-step), strict=True)
            self._sizes[step] = self._norm * norm([a - b for a, b in pairs]) / (2 * step)
        return self._sizes[step]

    def height(self, step: float) -> float:
        """‖w‖ ‖f‖ near the point, the scale of rounding errors."""
        if step not in self._heights:
            largest = max(self._norm_at_start, norm(self._moved(step)))
            self._heights[step] = self._norm * largest
        return self._heights[step]

    def kink(self, allowed: Limits) -> Break | None:
        """Return the derivatives on both sides if they differ."""
        height = self._norm * self._norm_at_start
        least = max(_LEAST_KINK, allowed.tolerance)
        rounding, shift = 4 * allowed.rounding * height, allowed.rounding * self.extent
        return kinked(self, allowed.step, least, rounding, shift)

    def complex_step(self) -> float | None:
        """Im ⟨w, f(x + iεv)⟩ / ε; None where f does not take complex numbers."""
        real_leaves = (*leaves_of(self.args), *self._start)
        if any(x.dtype.is_complex or not x.dtype.is_inexact for x in real_leaves):
            return None
        try:
            found = leaves_of(
                self.function(*shifted(self.args, self.directions, COMPLEX_STEP * 1j))
            )
        except Exception:  # a function of the user's, which may refuse in any way
            return None
        pairs = zip(leaves_of(self.weights), found, strict=True)
        value = sum(float(vdot(w, imag(x))) for w, x in pairs) / COMPLEX_STEP
        return value if math.isfinite(value) else None

    def _moved(self, t: float) -> list[Array]:
        """f(x + t v) − f(x), by leaves; f(x + t v) where its shape differs."""
        there = leaves_of(self.function(*shifted(self.args, self.directions, t)))
        pairs = zip(map(array_of_floats, there), self._start, strict=False)
        return [x - y if x.shape == y.shape else x for x, y in pairs]
