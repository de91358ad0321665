"""Text of values, equations and graphs, for people to read and tests to compare.

Knows no Graph, so that printing needs no import cycle. Length per line is bounded, and the whole
is linear in the number of equations. Read next: ``_graph.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenferro.computegraph._operation import Operation
from tenferro.computegraph._roles import Linearized, OperationRole

_COLUMN = 39
_NAME_LIMIT = 40


def clip(text: str, limit: int = _NAME_LIMIT) -> str:
    """Shorten a text in the middle if it is longer than the limit."""
    return text if len(text) <= limit else f"{text[: limit - 4]}…{text[-3:]}"


def operation_text(operation: Operation) -> str:
    """Return the operation's name, with its parameters if it has any."""
    parameters = operation.parameters
    if not parameters:
        return str(operation.name)
    inside = ", ".join(f"{name}={clip(_value_text(v))}" for name, v in parameters.items())
    return f"{operation.name}[{inside}]"


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return "(" + ", ".join(_value_text(item) for item in value) + comma + ")"
    short = getattr(value, "short", None)
    return short if isinstance(short, str) else repr(value)


def aval_text(aval: Any) -> str:
    """``: f64[2]``, or nothing where no aval is known."""
    return "" if aval is None else f": {aval}"


def equation_text(
    outputs: Sequence[str],
    operation: Operation,
    inputs: Sequence[str],
    avals: Sequence[Any],
    role: OperationRole,
) -> str:
    """Return one line: outputs, operation, inputs (active ones starred), avals, direction of
    flow.
    """
    if isinstance(role, Linearized):
        inputs = [f"*{n}" if a else n for n, a in zip(inputs, role.active_mask, strict=True)]
    left = " ".join([", ".join(outputs), "=", operation_text(operation), *inputs])
    known = [str(aval) for aval in avals if aval is not None]
    right = f": {', '.join(known)}" if known else ""
    if isinstance(role, Linearized):
        right = f"{right:<12} {'transposed' if role.transposed else 'linear'}"
    return f"  {left:<{_COLUMN - 3}} {right}".rstrip()


def graph_text(
    kind: str, inputs: Iterable[tuple[str, Any]], lines: Iterable[str], outputs: Iterable[str]
) -> str:
    """Return a whole graph: header with inputs, one line per equation, the outputs returned."""
    header = ", ".join(f"{name}{aval_text(aval)}" for name, aval in inputs)
    returned = ", ".join(outputs)
    return "\n".join([f"{kind}({header}) {{", *lines, f"  return {returned}".rstrip(), "}"])
