"""Errors of data: integers that have no value, and matrices that have no factors or no inverse.

Everything else NumPy computes as inf or nan.

They carry their facts as fields, as all errors of tenferro do; the executor adds the equation.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tenferro.computegraph import Operation, TenferroError

__all__ = ["DivisionByZeroError", "EntryOutsideError", "NegativePowerError", "NotConvergedError"]


class DivisionByZeroError(TenferroError, ZeroDivisionError):
    """Report an integer division by zero. Field: ``primitive``."""


class NegativePowerError(TenferroError, ValueError):
    """Report an integer raised to a negative power. Field: ``primitive``."""


class NotConvergedError(TenferroError, np.linalg.LinAlgError):
    """Report a factorization whose iteration found no end. Fields: ``primitive``, ``got``."""

    @classmethod
    def of(cls, operation: Operation, got: str) -> Self:
        """Make the error of an operation."""
        message = f"{operation.name}: the iteration does not converge\n  got        {got}"
        return cls(message, primitive=f"std::{operation.name}", got=got)


class EntryOutsideError(TenferroError, IndexError):
    """Report an entry of a sparse matrix outside of it. Fields: ``primitive``, ``shape``."""


class SingularMatrixError(TenferroError, np.linalg.LinAlgError):
    """Report a system without a unique solution. Fields: ``primitive``, ``batch`` (its place)."""


class NotPositiveDefiniteError(TenferroError, np.linalg.LinAlgError):
    """Report a matrix without a Cholesky factor. Fields: ``primitive``, ``batch`` (its place)."""
