"""Arrays whose memory a program was given by `donate_argnums`, and errors about them.

CuPy cannot take an array away from who holds it, so the backend knows which arrays are overwritten.
Read next: `plan/donation.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import ref

from tenferro.computegraph import OperandError

__all__ = ["GivenUp", "donated_and_read"]


class GivenUp:
    """The arrays that were overwritten, as long as they live."""

    def __init__(self) -> None:
        self._found: dict[int, ref[Any]] = {}

    def add(self, array: Any) -> None:
        """Note that an array, and the one whose memory it uses, is overwritten."""
        for x in (array, array.base):
            if x is not None:
                self._found[id(x)] = ref(x, partial(_forget, self._found, id(x)))

    def __contains__(self, array: Any) -> bool:
        return id(array) in self._found

    def check(self, array: Any) -> None:
        """Raise OperandError if an array was overwritten."""
        if array in self:
            raise OperandError(
                "cupy: the array was donated to a program, which has overwritten it\n"
                "  got        a donated array\n"
                "  need       an array that no call has been given by `donate_argnums`\n"
                "  hint       use the result of that call instead, or do not donate the argument",
                input="",
                got="a donated array",
                need="an array with its numbers",
            )


def _forget(found: dict[int, ref[Any]], key: int, _: Any) -> None:
    """Drop an array that is gone, since another may get its ``id``."""
    found.pop(key, None)


def donated_and_read(donated: str, other: str) -> OperandError:
    """Make the error about a donated array that is another argument, too."""
    return OperandError(
        f"cupy: {donated} is donated, and {other} has the same memory\n"
        "  got        one memory for both\n"
        "  need       an array that no other argument reads\n"
        f"  hint       copy one of them, or do not donate {donated}",
        input=donated,
        got=f"the memory of {other}, too",
        need="an array that no other argument reads",
    )
