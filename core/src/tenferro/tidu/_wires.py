"""The linear space of graphs in which no operation names one: values reach outputs unchanged.

An output that is itself in ``wrt``, or a pin of it, has the identity as its derivative, whatever
the values are. Only a sum of cotangents would need to know more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from tenferro.computegraph import ValueKey
from tenferro.tidu._errors import MixedFlowError
from tenferro.tidu._value import Value


class _Wires:
    """A linear space without operations."""

    value = Value

    def add(self, x: Value, y: Value) -> NoReturn:
        """Raise MixedFlowError: no operation says how values of this kind are added."""
        raise _no_vocabulary(())

    def zeros(self, aval: Any) -> NoReturn:
        """Raise MixedFlowError: no operation says what zero is."""
        raise MixedFlowError("no operation names a linear space, so no zero is known")

    def is_zero(self, key: ValueKey) -> bool:
        """Return False: ``zeros`` makes none."""
        return False

    def tangent_aval(self, aval: Any) -> Any:
        """Return the aval of the value itself."""
        return aval


WIRES = _Wires()


def check_wires(ends: Sequence[Value | None], cotangents: Sequence[Value | None]) -> None:
    """Raise MixedFlowError if several cotangents belong to one input and would have to be added."""
    outputs_of: dict[ValueKey, list[int]] = {}
    for i, (end, ct) in enumerate(zip(ends, cotangents, strict=True)):
        if end is not None and ct is not None:
            outputs_of.setdefault(end.key, []).append(i)
    for outputs in outputs_of.values():
        if len(outputs) > 1:
            raise _no_vocabulary(tuple(outputs))


def _no_vocabulary(outputs: tuple[int, ...]) -> MixedFlowError:
    return MixedFlowError(
        "an input is wired to several outputs and no operation names a linear space\n"
        "  hint       pass the outputs through an operation of the vocabulary",
        outputs=outputs,
    )
