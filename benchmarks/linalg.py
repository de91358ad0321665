"""Gradients through factorizations beside NumPy by hand, autograd and JAX: W6 of the workloads.

gp      the marginal likelihood of a Gaussian process, value and gradient by three parameters,
        through the Cholesky factor; by hand from cho_factor, cho_solve and the trace formula
        (Rasmussen, Williams (2006), equation 5.9)
gp lu   the same written with `np.linalg.solve` and `slogdet`, against the same by hand
svd     the gradient of Σ C∘(U tanh(S) Vᴴ), by hand with the adjoint of the SVD
        (Townsend (2016), Differentiating the singular value decomposition)
eigh    the gradient of Σ C∘(V tanh(w) Vᴴ), by hand with the adjoint of the eigenproblem
        (Giles (2008), Collected matrix derivative results, 3.1)

All contestants take turns in one process, pinned to one core with one thread in BLAS, and are
compared before a time counts. CPU milliseconds: the minimum and the median; the ratio is that of
the minima. Peers that are not installed are left out and said so.

    python benchmarks/linalg.py [gp "gp lu" svd eigh] [--n 500] [--repeats 15] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ONE_THREAD = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "TENFERRO_BENCHMARK_PINNED": "1",
}
GOALS = {"gp": 1.3, "gp lu": 1.3, "svd": 1.1, "eigh": 1.1}
Contestants = dict[str, Callable[..., Any]]


# ---- by hand ---------------------------------------------------------------------------------


def gp_by_hand(theta: Any, distances: Any, y: Any) -> tuple[Any, Any]:
    """Through one Cholesky factor and the inverse that it gives."""
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    length, amplitude, noise = np.exp(2 * theta)
    kernel = amplitude * np.exp(distances * (-0.5 / length))
    covariance = kernel.copy()
    covariance.flat[:: len(y) + 1] += noise
    factor = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
    alpha = cho_solve(factor, y, check_finite=False)
    value = y @ alpha / 2 + np.log(np.diag(factor[0])).sum() + len(y) / 2 * np.log(2 * np.pi)
    inverse = cho_solve(factor, np.eye(len(y)), overwrite_b=True, check_finite=False)
    return value, traces(kernel, distances, noise, length, inverse, alpha)


def gp_lu_by_hand(theta: Any, distances: Any, y: Any) -> tuple[Any, Any]:
    """Through one LU factorization."""
    import numpy as np
    from scipy.linalg import lu_factor, lu_solve

    length, amplitude, noise = np.exp(2 * theta)
    kernel = amplitude * np.exp(distances * (-0.5 / length))
    covariance = kernel.copy()
    covariance.flat[:: len(y) + 1] += noise
    factors = lu_factor(covariance, overwrite_a=True, check_finite=False)
    alpha = lu_solve(factors, y, check_finite=False)
    log_determinant = np.log(np.abs(np.diag(factors[0]))).sum()
    value = (y @ alpha + log_determinant + len(y) * np.log(2 * np.pi)) / 2
    inverse = lu_solve(factors, np.eye(len(y)), overwrite_b=True, check_finite=False)
    return value, traces(kernel, distances, noise, length, inverse, alpha)


def traces(kernel: Any, distances: Any, noise: Any, length: Any, inverse: Any, alpha: Any) -> Any:
    """½ tr((K⁻¹ − α αᵀ) dK) for the three parameters."""
    import numpy as np

    inverse -= np.outer(alpha, alpha)
    product = inverse * kernel
    by_length = np.vdot(product, distances) / (2 * length)
    return np.array([by_length, product.sum(), noise * np.trace(inverse)])


def svd_by_hand(a: Any, c: Any) -> tuple[Any, Any]:
    """The adjoint of the thin SVD of a square matrix, for any cotangents of U, S and Vh."""
    import numpy as np

    u, s, vh = np.linalg.svd(a, full_matrices=False)
    t = np.tanh(s)
    value = np.vdot(c, (u * t) @ vh)
    ct_u, ct_vh = (c @ vh.T) * t, t[:, None] * (u.T @ c)
    ct_s = np.einsum("ij,ij->j", u, c @ vh.T) * (1 - t * t)
    gaps = s**2 - s[:, None] ** 2
    np.fill_diagonal(gaps, np.inf)
    left, right = u.T @ ct_u, vh @ ct_vh.T
    left, right = (left - left.T) / gaps, (right - right.T) / gaps
    inner = left * s + s[:, None] * right
    np.fill_diagonal(inner, ct_s)
    return value, u @ inner @ vh


def eigh_by_hand(a: Any, c: Any) -> tuple[Any, Any]:
    """The adjoint of the Hermitian eigenproblem, for any cotangents of w and V; symmetrised."""
    import numpy as np

    w, v = np.linalg.eigh(a)
    t = np.tanh(w)
    value = np.vdot(c, (v * t) @ v.T)
    right = c @ v
    ct_v = right * t + c.T @ (v * t)
    ct_w = np.einsum("ij,ij->j", v, right) * (1 - t * t)
    gaps = w - w[:, None]
    np.fill_diagonal(gaps, np.inf)
    inner = (v.T @ ct_v) / gaps
    np.fill_diagonal(inner, ct_w)
    found = v @ inner @ v.T
    return value, (found + found.T) / 2


BY_HAND = {"gp": gp_by_hand, "gp lu": gp_lu_by_hand, "svd": svd_by_hand, "eigh": eigh_by_hand}


# ---- what is differentiated, written in the namespace of each contestant -----------------------


def losses(np: Any, solve_triangular: Any) -> Contestants:
    """The losses in NumPy's names."""

    def covariance(theta: Any, distances: Any) -> Any:
        scales = np.exp(2 * theta)
        kernel = scales[1] * np.exp(distances * (-0.5 / scales[0]))
        return kernel + scales[2] * np.eye(distances.shape[0])

    def gp(theta: Any, distances: Any, y: Any) -> Any:
        factor = np.linalg.cholesky(covariance(theta, distances))
        z = solve_triangular(factor, y, lower=True)
        return z @ z / 2 + np.sum(np.log(np.diag(factor))) + len(y) / 2 * np.log(2 * np.pi)

    def gp_lu(theta: Any, distances: Any, y: Any) -> Any:
        k = covariance(theta, distances)
        quadratic = y @ np.linalg.solve(k, y)
        return (quadratic + np.linalg.slogdet(k)[1] + len(y) * np.log(2 * np.pi)) / 2

    def svd(a: Any, c: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(c * ((u * np.tanh(s)) @ vh))

    def eigh(a: Any, c: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum(c * ((v * np.tanh(w)) @ v.T))

    return {"gp": gp, "gp lu": gp_lu, "svd": svd, "eigh": eigh}


def contestants(name: str) -> Contestants:
    """Functions that give value and gradient by the first argument."""
    import numpy

    import tenferro as tn

    ours = losses(numpy, tn.linalg.solve_triangular)[name]
    found = {
        "by hand": BY_HAND[name],
        "tenferro.jit": tn.jit(tn.value_and_grad(ours)),
        "tenferro": tn.value_and_grad(ours),
    }
    if importlib.util.find_spec("autograd"):
        import autograd
        import autograd.numpy as autograd_numpy
        from autograd.scipy.linalg import solve_triangular

        theirs = losses(autograd_numpy, solve_triangular)[name]
        found["autograd"] = autograd.value_and_grad(theirs)
    if importlib.util.find_spec("jax"):
        import jax
        from jax.scipy.linalg import solve_triangular

        jax.config.update("jax_enable_x64", True)
        theirs = losses(jax.numpy, solve_triangular)[name]
        compiled = jax.jit(jax.value_and_grad(theirs))
        found["jax.jit"] = lambda *operands: jax.block_until_ready(compiled(*operands))
    return found


def operands(name: str, n: int) -> tuple[Any, ...]:
    """Irregular operands, the same at every run."""
    import numpy as np

    rng = np.random.default_rng(0)
    if name in ("gp", "gp lu"):
        x = rng.uniform(0, 10, (n, 2))
        distances = ((x[:, None] - x[None]) ** 2).sum(-1)
        return np.log([0.7, 1.3, 0.3]), distances, np.sin(x[:, 0]) + 0.3 * rng.normal(size=n)
    a, c = rng.normal(size=(2, n, n)) / np.sqrt(n)
    return ((a + a.T) / 2 if name == "eigh" else a), c


# ---- measuring -------------------------------------------------------------------------------


def measure(name: str, n: int, repeats: int) -> dict[str, Any]:
    """Milliseconds of CPU time of every contestant, which take turns."""
    functions, given = contestants(name), operands(name, n)
    agree(name, {who: function(*given) for who, function in functions.items()})
    for function in functions.values():
        function(*given)  # whatever compiles at the second call
    times: dict[str, list[float]] = {who: [] for who in functions}
    for _ in range(repeats):
        for who, function in functions.items():
            start = time.process_time()
            function(*given)
            times[who].append(1e3 * (time.process_time() - start))
    hand = min(times["by hand"])
    return {
        who: {"min": min(t), "median": statistics.median(t), "ratio": min(t) / hand}
        for who, t in times.items()
    }


def agree(name: str, results: dict[str, Any]) -> None:
    """Stop unless all contestants found one value and one gradient.

    A matrix that is known to be symmetric has a gradient up to an antisymmetric part.
    """
    import numpy as np

    value, gradient = results["by hand"]
    for who, (other, found) in results.items():
        same = np.isclose(other, value, rtol=1e-9)
        slope = (found + found.T) / 2 if name == "eigh" else found
        far = np.max(np.abs(np.asarray(slope) - gradient)) / np.max(np.abs(gradient))
        if not same or far > 1e-8:
            raise SystemExit(f"{name}: {who} has {other!r} for {value!r}, gradients differ {far:g}")


def environment() -> dict[str, Any]:
    """Versions, threads and load."""
    from importlib.metadata import version

    names = [n for n in ("numpy", "scipy", "jax", "autograd") if importlib.util.find_spec(n)]
    found: dict[str, Any] = {n: version(n) for n in names}
    found.update(python=sys.version.split()[0], load=os.getloadavg(), cores=os.cpu_count())
    if importlib.util.find_spec("threadpoolctl"):
        import threadpoolctl

        kept = ("internal_api", "version", "num_threads", "architecture")
        info = threadpoolctl.threadpool_info()
        found["blas"] = [{key: pool.get(key) for key in kept} for pool in info]
    return found


def pinned(arguments: list[str]) -> int:
    """Run this file again with one thread, on one core: libraries read their settings once."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, env={**os.environ, **ONE_THREAD}, check=False).returncode


def report(found: dict[str, dict[str, Any]], n: int) -> None:
    """The table."""
    print(f"n = {n}, CPU milliseconds, one thread\n")
    print(f"{'':8}{'':14}{'min':>9}{'median':>9}{'ratio':>8}   goal")
    for name, row in found.items():
        for who, cell in row.items():
            goal = f"{GOALS[name]:.1f}" if who.startswith("tenferro") else ""
            numbers = f"{cell['min']:9.2f}{cell['median']:9.2f}{cell['ratio']:8.2f}"
            print(f"{name:8}{who:14}{numbers}   {goal}")
    missing = [peer for peer in ("autograd", "jax") if not importlib.util.find_spec(peer)]
    if missing:
        print(f"not installed: {', '.join(missing)}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *BY_HAND])
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if "TENFERRO_BENCHMARK_PINNED" not in os.environ:
        return pinned(arguments)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    names = options.names or list(BY_HAND)
    found = {name: measure(name, options.n, options.repeats) for name in names}
    report(found, options.n)
    if options.json:
        whole = {"n": options.n, "environment": environment(), "results": found}
        options.json.write_text(json.dumps(whole, indent=2), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
