"""``revolve``: reverse mode of a loop with a given number of stored carries.

A loop of n steps with s slots is a checkpoint around its first m steps, which are such a loop with
s slots, and the rest, a loop with s - 1 slots, whose first carry takes a slot. Steps are run again
at most r times, for the least r with

    n ≤ L(s, r) = C(s + r + 1, s),   L(s, r) = L(s, r - 1) + L(s - 1, r)

(A. Griewank and A. Walther, ACM Trans. Math. Softw. 26 (2000) 19); no schedule of s slots does it
with a lesser r. At r = 0 every carry has a slot.
Read next: ``segments.py``.
"""

from __future__ import annotations

from math import comb
from operator import index

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line

__all__ = ["Revolve", "repetitions", "revolve", "split"]

_MOST_REPETITIONS = 32  # of a step: closed graphs nest as deep


class Revolve(NamedTuple):
    """The number of carries of a loop that reverse mode stores at a time."""

    slots: int


def revolve(slots: int) -> Revolve:
    """Return what ``scan(…, checkpoint=revolve(slots))`` takes: at most ``slots`` carries stored.

    The reverse sweep runs steps again from the stored carry before them. With s slots, a loop of up
    to (s + 1)(s + 2)/2 steps runs each step at most once more, besides the evaluation that its
    derivative needs; one of up to (s + 1)(s + 2)(s + 3)/6 steps at most twice more. No choice of
    carries does with fewer repetitions (A. Griewank and A. Walther, ACM Trans. Math. Softw. 26
    (2000) 19); each takes memory for about two carries. For n steps about √(2n) slots cost as much
    as ``"sqrt"``, with less memory.

    Parameters
    ----------
    slots : int
        The number of carries, 1 or more, besides the first.

    Returns
    -------
    Revolve
        The value for ``checkpoint``.

    Raises
    ------
    ValueError
        If ``slots`` is not an integer of 1 or more; by ``scan``, if steps would be repeated more
        than 32 times.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> def decay(x):
    ...     return tn.scan(
    ...         lambda c, _: (0.9 * np.sin(c), None), x, None, 100, checkpoint=tn.revolve(5)
    ...     )[0]
    >>> round(float(tn.grad(decay)(1.0)), 8)
    4.61e-06
    """
    try:
        count = index(slots)
    except TypeError:
        count = 0
    if count < 1:
        raise at_user_line(ValueError(f"revolve: slots is an integer of 1 or more, got {slots!r}"))
    return Revolve(count)


def most_steps(slots: int, repeated: int) -> int:
    """Return how many steps run with these slots, where each is repeated so often at most."""
    return comb(slots + repeated + 1, slots)


def repetitions(steps: int, slots: int) -> int:
    """Return how often a step is run again at most.

    Raises ValueError: if that is more than ``_MOST_REPETITIONS``.
    """
    for repeated in range(_MOST_REPETITIONS + 1):
        if steps <= most_steps(slots, repeated):
            return repeated
    need = slots
    while most_steps(need, _MOST_REPETITIONS) < steps:
        need += 1
    raise at_user_line(
        ValueError(
            f"scan: revolve({slots}) would run steps more than {_MOST_REPETITIONS} times again\n"
            f"  got        {steps} steps\n"
            f"  need       {need} slots or more"
        )
    )


def split(steps: int, slots: int) -> list[tuple[int, int]]:
    """Return the lengths of the checkpoints of a loop, with their slots, and what is left last.

    The last part is not a checkpoint: it is swept first, and has a slot for every carry.
    """
    parts: list[tuple[int, int]] = []
    while repeated := repetitions(steps, slots):
        first = min(most_steps(slots, repeated - 1), steps - most_steps(slots - 1, repeated - 1))
        parts.append((first, slots))
        steps, slots = steps - first, slots - 1
    return [*parts, (steps, slots)]
