"""Notes of processes that have ended or wait, kept by the service that connects all.

A process that ends writes how many programs it has run with the others, and the exception that
ended it, if one did. Another process that waits for it in a later program reads the note, and need
not wait any longer. A process that waits for the result of a program writes the number of that
program, so that another one that waits for it elsewhere knows that both would wait for ever.
Read next: ``_watch.py``.
"""

from __future__ import annotations

from typing import NamedTuple

from tenferro_xla._jax import process_index
from tenferro_xla._not_public import coordination_client

_KEY = "tenferro/ended/"
_KEY_OF_LEFT = "tenferro/left/"
_KEY_OF_WAITS = "tenferro/waits/"
_MOST_CHARACTERS = 300  # of the text of an exception
_runs = 0


class End(NamedTuple):
    """The end of a process: programs it has run with the others; an exception, or an empty text."""

    runs: int
    exception: str


def count_run() -> None:
    """Count a program that this process runs with the others."""
    global _runs
    _runs += 1


def publish_end(exception: BaseException | None) -> None:
    """Tell the other processes that this one calls no further program."""
    fact = str(exception).strip().partition("\n")[0]
    line = "" if exception is None else f"{type(exception).__name__}: {fact}"[:_MOST_CHARACTERS]
    coordination_client().key_value_set(f"{_KEY}{process_index()}", f"{_runs} {line}", True)


def read_ends() -> dict[int, End]:
    """Return the ends of the other processes that have come to theirs, by number."""
    found = {}
    for key, text in coordination_client().key_value_dir_get(_KEY):
        runs, _, exception = text.partition(" ")
        found[int(key.rpartition("/")[2])] = End(int(runs), exception)
    found.pop(process_index(), None)
    return found


def publish_left() -> None:
    """Tell process 0 that this one needs the service no more."""
    coordination_client().key_value_set(f"{_KEY_OF_LEFT}{process_index()}", "", True)


def read_left() -> set[int]:
    """Return the processes that need the service no more."""
    pairs = coordination_client().key_value_dir_get(_KEY_OF_LEFT)
    return {int(key.rpartition("/")[2]) for key, _ in pairs}


def publish_wait() -> None:
    """Tell the other processes which program this one waits for."""
    coordination_client().key_value_set(f"{_KEY_OF_WAITS}{process_index()}", str(_runs), True)


def read_waits_for_this() -> tuple[int, ...]:
    """Return the processes that wait for a program that this process has not come to.

    Such a wait lasts until this process runs the program, so a note is never out of date.
    """
    pairs = coordination_client().key_value_dir_get(_KEY_OF_WAITS)
    waits = {int(key.rpartition("/")[2]): int(runs) for key, runs in pairs}
    return tuple(sorted([process for process, runs in waits.items() if runs > _runs]))


def ends_in_the_way(*, is_result: bool) -> dict[int, End]:
    """Return the ends for which what this process waits for will not come.

    A process that ended in order has done its part of each program that it ran, so a result of
    such a program will come.
    """
    return {
        process: end
        for process, end in read_ends().items()
        if end.exception or not is_result or end.runs < _runs
    }
