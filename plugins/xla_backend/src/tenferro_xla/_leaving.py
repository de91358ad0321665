"""The exit of a process among several, so that no other process waits for ever.

JAX's own exit waits five minutes for the others, which may wait for this process in an exchange,
and then aborts all. So a process says first that it ends, and how. If all have ended in order, JAX
goes on. Otherwise this process leaves without the others, with exit status 1. Process 0 leaves
last, because the service that connects all may be in it. Read next: ``_processes.py``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import monotonic, sleep
from typing import NoReturn

from tenferro.backend import ProcessError
from tenferro_xla._ends import publish_end, publish_left, read_ends, read_left
from tenferro_xla._jax import JaxRuntimeError, process_count, process_index
from tenferro_xla._watch import dead_processes, end_watch, patience

_SLEEP = 0.05
_exception_before: BaseException | None = None


def remember_exception() -> None:
    """Note the last exception of an interactive session; what comes later ends the program."""
    global _exception_before
    _exception_before = getattr(sys, "last_value", None)


def leave_at_exit(end_service: Callable[[], None]) -> None:
    """Leave in order if all processes end in order; else end this one without JAX's own exit.

    ``end_service`` is called where no other process needs the service any more.
    """
    exception = _ending_exception()
    try:
        publish_end(exception)
        trouble = "" if exception is not None else wait_for_ends()
    except JaxRuntimeError as error:
        trouble = f"the service that connects them is gone: {str(error).partition(chr(10))[0]:.200}"
    if exception is None and not trouble:
        end_watch()
        end_service()
        return
    if trouble:
        print(f"tenferro: process {process_index()} leaves: {trouble}", file=sys.stderr)
    _leave_now(end_service)


def wait_for_ends() -> str:
    """Wait until all processes have ended; return what went wrong in one, or an empty text."""
    while True:
        ends = read_ends()
        failed = [f"process {i} ended with {end.exception}" for i, end in ends.items() if end[1]]
        dead = [f"process {i} died" for i in dead_processes() if i not in ends]
        if failed or dead:
            return "; ".join([*failed, *dead])
        if len(ends) == process_count() - 1:
            return ""
        sleep(_SLEEP)


def leave_in_order() -> None:
    """Wait until all processes want to leave.

    Raises ProcessError: if one ended with an exception, or died.
    """
    publish_end(None)
    trouble = wait_for_ends()
    if trouble:
        raise ProcessError(
            f"xla: the processes cannot leave in order: {trouble}\n"
            "  next       save what this process has, without the others",
            backend="xla",
            processes=(),
        )
    end_watch()


def _ending_exception() -> BaseException | None:
    """Return the exception that ends this program; the interpreter keeps it before its exit."""
    found: BaseException | None = getattr(sys, "last_value", None)
    is_interactive = hasattr(sys, "ps1")
    return None if is_interactive or found is _exception_before else found


def _leave_now(end_service: Callable[[], None]) -> NoReturn:
    """End this process; process 0 gives the others time to save what they have."""
    try:
        if process_index() == 0:
            _let_others_leave()
            end_service()
        else:
            publish_left()
    except JaxRuntimeError:
        pass  # the service is gone, and the runtime is about to end this process
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


def _let_others_leave() -> None:
    limit = monotonic() + 2 * patience()
    while monotonic() < limit and len(read_left() | set(dead_processes())) < process_count() - 1:
        sleep(_SLEEP)
