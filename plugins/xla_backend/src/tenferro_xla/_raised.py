"""Exceptions of host callbacks, kept until the caller of the program can be given them.

XLA turns an exception into text; some versions drop its end. The text names a number;
under the number the exception itself is kept here. Read next: ``lowerings/callback.py``.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from threading import Lock
from typing import Any

#: Exceptions kept at once; the oldest is dropped, for its frames hold the operands of the callback.
KEPT = 32
_kept: OrderedDict[int, BaseException] = OrderedDict()
_numbers = count(1)
_lock = Lock()


class CallbackError(Exception):
    """Carry the number of an exception through XLA."""


def keeping(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a host callback so that what it raises can be found again by `raise_original`."""

    def call(*operands: Any) -> Any:
        try:
            return function(*operands)
        except BaseException as error:
            number = next(_numbers)
            with _lock:
                _kept[number] = error
                while len(_kept) > KEPT:
                    _kept.popitem(last=False)
            text = f"[host callback, exception {number}] {type(error).__name__}: {error}"
            raise CallbackError(text) from error

    return call


def raise_original(error: Exception) -> None:
    """Raise the callback's own exception, if that is what an error of XLA reports."""
    found = re.search(r"\[host callback, exception (\d+)\]", str(error))
    with _lock:
        original = _kept.get(int(found.group(1))) if found else None
    if original is None:
        return
    context = original.__context__
    try:
        raise original
    finally:
        original.__context__ = context  # what the user was handling, not what XLA made of it
