"""The service that connects the processes, in a process of its own on the machine of process 0.

JAX runs this service in process 0, so that with that process all others end at once, without an
exception. In one of its own the service outlives process 0: the others learn of that death as of
any other, and have as long to save what they have. The file is also the script that runs the
service: ``_service.py ADDRESS PROCESSES RUNTIME_SECONDS``, where the last number is how long JAX
waits for a sign of life. Read next: ``_watch.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from threading import Timer
from time import sleep

_READY, _IN_ORDER = "ready", "in order"
_SECONDS_AFTER_ORDER = 2.0  # for the last answers, after all have left


class Service:
    """The process that runs the service; it ends some time after the process that started it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def leave_in_order(self) -> None:
        """Let the service end as soon as this process does, because no other needs it."""
        assert self._process.stdin is not None
        try:
            print(_IN_ORDER, file=self._process.stdin, flush=True)
        except OSError:
            return  # it has ended


def start_service(address: str, count: int, runtime_seconds: int, seconds: float) -> Service | None:
    """Start the service at the port of an address; None if it does not run within the seconds.

    It has a session of its own, so that a signal for the group of process 0 spares it, and writes
    nowhere, so that no program waits for its output after process 0 has ended.
    """
    if not sys.executable:  # Python is part of another program
        return None
    port = address.rpartition(":")[2]
    process = subprocess.Popen(
        [sys.executable, "-P", __file__, f"[::]:{port}", str(count), str(runtime_seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    timer = Timer(seconds, process.kill)
    timer.start()
    try:
        line = process.stdout.readline().strip()
    finally:
        timer.cancel()
    if line == _READY:
        return Service(process)
    process.kill()
    process.wait()
    return None


def _serve(address: str, count: int, runtime_seconds: int) -> None:
    """Run the service until process 0 has ended, and the others have had time to leave."""
    service = import_module("jaxlib._jax").get_distributed_runtime_service(
        address, count, heartbeat_timeout=runtime_seconds
    )
    print(_READY, flush=True)
    left = float(runtime_seconds)  # for the others to notice the death of process 0, and to save
    for line in sys.stdin:  # ends with the process at the other end
        if line.strip() == _IN_ORDER:
            left = _SECONDS_AFTER_ORDER
    sleep(left)
    assert service is not None
    os._exit(0)  # its own end would wait for processes that are dead


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
