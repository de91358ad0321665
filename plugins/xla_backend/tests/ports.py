"""Ports for processes that meet on this machine."""

import os
import socket
from itertools import count

# Systems give ports above these to whoever asks for any port, so that a port found in that way may
# be taken before it is used: by a connection of another test, say.
_FIRST, _PORTS_PER_PROCESS, _PROCESSES = 20_000, 100, 100
_tried = count()


def free_port():
    """Return a port that is free here, from a range that depends on the number of this process."""
    first = _FIRST + os.getpid() % _PROCESSES * _PORTS_PER_PROCESS
    for _ in range(_PORTS_PER_PROCESS):
        port = first + next(_tried) % _PORTS_PER_PROCESS
        try:
            socket.create_server(("", port)).close()
        except OSError:
            continue
        return port
    raise OSError(f"the ports from {first} to {first + _PORTS_PER_PROCESS - 1} are taken")
