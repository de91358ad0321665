"""A watch over the other processes, so that one that dies gives a Python exception.

What a collective operation waits for never comes when a process is dead. JAX's own service then
ends the others, without an exception, between one and two ``heartbeat_seconds`` later. So each
process writes a sign of life of its own more often, a thread reads those of the others, and a
process that waits for results looks whether all are alive: it raises after half to three quarters
of ``heartbeat_seconds``, and has the rest, or more, to save what it has. A process that ends with
an exception, or in order, says so itself, and the others learn it at once. Where a cluster's system
started the processes, JAX's service runs in process 0, and the runtime ends the others at once with
that one; else see ``_service.py``. Read next: ``_exchange.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

from tenferro.backend import ProcessError
from tenferro_xla._ends import End, ends_in_the_way, publish_wait
from tenferro_xla._jax import JaxRuntimeError, devices, process_count, process_index
from tenferro_xla._not_public import coordination_client

_KEY = "tenferro/alive/"
_SIGNS = 8  # of life in `heartbeat_seconds`; half of them may be missing
_FIRST_SLEEP, _LONGEST_SLEEP = 5e-5, 0.02
#: Seconds between two looks whether a process that others wait for is dead or has ended.
LOOK_SECONDS = 0.5


class Watch:
    """Signs of life of all processes, read by a thread while the program runs."""

    def __init__(self, heartbeat_seconds: float) -> None:
        self.patience = heartbeat_seconds / 2
        self.interval = heartbeat_seconds / _SIGNS
        self._client = coordination_client()
        self._stop = Event()
        start, own = monotonic(), process_index()
        others = [i for i in range(process_count()) if i != own]
        self._seen: dict[int, tuple[str, float]] = {i: ("", start) for i in others}
        self.has_devices = Event()
        Thread(target=self._start_devices, name="tenferro-devices", daemon=True).start()
        self._thread = Thread(target=self._run, name="tenferro-signs-of-life", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; the client must not be used after it has left the service."""
        self._stop.set()
        self._thread.join()

    def _start_devices(self) -> None:
        try:
            devices()
        except RuntimeError:
            pass  # the call that needs devices meets it again
        finally:
            self.has_devices.set()

    def _run(self) -> None:
        own, number = f"{_KEY}{process_index()}", 0
        while not self._stop.is_set():
            number += 1
            try:
                self._client.key_value_set(own, str(number), True)
                self._note(self._client.key_value_dir_get(_KEY))
            except JaxRuntimeError:
                pass  # the service is gone, and the runtime is about to end this process
            self._stop.wait(self.interval)

    def _note(self, signs: Iterable[tuple[str, str]]) -> None:
        now = monotonic()
        for key, sign in signs:
            process = int(key.rpartition("/")[2])
            if self._seen.get(process, ("", 0.0))[0] != sign:
                self._seen[process] = sign, now

    def dead(self) -> tuple[int, ...]:
        """Return the processes without a sign of life for half of ``heartbeat_seconds``.

        If this process itself was stopped it has read nothing, and blames no other process.
        """
        latest = max([when for _, when in self._seen.values()], default=0.0)
        signs = sorted(self._seen.items())
        return tuple([process for process, (_, when) in signs if latest - when > self.patience])


_watch: Watch | None = None


def begin_watch(heartbeat_seconds: float) -> None:
    """Start to write signs of life, and to read those of the others."""
    global _watch
    _watch = Watch(heartbeat_seconds)


def end_watch() -> None:
    """Stop; before this process leaves the others."""
    global _watch
    if _watch is not None:
        _watch.stop()
    _watch = None


def patience() -> float:
    """Return for how long a process may give no sign of life, in seconds."""
    return 0.0 if _watch is None else _watch.patience


def seconds_until_known() -> float:
    """Return after how many seconds the death of a process is known to every other one.

    Each learns of signs of life once in an interval, so of the last one, and of silence after it.
    """
    return 0.0 if _watch is None else _watch.patience + 2 * _watch.interval


def dead_processes() -> tuple[int, ...]:
    """Return the processes that gave no sign of life for too long."""
    return () if _watch is None else _watch.dead()


def check_all_alive(*, is_result: bool = False) -> None:
    """Raise ProcessError if another process died, or ended before it came to this.

    ``is_result`` is True where this process waits for a result of a program that it runs already.
    """
    if _watch is None:
        return
    dead = _watch.dead()
    if dead:
        raise _died(dead, _watch.patience)
    try:
        ends = ends_in_the_way(is_result=is_result)
        if is_result:
            publish_wait()
    except JaxRuntimeError:
        return  # the service is gone, and the runtime is about to end this process
    if ends:
        raise _ended(ends)


def awaits_devices() -> bool:
    """Return True while the devices of some process are not known."""
    return _watch is not None and not _watch.has_devices.is_set()


def wait_for_devices() -> None:
    """Wait until the devices of all processes are known.

    Raises ProcessError: if another process died or ended before, so that they may never be.
    """
    while _watch is not None and not _watch.has_devices.wait(LOOK_SECONDS):
        check_all_alive()


def wait_for(arrays: Iterable[Any]) -> None:
    """Wait until arrays that span processes are computed.

    Raises ProcessError: if another process died or ended, so that they may never be.
    """
    if _watch is None:
        return
    pause, next_look = _FIRST_SLEEP, monotonic() + LOOK_SECONDS
    for array in arrays:
        while not (array.is_fully_addressable or array.is_ready()):
            if monotonic() > next_look:
                check_all_alive(is_result=True)
                next_look = monotonic() + LOOK_SECONDS
            sleep(pause)
            pause = min(pause * 1.5, _LONGEST_SLEEP)


def _ended(ends: Mapping[int, End]) -> ProcessError:
    """Make the error about processes that came to their end while this one waits for them."""
    names = _named(sorted(ends))
    ways = [
        f"process {process} {f'raised {end.exception}' if end.exception else 'has no more calls'}"
        for process, end in sorted(ends.items())
    ]
    return ProcessError(
        f"xla: {names} ended; what process {process_index()} waits for will not come\n"
        f"  because    {'; '.join(ways)}\n"
        "  next       save what this process has, without the others; they are about to leave\n"
        "  hint       all processes must make the same calls; look at the output of the one that"
        " ended",
        backend="xla",
        processes=tuple(sorted(ends)),
    )


def _died(dead: tuple[int, ...], patience: float) -> ProcessError:
    return ProcessError(
        f"xla: {_named(dead)} died or left;"
        f" what process {process_index()} waits for will not come\n"
        f"  because    no sign of life came for {patience:g} seconds\n"
        f"  next       the runtime ends this process, after about {patience:g} seconds or later\n"
        "  hint       save now what this process has, without the others, and start again from"
        " the last checkpoint",
        backend="xla",
        processes=dead,
    )


def _named(processes: Sequence[int]) -> str:
    one = "process" if len(processes) == 1 else "processes"
    return f"{one} {', '.join(map(str, processes))}"
