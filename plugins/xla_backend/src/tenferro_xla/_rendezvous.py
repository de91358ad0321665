"""A meeting of all processes before JAX connects them, so that a missing one is an exception.

Where a process is missing, or two have one number, JAX's service ends the others without an
exception. So process 0 listens first at the address of that service, each other process says its
number there, and all get one verdict. Then the port is free again for the service.
Read next: ``_processes.py``.
"""

from __future__ import annotations

import json
import os
import socket
from time import monotonic, sleep
from typing import Any

from tenferro.backend import ProcessError

_SLEEP = 0.1  # between two trials to reach process 0
_SECONDS_FOR_A_LINE = 2.0  # until a connection has said its number
_SECONDS_FOR_A_VERDICT = 5.0  # that the others wait for process 0 beyond the limit
_MOST_BYTES = 4096


def meet(address: str | None, count: int | None, index: int | None, seconds: float) -> None:
    """Return when all processes have come; do nothing where a system has started them.

    Raises ProcessError: if one does not come in time, two have one number, or they disagree about
    how many they are.
    """
    where = _host_and_port(address)
    if where is None or not _is_number(count) or not _is_number(index):
        return
    if not 0 <= index < count or "JAX_COORDINATOR_BIND_ADDRESS" in os.environ:  # type: ignore[operator]
        return  # JAX refuses such a number; the service may listen elsewhere
    if index == 0:
        _gather(where[1], count, seconds)  # type: ignore[arg-type]
    else:
        _report(where, count, index, seconds)  # type: ignore[arg-type]


def not_connected(because: str, hint: str, processes: tuple[int, ...] = ()) -> ProcessError:
    """Make the error of a process that cannot be connected to the others."""
    return ProcessError(
        "xla: this process cannot be connected to the others\n"
        f"  because    {because}\n"
        f"  hint       {hint}",
        backend="xla",
        processes=processes,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _host_and_port(address: str | None) -> tuple[str, int] | None:
    """Split an address; None for one that JAX will refuse."""
    host, _, port = address.rpartition(":") if isinstance(address, str) else ("", "", "")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        return None
    return host.strip("[]"), int(port)


# ---- process 0 -----------------------------------------------------------------------------------


def _gather(port: int, count: int, seconds: float) -> None:
    """Wait for all others, and give them the verdict."""
    limit = monotonic() + seconds
    found: dict[int, socket.socket] = {}
    try:
        with _listening(port) as server:
            trouble = _collect(server, found, count, limit)
            for connection in found.values():
                _send(connection, {"trouble": trouble})
            _wait_until_closed(found)
    finally:
        for connection in found.values():
            connection.close()
    if trouble:
        missing = tuple(sorted(set(range(1, count)) - set(found)))
        raise not_connected(trouble, _HINT, missing)


def _listening(port: int) -> socket.socket:
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    try:
        return socket.create_server(("", port), family=family, dualstack_ipv6=both)
    except OSError as error:
        raise not_connected(
            f"port {port} is taken here: {error.strerror or error}",
            "look whether another process has the number 0, or another program uses the port",
        ) from None


def _collect(
    server: socket.socket, found: dict[int, socket.socket], count: int, limit: float
) -> str:
    """Accept the others; return what is wrong with them, or an empty text."""
    while len(found) < count - 1:
        left = limit - monotonic()
        if left <= 0:
            missing = sorted(set(range(1, count)) - set(found))
            return f"process {', '.join(map(str, missing))} of {count} has not come in time"
        server.settimeout(left)
        try:
            connection, _ = server.accept()
        except TimeoutError:
            continue
        said = _receive(connection, _SECONDS_FOR_A_LINE)
        if not isinstance(said, dict) or not _is_number(said.get("process")):
            connection.close()  # something else that looks at the port
            continue
        number, processes = said["process"], said.get("processes")
        is_taken = number in found and not _is_closed(found[number])
        trouble = f"two processes have the number {number}" if is_taken else ""
        if processes != count:
            trouble = f"process {number} is one of {processes}, and process 0 one of {count}"
        if trouble:
            _send(connection, {"trouble": trouble})
            connection.close()
            return trouble
        found[number] = connection
    return ""


def _is_closed(connection: socket.socket) -> bool:
    """Return True if the process at the other end has left."""
    connection.settimeout(0.0)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except OSError as error:
        return not isinstance(error, BlockingIOError)


def _wait_until_closed(found: dict[int, socket.socket]) -> None:
    """Let the others close first: the system keeps the port of the end that does for a while."""
    for connection in found.values():
        connection.settimeout(_SECONDS_FOR_A_LINE)
        try:
            connection.recv(1)
        except OSError:
            continue


# ---- the others ----------------------------------------------------------------------------------


def _report(where: tuple[str, int], count: int, index: int, seconds: float) -> None:
    """Say the number of this process to process 0, and wait for its verdict."""
    limit = monotonic() + seconds
    verdict: Any = None
    reason = "no verdict came from process 0"
    while verdict is None and monotonic() < limit:
        try:
            with socket.create_connection(where, max(limit - monotonic(), _SLEEP)) as connection:
                _send(connection, {"process": index, "processes": count})
                left = limit - monotonic() + _SECONDS_FOR_A_VERDICT
                verdict = _receive(connection, left)
        except OSError as error:
            reason = f"process 0 does not answer at {where[0]}:{where[1]}: {error}"
        if verdict is None:
            sleep(_SLEEP)
    if not isinstance(verdict, dict):
        raise not_connected(reason, _HINT, (0,))
    if verdict["trouble"]:
        raise not_connected(str(verdict["trouble"]), _HINT)


def _send(connection: socket.socket, item: dict[str, object]) -> None:
    try:
        connection.settimeout(_SECONDS_FOR_A_LINE)
        connection.sendall(json.dumps(item).encode() + b"\n")
    except OSError:
        pass  # the other end has left, and finds out by itself


def _receive(connection: socket.socket, seconds: float) -> Any:
    """Return what the other end says in one line of JSON; None if it says nothing."""
    connection.settimeout(max(seconds, _SLEEP))
    data = b""
    try:
        while not data.endswith(b"\n") and len(data) < _MOST_BYTES:
            piece = connection.recv(_MOST_BYTES)
            if not piece:
                return None
            data += piece
        return json.loads(data)
    except (OSError, ValueError):
        return None


_HINT = (
    "start every process once, with numbers from 0 and the same `processes`;"
    " `start_seconds=…` allows more time"
)
