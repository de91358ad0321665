"""Elementwise primitives whose definition is longer than a line.

The others have it in their tables of samples (`meaning`), which `golden.py` hands to `define`.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.oracle.numbers import (
    Params,
    Reference,
    Tensor,
    elementwise,
    mp,
)

__all__ = ["REFERENCES"]


def _div(x: Any, y: Any) -> Any:
    if isinstance(x, int):
        quotient = abs(x) // abs(y)
        return quotient if (x < 0) == (y < 0) else -quotient
    return x / y


def _sign(x: Any) -> Any:
    if isinstance(x, int):
        return (x > 0) - (x < 0)
    if isinstance(x, mp.mpc):
        return x / abs(x) if x else mp.mpc(0)
    return mp.sign(x)


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, int):
        return x**y
    return mp.exp(y * mp.log(x)) if x else mp.mpf(y == 0)


def _integer_power(params: Params, x: Tensor) -> Tensor:
    return x.map(lambda e: e ** params["exponent"])


def _logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _rem(x: Any, y: Any) -> Any:
    if isinstance(x, int):
        return abs(x) % abs(y) * (-1 if x < 0 else 1)
    quotient = x / y
    return x - y * (mp.floor(quotient) if quotient > 0 else mp.ceil(quotient))


def _polygamma(params: Params, x: Tensor) -> Tensor:
    return x.map(lambda e: mp.polygamma(params["order"], e))


REFERENCES: dict[str, Reference] = {
    "div": elementwise(_div),
    "sign": elementwise(_sign),
    "pow": elementwise(_power),
    "integer_pow": _integer_power,
    "logistic": elementwise(_logistic),
    "polygamma": _polygamma,
    "rem": elementwise(_rem),
}
