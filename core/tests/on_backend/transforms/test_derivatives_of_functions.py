"""Derivatives of public functions agree with differences, real and complex, to order 2."""

import numpy as np
import pytest
from scipy import special

import tenferro as tn

REAL = np.array([0.31, 0.52, 0.77])
COMPLEX = REAL + 1j * np.array([0.2, -0.35, 0.4])
MATRIX = np.array([[2.0, 0.3, -0.5], [0.1, 1.5, 0.7], [0.4, -0.2, 3.0]])
COMPLEX_MATRIX = MATRIX + 0.3j * MATRIX.T[::-1]
UFUNCS = """sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh exp expm1 exp2 log log2
    log10 log1p sqrt square reciprocal abs sign real imag conj angle sinc positive negative
    nan_to_num sum prod var std mean cumsum cumprod sort median nanvar gradient""".split()
REAL_ONLY = "cbrt i0 deg2rad ptp max".split()
SPECIAL = """gammaln digamma erf erfc erfcx ndtr log_ndtr expit logit i0 i0e i1 i1e exprel entr psi
    gamma erfinv loggamma""".split()
OF_VECTORS = {
    "norm": np.linalg.norm,
    "convolve": lambda x: np.convolve(x, x),
    "outer": lambda x: np.outer(x, x),
    "vdot": lambda x: np.vdot(x, x * 2),
    "power": lambda x: x ** x[::-1],
    "divide": lambda x: x / x[::-1],
    "fft": np.fft.fft,
    "kron": lambda x: np.kron(x, x),
}
OF_REAL_VECTORS = {
    "hypot": lambda x: np.hypot(x, x[::-1] + 1),
    "logaddexp": lambda x: np.logaddexp(x, x[::-1]),
    "arctan2": lambda x: np.arctan2(x, x[::-1]),
    "quantile": lambda x: np.quantile(x, 0.3),
    "xlog1py": lambda x: special.xlog1py(x, x),
}
OF_MATRICES = {
    "det": np.linalg.det,
    "inv": np.linalg.inv,
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "solve": lambda a: np.linalg.solve(a, a[0]),
    "svd": lambda a: np.linalg.svd(a, compute_uv=False),
    "pinv": np.linalg.pinv,
    "third power": lambda a: np.linalg.matrix_power(a, 3),
    "inverse square": lambda a: np.linalg.matrix_power(a, -2),
    "nuclear norm": lambda a: np.linalg.norm(a, "nuc"),
    "spectral norm": lambda a: np.linalg.norm(a, 2),
    "qr": lambda a: abs(np.linalg.qr(a)[1]) ** 2,
    "trace": np.trace,
    "eigvals": lambda a: np.sum(np.linalg.eigvals(a) ** 3),
    "cond": np.linalg.cond,
}
CASES = {
    **{name: (getattr(np, name), (REAL, COMPLEX)) for name in UFUNCS},
    **{name: (getattr(np, name), (REAL,)) for name in REAL_ONLY},
    **{f"special.{name}": (getattr(special, name), (REAL,)) for name in SPECIAL},
    **{name: (f, (REAL, COMPLEX)) for name, f in OF_VECTORS.items()},
    **{name: (f, (REAL,)) for name, f in OF_REAL_VECTORS.items()},
    **{name: (f, (MATRIX, COMPLEX_MATRIX)) for name, f in OF_MATRICES.items()},
}


@pytest.mark.filterwarnings("ignore::tenferro.GaugeWarning")
@pytest.mark.parametrize("name", CASES)
def test_derivatives_agree_with_differences(name):
    """(f(x + hv) - f(x - hv))/2h = Df(x) v, and the same of Df"""
    function, points = CASES[name]
    for x in points:
        tn.check_grads(function, (x,), order=2)
