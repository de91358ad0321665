"""Keywords: whether pytest's option `-k` can choose a test, told before the test is made.

The suite has sixty thousand tests, and making them to drop all but one takes seconds. pytest
itself still has the last word on what is made; an expression that this module does not
understand drops nothing. Read `collection.py` next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from types import CodeType

__all__ = ["Keywords"]

#: pytest's grammar of `-k`: words, `and`, `or`, `not` and parentheses
_TOKEN = re.compile(r"\s*([()]|(?:\w|[:+\-.\[\]\\/])+)")
_OPERATORS = frozenset({"(", ")", "and", "or", "not"})


class Keywords:
    """One expression of `-k`; a word holds if some name of the test contains it.

    >>> sin = Keywords("test_value and std::sin/ and not float32").among(["test_value", "suite"])
    >>> sin("numpy-std::sin/wide/float64"), sin("numpy-std::sin/wide/float32")
    (True, False)
    """

    def __init__(self, expression: str) -> None:
        self._words: list[str] = []
        self._code = self._compiled(expression)

    def _compiled(self, expression: str) -> CodeType | None:
        """Return the expression as code over the list `has`; None if it is not understood."""
        parts, at, text = [], 0, expression.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                return None
            token, at = found[1], found.end()
            if token not in _OPERATORS:
                self._words.append(token.lower())
                token = f"has[{len(self._words) - 1}]"
            parts.append(token)
        try:
            return compile(" ".join(parts), "-k", "eval") if parts else None
        except SyntaxError:  # pytest will say so
            return None

    def among(self, names: Iterable[str]) -> _Chooser:
        """Return the choice among tests that all have these names, and one more of their own."""
        shared = [name.lower() for name in names]
        held = [any(word in name for name in shared) for word in self._words]
        return _Chooser(self._code, self._words, held)


class _Chooser:
    """Choice among the tests of one function, by what is theirs alone."""

    def __init__(self, code: CodeType | None, words: Sequence[str], held: Sequence[bool]) -> None:
        self._code = code
        self._words = words
        self._held = held

    def __call__(self, *names: str) -> bool:
        """Return False if pytest will drop the test that has these names, too."""
        if self._code is None:
            return True
        own = [name.lower() for name in names]
        has = [
            held or any(word in name for name in own)
            for held, word in zip(self._held, self._words, strict=True)
        ]
        return bool(eval(self._code, {"__builtins__": {}}, {"has": has}))
