"""Claim of the backend; the conformance kit alone reads this module, and checks it."""

from __future__ import annotations

from tenferro_conformance.profile import Profile, Tol

PROFILE = Profile(
    level=1,
    ad=True,
    features={"f64", "complex", "int64"},
    tolerance={
        ("std::acos", "complex128"): Tol(ulp=32, reason="that of PyTorch near 1 and -1"),
    },
)
