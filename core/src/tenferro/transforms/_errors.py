"""What transforms refuse."""

from __future__ import annotations

from tenferro.computegraph import TenferroError


class DifferentiationInputError(TenferroError, TypeError):
    """Report an argument that cannot be differentiated. Fields: ``argument``, ``aval``."""


class NonScalarOutputError(TenferroError, TypeError):
    """Report a function under ``grad`` whose value is no real scalar. Fields: ``aval``."""


class TangentMismatchError(TenferroError, ValueError):
    """Report tangents or cotangents that do not fit. Fields: ``got``, ``need``."""


class ArgumentNumberError(TenferroError, ValueError):
    """Report an ``argnums`` that the call does not have. Fields: ``argnums``, ``count``."""


class GradientCheckError(TenferroError, AssertionError):
    """Report a derivative that disagrees with differences. Fields: ``mode``, ``got``, ``need``."""
