"""Claims of the XLA backend to the conformance kit: level 3 with derivatives.

Data only; the kit decides whether it is true. Deviations of XLA itself are stated here, with their
reasons, and nowhere else.
"""

from __future__ import annotations

from tenferro_conformance.profile import Profile, Tol

_NEAR_ZEROS = Tol(
    ulp=160,
    reason="the Lanczos sum is exact to a few eps of 1: relative digits are lost near 1 and 2",
)

_SUM_OF_LOGARITHMS = Tol(
    ulp=64, reason="exp multiplies the rounding errors of the logarithms of gamma functions"
)
_CONTINUED_FRACTION = Tol(ulp=256, reason="the continued fraction of XLA leaves a few digits")
_QUADRATURE = Tol(ulp=64, reason="1 less a tail that is exact to a few eps")

PROFILE = Profile(
    level=3,
    ad=True,
    features={"f64", "complex", "int64", "f16", "bf16", "ints"},
    tolerance={
        ("std::lgamma", "float32"): _NEAR_ZEROS,
        ("std::lgamma", "float64"): _NEAR_ZEROS,
        ("std::beta_density", "float64"): _SUM_OF_LOGARITHMS,
        ("std::betainc", "float64"): _CONTINUED_FRACTION,
        ("std::betaincc", "float64"): _CONTINUED_FRACTION,
        ("std::log_ndtr", "float64"): _QUADRATURE,
    },
)
