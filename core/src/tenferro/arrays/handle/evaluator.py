"""The functions of ``evaluation/evaluate.py`` that handles call.

That file is above this folder: its programs take and return arrays. So it imports ``EVALUATOR`` and
sets the functions, before any array exists, and handles reach them by name. Read next:
``evaluation/evaluate.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph import ValueKey


class Evaluator:
    """Functions of evaluation, reached without an import; their own docstrings say more."""

    __slots__ = (
        "evaluate_if_known", "evaluate_keys", "flush", "is_evaluable", "look_at", "to_numpy",
    )  # fmt: skip
    evaluate_keys: Callable[[Sequence[ValueKey]], None]
    flush: Callable[[ValueKey], None]
    look_at: Callable[[ValueKey, str], Any]
    """A key, and what asks for its value."""
    is_evaluable: Callable[[ValueKey], bool]
    evaluate_if_known: Callable[..., bool]
    to_numpy: Callable[[Any, Any], Any]
    """An operand and its aval."""


EVALUATOR = Evaluator()
