"""Claims of the XLA backend to the conformance kit: level 3 with derivatives.

Data only; the kit decides whether it is true. Deviations of XLA itself are stated here, with their
reasons, and nowhere else.
"""

from __future__ import annotations

from tenferro_conformance.profile import Profile, Slow, Tol

_SUM_OF_LOGARITHMS = Tol(
    ulp=64, reason="exp multiplies the rounding errors of the logarithms of gamma functions"
)
_CONTINUED_FRACTION = Tol(ulp=256, reason="the continued fraction of XLA leaves a few digits")
_SERIES = Tol(
    ulp=256, reason="long sums of exp and log, whose last digits XLA computes as the processor does"
)
_SERIES_OF_SINGLES = Tol(ulp=96, reason=_SERIES.reason)

_STATISTICS = (
    *("bessel_i", "bessel_ie"),
    *("beta_density", "betainc", "betaincc", "betaln", "erfcinv", "erfcx", "exprel"),
    *("gamma", "gamma_density", "gamma_moment", "gammainc", "gammaincc"),
    *("kl_div", "log_ndtr", "log_softmax", "logit", "ndtr", "ndtri", "polygamma_difference"),
    *("random_bits", "scaled_expm1"),
    *("random_log_gamma", "reduce_logsumexp", "rel_entr", "softmax", "threefry2x32", "xlog1py"),
    *("xlogy", "zeta"),
)
_FACTORIZATIONS = (
    *(
        "adjugate",
        "banded_solve",
        "cholesky",
        "cholesky_tangent",
        "det",
        "eig",
        "eigh",
        "eigvals",
        "eigvalsh",
    ),
    *(
        "fft",
        "irfft",
        "linear_solve",
        "lu",
        "lu_permutation",
        "pfaffian",
        "pfaffian_adjugate",
        "pfaffian_slope",
        "pinv",
        "pivoted_qr",
        "polar_isometry",
        "positive_sylvester",
        "qr",
    ),
    *("rfft", "schur", "slogdet", "sylvester_solve"),
    *("spectrum", "svd", "svd_quotient", "svd_turns", "svd_values", "svdvals"),
    *("triangular_solve", "triangular_sylvester", "turn"),
)
_LONG_PROGRAMS = ("betainc_derivative", "gammainc_derivative", "matrix_function")
#: Seconds that XLA compiles an equation, in units of 0.02 s, which an ordinary one takes. The time
#: of its fusion grows with the square of the program: 200 equations of `betainc_derivative` in one
#: program take 20 minutes, and 100 seconds one by one.
_WEIGHTS = {
    **dict.fromkeys(("betainc_derivative", "matrix_function"), 60),
    **dict.fromkeys(("betainc", "betaincc", "complex_erf", "complex_erfc", "wofz"), 40),
    **dict.fromkeys(("gammainc_derivative", "random_log_gamma"), 30),
    **dict.fromkeys(("bessel_k", "bessel_ke", "dawsn", "gammainc", "gammaincc"), 25),
    **dict.fromkeys(("elliptic_integral", "expi", "expn"), 25),
    **dict.fromkeys(("bessel_j", "bessel_y", "beta_density", "betaln"), 20),
    **dict.fromkeys(("gamma_density", "gamma_moment", "polygamma_difference", "random_bits"), 10),
}
_NARROW_DTYPES = (
    *("bfloat16", "float16", "float32", "complex64", "int8", "int16", "int32"),
    *("uint8", "uint16", "uint32", "uint64"),
)
#: Edges that change numbers or a size of one, and not what is compiled.
_OTHER_EDGES = (
    *("complex_scalar", "full_precision", "inf", "integers", "nan", "non_contiguous"),
    *("scalar", "size1_axis", "transposed"),
)


def _cases(primitives: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([f"std::{name}/*" for name in primitives])


_DECOMPOSED = (
    *("bessel_j", "bessel_k", "bessel_ke", "bessel_y"),
    *("complex_erf", "complex_erfc", "dawsn", "elliptic_integral", "expi", "expn", "wofz"),
)

_SLOW = (
    Slow(
        cases=_cases(_DECOMPOSED),
        but={"value": ("*/wide/float64", "std::wofz/wide/complex128")},
        reason="each decomposition is hundreds of equations, which XLA compiles for half a second",
    ),
    Slow(cases=_cases(_LONG_PROGRAMS), reason="programs of thousands of equations"),
    Slow(
        cases=_cases(_STATISTICS),
        but={"value": ("*/float64", "*/uint32")},
        reason="series and loops; their derivatives are longer still",
    ),
    Slow(
        cases=_cases(_FACTORIZATIONS),
        but={
            "value": ("*/float64",),
            "derivative": ("*/float64",),
            "adjoint": ("*/float64", "*/complex128"),
            "order 2 adjoint": ("*/float64",),
            "batching": ("*/wide/float64",),
        },
        reason="derivatives of factorizations are long programs",
    ),
    Slow(
        cases=tuple([f"*/{name}" for name in _NARROW_DTYPES]),
        but={"value": ("std::threefry2x32/*", "std::random_bits/*")},
        reason="each dtype is a program of its own; `--level 0` asks for all of them",
    ),
    Slow(
        cases=("std::*",),
        laws=("double transpose", "linearity", "mode agreement", "order 3"),
        reason="programs that rules make of primitives, which the reference evaluator has judged",
    ),
    Slow(
        cases=tuple([f"*/{edge}/*" for edge in _OTHER_EDGES]),
        laws=("batching", "order 2", "order 2 adjoint"),
        reason="the programs of other edges again in another shape or of other numbers",
    ),
    Slow(
        cases=("*/non_contiguous/*", "*/transposed/*"),
        laws=("derivative",),
        reason="XLA receives the numbers in one layout, which values and adjoints show",
    ),
)

PROFILE = Profile(
    level=3,
    ad=True,
    features={"f64", "complex", "int64", "f16", "bf16", "ints", "special"},
    tolerance={
        ("std::beta_density", "float64"): _SUM_OF_LOGARITHMS,
        ("std::betainc", "float64"): _CONTINUED_FRACTION,
        ("std::betaincc", "float64"): _CONTINUED_FRACTION,
        ("std::beta_density", "float32"): _SERIES_OF_SINGLES,
        ("std::betainc", "float32"): _SERIES_OF_SINGLES,
        ("std::betaincc", "float32"): _SERIES_OF_SINGLES,
        ("std::betainc_derivative", "float64"): _SERIES,
        ("std::betainc_derivative", "float32"): _SERIES_OF_SINGLES,
        ("std::gammainc_derivative", "float64"): _SERIES,
        ("std::gammainc_derivative", "float32"): _SERIES_OF_SINGLES,
        ("std::gamma_density", "float32"): _SERIES_OF_SINGLES,
    },
    slow=_SLOW,
    weights={f"std::{name}": weight for name, weight in _WEIGHTS.items()},
    # Programs that rules make of primitives; values and adjoints judge the lowerings.
    slow_laws={
        *("batching", "complex step", "derivative", "double transpose", "linearity", "lowering"),
        *("mode agreement", "order 2", "order 2 adjoint", "order 3"),
    },
)
