"""Donated arrays: a program may overwrite them, so no other argument and no later call reads them.

Read next: ``_executable.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import OperandError
from tenferro_xla._jax import is_array


def check_donated(donated: Sequence[int], operands: Sequence[Any], names: Sequence[str]) -> None:
    """Raise OperandError for a donated array whose memory is that of another operand, too."""
    for i in donated:
        given = operands[i]
        if not is_array(given):
            continue
        for k, other in enumerate(operands):
            if k != i and (other is given or _share_memory(given, other)):
                raise donated_and_read(names[i], names[k] or "a captured value")


def _share_memory(x: Any, y: Any) -> bool:
    """Return True if two arrays of JAX have one buffer on some device of this process."""
    if not is_array(y) or x.shape != y.shape or x.dtype != y.dtype or not x.size:
        return False
    if x.is_deleted() or y.is_deleted():
        return False
    return bool(_places(x) & _places(y))


def _places(x: Any) -> set[tuple[Any, int]]:
    """Return the devices of an array with the addresses of its parts there."""
    return {(s.device, s.data.unsafe_buffer_pointer()) for s in x.addressable_shards}


def donated_before(name: str) -> OperandError:
    """Make the error about an array whose memory a program was given."""
    return OperandError(
        f"xla: {name or 'the array'} was donated to a program, which has overwritten it\n"
        "  got        an array without memory\n"
        "  need       an array that no call has been given by `donate_argnums`\n"
        "  hint       use the result of that call instead, or do not donate the argument",
        input=name,
        got="a donated array",
        need="an array with its memory",
    )


def donated_and_read(donated: str, other: str) -> OperandError:
    """Make the error about a donated array that is another argument, too."""
    return OperandError(
        f"xla: {donated} is donated, and {other} is the same array\n"
        "  got        one array for both\n"
        "  need       an array that no other argument reads\n"
        f"  hint       copy one of them, or do not donate {donated}",
        input=donated,
        got=f"the array that is {other}, too",
        need="an array that no other argument reads",
    )
