"""Errors of integers that have no value; everything else NumPy computes as inf or nan.

They carry their facts as fields, as all errors of tenferro do; the executor adds the equation.
"""

from __future__ import annotations

from tenferro.computegraph import TenferroError

__all__ = ["DivisionByZeroError", "NegativePowerError"]


class DivisionByZeroError(TenferroError, ZeroDivisionError):
    """Report an integer division by zero. Field: ``primitive``."""


class NegativePowerError(TenferroError, ValueError):
    """Report an integer raised to a negative power. Field: ``primitive``."""
