"""Options of ``jit``, checked when a function is decorated.

Read next: ``jit.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.backend._options import MEMORY_BUDGET, PASSES, Options, identity_of
from tenferro.passes._selection import selected
from tenferro.transforms.compilation.signature import (
    Statics,
    static_parameters,
)

_UNITS = {
    "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip


def memory_budget_of(given: Any) -> float | None:
    """Return a memory budget in bytes, or as a fraction between 0 and 1; ``None`` for none.

    Raises ValueError: if it is neither an integer, such a fraction, nor text like "2 GB".
    """
    if given is None:
        return None
    found: float | None = None
    if isinstance(given, str):
        unit = given.lstrip("0123456789. ")
        try:
            found = round(float(given.removesuffix(unit)) * _UNITS[unit.strip()])
        except (KeyError, ValueError):
            found = None
    elif isinstance(given, float):
        found = given if given <= 1.0 else None
    elif not isinstance(given, bool):
        try:
            found = index(given)
        except TypeError:
            found = None
    if found is None or not found > 0:
        raise at_user_line(
            ValueError(
                f"jit: memory_budget cannot be {given!r:.80}\n"
                "  need       bytes as an integer, text such as '2 GB' or '512 MiB', or a fraction"
                " of what the program needs without it (a float up to 1.0)"
            )
        )
    return found


def checked_options(options: Any, memory_budget: Any = None) -> Options | None:
    """Copy the options to a new dictionary, with the memory budget; ``None`` for no options.

    Raises TypeError: if they are not a mapping, or hold a value that cannot be hashed.
    Raises ValueError: if the memory budget is not an amount of memory.
    Raises UnknownPassError: if they name a pass that does not exist.
    """
    budget = memory_budget_of(memory_budget)
    if options is None:
        return None if budget is None else {MEMORY_BUDGET: budget}
    if not isinstance(options, Mapping):
        kind = type(options).__name__
        raise at_user_line(TypeError(f"jit: options are a mapping of names to values, got {kind}"))
    own = dict(options)
    if budget is None:
        budget = memory_budget_of(own.pop(MEMORY_BUDGET, None))
    if budget is not None:
        own[MEMORY_BUDGET] = budget
    identity_of(own)
    if own.get(PASSES) is not None:
        selected(own[PASSES])
    return own or None


def donated_parameters(function: Any, numbers: int | Sequence[int], statics: Statics) -> Statics:
    """Return the donated parameters.

    Raises TypeError: for anything but positions.
    Raises ValueError: for a position that is not there, or is static.
    """
    given: Any = (numbers,) if isinstance(numbers, int) else numbers
    if isinstance(given, str) or not all(type(i) is int for i in given):
        raise at_user_line(TypeError(f"donate_argnums are positions of arguments, got {numbers!r}"))
    donated = static_parameters(function, numbers, (), "donate")
    both = sorted(donated.numbers & statics.numbers)
    if both:
        raise at_user_line(ValueError(f"static arguments cannot be donated: {both} are both"))
    return donated
