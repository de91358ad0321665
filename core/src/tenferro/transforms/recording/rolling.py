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

from tenferro.backend import NoBackendError
from tenferro.backend._options import chosen_passes
from tenferro.backend.select import is_inspected, select_backend
from tenferro.computegraph import ValueKey
from tenferro.passes._selection import ROLL
from tenferro.transforms.recording.unrolled import is_unrolling

if TYPE_CHECKING:
    from tenferro.backend import Backend

LEAST_STEPS = 12
LEAST_EQUATIONS = 128
_allowed: ContextVar[bool] = ContextVar("tenferro_rolls", default=True)
_named: ContextVar[str | Backend | None] = ContextVar("tenferro_records_for", default=None)


def _runs_loops(backend: Backend) -> bool:
    """Return True if the backend itself runs loops."""
    from tenferro.primitives.control import Scan  # noqa: PLC0415 - most programs have no loop

    return backend.lowerings.status(Scan) == "native"


@contextmanager
def rolling(is_allowed: bool, backend: str | Backend | None = None) -> Iterator[None]:
    """Roll loops in the programs that are recorded in this block, or leave them as they are.

    ``backend`` is what the user named for them, or None.
    """
    tokens = _allowed.set(is_allowed), _named.set(backend)
    try:
        yield
    finally:
        _allowed.reset(tokens[0])
        _named.reset(tokens[1])


def is_rolling() -> bool:
    """Return True unless loops stay as Python unrolled them, whatever a transform asks for."""
    return _allowed.get() and not is_unrolling() and not is_inspected()


def is_interpreted() -> bool:
    """Return True if what is recorded now will run one operation after the other.

    Where no backend can be chosen, and where each operation is looked at, it is not known.
    """
    if is_inspected():
        return False
    try:
        return not select_backend(_named.get()).info.whole_program
    except NoBackendError:
        return False


def with_loops(
    outputs: Sequence[ValueKey], inputs: Sequence[ValueKey], backend: Backend | None = None
) -> Sequence[ValueKey]:
    """Return the outputs with long loops rolled, as far as they were recorded after the inputs.

    Where the backend is not known yet, loops are rolled unless this is switched off.
    """
    start = min([key.serial for key in inputs], default=0)
    newest = max([key.serial for key in outputs], default=0)
    if newest - start < LEAST_EQUATIONS or not is_rolling():
        return outputs
    others = sum([start < key.serial <= newest for key in set(inputs)])  # that no equation made
    if newest - start - others < LEAST_EQUATIONS:
        return outputs
    if backend is not None and ROLL not in chosen_passes(backend):
        return outputs
    search = import_module("tenferro.passes.roll.search")
    given = set(inputs)

    def is_given(key: ValueKey) -> bool:
        return key.serial < start or key in given

    repeated = search.stretches_of(outputs, is_given, LEAST_STEPS, LEAST_EQUATIONS)
    if repeated is None or (backend is not None and not _runs_loops(backend)):
        return outputs
    if not repeated.loops:
        return repeated.outputs  # type: ignore[no-any-return]
    loops = import_module("tenferro.passes.roll.loops")
    found: Sequence[ValueKey] = loops.written(repeated, LEAST_STEPS)[0]
    return found
