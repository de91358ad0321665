"""Hyperbolic functions and their inverses; integers become floats."""

from __future__ import annotations

from tenferro.arrays.functions._factories import unary
from tenferro.primitives import hyperbolic as p

sinh = unary("sinh", p.sinh, "The hyperbolic sine.")
cosh = unary("cosh", p.cosh, "The hyperbolic cosine.")
tanh = unary("tanh", p.tanh, "The hyperbolic tangent.")
arcsinh = unary("arcsinh asinh", p.asinh, "The number with the hyperbolic sine x.")
arccosh = unary("arccosh acosh", p.acosh, "The number that is not negative with the cosh x.")
arctanh = unary("arctanh atanh", p.atanh, "The number with the hyperbolic tangent x.")
