"""Processes that run one program compare it before each compiles it.

A collective operation waits for all processes; if one of them runs another program, the others
would wait for ever. So each process writes a digest of its n-th program to the service that
connects them, and reads those of all others, with a time limit. Read next: ``_processes.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import count
from threading import Lock
from time import monotonic
from typing import Any

from tenferro.backend import ProcessError, ProgramsDifferError
from tenferro_xla._jax import JaxRuntimeError, process_count, process_index
from tenferro_xla._not_public import coordination_client
from tenferro_xla._watch import LOOK_SECONDS, check_all_alive

#: Seconds that a process waits for the others at a program or a meeting point.
wait_seconds = 300.0

_numbers = count(1)
_lock = Lock()


def set_wait(seconds: float) -> None:
    """Set how long this process waits for the others."""
    global wait_seconds
    wait_seconds = seconds


def agree_on(text: str, mesh: str, equations: int) -> None:
    """Return when all processes have come to the same program; at once if there is one process.

    Raises ProgramsDifferError: if another process has come to another program.
    Raises ProcessError: if one does not come in time.
    """
    if process_count() == 1:
        return
    with _lock:
        number = next(_numbers)
    own = f"{sha256(text.encode()).hexdigest()} {equations} equations for {mesh}"
    found = exchange(f"program/{number}", own, f"program {number}, of {equations} equations")
    digests = [line.partition(" ")[0] for line in found]
    if len(set(digests)) == 1:
        return
    others = tuple([i for i, digest in enumerate(digests) if digest != digests[process_index()]])
    texts = [f"process {i}: {line.partition(' ')[2]}" for i, line in enumerate(found)]
    raise ProgramsDifferError(
        f"xla: the processes have come to different programs, as number {number} of each\n"
        f"  got        {'; '.join(texts)}\n"
        "  need       the same calls with the same shapes in the same order in each process\n"
        "  hint       look for code that depends on the number of the process, on the clock, or on"
        " the order of a set",
        backend="xla",
        processes=others,
        program=number,
    )


def exchange(key: str, text: str, what: str) -> Sequence[str]:
    """Return the texts of all processes under one key.

    Raises ProcessError: if one does not come in time, or died, naming it.
    """
    client = coordination_client()
    client.key_value_set(f"tenferro/{key}/{process_index()}", text)
    others = range(process_count())
    return [_text_of(client, f"tenferro/{key}/{other}", other, what) for other in others]


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
            if left <= LOOK_SECONDS or "DEADLINE_EXCEEDED" not in str(error):
                raise _missing(other, what, error) from error


def _missing(other: int, what: str, error: Exception) -> ProcessError:
    because = str(error).partition("\n")[0]
    return ProcessError(
        f"xla: process {other} has not come to {what}\n"
        f"  because    {because[:200]}\n"
        f"  waited     {wait_seconds:g} seconds in process {process_index()}\n"
        "  hint       all processes must make the same calls; `tn.distributed.initialize("
        "wait_seconds=…)` allows more time",
        backend="xla",
        processes=(other,),
    )
