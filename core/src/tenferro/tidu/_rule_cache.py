"""Cache of derivative rules: what a rule emitted once is emitted again on other values.

A rule is deterministic in the operation, the avals and the active inputs; where the operation says
so by ``rules_look_at``, in the dtype instead of the avals. So ``RuleCache`` has it recorded as a
template (``_record_template.py``) and replays that (``_template.py``), from the fourth use on: to
record a template costs twice as much as to call the rule, and many programs use a rule a few
times. Only vocabularies that declare ``fixed_rules`` are cached, and only in sweeps without rules
of the caller and without an enclosing transform (``rules_of`` decides). The
derivative of a graph does not depend on this file: skip it at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any
from weakref import ref

from tenferro.computegraph import Operation, ValueKey
from tenferro.tidu._apply_rules import CalledRules, Flowing, Primals
from tenferro.tidu._context import EMPTY_CONTEXT
from tenferro.tidu._emit import RuleBuilder, emit_one, sum_of
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._primitive import Primitive
from tenferro.tidu._template import Template, is_fixed, one_aval, replay
from tenferro.tidu._value import Mask, Value

_aval_of = attrgetter("aval")
_depth_of = attrgetter("depth")
_CALLS_BEFORE_TEMPLATE = 3  # it costs two calls, and many rules are used three times
_WANTED: Any = object()  # instead of a template: it is to be recorded now
_NO_PRIMALS: Mapping[ValueKey, ValueKey] = {}

Entry = tuple[Any, ...]  # what a rule depends on: the operation, avals, activity
#: None: the rule must be called, because there is no template of it; a number: the calls so far
Table = dict[Entry, Template | int | None]


class Templates:
    """Templates of one linear space, shared by all sweeps; at most ``limit`` of each kind."""

    __slots__ = ("jvps", "limit", "sums", "transposes")

    def __init__(self, limit: int = 4096) -> None:
        self.limit = limit
        self.jvps: Table = {}
        self.transposes: Table = {}
        self.sums: Table = {}

    def __len__(self) -> int:
        return len(self.jvps) + len(self.transposes) + len(self.sums)

    def clear(self) -> None:
        """Forget all templates."""
        for table in (self.jvps, self.transposes, self.sums):
            table.clear()

    def keep(self, table: Table, entry: Entry, template: Template | int | None) -> None:
        """Enter a template, or the number of calls, into one of the tables."""
        if len(table) >= self.limit:
            table.clear()
        table[entry] = template


_MAX_SPACES = 64
_templates: dict[LinearSpace, Templates] = {}


def templates_of(space: LinearSpace) -> Templates:
    """Return the templates of a linear space."""
    found = _templates.get(space)
    if found is None:
        if len(_templates) >= _MAX_SPACES:
            _templates.clear()
        found = _templates.setdefault(space, Templates())
    return found


class RuleCache(CalledRules):
    """The rules of one sweep, replayed from templates; those that are not cached are called.

    The sweep is the only flow there is, so that bare keys stand for tangents and cotangents.
    """

    __slots__ = ("_flow", "_jvps", "_sums", "_templates", "_transposes", "_value")

    def __init__(self, rule: RuleBuilder, primals: Primals = dict) -> None:
        super().__init__(rule, primals)
        self._value = rule.space.value
        self._flow = (rule.sweep,)
        self._templates = found = templates_of(rule.space)
        self._jvps, self._transposes, self._sums = found.jvps, found.transposes, found.sums

    def _counted(self, table: Table, entry: Entry, calls: int, is_kept: bool) -> Template | None:
        """Return ``_WANTED`` if a template is to be recorded after so many calls, else ``None``."""
        if calls == _CALLS_BEFORE_TEMPLATE:
            return _WANTED  # type: ignore[no-any-return]
        if is_kept:
            self._templates.keep(table, entry, calls + 1)
        return None

    def enter(self, value: Value) -> Flowing:
        """Return the key of a value."""
        return value.key

    def leave(self, flowing: Flowing | None) -> Value | None:
        """Return the value of a key, which flows in this sweep alone."""
        return None if flowing is None else self._value(flowing, self._flow)

    def jvp(
        self,
        operation: Operation,
        inputs: Sequence[ValueKey],
        outputs: Sequence[ValueKey],
        tangents: Sequence[Flowing | None],
    ) -> Iterable[Flowing | None]:
        """Return the tangents of the outputs, given those of the inputs."""
        if len(inputs) == 1 and _is_linear(operation, inputs[0], tangents[0]):
            return self._applied(operation, tangents[0])
        entry: Entry
        if None in tangents:
            entry = (operation, *_seen_of(operation, inputs), *[t is None for t in tangents])
            values = [None, *inputs, *outputs, *[t for t in tangents if t is not None]]
        else:
            entry = (operation, *_seen_of(operation, inputs))
            values = [None, *inputs, *outputs, *tangents]
        template = self._jvps.get(entry, 0)
        if isinstance(template, int):
            template = self._counted(self._jvps, entry, template, is_fixed(operation))
            if template is _WANTED:
                record = _recording().template_of_jvp
                template = record(operation, self.sweep.space, inputs, outputs, tangents)
                self._templates.keep(self._jvps, entry, template)
        if template is None:
            return super().jvp(operation, inputs, outputs, tangents)
        return replay(template, values, self.sweep, inputs[0].aval)

    def _applied(self, operation: Any, dx: Any) -> Iterable[Flowing]:
        """Return the tangent of the only output of an operation that is linear in its only input.

        No rule is asked, and no template is kept: for arrays of a new shape there would be none.
        """
        self.sweep.operation = operation
        return (emit_one(operation, (self._value(dx, self._flow),))[0],)

    def transpose(
        self,
        operation: Operation,
        inputs: Sequence[ValueKey],
        active: Mask,
        cotangents: Sequence[Flowing | None],
    ) -> Iterable[Flowing | None]:
        """Return the cotangents of the active inputs, given those of the outputs."""
        given: Any = len(cotangents) == 1 or tuple([ct is None for ct in cotangents])
        entry = (operation, active, given, *_seen_of(operation, inputs))
        template = self._transposes.get(entry, 0)
        if isinstance(template, int):
            template = self._counted(self._transposes, entry, template, is_fixed(operation))
            if template is _WANTED:
                record = _recording().template_of_transpose
                template = record(operation, self.sweep.space, inputs, active, cotangents)
                self._templates.keep(self._transposes, entry, template)
        if template is None:
            return super().transpose(operation, inputs, active, cotangents)
        return replay(template, [None, *cotangents, *inputs], self.sweep, inputs[0].aval)

    def primal_of(self, operation: Operation) -> Mapping[ValueKey, ValueKey]:
        """Return nothing for fixed rules, which look at no values."""
        return _NO_PRIMALS if is_fixed(operation) else super().primal_of(operation)

    def sum(self, x: Flowing, y: Flowing) -> Flowing:
        """Return x + y."""
        sweep = self.sweep
        entry = (sweep.transposed, *_seen_of(sweep.space, (x,)))
        template = self._sums.get(entry, 0)
        if isinstance(template, int):
            template = self._counted(self._sums, entry, template, is_kept=True)
            if template is _WANTED:
                template = _recording().template_of_sum(sweep.space, sweep.transposed, x.aval)
                self._templates.keep(self._sums, entry, template)
        if template is None:
            return sweep.space.add(self._value(x, self._flow), self._value(y, self._flow)).key
        return replay(template, [None, x, y], sweep, x.aval)[0]

    def add(self, terms: list[Flowing]) -> Flowing:
        """Return the sum of two or more contributions, as a balanced tree."""
        return sum_of(terms, self.sum, _depth_of)


class RepeatedRules(RuleCache):
    """The rules of a sweep on given tangents, which an earlier sweep may have been given, too.

    A derivative of order n sweeps over the equations of all lower orders again, with the same
    tangents, so that most of what it emits is there. Each value notes the tangent that its
    equation got last, and those of the inputs by their serial numbers, which no two keys share.
    """

    __slots__ = ()

    def jvp(
        self,
        operation: Operation,
        inputs: Sequence[ValueKey],
        outputs: Sequence[ValueKey],
        tangents: Sequence[Flowing | None],
    ) -> Iterable[Flowing | None]:
        """Return the tangents of the outputs, given those of the inputs."""
        if len(outputs) != 1 or not is_fixed(operation):
            return super().jvp(operation, inputs, outputs, tangents)
        value, nodes = outputs[0], self.sweep.nodes
        given = (self.sweep.space, *[None if t is None else t.serial for t in tangents])
        noted = value.noted
        if noted is not None and noted[0] == given:
            tangent, mask = noted[1](), noted[2]
            if tangent is not None and tangent.definition is not None:  # it has not been retired
                if mask is not None:
                    nodes[tangent] = mask
                return (tangent,)
        found = super().jvp(operation, inputs, outputs, tangents)
        (tangent,) = found
        if tangent is not None:
            value.noted = given, ref(tangent), nodes.get(tangent)
        return found


def _recording() -> Any:
    """Import what records templates; the first gradients of most processes need none."""
    return import_module("tenferro.tidu._record_template")


def _is_linear(operation: Any, x: ValueKey, dx: Flowing) -> bool:
    """Return True if the tangent of the only output is the operation itself on the tangent.

    False where a template serves all shapes.
    """
    return (
        getattr(type(operation), "jvp", None) is Primitive.jvp
        and operation.rules_look_at is None
        and operation.output_count == 1
        and operation.groups(1) == ((0,),)
        and dx.aval is x.aval
    )


def _seen_of(operation: Any, inputs: Sequence[ValueKey]) -> Iterable[Any]:
    """Return what the rules of an operation look at in the avals of its inputs."""
    look = getattr(operation, "rules_look_at", None)
    if look is not None:
        aval = one_aval(inputs)
        if aval is not None:
            return (look(aval),)
    return map(_aval_of, inputs)


def rules_of(rule: RuleBuilder, primals: Primals = dict) -> CalledRules:
    """Return how a sweep applies rules.

    They are replayed if operations, avals and active inputs alone decide what they emit.
    """
    if rule.context is not EMPTY_CONTEXT or rule.enclosing:
        return CalledRules(rule, primals)
    is_given = not rule.sweep.kept and not rule.sweep.transposed  # others start at fresh seeds
    return (RepeatedRules if is_given else RuleCache)(rule, primals)
