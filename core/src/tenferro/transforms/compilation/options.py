"""Options of ``jit``, checked when a function is decorated.

Read next: ``jit.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.backend._options import PASSES, Options, identity_of
from tenferro.passes._selection import selected
from tenferro.transforms.compilation.signature import (
    Statics,
    static_parameters,
)


def checked_options(options: Any) -> Options | None:
    """Copy the options to a new dictionary; ``None`` for no options.

    Raises TypeError: if they are no mapping, or hold what cannot name a program.
    Raises UnknownPassError: if a pass that they name is none.
    """
    if options is None:
        return None
    if not isinstance(options, Mapping):
        kind = type(options).__name__
        raise at_user_line(TypeError(f"jit: options are a mapping of names to values, got {kind}"))
    own = dict(options)
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
    donated = static_parameters(function, numbers, (), "donated")
    both = sorted(donated.numbers & statics.numbers)
    if both:
        raise at_user_line(ValueError(f"static arguments cannot be donated: {both} are both"))
    return donated
