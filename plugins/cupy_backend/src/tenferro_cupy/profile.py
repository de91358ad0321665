"""Claims of the CuPy backend, read by the conformance kit alone.

`tenferro_conformance` is imported here and nowhere else in this distribution.
"""

from __future__ import annotations

from tenferro_conformance.profile import Profile, Tol

__all__ = ["PROFILE"]

#: CuPy has no bfloat16. To refuse data for their values (`checks`) would wait for the device.
PROFILE = Profile(
    level=3,
    ad=True,
    features={"f64", "complex", "int64", "f16", "ints", "special"},
    tolerance={
        ("std::gammaincc", "float64"): Tol(ulp=32, reason="that of Cephes, near x = a"),
    },
)
