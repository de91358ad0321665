"""Open transforms that a value depends on: may it leave them, and is it one of theirs still?

A key lists its traces; a trace is open while its transform runs. A *sealed* trace may not be used
after it has closed, a *hidden* one does not follow values that are converted to numbers.
Read next: ``array.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import LeakedArrayError, at_user_line
from tenferro.computegraph import ValueKey
from tenferro.primitives._source import caller, source_text


def refuse_leaked(key: ValueKey) -> None:
    """Raise LeakedArrayError if a new value was made of an array of a traced call that is over."""
    for trace in key.traces:
        if trace.sealed and not trace.open:
            raise _leaked(next(x for x in key.inputs if trace in x.traces), trace)


def refuse_leaked_value(key: ValueKey) -> None:
    """Raise LeakedArrayError if a result or a direction is an array of a traced call that is over.

    It has no value, and its derivative would be zero.
    """
    for trace in key.traces:
        if trace.sealed and not trace.open:
            raise _leaked(key, trace)


def _leaked(key: ValueKey, trace: Any) -> LeakedArrayError:
    line = source_text(key.source)
    argument = str(key.identity) if line is None and key.is_input else None
    where = f"  recorded   {line}\n" if line else f"  argument   {argument}\n" if argument else ""
    error = LeakedArrayError(
        f"an array is used that left the function in which it was traced by `{trace.sealed}`\n"
        f"  got        {key.aval}, made of arguments of a call that is over\n"
        f"{where}"
        "  need       values that the function returns\n"
        "  hint       return the array from the function instead of keeping it elsewhere",
        aval=key.aval,
        asked="an operation",
        argument=argument,
    )
    return at_user_line(error)


def is_traced(key: ValueKey) -> bool:
    """Return True if an open transform depends differentiably on the value."""
    for trace in key.traces:
        if trace.open:
            return True
    return False


def tracing(keys: Sequence[ValueKey]) -> list[str]:
    """Return the names of the transforms that trace one of the values, the outermost first."""
    traces = [trace for key in keys for trace in key.traces if trace.open and trace.sealed]
    traces.sort(key=lambda trace: trace.id.serial)
    return list(dict.fromkeys([trace.sealed for trace in traces]))


def is_recorded(key: ValueKey) -> bool:
    """Return True if the value belongs to a recording without values that serves many calls."""
    return bool(key.traces) and any([trace.open and trace.abstract for trace in key.traces])


def is_followed(key: ValueKey) -> bool:
    """Return True if a derivative would be lost if the value left as an operand."""
    return any([trace.open and not trace.hidden for trace in key.traces])


def note_conversion(key: ValueKey) -> None:
    """Record the user's line on each open trace of a value that is converted to numbers there."""
    for trace in key.traces:
        if trace.open and not trace.converted:
            trace.converted = source_text(caller())
