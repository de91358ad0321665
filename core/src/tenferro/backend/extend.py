"""Helpers of core for authors of backends, beyond the contract.

Plugins import no private module of core; ruff's rule TID251 refuses it. What they need of core's
machinery has its public name here.

* ``snapshot(x)``: a NumPy array itself if it is immutable, else a copy.
* ``source_text(source)``: the user's line that recorded an operation, for messages.
* ``CollectorPaused()``: a context in which Python's cyclic garbage collector does not run.
* ``after_fork_in_child(function)``, ``renew_in_children(…)``: state that a forked child makes anew.
* ``NamedTuple``: ``typing.NamedTuple`` without generated code, in a tenth of the import time.
* ``KeptProgram.of(program)``: a program as bytes, whose ``read()`` gives it back, for
  ``Executable.kept``.
* ``rewritten(graph, backend)``: a graph after the passes of a backend, and a report of them.
* ``equation_notes(program, position, executed)``, ``lowering_note(backend, operation, avals)``,
  ``loop_hint(operation)``: notes on an error, so that all backends say the same.
* ``donated_inputs(backend, numbers, count)``: the option ``donated``, checked.
* ``note_ignored_sharding()``: the one warning of constraints in a program for one device.
* ``register_pointwise(lowerings, table)``, ``cast(xp, x, dtype)``: for NumPy-shaped libraries.
* ``Axes``, ``aligned``, ``blas_ready(xp, x)``: how the operands of a product become matrices.
* ``Numeric``, ``stirling``, ``gauss``, ``beta_density``, ``beta_part``, ``gamma_density``,
  ``gamma_part``: series and quadratures of special functions in any such library.

>>> from tenferro.backend.extend import NamedTuple
>>> class Tile(NamedTuple):
...     rows: int
>>> Tile(8).rows
8
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tenferro._runtime import (
    CollectorPaused,
    NamedTuple,
    after_fork_in_child,
    renew_in_children,
)
from tenferro.backend._kept_program import KeptProgram
from tenferro.backend._notes import equation_notes, loop_hint, lowering_note
from tenferro.backend._options import donated_inputs, rewritten
from tenferro.backend._snapshots import snapshot
from tenferro.primitives._source import source_text

if TYPE_CHECKING:
    from tenferro.backend.numpy_like._common import (
        Axes,
        aligned,
        blas_ready,
        cast,
        register_pointwise,
    )
    from tenferro.backend.numpy_like._incomplete_beta import beta_density, beta_part
    from tenferro.backend.numpy_like._incomplete_gamma import gamma_density, gamma_part
    from tenferro.backend.numpy_like._numeric import Numeric, gauss, stirling
    from tenferro.backend.numpy_like.sharding import note_ignored as note_ignored_sharding
else:
    _FILE_OF = {
        "Axes": "_common",
        "Numeric": "_numeric",
        "aligned": "_common",
        "beta_density": "_incomplete_beta",
        "beta_part": "_incomplete_beta",
        "blas_ready": "_common",
        "cast": "_common",
        "gamma_density": "_incomplete_gamma",
        "gamma_part": "_incomplete_gamma",
        "gauss": "_numeric",
        "register_pointwise": "_common",
        "stirling": "_numeric",
    }

    def __getattr__(name: str) -> object:
        """Import a helper for NumPy-shaped libraries at its first use."""
        if name == "note_ignored_sharding":
            return import_module("tenferro.backend.numpy_like.sharding").note_ignored
        if name not in _FILE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"tenferro.backend.numpy_like.{_FILE_OF[name]}"), name)


__all__ = [
    "Axes",
    "CollectorPaused",
    "KeptProgram",
    "NamedTuple",
    "Numeric",
    "after_fork_in_child",
    "aligned",
    "beta_density",
    "beta_part",
    "blas_ready",
    "cast",
    "donated_inputs",
    "equation_notes",
    "gamma_density",
    "gamma_part",
    "gauss",
    "loop_hint",
    "lowering_note",
    "note_ignored_sharding",
    "register_pointwise",
    "renew_in_children",
    "rewritten",
    "snapshot",
    "source_text",
    "stirling",
]
