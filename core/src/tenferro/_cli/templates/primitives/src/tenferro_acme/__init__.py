"""Primitives of the namespace acme, for tenferro."""

from tenferro_acme.softplus import Softplus, softplus

__all__ = ["Softplus", "softplus"]
