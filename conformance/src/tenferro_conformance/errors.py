"""The exceptions of the kit: a broken law, a wrong number, a rotten profile, a wrong file.

They are raised by the suite and by the command line, never by a backend. Laws raise subclasses of
`AssertionError`, so that pytest shows them as failures and `Exclude(raises=ToleranceError)` can
name one. Read `profile.py` next.
"""

from __future__ import annotations

__all__ = ["GoldenDataError", "LawViolationError", "PageError", "ProfileError", "ToleranceError"]


class LawViolationError(AssertionError):
    """A law of the suite does not hold; the message names the case, the law, and what was found."""


class ToleranceError(LawViolationError):
    """A number is further from its expected value than the tolerance class allows.

    Fields: `measured` and `bound`, both in the unit of the class (`cases/tolerances.py`).
    """

    def __init__(self, message: str = "", *, measured: float = 0.0, bound: float = 0.0) -> None:
        super().__init__(message)
        self.measured = measured
        self.bound = bound


class ProfileError(ValueError):
    """A profile or a case is not valid: an exclusion without reason, matching nothing, or past
    its `until`; a row that does not fit its primitive.
    """


class GoldenDataError(ValueError):
    """Stored data is missing, was altered, or differs from what the generator computes."""


class PageError(ValueError):
    """A file is not a page that `tenferro-conformance matrix` wrote."""
