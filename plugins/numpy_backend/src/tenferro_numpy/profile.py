"""Claims of the NumPy backend, read by the conformance kit alone.

`tenferro_conformance` is imported here and nowhere else in this distribution.
"""

from __future__ import annotations

from tenferro_conformance.profile import Profile, Tol

__all__ = ["PROFILE"]

#: NumPy itself has no bfloat16.
PROFILE = Profile(
    level=3,
    ad=True,
    features={"f64", "complex", "int64", "f16", "ints", "special", "checks"},
    tolerance={("std::gammaincc", "float64"): Tol(ulp=32, reason="SciPy's, near x = a")},
)
