"""The processes of one program, connected by JAX's own service.

Must be imported before JAX has started its devices, and starts none. Read next: ``_leaving.py``.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager

import jax

from tenferro.backend.sharding import Processes
from tenferro_xla._exchange import exchange, next_number, set_wait
from tenferro_xla._jax import process_count, process_index
from tenferro_xla._leaving import leave_at_exit, leave_in_order, remember_exception
from tenferro_xla._rendezvous import meet, not_connected
from tenferro_xla._service import Service, start_service
from tenferro_xla._watch import begin_watch

_BIND_ADDRESS = "JAX_COORDINATOR_BIND_ADDRESS"
_NOWHERE = "127.0.0.1:0"  # where JAX's own service runs unused, at a port that the system chooses
#: JAX's patience, in `heartbeat_seconds`. Its processes give a sign of life twice in that time, and
#: one may die just before the next, so that the others are ended after half of it or later.
_RUNTIME_HEARTBEATS = 2
_service: Service | None = None  # of process 0; each ``XlaProcesses`` is of one call


class XlaProcesses(Processes):
    """JAX's processes."""

    def connect(
        self,
        address: str | None,
        count: int | None,
        index: int | None,
        *,
        start_seconds: int,
        heartbeat_seconds: int,
        wait_seconds: float,
    ) -> None:
        """Connect; where all is given, JAX does not look for a system that started the processes.

        That search asks the network for services of clouds, which takes minutes where none answers.
        """
        global _service
        if jax.distributed.is_initialized():
            raise not_connected("it is connected already", "leave the second call out")
        is_stated = None not in (address, count, index)
        if is_stated:
            meet(address, count, index, start_seconds)
        runtime_seconds = _RUNTIME_HEARTBEATS * heartbeat_seconds
        settings = {"cluster_detection_method": "deactivate"} if is_stated else {}
        if is_stated and index == 0 and _BIND_ADDRESS not in os.environ:
            assert address is not None
            assert count is not None
            _service = start_service(address, count, runtime_seconds, start_seconds)
            if _service is not None:
                settings["coordinator_bind_address"] = _NOWHERE
        try:
            with _without_preemption_service():
                jax.distributed.initialize(
                    address,
                    count,
                    index,
                    initialization_timeout=start_seconds,
                    heartbeat_timeout_seconds=runtime_seconds,
                    **settings,  # type: ignore[arg-type]
                )
        except (RuntimeError, ValueError, TypeError) as error:
            _end_service()
            text = str(error).strip().partition("\n")[0]
            raise not_connected(text[:300], _hint(text)) from error
        set_wait(wait_seconds)
        begin_watch(heartbeat_seconds)
        remember_exception()
        atexit.register(_leave_at_exit)  # runs before JAX leaves, which was registered earlier

    def disconnect(self) -> None:
        """Leave when all others want to.

        Raises ProcessError: if one of them ended with an exception, or died.
        """
        if jax.distributed.is_initialized():
            leave_in_order()
            atexit.unregister(_leave_at_exit)
            _end_service()
        jax.distributed.shutdown()  # type: ignore[no-untyped-call]

    @property
    def index(self) -> int:
        """The number of this process."""
        return process_index() if jax.distributed.is_initialized() else 0

    @property
    def count(self) -> int:
        """The number of processes."""
        return process_count() if jax.distributed.is_initialized() else 1

    def wait(self, what: str) -> None:
        """Wait for all others at the n-th meeting point."""
        if self.count > 1:
            exchange("meeting", next_number("meeting"), what, what)


def _leave_at_exit() -> None:
    leave_at_exit(_end_service)


def _end_service() -> None:
    if _service is not None:
        _service.leave_in_order()


@contextmanager
def _without_preemption_service() -> Iterator[None]:
    """Leave signals alone: JAX's service for preemptions catches SIGTERM, and the process goes on.

    The setting is JAX's own again after the block.
    """
    name = "jax_enable_preemption_service"
    before = getattr(jax.config, name, None)
    if before is None:
        yield
        return
    jax.config.update(name, False)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        jax.config.update(name, before)  # type: ignore[no-untyped-call]


def _hint(text: str) -> str:
    if "before any JAX" in text:
        return "call it first, before anything is computed by JAX or on this backend"
    if "process_id" in text:
        return "`process` is a number from 0 to `processes` - 1"
    if "defined" in text:
        return "give address, processes and process; no system was found that says them"
    return "look whether the address is that of process 0, free, and reachable from here"
