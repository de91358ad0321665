"""Cache of derivative rules: what a rule emitted once is emitted again on other values.

A rule is deterministic in the operation, the avals and the active inputs. So ``RuleCache`` runs it
once, on fresh leaves, and keeps what it emitted as a *template*: a list of steps. For other values
of the same avals the steps are emitted again, simplified and ordered as the rule itself would have
done; graphs do not show whether a rule was called or replayed. Only vocabularies that declare
``fixed_rules`` are cached, and only in sweeps without rules of the caller and without an enclosing
transform (``rules_of`` decides). The derivative of a graph does not depend on this file: skip it at
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import (
    Definition,
    Linearized,
    Operation,
    OperationRole,
    ValueKey,
    derive_at,
    inputs_of,
    new_leaf,
    outputs_of,
    postorder,
)
from tenferro.tidu._apply_rules import CalledRules, Flowing, Primals
from tenferro.tidu._context import EMPTY_CONTEXT
from tenferro.tidu._emit import RuleBuilder, alone, emit, sum_of
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._value import NO_FLOW, FlowInput, Mask, Pass, Residual, Value

_aval_of = attrgetter("aval")
_depth_of = attrgetter("depth")
_MISSING: Any = object()  # this entry was never asked for
_MUST_BE_NONE = object()  # the aval of a result that a rule must not return
_NOTHING = 0  # place of a result that does not exist; `None` is the first of the values


# Places of values, and the names of the operations that let a reader of such a value be simplified;
# a literal always may.
Watched = tuple[tuple[int, tuple[str, ...]], ...]


class RecordedEquation(NamedTuple):
    """One equation: places of its inputs among the values so far; the outputs follow these."""

    operation: Any
    places: tuple[int, ...]
    role: OperationRole
    turned: OperationRole | None  # the role if the operands change places, where they may
    aval: Any
    mask: tuple[bool, ...] | None  # inputs through which flow runs; None: no flow
    watched: Watched  # inputs that decide if the step is simplified
    is_plain: bool  # whether nothing else decides


class Template(NamedTuple):
    """Steps over the values that a rule is given, and a function that picks the results from all.

    ``watched`` lists the given values that decide if a step is simplified; it is ``None``
    where that has to be asked at each step.
    """

    steps: tuple[RecordedEquation, ...]
    pick: Callable[[list[Any]], Sequence[Any]]
    watched: Watched | None


Entry = tuple[Any, ...]  # what a rule depends on: the operation, avals, activity
Table = dict[Entry, Template | None]  # None: the rule must be called, because it failed or is wrong


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

    def keep(self, table: Table, entry: Entry, template: Template | None) -> None:
        """Enter a template into one of the tables."""
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
        self._flow = (rule.run,)
        self._templates = found = templates_of(rule.space)
        self._jvps, self._transposes, self._sums = found.jvps, found.transposes, found.sums

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
        entry: Entry
        if None in tangents:
            entry = (operation, *map(_aval_of, inputs), *[t is None for t in tangents])
            values = [None, *inputs, *outputs, *[t for t in tangents if t is not None]]
        else:
            entry = (operation, *map(_aval_of, inputs))
            values = [None, *inputs, *outputs, *tangents]
        template = self._jvps.get(entry, _MISSING)
        if template is _MISSING:
            template = _of_jvp(operation, self.run.space, inputs, outputs, tangents)
            if _is_fixed(operation):
                self._templates.keep(self._jvps, entry, template)
        if template is None:
            return super().jvp(operation, inputs, outputs, tangents)
        return replay(template, values, self.run)

    def transpose(
        self,
        operation: Operation,
        inputs: Sequence[ValueKey],
        active: Mask,
        cotangents: Sequence[Flowing | None],
    ) -> Iterable[Flowing | None]:
        """Return the cotangents of the active inputs, given those of the outputs."""
        given: Any = len(cotangents) == 1 or tuple([ct is None for ct in cotangents])
        entry = (operation, active, given, *map(_aval_of, inputs))
        template = self._transposes.get(entry, _MISSING)
        if template is _MISSING:
            template = _of_transpose(operation, self.run.space, inputs, active, cotangents)
            if _is_fixed(operation):
                self._templates.keep(self._transposes, entry, template)
        if template is None:
            return super().transpose(operation, inputs, active, cotangents)
        return replay(template, [None, *cotangents, *inputs], self.run)

    def sum(self, x: Flowing, y: Flowing) -> Flowing:
        """Return x + y."""
        run = self.run
        entry = (run.transposed, x.aval)
        template = self._sums.get(entry, _MISSING)
        if template is _MISSING:
            template = _of_sum(run.space, run.transposed, x.aval)
            self._templates.keep(self._sums, entry, template)
        if template is None:
            return run.space.add(self._value(x, self._flow), self._value(y, self._flow)).key
        return replay(template, [None, x, y], run)[0]

    def add(self, terms: list[Flowing]) -> Flowing:
        """Return the sum of two or more contributions, as a balanced tree."""
        return sum_of(terms, self.sum, _depth_of)


def rules_of(rule: RuleBuilder, primals: Primals = dict) -> CalledRules:
    """Return how a sweep applies rules.

    They are replayed if operations, avals and active inputs alone decide what they emit.
    """
    alone = rule.context is EMPTY_CONTEXT and not rule.enclosing
    return (RuleCache if alone else CalledRules)(rule, primals)


# ---- replaying a template ------------------------------------------------------------------------


def replay(template: Template, values: list[Any], run: Pass) -> Sequence[Any]:
    """Emit all steps and return the results; ``values`` are what the rule is given."""
    steps, pick, watched = template
    if watched is None or (watched and _may_simplify(values, watched)):
        _replay_asking(template, values, run)
        steps = ()
    for operation, places, role, turned, aval, mask, _, _ in steps:
        if len(places) == 2:
            x, y = values[places[0]], values[places[1]]
            if turned is not None and x.serial > y.serial:
                x, y, role, mask = y, x, turned, mask and mask[::-1]
            key = derive_at((operation, role, 0, x, y), aval)
        elif len(places) == 1:
            key = derive_at((operation, role, 0, values[places[0]]), aval)
        else:
            key = derive_at((operation, role, 0, *[values[i] for i in places]), aval)
        values.append(key)
        if mask is not None:
            run.nodes[key] = mask
            if key.source is None:
                key.source = run.source
    return pick(values)


def _replay_asking(template: Template, values: list[Any], run: Pass) -> None:
    """Replay a template, and ask at each step whether the values simplify it."""
    for step in template.steps:
        operation, places, role, turned, aval, mask, watched, is_plain = step
        if not is_plain or _may_simplify(values, watched):
            values += _emitted(operation, [values[i] for i in places], role, run)
            continue
        given = [values[i] for i in places]
        if turned is not None and given[0].serial > given[1].serial:
            given, role, mask = given[::-1], turned, mask and mask[::-1]
        key = derive_at((operation, role, 0, *given), aval)
        values.append(key)
        if mask is not None:
            run.nodes[key] = mask
            if key.source is None:
                key.source = run.source


def _may_simplify(values: list[ValueKey], watched: Watched) -> bool:
    """Return True if the operation that made one of the values could simplify a step."""
    for i, names in watched:
        definition = values[i].definition
        if definition is not None:
            maker = definition[0]
            if maker.literal or (names and maker.name in names):
                return True
    return False


def _emitted(
    operation: Any, keys: Sequence[ValueKey], role: OperationRole, run: Pass
) -> list[ValueKey]:
    """Emit a step by ``emit`` and return its outputs."""
    cls, flow = run.space.value, (run,)
    mask = role.active_mask if isinstance(role, Linearized) else (False,) * len(keys)
    pairs = zip(keys, mask, strict=True)
    values = [cls(key, flow if active else NO_FLOW) for key, active in pairs]
    return [value.key for value in emit(operation, values, cls)]


# ---- making a template ---------------------------------------------------------------------------


def _is_fixed(operation: Any) -> bool:
    """Return False for an operation that may hold objects of the user, which no cache may keep."""
    return bool(getattr(operation, "fixed_rules", False))


def _of_jvp(
    operation: Any,
    space: LinearSpace,
    inputs: Sequence[ValueKey],
    outputs: Sequence[ValueKey],
    tangents_in: Sequence[Any],
) -> Template | None:
    """Make the template of a JVP rule; it is given inputs, outputs and the tangents that flow."""
    if not _is_fixed(operation):
        return None
    carried = [operation.carries(key.aval) for key in outputs]
    if not any(carried):
        return Template((), _picker([_NOTHING] * len(outputs)), ())
    run = Pass(space, transposed=False)
    primals = [_fresh(space, key.aval) for key in inputs]
    results = [_fresh(space, key.aval) for key in outputs]
    tangent_of = space.tangent_aval
    tangents = [
        None if t is None else _fresh(space, tangent_of(key.aval), run)
        for key, t in zip(inputs, tangents_in, strict=True)
    ]
    given = [*primals, *results, *[t for t in tangents if t is not None]]
    needs = [tangent_of(key.aval) for key in outputs]
    return _traced(run, given, needs, lambda rule: operation.jvp(rule, primals, results, tangents))


def _of_transpose(
    operation: Any,
    space: LinearSpace,
    inputs: Sequence[ValueKey],
    active: tuple[bool, ...],
    cotangents: Sequence[ValueKey | None],
) -> Template | None:
    """Make the template of a transpose rule; it is given the cotangents and the inputs."""
    if not _is_fixed(operation):
        return None
    run = Pass(space, transposed=True)
    cts = [None if ct is None else _fresh(space, ct.aval, run) for ct in cotangents]
    given = [_fresh(space, key.aval) for key in inputs]  # those that do not flow are seen
    seen = [
        FlowInput(value.aval) if flows else Residual(value)
        for value, flows in zip(given, active, strict=True)
    ]
    needs = [k.aval if flows else _MUST_BE_NONE for k, flows in zip(inputs, active, strict=True)]
    places = [_fresh(space, None) if ct is None else ct for ct in cts] + given
    return _traced(run, places, needs, lambda rule: operation.transpose(rule, cts, seen))


def _of_sum(space: LinearSpace, transposed: bool, aval: Any) -> Template | None:
    """Make the template of x + y."""
    run = Pass(space, transposed)
    x, y = _fresh(space, aval, run), _fresh(space, aval, run)
    found = _traced(run, [x, y], [aval], lambda rule: [space.add(x, y)])
    return None if found is None or not found.steps else found


def _fresh(space: LinearSpace, aval: Any, *flow: Pass) -> Value:
    return space.value(new_leaf("given", aval), flow)


def _traced(
    run: Pass,
    given: Sequence[Value],
    needs: Sequence[Any],
    call: Callable[[RuleBuilder], Sequence[Any]],
) -> Template | None:
    """Make the template of one call of a rule; ``None`` if the rule fails or is wrong.

    Such a rule is then called as it is, and the error says for which values.
    """
    try:
        with alone(run) as rule:
            emitted = call(rule)
    except Exception:
        return None
    ends: list[ValueKey | None] = [None] * len(needs)
    if len(emitted) != len(needs):
        return None
    for i, (value, need) in enumerate(zip(emitted, needs, strict=True)):
        if value is None:
            continue
        if not isinstance(value, Value) or value.key.aval != need:
            return None
        if run in value.flow:
            ends[i] = value.key
        elif not run.space.is_zero(value.key):
            return None
    return _steps([value.key for value in given], ends)


def _steps(given: Sequence[ValueKey], ends: Sequence[ValueKey | None]) -> Template | None:
    """Return the equations between the given values and the results, in emission order."""
    place = {key: i for i, key in enumerate(given, _NOTHING + 1)}
    wanted = [key for key in ends if key is not None]
    order, definitions, leaves = postorder(
        wanted, lambda key: None if key in place else key.definition
    )
    if any([leaf not in place for leaf in leaves]):
        return None  # it reads a value that it was not given
    if any([d[0].transparent or d[0].volatile for d in definitions]):
        return None  # pins are new each time, and so is what is the user's
    steps = []
    makers: list[Any] = [None for _ in (None, *given)]
    made = zip(order, definitions, strict=True)
    for key, definition in sorted(made, key=lambda item: item[0].serial):
        if key not in place:
            outputs = outputs_of(key, definition)
            steps.append(_step(definition, outputs, place))
            for output in outputs:
                place[output] = len(place) + 1
                makers.append(definition[0])
    pick = _picker([_NOTHING if key is None else place[key] for key in ends])
    return Template(tuple(steps), pick, _watched_by_all(steps, makers))


def _picker(places: Sequence[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """Return a function, written in C, that picks the values at some places."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


def _watched_by_all(steps: Sequence[RecordedEquation], makers: Sequence[Any]) -> Watched | None:
    """Return the given values that decide if a step is simplified; ``None`` if others do, too."""
    found: dict[int, set[str]] = {}
    for step in steps:
        if not step.is_plain:
            return None
        for i, names in step.watched:
            if makers[i] is None:
                found.setdefault(i, set()).update(names)
            elif makers[i].name in names:
                return None
    return tuple([(i, tuple(names)) for i, names in found.items()])


def _step(
    definition: Definition, outputs: Sequence[ValueKey], place: dict[ValueKey, int]
) -> RecordedEquation:
    operation, role = definition[0], definition[1]
    inputs: tuple[ValueKey, ...] = inputs_of(definition)
    beside: tuple[str, ...] | None = operation.simplified_beside
    names = () if operation.simplify is None or beside is None else beside
    watches = operation.simplify is not None or operation.commutative  # literals come last
    given = inputs if watches else ()
    watched = tuple([(place[key], names) for key in given if not _is_literal(key)])
    mask = role.active_mask if isinstance(role, Linearized) else None
    turned: OperationRole | None = None
    if operation.commutative and len(watched) == 2:
        turned = role
        if isinstance(role, Linearized):
            turned = Linearized(role.active_mask[::-1], role.transposed)
    is_plain = operation.output_count == 1
    is_plain = is_plain and (operation.simplify is None or beside is not None)
    places = tuple([place[key] for key in inputs])
    aval = outputs[0].aval
    return RecordedEquation(operation, places, role, turned, aval, mask, watched, is_plain)


def _is_literal(key: ValueKey) -> bool:
    return key.definition is not None and key.definition[0].literal
