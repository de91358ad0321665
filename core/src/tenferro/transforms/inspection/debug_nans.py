"""Find where a NaN comes from: ``debug_nans``.

Programs run instruction by instruction on their backend while it is on; the first equation that
makes a NaN of operands without one is an error that names it and the user's line.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro.backend.select import inspecting
from tenferro.computegraph import Linearized
from tenferro.primitives._boundary import at_user_line
from tenferro.primitives._source import caller, source_text
from tenferro.transforms.errors import NonFiniteError

if TYPE_CHECKING:
    from tenferro.backend.inspect import Seen


class debug_nans:
    """Raise an error as soon as a computation produces a NaN.

    As a call, it switches the check on or off from now on. In a ``with`` statement it lasts until
    the end of the block. It applies to the current thread or task, and to jitted functions,
    derivatives and lazy arrays on any backend. Programs run slowly while it is on.

    Parameters
    ----------
    enabled : bool, default True
        False switches the check off.
    infs : bool, default False
        If True, an infinity is an error, too.

    Raises
    ------
    NonFiniteError
        Names the equation and the line of the program that recorded it.

    Examples
    --------
    >>> import tenferro as tn
    >>> with tn.debug_nans():
    ...     pass
    """

    def __init__(self, enabled: bool = True, *, infs: bool = False) -> None:
        given: object = enabled
        if not isinstance(given, bool):
            text = f"debug_nans: `enabled` is True or False, not {enabled!r}"
            raise at_user_line(TypeError(text))

        def look(seen: Seen) -> None:
            _look(seen, infs)

        inspect = import_module("tenferro.backend.inspect")
        self._choice = inspecting(
            (lambda b: inspect.InspectedBackend(b, look)) if enabled else None
        )

    def __enter__(self) -> None:
        return

    def __exit__(self, *exception: object) -> None:
        self._choice.undo()


def _look(seen: Seen, infs: bool) -> None:
    """Raise NonFiniteError if a result holds what no operand holds."""
    for result, aval in zip(seen.results, seen.avals, strict=True):
        if not aval.dtype.is_inexact:
            continue
        array = seen.array(result)
        for what, test in _KINDS if infs else _KINDS[:1]:
            bad = test(array)
            if bad.any() and not any([test(seen.array(x)).any() for x in _inexact(seen)]):
                raise _error(seen, what, int(bad.ravel().argmax()), aval.shape)


_KINDS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("nan", lambda x: x != x),
    ("inf", lambda x: abs(x) == float("inf")),
)


def _inexact(seen: Seen) -> list[Any]:
    avals = [seen.program.avals[i] for i in seen.instruction.inputs]
    pairs = zip(seen.operands, avals, strict=True)
    return [x for x, aval in pairs if aval.dtype.is_inexact]


def _error(seen: Seen, what: str, place: int, shape: tuple[int, ...]) -> NonFiniteError:
    """Make the error about one element of a result."""
    instruction = seen.instruction
    index = _index(place, shape)
    recorded = source_text(instruction.source)
    got = f"{what} at {index} of {shape}" if shape else what
    values = [_element(seen.array(x), index, shape) for x in seen.operands]
    if values:
        got += f", from {', '.join(values)}"
    text = f"{instruction.operation.name} made {what}\n  got        {got}\n"
    text += f"  equation   {seen.program.equation(seen.position)}\n"
    if recorded and isinstance(instruction.role, Linearized):
        text += f"  from       the derivative of {recorded}"
    elif recorded:
        text += f"  from       {recorded}"
    else:
        text += f"  from       {source_text(caller())}   (an equation of a derivative or rule)"
    if hasattr(instruction.operation, "bodies"):  # a loop or branch, looked at from outside
        text += (
            "\n  hint       inside `with tn.debug.unrolled():` the equation in its body is named"
        )
    return NonFiniteError(
        text,
        operation=instruction.operation.name,
        what=what,
        index=index,
        equation=seen.program.equation(seen.position),
        line=recorded,
    )


def _index(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Convert a position in row-major order to an index."""
    index = []
    for size in reversed(shape):
        index.append(place % size)
        place //= size
    return tuple(reversed(index))


def _element(x: Any, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Describe an operand at the same index, or its dtype and shape if that differs."""
    if x.shape == shape:
        return str(x[index])
    return str(x[()]) if not x.shape else f"{x.dtype}{list(x.shape)}"
