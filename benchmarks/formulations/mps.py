"""The overlap of two matrix product states (W5) and its gradient, in eleven ways.

By hand: environments from both sides, six products per site, as in W5. All inner bonds are 64 wide,
so the environments near the ends have low rank; only the one einsum, which may contract in any
order, uses that. The ways differ in the words for products, in the side where they begin, in the
order of axes, and in loops over sites in Python or in `scan`.
Read next: `benchmarks/w05_mps_overlap.py`, which defines the function.
"""

from __future__ import annotations

import functools
from typing import Any

from benchmarks import w05_mps_overlap as w05
from benchmarks.harness.workload import Call, Case

from .library import Formulations, Library


def inputs(length: int) -> tuple[Any, ...]:
    """Two different chains."""
    return w05.inputs((length, False))


MPS = Formulations(
    inputs,
    cases=[Case("mps, L = 32", ("mps", 32))],
    quick=[Case("mps, L = 6", ("mps", 6))],
    argnums=(0, 1),
)


@MPS.hand
def by_hand(a: Any, b: Any) -> Call:
    """W5's: nothing in it is computed twice, and no axis is moved."""
    return w05.with_numpy(a, b)


# ---- einsum --------------------------------------------------------------------------------------


@MPS.way("one einsum", without=("autograd",))
def one_einsum(lib: Library, a: Any, b: Any) -> Any:
    """All tensors in one einsum; the order of contraction is left to it."""
    return lib.np.einsum(*w05.interleaved(a, b))


@MPS.way("einsum by sites", without=("autograd",))
def einsum_by_sites(lib: Library, a: Any, b: Any) -> Any:
    """Three operands per site; autograd would contract them at once, in χ⁴ steps."""
    np, left = lib.np, lib.np.ones((1, 1))
    for x, y in zip(a, b, strict=True):
        left = np.einsum("ab,apc,bpd->cd", left, x, y)
    return left[0, 0]


@MPS.way("two einsums by sites")
def two_einsums_by_sites(lib: Library, a: Any, b: Any) -> Any:
    """Two operands at a time."""
    np, left = lib.np, lib.np.ones((1, 1))
    for x, y in zip(a, b, strict=True):
        left = np.einsum("bpc,bpd->cd", np.einsum("ab,apc->bpc", left, x), y)
    return np.sum(left)


# ---- products of matrices ------------------------------------------------------------------------


@MPS.way("matmul of reshaped tensors")
def reshaped(lib: Library, a: Any, b: Any) -> Any:
    """Tensors as matrices, one product per half site."""
    return w05.sweep(lib.np, a, b)


@MPS.way("tensordot")
def by_tensordot(lib: Library, a: Any, b: Any) -> Any:
    """Axes by number; the last pair of axes is contracted at once."""
    np, left = lib.np, lib.np.ones((1, 1))
    for x, y in zip(a, b, strict=True):
        left = np.tensordot(np.tensordot(left, x, axes=(0, 0)), y, axes=((0, 1), (0, 1)))
    return left[0, 0]


@MPS.way("physical index in a loop")
def physical_loop(lib: Library, a: Any, b: Any) -> Any:
    """The sum over the physical index in Python: Σ Aₚᵀ E Bₚ."""
    np, left = lib.np, lib.np.ones((1, 1))
    for x, y in zip(a, b, strict=True):
        left = sum(x[:, p].T @ left @ y[:, p] for p in range(x.shape[1]))
    return np.trace(left)


@MPS.way("physical axis first")
def physical_axis_first(lib: Library, a: Any, b: Any) -> Any:
    """The physical axis moved to the front: batches of products, then a sum."""
    np, left = lib.np, lib.np.ones((1, 1))
    for x, y in zip(a, b, strict=True):
        first, second = np.moveaxis(x, 1, 0), np.transpose(y, (1, 0, 2))
        left = np.sum(np.swapaxes(first, 1, 2) @ (left @ second), axis=0)
    return left[0, 0]


# ---- order of the sites --------------------------------------------------------------------------


@MPS.way("from the right")
def from_the_right(lib: Library, a: Any, b: Any) -> Any:
    """Environments from the last site on."""
    np, right = lib.np, lib.np.ones((1, 1))
    for x, y in zip(reversed(a), reversed(b), strict=True):
        right = np.tensordot(x, np.tensordot(y, right, axes=(2, 1)), axes=((1, 2), (1, 2)))
    return right[0, 0]


@MPS.way("from both ends")
def from_both_ends(lib: Library, a: Any, b: Any) -> Any:
    """Both environments, which meet in the middle."""
    np, half = lib.np, len(a) // 2
    left = right = np.ones((1, 1))
    for x, y in zip(a[:half], b[:half], strict=True):
        left = np.einsum("bpc,bpd->cd", np.einsum("ab,apc->bpc", left, x), y)
    for x, y in zip(a[: half - 1 : -1], b[: half - 1 : -1], strict=True):
        right = np.einsum("apc,bpc->ab", np.einsum("apc,cd->apd", x, right), y)
    return np.sum(left * right)


@MPS.way("stacked, scan", without=("autograd",))
def stacked_scan(lib: Library, a: Any, b: Any) -> Any:
    """The sites between the ends in one array, and a loop of the library over them."""
    np = lib.np

    def step(left: Any, pair: Any) -> Any:
        x, y = pair
        return np.einsum("bpc,bpd->cd", np.einsum("ab,apc->bpc", left, x), y), None

    first = np.einsum("apc,apd->cd", a[0], b[0])
    left, _ = lib.scan(step, first, (np.stack(a[1:-1]), np.stack(b[1:-1])))
    return np.sum(np.einsum("bpc,bpd->cd", np.einsum("ab,apc->bpc", left, a[-1]), b[-1]))


@MPS.way("functools.reduce")
def by_reduce(lib: Library, a: Any, b: Any) -> Any:
    """A fold over pairs; both tensors as matrices of two different shapes."""
    np = lib.np

    def absorb(left: Any, pair: Any) -> Any:
        x, y = pair
        moved = np.reshape(left @ np.reshape(y, (y.shape[0], -1)), (-1, y.shape[2]))
        return np.reshape(x, (-1, x.shape[2])).T @ moved

    return functools.reduce(absorb, zip(a, b, strict=True), np.ones((1, 1)))[0, 0]
