"""Programs of several processes, run so that the caller can stop waiting for the others.

On the CPU, XLA may run a program inside of the call, and an exchange with a process that does not
come never returns. So a thread of its own makes the call, and the caller looks meanwhile whether
all processes are there. A call that hangs keeps the thread; the process is about to end then.
Read next: ``_watch.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextvars import copy_context
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

from tenferro.backend import ProcessError
from tenferro_xla._jax import (
    block_until_ready,
    disable_jit,
    enable_x64,
    process_count,
    process_index,
)
from tenferro_xla._watch import LOOK_SECONDS, check_all_alive, seconds_until_known

_CONNECTION_IS_LOST = re.compile(r"gloo|connection (reset|closed|refused)|broken pipe", re.I)
_SECONDS_FOR_A_NOTE = 2.0  # until the process that left is known to have written why


class _Call:
    """A call of a compiled program: its results, or what it raised."""

    def __init__(self, run: Callable[..., Any], operands: Sequence[Any]) -> None:
        self.run, self.operands = run, operands
        self.context = copy_context()
        self.is_done = Event()
        self.results: tuple[Any, ...] = ()
        self.error: BaseException | None = None

    def make(self) -> None:
        try:
            with enable_x64(True), disable_jit(False):
                self.results = tuple(self.run(*self.operands))
                block_until_ready(self.results)
        except BaseException as error:
            self.error = error
        self.is_done.set()


_calls: SimpleQueue[_Call] = SimpleQueue()
_thread: Thread | None = None


def run_with_others(run: Callable[..., Any], operands: Sequence[Any]) -> tuple[Any, ...]:
    """Run a program that spans processes, and wait for its results.

    Raises ProcessError: if another process died, ended, or closed its connection.
    """
    call = _Call(run, operands)
    _start_thread()
    _calls.put(call)
    while not call.is_done.wait(LOOK_SECONDS):
        check_all_alive(is_result=True)
    if call.error is None:
        return call.results
    if _CONNECTION_IS_LOST.search(str(call.error)):
        raise _lost(call.error) from None
    raise call.error


def _start_thread() -> None:
    global _thread
    if _thread is None:
        _thread = Thread(target=_make_calls, name="tenferro-exchanges", daemon=True)
        _thread.start()


def _make_calls() -> None:
    while True:
        call = _calls.get()
        call.context.run(call.make)
        del call


def _lost(error: BaseException) -> ProcessError:
    """Make the error about a process that left in an exchange.

    The note of a process that ended names it, the signs of life one that died. Of two processes it
    can only be the other one.
    """
    others = tuple([i for i in range(process_count()) if i != process_index()])
    seconds = _SECONDS_FOR_A_NOTE
    if len(others) > 1:  # the process whose connection was lost may only have followed another one
        seconds = max(seconds, seconds_until_known())
    limit = monotonic() + seconds
    while monotonic() < limit:
        try:
            check_all_alive(is_result=True)
        except ProcessError as known:
            return known
        sleep(0.1)
    who = f"process {others[0]}" if len(others) == 1 else "another process"
    because = str(error).partition("\n")[0]
    return ProcessError(
        f"xla: {who} has closed its connection in an exchange with process {process_index()}\n"
        f"  because    {because[:200]}\n"
        "  hint       it died or was ended; look at its output. Save now what this process has,"
        " without the others, and start again from the last checkpoint",
        backend="xla",
        processes=others if len(others) == 1 else (),
    )
