"""Figures as people read them."""

from __future__ import annotations

import math


def seconds(value: float) -> str:
    """A time with its unit, to three digits.

    >>> seconds(0.0000123), seconds(0.9996), seconds(12)
    ('12.3 µs', '1 s', '12 s')
    """
    if value < 0:
        return f"−{seconds(-value)}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if value >= 0.9995 * scale or unit == "ns":
            found = value / scale
            return f"{found:.3g} {unit}" if found < 999.5 else f"{found:.0f} {unit}"
    raise AssertionError


def number(value: float | None) -> str:
    """A ratio; nothing for none.

    >>> number(1.234), number(1234.5), number(None)
    ('1.23', '1,234', '')
    """
    if value is None or math.isnan(value):
        return ""
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def quantity(value: float, unit: str = "") -> str:
    """A figure with its unit: counts whole, others to three digits.

    >>> quantity(1693, "equations"), quantity(0.036, "s"), quantity(1.049)
    ('1,693 equations', '36 ms', '1.05')
    """
    if unit == "s":
        return seconds(value)
    whole = float(value).is_integer() or value >= 1000
    return f"{value:,.0f} {unit}".strip() if whole else f"{value:.3g} {unit}".strip()
