"""Text of values, equations and graphs, for people to read and tests to compare.

Knows no Graph, so that printing needs no import cycle. Length per line is bounded, and the whole
is linear in the number of equations. Read next: ``_graph.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tenferro.computegraph._operation import Operation
from tenferro.computegraph._roles import PRIMARY, Linearized, OperationRole

_COLUMN = 39
_NAME_LIMIT = 40


def clip(text: str, limit: int = _NAME_LIMIT) -> str:
    """Shorten a text in the middle if it is longer than the limit."""
    return text if len(text) <= limit else f"{text[: limit - 4]}…{text[-3:]}"


def unique(names: Iterable[str]) -> list[str]:
    """Return the names; one that was there before has its number behind it: d, d.2, d.3."""
    counts: dict[str, int] = {}
    found = []
    for name in names:
        count = counts[name] = counts.get(name, 0) + 1
        found.append(name if count == 1 else f"{name}.{count}")
    return found


def operation_text(operation: Operation) -> str:
    """Return the operation's name, with its parameters if it has any.

    An operation with closed graphs among its parameters says in ``shown`` what its line tells.
    """
    parameters = getattr(operation, "shown", None) or operation.parameters
    if not parameters:
        return str(operation.name)
    inside = ", ".join(f"{name}={clip(_value_text(v))}" for name, v in parameters.items())
    return f"{operation.name}[{inside}]"


def _value_text(value: object) -> str:
    short = getattr(value, "short", None)
    if isinstance(short, str):
        return short
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return "(" + ", ".join(_value_text(item) for item in value) + comma + ")"
    return repr(value)


def aval_text(aval: Any) -> str:
    """``: f64[2]``, or nothing where no aval is known."""
    return "" if aval is None else f": {aval}"


def equation_text(
    outputs: Sequence[str],
    operation: Operation,
    inputs: Sequence[str],
    avals: Sequence[Any],
    role: OperationRole,
    label: str = "",
) -> str:
    """Return one line: outputs, operation, inputs (active ones starred), avals, direction of
    flow, and a label, which names a tangent or cotangent.
    """
    if isinstance(role, Linearized):
        inputs = [f"*{n}" if a else n for n, a in zip(inputs, role.active_mask, strict=True)]
    left = " ".join([", ".join(outputs), "=", operation_text(operation), *inputs])
    known = [str(aval) for aval in avals if aval is not None]
    right = f": {', '.join(known)}" if known else ""
    if isinstance(role, Linearized):
        right = f"{right:<12} {'transposed' if role.transposed else 'linear'}"
    if label:
        right = f"{right:<23} {label}"
    return f"  {left:<{_COLUMN - 3}} {right}".rstrip()


def body_lines(operation: Operation) -> Iterator[str]:
    """Yield the lines of the closed graphs of an operation, and of those in them, indented."""
    stack = [_lines_of(operation, 4)]
    while stack:
        line = next(stack[-1], None)
        if line is None:
            stack.pop()
        elif isinstance(line, str):
            yield line
        else:
            stack.append(_lines_of(*line))


def _lines_of(operation: Operation, indent: int) -> Iterator[str | tuple[Operation, int]]:
    """Yield lines, and where the closed graphs of an equation belong, that with its indentation."""
    margin = " " * indent
    for name, body in getattr(operation, "bodies", ()):
        avals = body.avals
        inputs = [f"%{i}{aval_text(avals[i])}" for i in range(len(body.input_avals))]
        yield f"{margin}{name}({', '.join(inputs)}) {{"
        count = len(inputs)
        for inner, places in body.equations:
            outputs = range(count, count + inner.output_count)
            count = outputs.stop
            names, given = [f"%{i}" for i in outputs], [f"%{i}" for i in places]
            known = [avals[i] for i in outputs]
            yield margin + equation_text(names, inner, given, known, PRIMARY)
            yield inner, indent + 4
        yield f"{margin}  return {', '.join(f'%{i}' for i in body.outputs)}".rstrip()
        yield f"{margin}}}"


def graph_text(
    kind: str, inputs: Iterable[tuple[str, Any]], lines: Iterable[str], outputs: Iterable[str]
) -> str:
    """Return a whole graph: header with inputs, one line per equation, the outputs returned."""
    known = list(inputs)
    names = unique([name for name, _ in known])
    header = ", ".join(f"{name}{aval_text(x)}" for name, (_, x) in zip(names, known, strict=True))
    returned = ", ".join(outputs)
    return "\n".join([f"{kind}({header}) {{", *lines, f"  return {returned}".rstrip(), "}"])
