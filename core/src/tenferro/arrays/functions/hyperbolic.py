"""Hyperbolic functions and their inverses; integers become floats."""

from __future__ import annotations

from tenferro.arrays.functions._factories import unary
from tenferro.primitives import hyperbolic as p

sinh = unary("sinh", p.sinh, "Compute the hyperbolic sine elementwise.")
cosh = unary("cosh", p.cosh, "Compute the hyperbolic cosine elementwise.")
tanh = unary("tanh", p.tanh, "Compute the hyperbolic tangent elementwise.")
arcsinh = unary("arcsinh asinh", p.asinh, "Compute the inverse hyperbolic sine elementwise.")
arccosh = unary(
    "arccosh acosh",
    p.acosh,
    "Compute the inverse hyperbolic cosine elementwise; the result is not negative.",
)
arctanh = unary("arctanh atanh", p.atanh, "Compute the inverse hyperbolic tangent elementwise.")
