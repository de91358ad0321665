"""Replacements for functions of SciPy that were given an Array, as errors name them.

Most functions of SciPy compute with numbers. Some have a counterpart of the same name here, some
another one, and solvers are differentiated by the equation that they solve.
Read next: ``diagnosis/refusals.py``.
"""

from __future__ import annotations

from importlib import import_module

_COUNTERPARTS = frozenset(("integrate", "interpolate", "ndimage", "signal", "spatial.distance"))
_SPARSE = (
    "of sparse arrays of SciPy, operators take Arrays: `S @ x`, `S * x`, `S / x`, `S + x`, "
    "`S == x`, on either side; `tenferro.linalg.sparse_array(S)` has the entries `.data`, and "
    "`.toarray()`"
)
_OF_EQUATION = (
    "the derivative of a solution follows from its equation: "
    "`tenferro.custom_root(f, x0, solve, tangent_solve)`, where `solve(f, x0)` may call "
    "`scipy.{rest}` outside of jit"
)
_CONVOLVED = 'write `tenferro.signal.convolve(np.pad(x, width, "symmetric"), kernel, "valid")`'
_TRIDIAGONAL = (
    "write `np.linalg.eigh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))`, or `eigvalsh` of it"
)
_NAMES = {
    "fft.dct": "write it by `np.fft.rfft` of the sequence and its mirror image",
    "interpolate.interp1d": (
        "write `np.interp(x, xs, ys)`, or `tenferro.interpolate.CubicSpline(xs, ys)(x)`"
    ),
    "interpolate.RegularGridInterpolator": (
        "write `tenferro.ndimage.map_coordinates(values, places, order=1)`, with places in steps "
        "of the grid"
    ),
    "linalg.eigh_tridiagonal": _TRIDIAGONAL,
    "linalg.eigvalsh_tridiagonal": _TRIDIAGONAL,
    "linalg.expm_frechet": "write `tenferro.jvp(tenferro.linalg.expm, (A,), (E,))`",
    "linalg.matmul_toeplitz": "write `tenferro.linalg.toeplitz(c, r) @ x`",
    "linalg.pinvh": "write `np.linalg.pinv(a, hermitian=True)`",
    "linalg.solve_circulant": "write `np.linalg.solve(tenferro.linalg.circulant(c), b)`",
    "linalg.solve_toeplitz": "write `np.linalg.solve(tenferro.linalg.toeplitz(c, r), b)`",
    "linalg.subspace_angles": (
        "the cosines of the angles are `tenferro.linalg.svdvals(P.conj().T @ Q)`, with P and Q "
        "from `tenferro.linalg.orth`"
    ),
    "ndimage.convolve": _CONVOLVED,
    "signal.convolve2d": "write `tenferro.signal.convolve`, which takes arrays of any rank",
    "signal.correlate2d": "write `tenferro.signal.correlate`, which takes arrays of any rank",
}
_PARTS = {
    "ndimage": f"a filter is a convolution with a kernel: {_CONVOLVED}",
    "sparse.linalg": (
        "a sparse system is solved by `tenferro.linalg.spsolve(S, b)`, or by a solver of your own "
        "in `tenferro.custom_linear_solve`"
    ),
    "optimize": f"{_OF_EQUATION}; the equation of a minimum is that its gradient is 0",
    "integrate": (
        "`scipy.{rest}` computes with numbers: write `tenferro.integrate.quad_vec`, inside another "
        "one for each further variable, or the steps of `tenferro.integrate.solve_ivp`; "
        "or state its derivative by `tenferro.custom_vjp`"
    ),
}
# Names of ``np.linalg``, too, by what SciPy's function does otherwise when it is called alike.
_OTHERWISE = {
    "linalg.cholesky": (
        "it gives the lower factor, as NumPy's does: where SciPy's default is meant, the upper "
        "one, write `upper=True`"
    ),
    "linalg.eig": "it gives values and vectors: the problem a x = w b x is that of `solve(b, a)`",
    "linalg.eigh": "the problem a x = w b x is `eigh(a, b=b)`; `lower=False` is `UPLO='U'`",
    "linalg.eigvalsh": "the problem a x = w b x is `eigvalsh(a, b=b)`; `lower=False` is `UPLO='U'`",
    "linalg.qr": (
        "it gives the reduced factors, as NumPy's does: where SciPy's default is meant, the square "
        "Q, write `mode='complete'`"
    ),
    "linalg.solve": (
        "it takes no `assume_a`: for a positive definite matrix there is `cho_solve(cho_factor(a), "
        "b)`, for a triangular one `solve_triangular`"
    ),
}
_NO_DERIVATIVE = (
    "`scipy.{rest}` computes with numbers and has no derivative here: call it outside of the "
    "function that is differentiated or traced, or give it a derivative by `tenferro.custom_vjp`"
)


def cure_of_scipy(rest: str) -> str:
    """Return what to write instead of the function ``scipy.{rest}``."""
    part, _, name = rest.rpartition(".")
    if rest.startswith("sparse") and not part.startswith("sparse.linalg"):
        return _SPARSE
    if part.startswith("stats"):
        return _cure_of_distributions(part.rpartition(".")[2], name)
    if part in _COUNTERPARTS and name in import_module(f"tenferro.{part}").__all__:
        return f"call `tenferro.{part}.{name}`, which takes Arrays"
    if part == "special" and name in import_module("tenferro.special").__all__:
        return f"a list hides its Arrays: call `scipy.{rest}(np.stack([x, y]))`"
    return (_NAMES.get(rest) or _PARTS.get(part) or _NO_DERIVATIVE).replace("{rest}", rest)


def otherwise(rest: str) -> str:
    """Return what differs between ``scipy.{rest}`` and our function of that name, if anything."""
    return _OTHERWISE.get(rest, "")


def _cure_of_distributions(distribution: str, name: str) -> str:
    """Return what to write instead of a method of a distribution of ``scipy.stats``."""
    names = import_module("tenferro.stats").__all__
    if name == "rvs":
        return (
            "draw with `tenferro.random`, whose functions take a key and whose parameters may be "
            "Arrays, as in `tenferro.random.normal(key, shape, loc=x)`"
        )
    if distribution in names:
        there = import_module(f"tenferro.stats.{distribution}").__all__
        if name in there:
            return f"call `tenferro.stats.{distribution}.{name}`, which has SciPy's signature"
        return f"`tenferro.stats.{distribution}` has {', '.join(there)}, and no `{name}`"
    return (
        f"`tenferro.stats` has {', '.join(names)}, with the names and signatures of SciPy; write "
        "the density of another distribution by functions of NumPy and `scipy.special`"
    )
