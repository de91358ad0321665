"""The conformance kit: one suite that decides what every backend and every primitive does, and how
precisely.

Case = data, law = code, profile = a backend's own declaration. Importing this package imports the
standard library only; numpy, pytest and mpmath come in where they are used. Run it with
`tenferro-conformance run --backend mine` or with `pytest --pyargs tenferro_conformance.suite
--tenferro-backend mine`. Read `cases/case.py` next.
"""

from __future__ import annotations

from tenferro_conformance.errors import (
    GoldenDataError,
    LawViolationError,
    ProfileError,
    ToleranceError,
)
from tenferro_conformance.profile import Exclude, Profile, Tol

__all__ = [
    "SUITE_VERSION",
    "Exclude",
    "GoldenDataError",
    "LawViolationError",
    "Profile",
    "ProfileError",
    "Tol",
    "ToleranceError",
]

#: The suite's own version: a claim is always "level 2+AD under suite 2.0".
SUITE_VERSION = "2.0"
