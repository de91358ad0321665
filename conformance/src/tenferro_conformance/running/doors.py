"""Two ways to the same derivative, one vocabulary for the golden tests: tidu's graphs, and the
public API.

A door makes inputs, pushes tangents forward, pulls cotangents back and gives numbers. Functions are
written with operators and with `tenferro.primitives`, which take handles and arrays alike, and may
themselves use the door: derivatives nest. Read `suite/test_golden_orders.py` for the use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import tenferro as tn
from tenferro.computegraph import KeyView
from tenferro.primitives import Aval, Handle, variable
from tenferro.tidu import LinearizedGraph, linear_transpose, linearize
from tenferro_conformance.running.session import Session

__all__ = ["Door", "GraphDoor", "PublicDoor", "close"]

Function = Callable[..., Any]
Values = Sequence[Any]


class Door(Protocol):
    """Interface that the golden tests use."""

    name: str

    def x(self, value: Any) -> Any:
        """Return an input with its number."""

    def push(self, function: Function, xs: Values, vs: Values) -> list[Any]:
        """Return the tangents of the outputs."""

    def pull(self, function: Function, xs: Values, ws: Values) -> list[Any]:
        """Return the cotangents of the inputs."""

    def numbers(self, *values: Any) -> list[Any]:
        """Return values as NumPy arrays; None stays None."""


def _tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


class GraphDoor:
    """`linearize` and `linear_transpose` on graphs of primitives; seeds are inputs."""

    name = "graph"

    def __init__(self, session: Session) -> None:
        self._session = session
        self.fed: dict[Handle, Any] = {}

    def x(self, value: Any) -> Handle:
        """Return a graph input with its number."""
        array = np.asarray(value)
        handle = variable(("x", len(self.fed)), array.shape, str(array.dtype))
        self.fed[handle] = array
        return handle

    def push(self, function: Function, xs: Values, vs: Values) -> list[Handle | None]:
        """Linearize, feed the seeds, read the outputs."""
        return self._read(self.linearized(function, xs), vs)

    def pull(self, function: Function, xs: Values, ws: Values) -> list[Handle | None]:
        """Linearize the seeded outputs, transpose, feed the seeds, read the outputs."""

        def seeded(*args: Any) -> tuple[Any, ...]:
            return tuple(
                y for y, w in zip(_tuple(function(*args)), ws, strict=True) if w is not None
            )

        return self._read(
            linear_transpose(self.linearized(seeded, xs)), [w for w in ws if w is not None]
        )

    def twice_transposed(self, function: Function, xs: Values, vs: Values) -> list[Handle | None]:
        """(Jᵀ)ᵀ v."""
        return self._read(linear_transpose(linear_transpose(self.linearized(function, xs))), vs)

    def linearized(self, function: Function, xs: Values) -> LinearizedGraph:
        """Return the linear graph of a function at some values."""
        ys = _tuple(function(*xs))
        return linearize(KeyView(), [y.key for y in ys], [x.key for x in xs])

    def _read(self, graph: LinearizedGraph, seeds: Values) -> list[Handle | None]:
        keys = graph.linear.keys
        for place, seed in zip(graph.tangent_inputs, seeds, strict=True):
            if place is not None and seed is not None:
                leaf = Handle(keys[place.local])
                self.fed[leaf] = np.broadcast_to(np.asarray(seed, leaf.dtype.name), leaf.shape)
        return [None if local is None else Handle(keys[local]) for local in graph.tangent_outputs]

    def numbers(self, *values: Any) -> list[Any]:
        """Run one program for all of them."""
        found = iter(self._session.evaluate(self.fed, [v for v in values if v is not None]))
        return [None if v is None else next(found) for v in values]


class PublicDoor:
    """`tn.jvp` and `tn.vjp` on arrays."""

    name = "public"

    def x(self, value: Any) -> tn.Array:
        """Return an array."""
        return tn.asarray(np.asarray(value))

    def push(self, function: Function, xs: Values, vs: Values) -> list[Any]:
        """`tn.jvp`."""
        seeds = tuple(_seed(v, x) for v, x in zip(vs, xs, strict=True))
        return list(tn.jvp(lambda *args: _tuple(function(*args)), tuple(xs), seeds)[1])

    def pull(self, function: Function, xs: Values, ws: Values) -> list[Any]:
        """`tn.vjp`."""
        ys, pullback = tn.vjp(lambda *args: _tuple(function(*args)), *xs)
        return list(pullback(tuple(_seed(w, y) for w, y in zip(ws, ys, strict=True))))

    def twice_transposed(self, function: Function, xs: Values, vs: Values) -> list[Any]:
        """Return J v by transposing the pullback, which is linear: its own pullback is J again."""
        ys, pullback = tn.vjp(lambda *args: _tuple(function(*args)), *xs)
        zeros = [np.zeros(np.shape(y), _dtype_of(y)) for y in ys]
        _, again = tn.vjp(lambda *ws: pullback(tuple(ws)), *zeros)
        return list(again(tuple(_seed(v, x) for v, x in zip(vs, xs, strict=True))))

    def numbers(self, *values: Any) -> list[Any]:
        """Evaluate, and copy what a device has: its own arrays may refuse `np.asarray`."""
        return [None if v is None else np.asarray(tn.asarray(v)) for v in values]


def _dtype_of(x: Any) -> str:
    return str(getattr(x.dtype, "name", x.dtype))


def _seed(seed: Any, like: Any) -> npt.NDArray[Any]:
    """Return a seed as an array of the shape and dtype of its value; None is zero."""
    aval = Aval(np.shape(like) if not hasattr(like, "shape") else like.shape, like.dtype)
    value = 0 if seed is None else seed
    return np.broadcast_to(np.asarray(value, aval.dtype.name), aval.shape).copy()


def close(got: Values, want: Values, tolerance: float = 1e-10) -> None:
    """Check that every number is within the tolerance; None may stand for zero on both sides."""
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        found, wanted = np.asarray(0.0 if g is None else g), np.asarray(0.0 if w is None else w)
        if w is not None and g is not None:
            assert found.shape == wanted.shape, (
                f"result {i} has shape {found.shape}, not {wanted.shape}"
            )
        error = float(np.max(np.abs(found - wanted), initial=0.0))
        limit = tolerance * max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
        assert error <= limit, f"result {i} is {found}, not {wanted}"
