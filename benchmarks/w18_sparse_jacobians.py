"""W18: sparse derivatives as sparse matrices: arrowhead, band, five points, Rosenbrock's Hessian.

By hand the entries are written into the arrays of SciPy's `csr_array`, whose pattern is known
beforehand; those of five points of a grid are brought into order by positions that are known as
well. tenferro finds the pattern in the graph, and keeps it with the program. SciPy takes
differences along sums of columns that its user has grouped; JAX has dense derivatives only. What is
compared are the entries in row-major order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case, Goal, Workload
from benchmarks.w10_rosenbrock import diagonals
from benchmarks.w10_rosenbrock import loss as rosenbrock

ARROW, BAND, HESSIAN = "arrowhead", "band", "Hessian of Rosenbrock"
GRID = "five points"
NAMES = (ARROW, BAND, HESSIAN)


def inputs(given: tuple[str, int]) -> tuple[Any, ...]:
    what, n = given
    return what, np.random.default_rng(0).uniform(0.5, 1.5, n)


W = Workload(
    "W18",
    "sparse Jacobians and Hessians",
    cases=[
        *[Case(f"{name}, n = {n:,}", (name, n)) for name in NAMES for n in (1000, 10_000)],
        *[Case(f"{GRID}, n = {n:,}", (GRID, n)) for n in (900, 10_000)],
    ],
    quick=[*[Case(f"{name}, n = 50", (name, 50)) for name in NAMES], Case(GRID, (GRID, 49))],
    inputs=inputs,
    goals=[
        Goal(1.2, case=f"{name}, n = 10,000", contestant=contestant)
        for contestant in ("tenferro", "tenferro xla")
        for name in (*NAMES, GRID)
    ],
    tolerance=1e-4,
)


def functions(np: Any) -> dict[str, Any]:
    """What is differentiated, in NumPy's names."""

    def arrowhead(x: Any) -> Any:
        return np.concatenate([np.sum(x**2)[None], x[1:] ** 2 * x[0] + x[1:]])

    def band(x: Any) -> Any:
        return x[1:-1] ** 2 * x[:-2] - np.sin(x[2:])

    def five_points(u: Any) -> Any:
        k = round(u.size**0.5)
        v = np.pad(u.reshape(k, k), 1)
        c = v[1:-1, 1:-1]
        near = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2]
        return (c * (4 + near) - np.exp(c)).reshape(-1)

    return {ARROW: arrowhead, BAND: band, GRID: five_points, HESSIAN: lambda x: rosenbrock(np, x)}


def pattern(what: str, n: int) -> Any:
    """The pattern as a matrix of ones."""
    from scipy.sparse import csr_array, diags_array, lil_array

    if what == BAND:
        ones = [np.ones(n - 2)] * 3
        return csr_array(diags_array(ones, offsets=[0, 1, 2], shape=(n - 2, n)))
    if what == HESSIAN:
        ones = [np.ones(n - 1), np.ones(n), np.ones(n - 1)]
        return csr_array(diags_array(ones, offsets=[-1, 0, 1]))
    if what == GRID:
        row, column, _ = five_diagonals(round(n**0.5))
        return csr_array((np.ones(len(row)), (row, column)), shape=(n, n))
    arrow = lil_array((n, n))
    arrow[0, :] = 1.0
    arrow[:, 0] = 1.0
    arrow.setdiag(1.0)
    return csr_array(arrow)


def five_diagonals(k: int) -> tuple[Any, Any, Any]:
    """Rows and columns of the five points, diagonal by diagonal, and their row-major order."""
    at = np.arange(k * k).reshape(k, k)
    pairs = [(at, at), (at[:-1], at[1:]), (at[1:], at[:-1]), (at[:, :-1], at[:, 1:])]
    pairs.append((at[:, 1:], at[:, :-1]))
    row, column = (np.concatenate([pair[i].reshape(-1) for pair in pairs]) for i in (0, 1))
    return row, column, np.lexsort((column, row))


@W.contestant("numpy")
def by_hand(what: str, x: Any) -> Call:
    from scipy.sparse import csr_array

    n, matrix = len(x), pattern(what, len(x))
    places = matrix.indices, matrix.indptr

    def arrowhead() -> Any:
        data = np.empty(3 * n - 2)
        np.multiply(x, 2.0, out=data[:n])
        data[n::2] = x[1:] ** 2
        data[n + 1 :: 2] = 2 * x[1:] * x[0] + 1
        return csr_array((data, *places), shape=matrix.shape).data

    def band() -> Any:
        data = np.empty((n - 2, 3))
        data[:, 0] = x[1:-1] ** 2
        data[:, 1] = 2 * x[1:-1] * x[:-2]
        data[:, 2] = -np.cos(x[2:])
        return csr_array((data.reshape(-1), *places), shape=matrix.shape).data

    def hessian() -> Any:
        main, beside = diagonals(x)
        data = np.empty(3 * n - 2)
        data[::3], data[1::3], data[2::3] = main, beside, beside
        return csr_array((data, *places), shape=matrix.shape).data

    k = round(n**0.5)
    order = five_diagonals(k)[2] if what == GRID else None

    def five_points() -> Any:
        v = np.pad(x.reshape(k, k), 1)
        c = v[1:-1, 1:-1]
        main = 4 + v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - np.exp(c)
        parts = main, c[:-1], c[1:], c[:, :-1], c[:, 1:]
        data = np.concatenate([part.reshape(-1) for part in parts]).take(order)
        return csr_array((data, *places), shape=matrix.shape).data

    return {ARROW: arrowhead, BAND: band, GRID: five_points, HESSIAN: hessian}[what]


def ours(what: str, **options: Any) -> Any:
    """tenferro's derivative."""
    import tenferro as tn

    transform = tn.hessian if what == HESSIAN else tn.jacobian
    return transform(functions(np)[what], sparse=True, **options)


@W.contestant("tenferro")
def with_tenferro(what: str, x: Any) -> Call:
    import tenferro as tn

    f = tn.jit(ours(what))
    return lambda: f(x).data


@W.contestant("tenferro un-jitted")
def un_jitted(what: str, x: Any) -> Call:
    f = ours(what)
    return lambda: f(x).data


@W.contestant("tenferro xla", needs="xla")
def with_xla(what: str, x: Any) -> Call:
    import tenferro as tn

    f = tn.jit(ours(what), backend="xla")
    return lambda: f(x).data


@W.contestant("scipy, differences")
def with_scipy(what: str, x: Any) -> Call:
    from scipy.optimize._numdiff import approx_derivative, group_columns

    if what == HESSIAN:

        def f(x: Any) -> Any:  # the gradient by hand: differences of differences are too rough
            main = 2 * (x[:-1] - 1) - 400 * x[:-1] * (x[1:] - x[:-1] ** 2)
            found = np.append(main, 0.0)
            found[1:] += 200 * (x[1:] - x[:-1] ** 2)
            return found

    else:
        f = functions(np)[what]
    matrix = pattern(what, len(x))
    sparsity = matrix, group_columns(matrix)
    return lambda: approx_derivative(f, x, sparsity=sparsity).data


SMALL = tuple(case.name for case in (*W.cases, *W.quick) if "10,000" not in case.name)


@W.contestant("jax, dense", needs="jax", cases=SMALL)
def with_jax(what: str, x: Any) -> Call:
    import jax
    import jax.numpy as jnp

    rows, columns = pattern(what, len(x)).nonzero()
    transform = jax.hessian if what == HESSIAN else jax.jacfwd
    f, x = jax.jit(transform(functions(jnp)[what])), jnp.asarray(x)
    return lambda: np.asarray(f(x))[rows, columns]
