"""The golden functions: small programs whose derivatives are known in closed form, as tables.

A row states a function, where it is taken, seeds and what must come out; a test turns every row
into a forward and a reverse check on every door and backend (`suite/test_golden_*.py`). e2 =
exp(2), e6 = exp(6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, e, exp, sin
from typing import Any

import tenferro.primitives as p

__all__ = ["COMPLEX", "EDGES", "ROBUSTNESS", "SCALAR", "VECTOR", "Golden"]

e2 = exp(2)


@dataclass(frozen=True, kw_only=True)
class Golden:
    """One function with its derivatives.

    at   the inputs            y    the outputs
    dx   tangents of inputs    dy   tangents of outputs
    w    cotangents of outputs ct   cotangents of inputs
    """

    name: str
    f: Callable[..., Any]
    at: Sequence[Any]
    y: Sequence[Any] | None = None
    dx: Sequence[Any] | None = None
    dy: Sequence[Any] | None = None
    w: Sequence[Any] | None = None
    ct: Sequence[Any] | None = None

    def __str__(self) -> str:
        return self.name


def _total(x: Any) -> Any:
    return p.reduce_sum(x, tuple(range(x.ndim)))


def _norm(z: Any) -> Any:
    """|z|², a real number."""
    return p.real(z * p.conj(z))


SCALAR = (
    Golden(name="x+x", f=lambda x: x + x, at=[3.0], y=[6.0], dx=[1.0], dy=[2.0], w=[1.0], ct=[2.0]),
    Golden(name="xy by x", f=lambda x: x * 3.0, at=[2.0], dx=[1.0], dy=[3.0], w=[1.0], ct=[3.0]),
    Golden(name="xy", f=lambda x, y: x * y, at=[2.0, 3.0], y=[6.0], dx=[1.0, 0.0], dy=[3.0],
        w=[1.0], ct=[3.0, 2.0]),
    Golden(name="exp(ax)", f=lambda x, a: p.exp(a * x), at=[1.0, 2.0], y=[e2], dx=[1.0, 0.0],
        dy=[2 * e2], w=[1.0],
           ct=[2 * e2, e2]),
    Golden(name="(x+x)x", f=lambda x: (x + x) * x, at=[3.0], y=[18.0], dx=[1.0], dy=[12.0], w=[1.0],
        ct=[12.0]),
)  # fmt: skip
VECTOR = (
    Golden(name="exp(ax)", f=lambda x, a: p.exp(a * x), at=[[1.0, 2.0], [2.0, 3.0]], dx=[[1.0, 1.0],
        [0.0, 0.0]],
           dy=[[2 * e2, 3 * exp(6)]], w=[[1.0, 1.0]], ct=[[2 * e2, 3 * exp(6)], [e2, 2 * exp(6)]]),
    Golden(name="sum exp(ax)", f=lambda x, a: _total(p.exp(a * x)), at=[[1.0, 2.0], [2.0, 3.0]],
           dx=[[1.0, 1.0], [0.0, 0.0]], dy=[2 * e2 + 3 * exp(6)], w=[2.0],
           ct=[[4 * e2, 6 * exp(6)], [2 * e2, 4 * exp(6)]]),
)  # fmt: skip
COMPLEX = (
    Golden(name="conj", f=p.conj, at=[2 + 3j], dx=[1 + 1j], dy=[1 - 1j], w=[1 + 1j], ct=[1 - 1j]),
    Golden(name="zw", f=lambda z, w: z * w, at=[1 + 2j, -3 + 0.5j], dx=[0.5 - 1j, -2 + 1.5j],
           dy=[(0.5 - 1j) * (-3 + 0.5j) + (1 + 2j) * (-2 + 1.5j)]),
    Golden(name="cz", f=lambda z: z * (2 + 1j), at=[1 + 2j], dx=[1 + 0j], dy=[2 + 1j], w=[1 + 0j],
        ct=[2 - 1j]),
    Golden(name="|z|²", f=_norm, at=[1 + 2j], y=[5.0], dx=[0.3 + 0.4j], dy=[2.2], w=[1.0],
        ct=[2 + 4j]),
)  # fmt: skip
ROBUSTNESS = (
    Golden(name="exp(ax) adjoint", f=lambda x: p.exp(2.0 * x), at=[1.0], dx=[0.7], dy=[1.4 * e2],
        w=[0.3], ct=[0.6 * e2]),
    Golden(name="(x+x)x adjoint", f=lambda x: (x + x) * x, at=[3.0], dx=[0.5], dy=[6.0], w=[0.7],
        ct=[8.4]),
    Golden(name="|z|² with a complex cotangent", f=lambda z: z * p.conj(z), at=[1 + 2j],
        dx=[0.3 + 0.4j], dy=[2.2 + 0j],
           w=[0.5 + 0.6j], ct=[1 + 2j]),
    Golden(name="exp x + exp x", f=lambda x: p.exp(x) + p.exp(x), at=[1.0], dx=[1.0], dy=[2 * e],
        w=[1.0], ct=[2 * e]),
    Golden(name="xy", f=lambda x, y: x * y, at=[2.0, 3.0], w=[1.0], ct=[3.0, 2.0]),
    Golden(name="identity", f=lambda x: x, at=[4.0], y=[4.0], dx=[1.0], dy=[1.0], w=[1.0],
        ct=[1.0]),
)  # fmt: skip


def _nested(x: Any) -> Any:
    """Apply exp(0.3·) ten times."""
    for _ in range(10):
        x = p.exp(x * 0.3)
    return x


def _nested_derivative(x: float) -> float:
    """Differentiate `_nested` by the chain rule."""
    slope = 1.0
    for _ in range(10):
        x = exp(0.3 * x)
        slope *= 0.3 * x
    return slope


EDGES = (
    Golden(name="sin, cos", f=lambda x: (p.sin(x), p.cos(x)), at=[1.0], dx=[0.4], dy=[0.4 * cos(1),
        -0.4 * sin(1)],
           w=[1.5, -0.25], ct=[1.5 * cos(1) + 0.25 * sin(1)]),
    Golden(name="sin + cos", f=lambda x: p.sin(x) + p.cos(x), at=[1.0], dx=[1.0],
        dy=[cos(1) - sin(1)], w=[1.0],
           ct=[cos(1) - sin(1)]),
    Golden(name="ten nested exp(.3·)", f=_nested, at=[0.01], dx=[0.7],
        dy=[0.7 * _nested_derivative(0.01)], w=[-0.4],
           ct=[-0.4 * _nested_derivative(0.01)]),
    Golden(name="conj of a vector", f=p.conj, at=[[1 + 2j, 3 + 4j]], dx=[[0.5 + 0.3j, 0.7 + 0.1j]],
           dy=[[0.5 - 0.3j, 0.7 - 0.1j]], w=[[0.5 + 0.3j, 0.7 + 0.1j]], ct=[[0.5 - 0.3j,
               0.7 - 0.1j]]),
    Golden(name="Σ|z|²", f=lambda z: _total(_norm(z)), at=[[1 + 1j, 2 + 3j]], y=[15.0], w=[1.0],
        ct=[[2 + 2j, 4 + 6j]]),
)  # fmt: skip
