"""The Hessian of Rosenbrock's function times a vector (W10), in thirteen ways.

By hand: the three diagonals of the Hessian times the vector, in arrays that are there before. The
ways differ in how neighbours are taken (slices, `roll`, a gather, stacking), in how the terms are
written, and in the two derivatives: forward over reverse, reverse over reverse, reverse over
forward. Read next: `benchmarks/w10_rosenbrock.py`, which defines the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case

from .library import Formulations, Library, Way

Function = Callable[[Any], Any]


def inputs(n: int) -> tuple[Any, ...]:
    """The point and the vector."""
    rng = np.random.default_rng(0)
    return rng.normal(size=n), rng.normal(size=n)


ROSENBROCK = Formulations(
    inputs,
    cases=[Case("rosenbrock, n = 1,000", ("rosenbrock", 1000))],
    quick=[Case("rosenbrock, n = 100", ("rosenbrock", 100))],
)


@ROSENBROCK.hand
def by_hand(x: Any, v: Any) -> Call:
    head, tail, v_head, v_tail = x[:-1], x[1:], v[:-1], v[1:]
    beside, main = np.empty(len(x) - 1), np.empty(len(x) - 1)

    def product() -> Any:
        found = np.empty_like(x)
        np.multiply(head, -400, out=beside)
        np.multiply(head, -3, out=main)  # the diagonal is −400 (x[i+1] − 3 x[i]²) + 2
        np.multiply(main, head, out=main)
        np.add(main, tail, out=main)
        np.multiply(main, -400, out=main)
        np.add(main, 2, out=main)
        np.multiply(main, v_head, out=found[:-1])
        found[-1] = 0
        np.multiply(beside, v_tail, out=main)
        found[:-1] += main
        np.multiply(beside, v_head, out=main)
        found[1:] += main
        np.multiply(v_tail, 200, out=main)
        found[1:] += main
        return found

    return product


# ---- second derivatives --------------------------------------------------------------------------


def forward_over_reverse(lib: Library, f: Function, x: Any, v: Any) -> Any:
    """The tangent of the gradient; autograd, whose JVP is another module's, takes the next one."""
    if lib.jvp is None:
        return reverse_over_reverse(lib, f, x, v)
    return lib.jvp(lib.grad(f), (x,), (v,))[1]


def reverse_over_reverse(lib: Library, f: Function, x: Any, v: Any) -> Any:
    """The gradient of the gradient's product with the vector."""
    return lib.grad(lambda x: lib.np.sum(lib.grad(f)(x) * v))(x)


def reverse_over_forward(lib: Library, f: Function, x: Any, v: Any) -> Any:
    """The gradient of the tangent."""
    return lib.grad(lambda x: lib.jvp(f, (x,), (v,))[1])(x)


def way(
    name: str, product: Callable[..., Any] = forward_over_reverse, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function, whose Hessian times a vector is asked."""

    def enter(loss: Callable[..., Any]) -> Callable[..., Any]:
        def function(lib: Library) -> Callable[..., Any]:
            return lambda x, v: product(lib, lambda x: loss(lib, x), x, v)

        ROSENBROCK.ways.append(Way(name, function, without, other=False))
        return loss

    return enter


# ---- ways ----------------------------------------------------------------------------------------


@way("slices, reverse over forward", reverse_over_forward, without=("autograd",))
@way("slices, reverse over reverse", reverse_over_reverse)
@way("slices")
def slices(lib: Library, x: Any) -> Any:
    return lib.np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@way("roll, then cut, reverse over reverse", reverse_over_reverse)
@way("roll, then cut")
def roll(lib: Library, x: Any) -> Any:
    """Neighbours by `roll`; the last term, which has none, is cut off."""
    np = lib.np
    terms = 100.0 * (np.roll(x, -1) - x**2.0) ** 2.0 + (1 - x) ** 2.0
    return np.sum(terms[:-1])


@way("roll, masked")
def masked_roll(lib: Library, x: Any) -> Any:
    """The same with a mask in place of the cut."""
    np = lib.np
    terms = 100 * np.square(np.roll(x, -1) - x * x) + np.square(1 - x)
    return np.sum(np.where(np.arange(x.shape[0]) < x.shape[0] - 1, terms, 0.0))


@way("pairs stacked")
def pairs_stacked(lib: Library, x: Any) -> Any:
    """Pairs of neighbours as rows of an array."""
    np = lib.np
    pairs = np.stack([x[:-1], x[1:]], axis=1)
    return np.sum(100 * (pairs[:, 1] - pairs[:, 0] ** 2) ** 2 + (1 - pairs[:, 0]) ** 2)


@way("gather")
def gather(lib: Library, x: Any) -> Any:
    """Neighbours by arrays of indices."""
    np = lib.np
    i = np.arange(x.shape[0] - 1)
    return np.sum(100 * (x[i + 1] - x[i] * x[i]) ** 2) + np.sum((1 - x[i]) ** 2)


@way("residuals, reverse over reverse", reverse_over_reverse)
@way("residuals")
def residuals(lib: Library, x: Any) -> Any:
    """A sum of squares, as least squares are written: the residuals in one vector."""
    np = lib.np
    r = np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])
    return np.dot(r, r)


@way("one pair, mapped", without=("autograd",))
def one_pair_mapped(lib: Library, x: Any) -> Any:
    """The term of one pair, mapped."""
    np = lib.np

    def term(a: Any, b: Any) -> Any:
        return 100 * (b - a**2) ** 2 + (1 - a) ** 2

    return np.sum(lib.vmap(term)(x[:-1], x[1:]))


@way("expanded, inner products")
def expanded(lib: Library, x: Any) -> Any:
    """Squares multiplied out, and sums as inner products."""
    a, b = x[:-1], x[1:]
    n = x.shape[0] - 1
    return 100 * (b @ b - 2 * (b @ a**2) + a**2 @ a**2) + n - 2 * lib.np.sum(a) + a @ a


@way("three blocks of terms")
def blocks_of_terms(lib: Library, x: Any) -> Any:
    """The terms in three blocks, in a Python loop; a block reads one element of the next."""
    total, n = 0.0, x.shape[0] - 1
    size = n // 3
    for start in range(0, n, size):
        a, b = x[start : start + size], x[start + 1 : start + size + 1]
        total = total + lib.np.sum(100 * (b - a**2) ** 2 + (1 - a) ** 2)
    return total
