"""Every name of JAX that its documentation does not list as public, with what it is needed for.

A new release of JAX is checked against this file and ``_jax.py``; the tests of the plugin call each
name. The names of the classes of arrays in ``plugin.py`` are of this kind, too.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from jax import jit
from jax.core import Tracer
from jax.experimental import io_callback
from jax.experimental.layout import Layout, with_layout_constraint

__all__ = [
    "Layout",
    "Tracer",
    "coordination_client",
    "io_callback",
    "known_process",
    "native_call",
    "with_layout_constraint",
]


_Native = type(jit(abs))


def native_call(compiled: Any) -> Callable[..., Any] | None:
    """Return the compiled function that a program of JAX calls once it has run, if it has one.

    The method that JAX publishes is Python around it, and takes 0.3 µs. A program that calls back
    into Python has none.
    """
    found: Any = getattr(compiled, "_call", None)
    return found if type(found) is _Native else None


def coordination_client() -> Any:
    """Return the client of the service that connects the processes; None if there is one alone.

    JAX publishes no way to exchange short texts between processes with a time limit.
    """
    return import_module("jax._src.distributed").global_state.client


def known_process() -> tuple[int, int] | None:
    """Return the number of this process and of all; None if it is not connected to others.

    JAX's public functions start its devices, for which connected processes wait for each other.
    """
    state = import_module("jax._src.distributed").global_state
    return None if state.client is None else (state.process_id, state.num_processes)
