"""W6: gradients through factorizations of matrices 500 × 500.

gp      the marginal likelihood of a Gaussian process, value and gradient by three parameters,
        through the Cholesky factor; by hand from cho_factor, cho_solve and the trace formula
        (Rasmussen, Williams (2006), equation 5.9)
gp, lu  the same written with `np.linalg.solve` and `slogdet`, against the same by hand
svd     the gradient of Σ C∘(U tanh(S) Vᴴ), by hand with the adjoint of the SVD
        (Townsend (2016), Differentiating the singular value decomposition)
eigh    the gradient of Σ C∘(V tanh(w) Vᴴ), by hand with the adjoint of the eigenproblem
        (Giles (2008), Collected matrix derivative results, 3.1)

A matrix that is known to be symmetric has a gradient up to an antisymmetric part, so gradients of
eigh are compared symmetrised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.peers import on_device, ready
from benchmarks.harness.workload import Call, Case, Goal, Workload


def inputs(given: tuple[str, int]) -> tuple[Any, ...]:
    """The name of the function, what is differentiated, and the rest."""
    name, n = given
    rng = np.random.default_rng(0)
    if name in ("gp", "gp, lu"):
        x = rng.uniform(0, 10, (n, 2))
        distances = ((x[:, None] - x[None]) ** 2).sum(-1)
        return name, np.log([0.7, 1.3, 0.3]), distances, np.sin(x[:, 0]) + 0.3 * rng.normal(size=n)
    a, c = rng.normal(size=(2, n, n)) / np.sqrt(n)
    return name, ((a + a.T) / 2 if name == "eigh" else a), c


def symmetrised(case: Case, result: Any) -> Any:
    """What is compared."""
    value, gradient = result
    if not case.name.startswith("eigh"):
        return result
    gradient = np.asarray(gradient)
    return value, (gradient + gradient.T) / 2


NAMES = ("svd", "eigh", "gp", "gp, lu")
W = Workload(
    "W6",
    "svd, eigh, marginal likelihood of a Gaussian process, n = 500",
    cases=[Case(name, (name, 500)) for name in NAMES],
    quick=[Case(f"{name}, n = 40", (name, 40)) for name in NAMES],
    inputs=inputs,
    goals=[
        Goal(1.0, case="svd"),
        Goal(1.0, case="eigh"),
        Goal(1.05, case="gp"),
        Goal(1.0, case="svd", contestant="tenferro xla", over="jax"),
        Goal(1.0, case="eigh", contestant="tenferro xla", over="jax"),
        Goal(0.7, case="gp", contestant="tenferro xla", over="jax"),
    ],
    tolerance=1e-8,
    compared=symmetrised,
)


# ---- by hand ---------------------------------------------------------------------------------


def gp_by_hand(theta: Any, distances: Any, y: Any) -> tuple[Any, Any]:
    """Through one Cholesky factor and the inverse that it gives."""
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
    inverse -= np.outer(alpha, alpha)
    product = inverse * kernel
    by_length = np.vdot(product, distances) / (2 * length)
    return np.array([by_length, product.sum(), noise * np.trace(inverse)])


def svd_by_hand(np: Any, a: Any, c: Any) -> tuple[Any, Any]:
    """The adjoint of the thin SVD of a square matrix, for any cotangents of U, S and Vh."""
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


def eigh_by_hand(np: Any, a: Any, c: Any) -> tuple[Any, Any]:
    """The adjoint of the Hermitian eigenproblem, for any cotangents of w and V; symmetrised."""
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


def gp_by_hand_through_the_triangle(
    np: Any, solve_triangular: Any, theta: Any, distances: Any, y: Any
) -> tuple[Any, Any]:
    """The same for libraries that solve triangular systems alone, such as CuPy."""
    length, amplitude, noise = np.exp(2 * theta)
    kernel = amplitude * np.exp(distances * (-0.5 / length))
    identity = np.eye(len(y))
    factor = np.linalg.cholesky(kernel + noise * identity)
    half = solve_triangular(factor, identity, lower=True)
    inverse = half.T @ half
    alpha = inverse @ y
    value = y @ alpha / 2 + np.log(np.diag(factor)).sum() + len(y) / 2 * math.log(2 * math.pi)
    inverse -= np.outer(alpha, alpha)
    product = inverse * kernel
    by_length = np.vdot(product, distances) / (2 * length)
    return value, np.stack([by_length, product.sum(), noise * np.trace(inverse)])


BY_HAND = {"gp": gp_by_hand, "gp, lu": gp_lu_by_hand}
BY_HAND |= {"svd": partial(svd_by_hand, np), "eigh": partial(eigh_by_hand, np)}


@W.contestant("numpy")
def with_numpy(name: str, *given: Any) -> Call:
    return lambda: BY_HAND[name](*given)


# ---- what is differentiated, in the namespace of each ------------------------------------------


def losses(np: Any, solve_triangular: Any) -> dict[str, Callable[..., Any]]:
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

    return {"gp": gp, "gp, lu": gp_lu, "svd": svd, "eigh": eigh}


def ours(name: str) -> Any:
    """tenferro's value and gradient."""
    import tenferro as tn

    return tn.value_and_grad(losses(np, tn.linalg.solve_triangular)[name])


@W.contestant("tenferro")
def with_tenferro(name: str, *given: Any) -> Call:
    import tenferro as tn

    f = tn.jit(ours(name))
    return lambda: f(*given)


@W.contestant("tenferro un-jitted")
def with_tenferro_unjitted(name: str, *given: Any) -> Call:
    f = ours(name)
    return lambda: f(*given)


@W.contestant("tenferro xla", needs="xla")
def with_xla(name: str, *given: Any) -> Call:
    import tenferro as tn

    f = tn.jit(ours(name), backend="xla")
    arrays = on_device(given)
    return lambda: ready(f(*arrays))


@W.contestant("jax", needs="jax")
def with_jax(name: str, *given: Any) -> Call:
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    f = jax.jit(jax.value_and_grad(losses(jnp, solve_triangular)[name]))
    arrays = [jnp.asarray(x) for x in given]
    return lambda: jax.block_until_ready(f(*arrays))


@W.contestant("torch", needs="torch")
def with_torch(name: str, *given: Any) -> Call:
    import torch

    parameter, *rest = (torch.as_tensor(x) for x in given)
    parameter.requires_grad_()

    def covariance(theta: Any, distances: Any) -> Any:
        scales = torch.exp(2 * theta)
        kernel = scales[1] * torch.exp(distances * (-0.5 / scales[0]))
        return kernel + scales[2] * torch.eye(len(distances), dtype=theta.dtype)

    def gp(theta: Any, distances: Any, y: Any) -> Any:
        factor = torch.linalg.cholesky(covariance(theta, distances))
        z = torch.linalg.solve_triangular(factor, y[:, None], upper=False)[:, 0]
        return z @ z / 2 + factor.diagonal().log().sum() + len(y) / 2 * np.log(2 * np.pi)

    def gp_lu(theta: Any, distances: Any, y: Any) -> Any:
        k = covariance(theta, distances)
        quadratic = y @ torch.linalg.solve(k, y)
        return (quadratic + torch.linalg.slogdet(k)[1] + len(y) * np.log(2 * np.pi)) / 2

    def svd(a: Any, c: Any) -> Any:
        u, s, vh = torch.linalg.svd(a, full_matrices=False)
        return torch.sum(c * ((u * torch.tanh(s)) @ vh))

    def eigh(a: Any, c: Any) -> Any:
        w, v = torch.linalg.eigh(a)
        return torch.sum(c * ((v * torch.tanh(w)) @ v.T))

    f = {"gp": gp, "gp, lu": gp_lu, "svd": svd, "eigh": eigh}[name]

    def value_and_gradient() -> Any:
        value = f(parameter, *rest)
        return value, torch.autograd.grad(value, parameter)[0]

    return value_and_gradient


@W.contestant("autograd", needs="autograd")
def with_autograd(name: str, *given: Any) -> Call:
    import autograd
    import autograd.numpy as anp
    from autograd.scipy.linalg import solve_triangular

    f = autograd.value_and_grad(losses(anp, solve_triangular)[name])
    return lambda: f(*given)
