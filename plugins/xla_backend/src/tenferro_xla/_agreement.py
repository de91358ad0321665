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

from tenferro.backend import ProcessError, ProgramsDifferError
from tenferro_xla._jax import JaxRuntimeError, process_count, process_index
from tenferro_xla._not_public import coordination_client

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

    Raises ProcessError: if one does not come in time, naming it.
    """
    client = coordination_client()
    client.key_value_set(f"tenferro/{key}/{process_index()}", text)
    found = []
    for other in range(process_count()):
        try:
            milliseconds = int(wait_seconds * 1000)
            found.append(client.blocking_key_value_get(f"tenferro/{key}/{other}", milliseconds))
        except JaxRuntimeError as error:
            raise _missing(other, what, error) from error
    return found


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
