"""Rules of the user as they were when their function was called.

A rule reads variables, attributes and arrays of the program around it. A derivative is taken after
the differentiated function has returned, when these may hold something else. So the rule of a call
is recorded during the call, on stand-ins for the values it is given, and a sweep puts its own
values into the equations.

A rule that cannot be recorded without the values of tangents, such as one that iterates until they
are small, is run by the sweep. So is the rule of a call inside a rule of the same function with
other arguments, which would have no end. Read next: ``custom_rules/call.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, is_traced
from tenferro.arrays.handle.weak import WeakName, is_weak
from tenferro.computegraph import Definition, ValueKey, derive_again, postorder
from tenferro.primitives._aval import Aval
from tenferro.tidu import Trace, pin, pinned_leaf
from tenferro.transforms.recording.arguments import Name
from tenferro.transforms.recording.effects import collecting

_MAX_DEPTH = 4  # of rules that call functions with rules of their own, each recorded inside another


class RecordedRule:
    """The equations between what a rule was given and what it returned.

    ``closed_over`` are values from before the call that the equations read and that vary with
    something. ``start`` is the serial of a key made at the beginning of the call.
    """

    __slots__ = ("_given", "_outputs", "_start", "closed_over")

    def __init__(
        self,
        given: Sequence[ValueKey],
        outputs: Sequence[Array | None],
        start: int,
        stand_ins: Sequence[ValueKey] = (),
    ) -> None:
        """``stand_ins`` count as closed over where the equations read them."""
        self._given = tuple(given)
        self._outputs = tuple([None if y is None else y.key for y in outputs])
        self._start = start
        keys = [key for key in self._outputs if key is not None]
        stops = {**dict.fromkeys(stand_ins, True), **dict.fromkeys(given, False)}
        self.closed_over = older(keys, start, stops=stops)

    def __call__(self, values: Sequence[Array], closed_over: Sequence[Array]) -> list[Array | None]:
        """Return the rule's results for other values."""
        places = dict(zip(self.closed_over, [x.key for x in closed_over], strict=True))
        places.update(zip(self._given, [x.key for x in values], strict=True))
        found = substituted([y for y in self._outputs if y is not None], places, self._start)
        rest = iter(found)
        return [None if y is None else Array(next(rest)) for y in self._outputs]


def older(
    keys: Sequence[ValueKey], start: int, is_end: Callable[[Definition], bool] | None = None,
    stops: Mapping[ValueKey, bool] | None = None,
) -> list[ValueKey]:  # fmt: skip
    """Return values older than ``start`` that vary and from which the keys are computed.

    A definition for which ``is_end`` is true is not followed. Neither are ``stops``; those that map
    to True are among the result.
    """
    ends = stops or {}

    def definition_of(key: ValueKey) -> Definition | None:
        definition = None if key.serial < start or key in ends else key.definition
        stop = definition is not None and is_end is not None and is_end(definition)
        return None if stop else definition

    *_, leaves = postorder(keys, definition_of)
    return [k for k in leaves if ends.get(k, k.serial < start and is_traced(k))]


def substituted(
    outputs: Sequence[ValueKey], places: Mapping[ValueKey, ValueKey], start: int
) -> list[ValueKey]:
    """Return the outputs with other values in these places.

    Values older than ``start`` do not depend on any of the places.
    """
    found = dict(places)

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key in found or key.serial < start else key.definition

    order, definitions, _ = postorder(outputs, definition_of)
    for key, definition in zip(order, definitions, strict=True):
        y = derive_again(definition, found)
        if y is not None:
            y.source = y.source or key.source
            found[key] = y
    return [found.get(key, key) for key in outputs]


class _Call(NamedTuple):
    """A call whose rule is being recorded."""

    custom: Any
    arguments: Any
    inputs: tuple[ValueKey, ...]
    codes: set[Any]  # of its rules
    results: Callable[[], Any]


_calls: ContextVar[tuple[_Call, ...]] = ContextVar("tenferro_recorded_calls", default=())


def results_of_same_call(custom: Any, arguments: Any, inputs: Sequence[Array]) -> Any:
    """Return the results of a call inside its own rule, as in ``y = f(x); return y, y * dx``.

    ``None`` for any other call.
    """
    for call in _calls.get():
        if call.custom is custom and call.inputs == tuple([x.key for x in inputs]):
            if call.arguments == arguments:
                return call.results()
    return None


class Stage:
    """The recording of the rule of one call: stand-ins for its arguments and results."""

    def __init__(self, start: int, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """``start`` is that of the call: what the function has made and the rule uses is new."""
        self.start = start
        self.trace = Trace()
        self.inputs = [self._stand_in(x) for x in inputs]
        self.outputs = [self._stand_in(y) for y in outputs]

    @property
    def keys(self) -> list[ValueKey]:
        """Those of the arguments, then those of the results."""
        return [x.key for x in (*self.inputs, *self.outputs)]

    def _stand_in(self, x: Array) -> Array:
        key = pin(x.key, self.trace)
        if is_weak(x):
            key.identity = x.key.identity
        return Array(key)

    def unknown(self, label: str, aval: Aval, weak: bool = False) -> Array:
        """Make a placeholder for a tangent or cotangent that the sweep will bring."""
        serial = self.trace.id.serial
        name = WeakName(label, serial) if weak else Name(label, serial)
        return Array(pinned_leaf(name, aval, self.trace))


def recorded(
    call: Any, rules: Sequence[Any], start: int, inputs: Sequence[Array],
    outputs: Sequence[Array], results: Callable[[Sequence[Array]], Any],
) -> Any:  # fmt: skip
    """Return the call with its rule recorded now, or the call itself if the sweep shall run the
    rule.

    ``rules`` are the functions of the user, ``start`` is the serial of a key made before the call,
    ``results`` makes what the function returned of its arrays.
    """
    calls = _calls.get()
    if not any([is_traced(x.key) or x.flow for x in inputs]) or len(calls) >= _MAX_DEPTH:
        return call
    codes = {_code(rule) for rule in rules}
    if not rules or any([c.custom is call.custom or codes & c.codes for c in calls]):
        return call
    stage = Stage(start, inputs, outputs)
    keys = tuple([x.key for x in stage.inputs])
    made = lambda: results([Array(y.key) for y in stage.outputs])  # noqa: E731
    entry = _Call(call.custom, call.arguments, keys, codes, made)
    token = _calls.set((*calls, entry))
    try:
        with collecting() as effects:
            found = call.record(stage)
    except Exception:  # an error of the rule itself is raised again where a derivative is taken
        return call
    finally:
        _calls.reset(token)
        stage.trace.open = False
    return call if effects else found


def _code(rule: Any) -> Any:
    """Return the code that all copies of a rule share, if a function makes a copy at each call."""
    return getattr(rule, "__code__", rule)
