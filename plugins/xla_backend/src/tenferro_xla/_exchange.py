"""Short texts that the processes of one program give each other, with a time limit.

An exchange has the name of a series and a number in it. All processes make the exchanges of a
series in the same order. Read next: ``_watch.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import Any

from tenferro.backend import ProcessError
from tenferro_xla._ends import read_waits_for_this
from tenferro_xla._jax import JaxRuntimeError, process_count, process_index
from tenferro_xla._not_public import coordination_client
from tenferro_xla._watch import LOOK_SECONDS, check_all_alive

#: Seconds that a process waits for the others at an exchange.
wait_seconds = 300.0

_numbers: Counter[str] = Counter()
_lock = Lock()


def set_wait(seconds: float) -> None:
    """Set how long this process waits for the others."""
    global wait_seconds
    wait_seconds = seconds


def next_number(series: str) -> int:
    """Return the number of the next exchange of a series, from 1."""
    with _lock:
        _numbers[series] += 1
        return _numbers[series]


def exchange(series: str, number: int, text: str, what: str) -> Sequence[str]:
    """Return the texts of all processes in one exchange.

    Raises ProcessError: if one does not come in time, or died, naming it.
    """
    client = coordination_client()
    own = process_index()
    client.key_value_set(_key(series, number, own), text)
    try:
        found = [
            text if other == own else _text_of(client, _key(series, number, other), other, what)
            for other in range(process_count())
        ]
    except ProcessError:
        _withdraw(client, series, number)
        raise
    if number > 1:  # all have come to this exchange, so all have read the one before
        client.key_value_delete(_key(series, number - 1, own))
    return found


def _withdraw(client: Any, series: str, number: int) -> None:
    """Undo an exchange to which not all have come, so that a later one has its number."""
    with _lock:
        _numbers[series] = number - 1
    try:
        client.key_value_delete(_key(series, number, process_index()))
    except JaxRuntimeError:
        return  # the service is gone, and the runtime is about to end this process


def _key(series: str, number: int, process: int) -> str:
    return f"tenferro/{series}/{number}/{process}"


def _text_of(client: Any, key: str, other: int, what: str) -> str:
    """Wait for the text of another process, and look meanwhile whether all processes are alive."""
    limit = monotonic() + wait_seconds
    while True:
        left = limit - monotonic()
        try:
            milliseconds = max(int(min(left, LOOK_SECONDS) * 1000), 1)
            found: str = client.blocking_key_value_get(key, milliseconds)
            return found
        except JaxRuntimeError as error:
            check_all_alive()
            because = _reason(str(error), other, is_last=left <= LOOK_SECONDS)
            if because:
                raise _missing(other, what, because) from None


def _reason(status: str, other: int, *, is_last: bool) -> str:
    """Return why a process will not come, or an empty text if it still may."""
    if "DEADLINE_EXCEEDED" not in status:
        return status.partition("\n")[0]
    if other in read_waits_for_this():
        return "it waits for this process in another program"
    return f"it did not come within {wait_seconds:g} seconds" if is_last else ""


def _missing(other: int, what: str, because: str) -> ProcessError:
    return ProcessError(
        f"xla: process {other} has not come to {what}\n"
        f"  because    {because[:200]}\n"
        f"  got        process {process_index()} alone at this point\n"
        "  hint       all processes must make the same calls, and to compute with an array of the"
        " mesh is a call, under `if process_index() == 0:`, too;"
        " `tn.distributed.initialize(wait_seconds=…)` allows more time",
        backend="xla",
        processes=(other,),
    )
