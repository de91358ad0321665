"""Several processes that run one program together, each with its own devices.

Start the same Python program once per process, on one machine or on many, and let each call
``initialize`` before anything else. From then on a mesh may take the devices of all processes, and
every process must make the same calls in the same order: each compiles and runs its part of each
program. See ``docs/scale_out.md``.

>>> import tenferro as tn
>>> tn.distributed.process_count()  # doctest: +SKIP
1
"""

from __future__ import annotations

from tenferro.arrays.errors import at_user_line
from tenferro.backend import Processes, UnsupportedError, host
from tenferro.primitives._boundary import publish as _publish

__all__ = ["initialize", "process_count", "process_index", "shutdown", "wait"]


def initialize(
    address: str | None = None,
    processes: int | None = None,
    process: int | None = None,
    *,
    start_seconds: int = 300,
    heartbeat_seconds: int = 100,
    wait_seconds: float = 300.0,
    backend: str | None = None,
) -> None:
    """Connect this process to the others that run the same program.

    Call it once, before anything is computed on the backend. Without arguments it asks the system
    that started the processes (Slurm, Open MPI, Kubernetes, the TPU runtime); elsewhere give all
    three.

    Parameters
    ----------
    address : str, optional
        Host and port of process 0, such as "10.0.0.1:1234". It must be reachable by all others, and
        the port be free there.
    processes, process : int, optional
        How many processes there are, and which of them this is, counted from 0.
    start_seconds : int, default 300
        How long to wait until all processes have called this; then a ProcessError names those that
        have not.
    heartbeat_seconds : int, default 100
        How long after the death of a process the runtime ends all others, because what they wait
        for will never come; it may take twice as long. After half to three quarters of that time
        they get a ProcessError that names the dead process, where they wait for results. If process
        0 dies where a cluster's system started the processes, or with its machine, the runtime ends
        the others at once, without an exception. A process that an exception ends tells the others,
        which get a ProcessError at once.
    wait_seconds : float, default 300
        How long to wait for the others at each new program; then a ProcessError names the process
        that has not come.
    backend : str, optional
        The backend; by default the only one that runs on several processes.

    Raises
    ------
    UnsupportedError
        If no backend, or none of this name, runs on several processes.
    ProcessError
        If the processes cannot be connected, do not all come, or are connected already, if two have
        one number, or if the backend was used before.
    """
    _processes(backend).connect(
        address,
        processes,
        process,
        start_seconds=start_seconds,
        heartbeat_seconds=heartbeat_seconds,
        wait_seconds=wait_seconds,
    )


def shutdown(*, backend: str | None = None) -> None:
    """Leave the other processes, when all of them have called this or are done.

    Raises
    ------
    ProcessError
        If one of them ended with an exception, or died.
    """
    _processes(backend).disconnect()


def process_index(*, backend: str | None = None) -> int:
    """Return the number of this process, from 0; 0 if it is alone."""
    return _processes(backend).index


def process_count(*, backend: str | None = None) -> int:
    """Return how many processes run this program together; 1 if ``initialize`` was not called."""
    return _processes(backend).count


def wait(what: str = "a meeting point", *, backend: str | None = None) -> None:
    """Wait until all processes have come here.

    Parameters
    ----------
    what : str
        Words for the place, which the error names.
    backend : str, optional
        The backend; by default the only one that runs on several processes.

    Raises
    ------
    ProcessError
        If a process does not come within the ``wait_seconds`` of ``initialize``.
    """
    _processes(backend).wait(what)


def _processes(backend: str | None) -> Processes:
    """Return the processes of a backend, of the only one that has several if none is named.

    No probe is asked, because it may start devices, which must wait for ``initialize``.
    """
    plugins = host()
    if backend is not None:
        return plugins.processes(backend)
    able = [name for name in plugins.backends() if "sharding" in plugins.info(name).features]
    if len(able) != 1:
        raise at_user_line(
            UnsupportedError(
                "distributed: no backend is chosen that runs in several processes\n"
                f"  got        {', '.join(able) or 'none that can'}\n"
                "  hint       pip install tenferro-xla; name one of several by `backend=`",
                backend="",
                feature="sharding",
                instead="xla",
            )
        )
    return plugins.processes(able[0])


_publish(globals(), __all__)
