"""Long loops that Python unrolled, as loops: before a program is differentiated or batched.

A derivative of a loop is a loop, which costs the same to make whatever the number of steps. The
work is that of the graph pass ``roll``, which loads with the first long program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING

from tenferro.backend._options import chosen_passes
from tenferro.backend.select import is_inspected
from tenferro.computegraph import ValueKey
from tenferro.passes._selection import ROLL
from tenferro.primitives.control import Scan
from tenferro.transforms.recording.unrolled import is_unrolling

if TYPE_CHECKING:
    from tenferro.backend import Backend

LEAST_STEPS = 12
LEAST_EQUATIONS = 128
_allowed: ContextVar[bool] = ContextVar("tenferro_rolls", default=True)


def _can_roll(backend: Backend) -> bool:
    """Return True if the pass is chosen, and the backend itself runs loops."""
    return ROLL in chosen_passes(backend) and backend.lowerings.status(Scan) == "native"


@contextmanager
def rolling(is_allowed: bool) -> Iterator[None]:
    """Roll loops in the programs that are recorded in this block, or leave them as they are."""
    token = _allowed.set(is_allowed)
    try:
        yield
    finally:
        _allowed.reset(token)


def with_loops(
    outputs: Sequence[ValueKey], inputs: Sequence[ValueKey], backend: Backend | None = None
) -> Sequence[ValueKey]:
    """Return the outputs with long loops rolled, as far as they were recorded after the inputs.

    Where the backend is not known yet, loops are rolled unless this is switched off.
    """
    start = min([key.serial for key in inputs], default=0)
    newest = max([key.serial for key in outputs], default=0)
    if newest - start < LEAST_EQUATIONS or not _allowed.get():
        return outputs
    if is_inspected() or is_unrolling():
        return outputs
    if backend is not None and not _can_roll(backend):
        return outputs
    loops = import_module("tenferro.passes.roll.loops")
    given = set(inputs)

    def is_given(key: ValueKey) -> bool:
        return key.serial < start or key in given

    found: Sequence[ValueKey] = loops.rolled(outputs, is_given, LEAST_STEPS, LEAST_EQUATIONS)[0]
    return found
