"""Say how something would run: ``explain`` of a primitive, or of a function at arguments.

Nothing is run. A backend is asked for its lowerings and, for a function, to compile. What cannot
run is a part of the answer and no error. Read next: ``inspection/cost.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.evaluate import executable
from tenferro.backend import BackendError, MissingLoweringError, host, select_backend
from tenferro.backend._options import rewritten
from tenferro.backend.bars import Bar, html
from tenferro.backend.lowering.decompose import has_decomposition, sample
from tenferro.backend.select import choose, kinds_of
from tenferro.computegraph import UNKNOWN, CompiledProgram, Operation
from tenferro.passes._costs import family
from tenferro.primitives._primitive import TensorPrimitive
from tenferro.primitives._source import source_text
from tenferro.transforms.errors import UnknownPrimitiveError
from tenferro.transforms.inspection.cost import Cost, cost_of, costs_of
from tenferro.transforms.inspection.look import GraphOf, trace
from tenferro.transforms.recording.decisions import collected_decisions

if TYPE_CHECKING:
    from tenferro.backend import Backend, Gap, LoweringTable

_WIDTH = 12  # of the first column
_PAGE = "docs/add_a_primitive.md"
_CALLBACK = "BackendConfig(allow_host_callback=True)"


class PrimitiveExplanation(NamedTuple):
    """Table of how each backend would run a primitive: (backend, status, reason) in ``rows``."""

    primitive: type[TensorPrimitive]
    provider: str
    rows: tuple[tuple[str, str, str], ...]

    def status(self, backend: str) -> str:
        """native, decomposed, callback, missing or unavailable."""
        return next(status for name, status, _ in self.rows if name == backend)

    def __str__(self) -> str:
        cls = self.primitive
        says = (cls.__doc__ or "").strip().split("\n")[0]
        head = f"{cls.key}   version {cls.version}, from {self.provider or cls.__module__}"
        lines = [head, f"  {says}" if says else "", _row("rules", _rules(cls))]
        lines += [_row(name, f"{status:<12} {why}") for name, status, why in self.rows]
        missing = [name for name, status, _ in self.rows if status == "missing"]
        return "\n".join([*[line.rstrip() for line in lines if line], *_to_write(cls, missing)])

    def __repr__(self) -> str:
        return str(self)


class FunctionExplanation(NamedTuple):
    """Report of how a function would run at some arguments.

    ``runs`` counts equations by (status, primitive). ``gaps`` lists missing lowerings. ``compiled``
    is the backend's description of the program. ``passes`` says what each graph pass changed.
    ``decisions`` are choices of transforms, such as the mode of a Jacobian: (transform, text).
    """

    name: str
    graph: GraphOf
    backend: str
    why: str
    runs: dict[tuple[str, str], int]
    gaps: tuple[Gap, ...]
    cost: Cost
    compiled: str
    passes: str = ""
    decisions: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        rows, compiled = self._heads(), self.compiled.rstrip()
        return "\n".join([row.rstrip() for row in rows] + (["", compiled] if compiled else []))

    def _heads(self) -> list[str]:
        """Return the lines above the backend's own description."""
        counts = ", ".join(f"{count} {part}" for part, count in self.graph.counts().items())
        avals = ", ".join(map(str, self.graph.program.input_avals))
        families = Counter(family(node.operation) for node in self.graph.graph.nodes)
        return [
            f"{self.name} at {avals}".rstrip(),
            _row("graph", f"{_equations(len(self.graph))}: {counts}"),
            _row("families", ", ".join(f"{n} {count}" for n, count in families.most_common())),
            _row("backend", f"{self.backend}: {self.why}"),
            *_status_rows(self.runs),
            *[_row(transform, text) for transform, text in self.decisions],
            _row("passes", self.passes),
            *_cost_rows(self.cost, self.graph.program),
        ]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return the lines, a timeline and bars of the bytes that equations move, and the rest."""
        program = self.graph.program
        rows = []
        for i, cost in enumerate(costs_of(program)):
            text = " ".join(program.equation(i).split())
            note = source_text(program.instructions[i].source) or ""
            rows.append(Bar(cost.moved, f"{cost.moved:,} bytes", text, note))
        what = "bytes read and written, from left to right"
        return html([row.rstrip() for row in self._heads()], rows, self.compiled.rstrip(), what)


def explain(
    subject: Callable[..., Any] | type[TensorPrimitive] | TensorPrimitive | str,
    *args: Any,
    backend: str | Backend | None = None,
    **kwargs: Any,
) -> PrimitiveExplanation | FunctionExplanation:
    """Report how a primitive, or a function at some arguments, would run on the backends.

    Parameters
    ----------
    subject : callable, primitive or str
        A function; or a primitive as class, instance or key such as ``"std::tan"``.
    *args, **kwargs
        Arguments of the function; an ``Aval`` may stand for an array.
    backend : str or Backend, optional
        Only this backend. By default, a primitive is reported for every backend.

    Returns
    -------
    PrimitiveExplanation or FunctionExplanation
        For a primitive: native, decomposed, callback or missing on each backend, and what to
        write if it is missing. For a function: its equations by family, how each would run, which
        mode each Jacobian inside takes and why, estimates of arithmetic, memory traffic and
        memory, and the backend's description of the program. Print it to read it.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.explain("std::tan").status("numpy")
    'native'
    >>> found = tn.explain(lambda x: tn.sum(x * x), tn.Aval((3,), "float64"), backend="numpy")
    >>> found.cost.flops, found.cost.moved
    (6, 104)
    """
    primitive = _primitive_of(subject)
    if primitive is not None:
        return _explain_primitive(primitive, backend)
    if not callable(subject):
        raise TypeError(f"explain takes a primitive or a function, got {type(subject).__name__}")
    return _explain_function(subject, args, kwargs, backend)


# ---- a primitive ---------------------------------------------------------------------------------


def _primitive_of(subject: Any) -> type[TensorPrimitive] | None:
    """Return the class of a primitive, however it is given; ``None`` for anything else."""
    if isinstance(subject, str):
        return _registered(subject)
    if isinstance(subject, type) and issubclass(subject, TensorPrimitive):
        return subject
    return type(subject) if isinstance(subject, TensorPrimitive) else None


def _registered(key: str) -> type[TensorPrimitive]:
    for name in (key, f"std::{key}"):
        found = host().primitive(name)
        if found is not None:
            return found  # type: ignore[return-value]  # the registry speaks of tidu's protocol
    close = import_module("difflib").get_close_matches(key, host().primitives(), n=1)
    hint = f"\n  hint       did you mean {close[0]!r}?" if close else ""
    raise at_user_line(
        UnknownPrimitiveError(
            f"no installed plugin has a primitive {key!r}{hint}", key=key, nearest=tuple(close)
        )
    )


def _explain_primitive(
    cls: type[TensorPrimitive], backend: str | Backend | None
) -> PrimitiveExplanation:
    named = [backend] if backend is not None else list(host().backends())
    rows = tuple(_how(cls, one) for one in named)
    return PrimitiveExplanation(cls, host().provider(cls.key), rows)


def _how(cls: type[TensorPrimitive], backend: str | Backend) -> tuple[str, str, str]:
    """(backend, status, reason) of a primitive."""
    name = backend if isinstance(backend, str) else backend.name
    try:
        table = host().table(name) if isinstance(backend, str) else backend.lowerings
    except BackendError as error:
        return name, "unavailable", str(error).split("\n")[0]
    status = table.status(cls)
    if status == "native":
        return name, status, _who(table, cls)
    if status == "decomposed":
        return name, status, _into(cls)
    numpy_has = name != "numpy" and "numpy" in host().backends() and _on_numpy(cls)
    if numpy_has and table.fallback is not None:
        return name, "callback", "numpy computes it, over the host"
    note = f"; {_CALLBACK} would let numpy compute it" if numpy_has else ""
    return name, "missing", _lacks(table, cls) + note


def _into(cls: type[TensorPrimitive]) -> str:
    """Name the primitives of a decomposition, as far as a small sample shows."""
    operations = sample(cls)
    if not operations:
        return "into primitives that it has"
    return "into " + ", ".join(dict.fromkeys(map(_key, operations)))


def _lacks(table: LoweringTable, cls: type[TensorPrimitive]) -> str:
    others = sorted({str(x.for_version) for x in table.lowerings_of(cls.key)})
    offers = ", ".join(table.offers(cls))
    if offers:
        return f"not used without tenferro.prefer: the lowering by {offers}"
    if others:
        return f"no lowering of version {cls.version}, only of {', '.join(others)}"
    if has_decomposition(cls):
        return "no lowering, and its decomposition needs what is missing too"
    return "no lowering and no decomposition"


def _on_numpy(cls: type[TensorPrimitive]) -> bool:
    return host().table("numpy").status(cls) == "native"


def _who(table: LoweringTable, cls: type[TensorPrimitive]) -> str:
    found = table.usable(cls)
    who = ", ".join(dict.fromkeys(x.provider or "unknown" for x in found))
    dtypes = sorted({name for x in found for name in x.dtypes or ()})
    limited = all(x.dtypes is not None for x in found)
    text = f"by {who}" + (f", for {', '.join(dtypes)} only" if limited else "")
    others = ", ".join(table.offers(cls))
    return f"{text}; not used without tenferro.prefer: {others}" if others else text


def _rules(cls: type[TensorPrimitive]) -> str:
    """List the rules that the primitive's author wrote."""
    names = [n for n in dir(cls) if n.startswith(("jvp_", "transpose_")) and n != "jvp_input"]
    names += ["derivative", "batch", "decompose"]
    names = [n for n in names if getattr(cls, n, None) is not None]
    return ", ".join(names) or "none: it cannot be differentiated or batched"


def _to_write(cls: type[TensorPrimitive], missing: Sequence[str]) -> list[str]:
    """Suggest what an author could add to make it run on these backends."""
    if not missing:
        return []
    inputs = ", ".join(cls._inputs) or "*inputs"
    name = cls.key.partition("::")[2]
    return [
        "",
        f"To run it on {' and '.join(missing)}, write one of these ({_PAGE}):",
        f"  in the class {cls.__name__}, for every backend",
        f"      def decompose(self, {inputs}): ...        # in existing primitives",
        f'  in a plugin, for one: its hook tenferro_lowerings(backend="{missing[0]}") gives',
        f"      @lowerings.register({cls.__name__})",
        f"      def {name}(operation, {inputs}): ...      # on the backend's operands",
    ]


# ---- a function ----------------------------------------------------------------------------------


def _explain_function(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Any, backend: str | Backend | None
) -> FunctionExplanation:
    with collected_decisions() as decisions:
        graph = trace(function, *args, **kwargs)
    known = [key.operand for key in graph.graph.inputs if key.operand is not UNKNOWN]
    why = choose(backend, tuple(kinds_of(known))).why
    chosen = select_backend(backend, known)
    gaps: tuple[Gap, ...] = ()
    try:
        compiled = executable(graph.graph, chosen).explain()
    except MissingLoweringError as error:
        compiled, gaps = str(error), error.fields["gaps"]  # type: ignore[assignment]
    lost = {gap.within or gap.primitive for gap in gaps}
    runs = _runs(graph.program, chosen.lowerings, lost)
    name = getattr(function, "__name__", type(function).__name__)
    cost = cost_of(graph.program)
    passes = str(rewritten(graph.graph, chosen)[1])
    chose = tuple(dict.fromkeys(decisions))
    return FunctionExplanation(
        name, graph, chosen.name, why, runs, gaps, cost, compiled, passes, chose
    )


def _runs(
    program: CompiledProgram, table: LoweringTable, lost: set[str]
) -> dict[tuple[str, str], int]:
    """Count the equations of each primitive by how they run."""
    found: Counter[tuple[str, str]] = Counter()
    for operation, inputs, *_ in program.instructions:
        avals = [program.avals[i] for i in inputs]
        found[_status(operation, avals, table, lost), _key(operation)] += 1
    return dict(found)


def _status(
    operation: Operation, avals: Sequence[Any], table: LoweringTable, lost: set[str]
) -> str:
    if table.is_native(operation, avals):
        return "native"
    if _key(operation) in lost:
        return "missing"
    return "decomposed" if getattr(operation, "decompose", None) is not None else "callback"


def _key(operation: Operation) -> str:
    return str(getattr(operation, "key", operation.name))


def _status_rows(runs: dict[tuple[str, str], int]) -> Iterable[str]:
    """Return one row per status; all but the native one name their primitives."""
    for status in ("native", "decomposed", "callback", "missing"):
        keys = {key: count for (s, key), count in runs.items() if s == status}
        if keys:
            which = ", ".join(f"{key} ({count})" for key, count in keys.items())
            text = _equations(sum(keys.values()))
            yield _row(status, text if status == "native" else f"{text}: {which}")


def _cost_rows(cost: Cost, program: CompiledProgram) -> list[str]:
    at = "" if cost.peak_at is None else program.equation(cost.peak_at)
    where = f", at {' '.join(at.split())}" if at else ""
    memory = f"about {cost.peak:,} bytes at most, {cost.arguments:,} of arguments{where}"
    return [
        _row("arithmetic", f"about {cost.flops:,} operations on elements"),
        _row("traffic", f"about {cost.moved:,} bytes, if each equation reads and writes"),
        _row("memory", memory),
    ]


def _row(name: str, text: str) -> str:
    return f"  {name:<{_WIDTH}} {text}"


def _equations(count: int) -> str:
    return f"{count} equation{'' if count == 1 else 's'}"
