"""Start an example on virtual devices: in this process alone, or in one of several.

The processes share eight virtual devices, whose number is set before JAX starts. With `--processes`
above 1 the program starts the others itself, as a launcher on a cluster would.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile

DEVICES = 8  # of all processes together


def arguments(processes):
    """Return what the command line says; `processes` lists the numbers that it may ask for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=1, choices=processes)
    parser.add_argument("--process", type=int, help="which of them this is; set by the first")
    parser.add_argument("--folder", help="a folder of all processes; made by the first")
    parser.add_argument("--address", help="where process 0 listens; set by the first")
    return parser.parse_args()


def start(processes=(1, 2, 4, 8)):
    """Set up this process, and start the others if it is the first of several.

    Returns these, and a folder that all processes share.
    """
    given = arguments(processes)
    given.folder = given.folder or tempfile.mkdtemp()
    each = DEVICES // given.processes
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={each}"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if given.processes == 1:
        return [], given.folder
    import tenferro as tn

    others = []
    if given.process is None:
        given.process, given.address = 0, free_address()
        others = [
            subprocess.Popen(
                [*command(given), "--process", str(process)], stdout=subprocess.DEVNULL
            )
            for process in range(1, given.processes)
        ]
    tn.distributed.initialize(given.address, given.processes, given.process)
    return others, given.folder


def command(given):
    """The command line of another process."""
    settings = {
        "--processes": given.processes,
        "--address": given.address,
        "--folder": given.folder,
    }
    return [sys.executable, sys.argv[0], *[str(x) for pair in settings.items() for x in pair]]


def free_address():
    """An address of this machine at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def finish(others):
    """Leave the others, which wait for that, and wait until those that were started here end."""
    if others:
        import tenferro as tn

        tn.distributed.shutdown()
    assert [process.wait() for process in others] == [0] * len(others)
