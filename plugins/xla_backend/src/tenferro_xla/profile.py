"""What the XLA backend claims before the conformance kit: level 3 with derivatives.

Data only; the kit decides whether it is true. Deviations of XLA itself are stated here, with their
reasons, and nowhere else.
"""

from __future__ import annotations

from tenferro_conformance.profile import Profile, Tol

_NEAR_ZEROS = Tol(
    ulp=160,
    reason="the Lanczos sum is exact to a few eps of 1: relative digits are lost near 1 and 2",
)

PROFILE = Profile(
    level=3,
    ad=True,
    features={"f64", "complex", "int64", "f16", "bf16", "ints"},
    tolerance={
        ("std::lgamma", "float32"): _NEAR_ZEROS,
        ("std::lgamma", "float64"): _NEAR_ZEROS,
    },
)
