"""Claims of the CuPy backend, read by the conformance kit alone.

`tenferro_conformance` is imported here and nowhere else in this distribution.
"""

from __future__ import annotations

from tenferro_conformance.profile import Profile

__all__ = ["PROFILE"]

#: CuPy has no bfloat16.
PROFILE = Profile(level=2, ad=True, features={"f64", "complex", "int64", "f16", "ints"})
