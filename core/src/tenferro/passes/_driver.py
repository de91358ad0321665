"""The passes in their order, over one graph, in one sweep or two.

A sweep looks at every equation once, with the rules of all chosen passes, in the order of
``NAMES``. A second one follows where the first changed something in a graph that is not large; it
looks at the equations whose rules asked for what later equations may change. So the cost is linear
in the number of equations. Passes that need the whole graph are calls in ``optimized``: ``roll``,
the removal of checkpoints that save nothing, and the joining of paddings before the sweeps;
``outputs``, parts of ``contract`` and ``systems``, ``spectra``, ``loops``, ``fission``,
``unswitch``, ``layout``, ``residuals`` and the memory budget after them. What only some programs
have loads with the first of them.
Read next: ``rewrites/arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

from tenferro._runtime import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Fragment, MaterializedGraph, fragment_of_graph
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import LazyRules, PassRules, RuleTable
from tenferro.passes._selection import NAMES, PACKS, REWRITES, ROLL, TRIGGERS, selected
from tenferro.passes._shapes import is_large
from tenferro.passes.rewrites.dead_outputs import OUTPUTS, without_dead_outputs
from tenferro.primitives.arithmetic import Add, Mul
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Pad, Slice

if TYPE_CHECKING:
    from tenferro.computegraph._materialize import MaterializedNode
    from tenferro.passes.budget.schedule import MemoryPlan
    from tenferro.primitives import Aval

SUMS, CONTRACT, SYSTEMS = "sums", "contract", "systems"
LAYOUT, LOOPS, SPECTRA, RESIDUALS = "layout", "loops", "spectra", "residuals"
FISSION, PRODUCTS, UNSWITCH = "fission", "product_fission", "unswitch"
_SPLITTING = frozenset((FISSION, PRODUCTS))
_CHAINS = "std::chains"  # the part of fission that needs no memory
_NEEDING_MEMORY = _SPLITTING | {PACKS}  # for the rows of what is split, and for all parts at once
_FACTORIZED = frozenset(("std::lu", "std::slogdet"))
_TRANSFORM, _REAL_PARTS = frozenset(("std::fft",)), frozenset(("std::real", "std::convert"))
_CHECKPOINT = frozenset(("std::checkpoint",))
_CONTROL = frozenset(("std::checkpoint", "std::scan", "std::switch", "std::while_loop"))
_MIN_PRODUCTS = 2
_MIN_ELEMENTS = 1 << 12  # of an operand of a product that may be worth sharing
_MIN_TERMS_OF_STACKS = 4  # of a sum of products that may become one product
_MIN_BYTES_TO_MOVE = 1 << 16  # bytes of a value from which its lifetime matters without a budget
_LEAST_STEPS = 64
_LEAST_EQUATIONS = 512  # of a loop
_SWEPT_TWICE = 5_000  # equations; what a rule emits is rewritten at once, so little is left


class Report(NamedTuple):
    """Report of the passes on one graph: rewrites per pass, number of equations before and
    after.
    """

    rewritten: dict[str, int]
    before: int
    after: int
    memory: MemoryPlan | None = None  # where a budget was given

    def __str__(self) -> str:
        if not self.rewritten:
            return "none ran"
        done = [f"{name}: {count}" for name, count in self.rewritten.items() if count]
        if not done:
            return "nothing to rewrite"
        equations = f"{self.before} equations before, {self.after} after"
        return f"{', '.join(done)} rewritten; {equations}"


def optimized(
    graph: MaterializedGraph,
    passes: object = "all",
    can: Callable[[type], bool] = lambda cls: True,
    budget: int | float | None = None,
    predict: Callable[[MaterializedGraph], int | None] = lambda graph: None,
) -> tuple[MaterializedGraph, Report]:
    """Rewrite a graph to compute the same with less work; also report what was done.

    ``can`` says whether an operation of a class may be introduced. A ``budget`` is a number of
    bytes, or a fraction of what the graph needs in the order in which it was recorded; ``predict``
    returns the bytes that a graph needs on the backend, if that knows.

    Raises UnknownPassError: if a name is not that of a pass.
    Raises MemoryBudgetError: if the graph cannot be made to fit into the budget.
    """
    names = selected(passes)
    if budget is not None and not names.isdisjoint(_NEEDING_MEMORY):
        found = _split_within(graph, names, can, budget, predict)
        if found is not None:
            return found
        names = names - _NEEDING_MEMORY | ({_CHAINS} if FISSION in names else set())
    counts = dict.fromkeys([name for name in NAMES if name in names], 0)
    before = len(graph)
    memory = None
    if names or budget is not None:
        with CollectorPaused():
            graph = _rewritten(graph, names, can, counts)
            graph, memory = _in_memory(graph, names, can, counts, budget, predict)
    return graph, Report(counts, before, len(graph), memory)


def _rewritten(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
) -> MaterializedGraph:
    """Run all passes but those that order equations by the memory that they need."""
    if ROLL in names:
        graph, counts[ROLL] = _rolled(graph, can)
    has_control = LOOPS in names and _has_control(graph)
    if has_control and _has(graph, _CHECKPOINT):
        checkpoints = import_module("tenferro.passes.rewrites.checkpoints")
        graph = checkpoints.without_checkpoints(graph)
    joined = 0
    if SUMS in names:
        graph, joined = _with_joined_paddings(graph, can)
    if PACKS in names:
        graph, counts[PACKS] = _packed(graph)
    graph = _swept(graph, names, can, counts, joined)
    graph = _with_less_linear_algebra(graph, names, can, counts)
    graph = _with_half_spectra(graph, names, can, counts)
    if has_control:
        joins = import_module("tenferro.passes.rewrites.loops")
        graph, counts[LOOPS] = joins.with_joined_loops(
            graph, lambda body: _rewritten_body(body, names, can)
        )
    if not names.isdisjoint(_SPLITTING | {_CHAINS}) and _has_control(graph):
        graph = _with_split_loops(graph, names, can, counts)
    if LAYOUT in names:
        graph, counts[LAYOUT] = _laid_out(graph)
    return graph


def _with_less_linear_algebra(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
) -> MaterializedGraph:
    """Run the parts of passes that look at all products or all decompositions of a graph."""
    if OUTPUTS in names:
        graph = _without_dead_outputs(graph, names, can, counts)
    if CONTRACT in names:
        graph = _with_shared_products(graph, names, can, counts)
        graph = _with_stacked_products(graph, names, can, counts)
    if SYSTEMS in names and _has(graph, _FACTORIZED):
        graph = _with_shared_factors(graph, names, can, counts)
    return graph


def _split_within(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    budget: int | float,
    predict: Callable[[MaterializedGraph], int | None],
) -> tuple[MaterializedGraph, Report] | None:
    """Return what the passes make without a budget, if that fits."""
    found, report = optimized(graph, names, can)
    schedule = import_module("tenferro.passes.budget.schedule")
    plan = schedule.plan_of(found, graph, budget, predict)
    return None if plan is None else (found, report._replace(memory=plan))


def _rolled(graph: MaterializedGraph, can: Callable[[type], bool]) -> tuple[MaterializedGraph, int]:
    """Find loops in a long graph, where the backend runs them."""
    if len(graph) < _LEAST_EQUATIONS:
        return graph, 0
    search = import_module("tenferro.passes.roll.search")
    repeated = search.stretches_in(graph, _LEAST_STEPS, _LEAST_EQUATIONS)
    if repeated is None:
        return graph, 0
    loops = import_module("tenferro.passes.roll.loops")
    if not can(loops.Scan):
        return graph, 0
    found: tuple[MaterializedGraph, int] = loops.written_in_graph(graph, repeated, _LEAST_STEPS)
    return found


def _with_split_loops(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
) -> MaterializedGraph:
    """Take out of loops what can run for all steps at once, and rewrite what that has become."""
    fission = import_module("tenferro.passes.fission.split")
    name = FISSION if FISSION in names else _CHAINS if _CHAINS in names else PRODUCTS
    how = {FISSION: fission.ALL, _CHAINS: fission.CHAINS, PRODUCTS: fission.BY_PRODUCTS}[name]
    found, count = fission.with_split_loops(
        graph, can, lambda body: _rewritten_body(body, names, can), how,
        unswitches=UNSWITCH in names,
    )  # fmt: skip
    if name != _CHAINS:
        counts[name] = count
    if UNSWITCH in names:
        counts[UNSWITCH] = _choices(found) - _choices(graph)
    return _swept(found, names, can, counts) if count else graph


def _with_shared_products(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
) -> MaterializedGraph:
    """Multiply matrices once for products that differ in their order, if any matrix is large."""
    if _count(graph, DotGeneral) < _MIN_PRODUCTS:
        return graph
    avals = graph.avals
    products = [node[1] for node in graph.nodes if type(node[0]) is DotGeneral]
    large = [(x, y) for x, y in products if max(avals[x].size, avals[y].size) >= _MIN_ELEMENTS]
    of_matrices = sum([avals[x].ndim == 2 == avals[y].ndim for x, y in large])
    has_sum = _count(graph, ReduceSum) > 0  # of all elements of a product, which is one as well
    if len(large) < _MIN_PRODUCTS or of_matrices + has_sum < _MIN_PRODUCTS or not of_matrices:
        return graph
    sharing = import_module("tenferro.passes.rewrites.products")
    graph, count = sharing.with_shared_products(graph, can)
    counts[CONTRACT] += count
    return _swept(graph, names, can, counts) if count else graph


def _with_stacked_products(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
) -> MaterializedGraph:
    """Make one product of those that a sum adds, if there are enough of them."""
    if _count(graph, Add) + 1 < _MIN_TERMS_OF_STACKS:
        return graph
    if max(_count(graph, DotGeneral), _count(graph, Mul)) < _MIN_TERMS_OF_STACKS:
        return graph
    if not _adds_products(graph):
        return graph
    stacking = import_module("tenferro.passes.rewrites.stacked_products")
    graph, count = stacking.with_stacked_products(graph, can)
    counts[CONTRACT] += count
    return _swept(graph, names, can, counts) if count else graph


def _adds_products(graph: MaterializedGraph) -> bool:
    """Return True if enough additions of matrices read a product of matrices, or of vectors."""
    spread = {node[2][0] for node in graph.nodes if type(node[0]) is BroadcastInDim}
    products = {
        node[2][0]
        for node in graph.nodes
        if type(node[0]) is DotGeneral or (type(node[0]) is Mul and spread.issuperset(node[1]))
    }
    added = [
        not products.isdisjoint(node[1])
        for node in graph.nodes
        if type(node[0]) is Add and graph.avals[node[2][0]].ndim == 2
    ]
    return sum(added) >= _MIN_TERMS_OF_STACKS // 2


def _with_shared_factors(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
) -> MaterializedGraph:
    """Solve for vectors instead of inverting, and factorize each matrix once."""
    inverses = import_module("tenferro.passes.rewrites.inverses")
    graph, count = inverses.with_systems_for_inverses(graph)
    if count:
        counts[SYSTEMS] += count
        graph = _swept(graph, names, can, counts)
    factorizations = import_module("tenferro.passes.rewrites.factorizations")
    graph, count = factorizations.with_system_factors(graph, can)
    counts[SYSTEMS] += count
    return graph


def _with_half_spectra(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
) -> MaterializedGraph:
    """Compute half spectra between real numbers, if the real part of a transform is read."""
    if SPECTRA not in names or not _has(graph, _TRANSFORM) or not _has_real_signals(graph):
        return graph
    spectra = import_module("tenferro.passes.rewrites.spectra")
    graph, counts[SPECTRA] = spectra.with_half_spectra(graph, can)
    return _swept(graph, names, can, counts) if counts[SPECTRA] else graph


def _has_real_signals(graph: MaterializedGraph) -> bool:
    """Return True if the real part of a transform is read."""
    transforms = {node[2][0] for node in _those(graph, _TRANSFORM)}
    return any([node[1][0] in transforms for node in _those(graph, _REAL_PARTS)])


def _those(graph: MaterializedGraph, keys: frozenset[str]) -> list[MaterializedNode]:
    """Return the equations of these operations."""
    return [node for node in graph.nodes if getattr(node[0], "key", "") in keys]


def _laid_out(graph: MaterializedGraph) -> tuple[MaterializedGraph, int]:
    """Reorder the axes of large arrays, if there are any."""
    if not any([is_large(aval) for aval in set(graph.avals)]):
        return graph, 0
    layout = import_module("tenferro.passes.rewrites.layout")
    found: tuple[MaterializedGraph, int] = layout.with_fast_layouts(graph)
    return found


def _has_control(graph: MaterializedGraph) -> bool:
    """Return True if a graph has loops, branches or checkpoints, which other files look at."""
    return _has(graph, _CONTROL)


def _has(graph: MaterializedGraph, keys: frozenset[str]) -> bool:
    """Return True if a graph has one of these operations."""
    return not keys.isdisjoint(graph.operation_keys)


def _count(graph: MaterializedGraph, cls: type) -> int:
    """Count the equations of a graph whose operations are of a class."""
    return graph.operation_counts.get(cls, 0)


def _choices(graph: MaterializedGraph) -> int:
    """Count the choices among branches."""
    counts = graph.operation_counts.items()
    return sum([count for cls, count in counts if getattr(cls, "key", "") == "std::switch"])


def _in_memory(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
    budget: int | float | None,
    predict: Callable[[MaterializedGraph], int | None],
) -> tuple[MaterializedGraph, MemoryPlan | None]:
    """Shorten the lives of values, and make the graph fit into a budget."""
    if budget is None:
        made = {*graph.avals[len(graph.inputs) :]}
        if RESIDUALS in names and any([_is_worth_moving(aval) for aval in made]):
            residuals = import_module("tenferro.passes.rewrites.residuals")
            graph, counts[RESIDUALS] = residuals.with_short_lives(graph, _MIN_BYTES_TO_MOVE)
        return graph, None
    schedule = import_module("tenferro.passes.budget.schedule")
    residuals = import_module("tenferro.passes.rewrites.residuals")
    short, counts[RESIDUALS] = residuals.with_short_lives(graph, 1)
    finish = lambda body: _rewritten_body(body, names, can)  # noqa: E731
    found: tuple[MaterializedGraph, MemoryPlan] = schedule.within(
        short, graph, budget, finish, predict
    )
    return found


def _is_worth_moving(aval: Aval) -> bool:
    return aval.size * aval.dtype.itemsize >= _MIN_BYTES_TO_MOVE


@lru_cache(maxsize=256)
def _rewritten_body(body: Fragment, names: frozenset[str], can: Callable[[type], bool]) -> Fragment:
    """Rewrite the body of a loop or branch; loops that differ in their length share it."""
    return fragment_of_graph(optimized(body.flat, names, can)[0])


def _with_joined_paddings(
    graph: MaterializedGraph, can: Callable[[type], bool]
) -> tuple[MaterializedGraph, int]:
    """Join paddings; the code that does so loads only if there are several.

    If any were joined, the values are numbered with gaps.
    """
    if _count(graph, Pad) < 2:
        return graph, 0
    paddings = import_module("tenferro.passes.rewrites.paddings")
    found: tuple[MaterializedGraph, int] = paddings.with_joined_paddings(graph, can)
    return found


def _packed(graph: MaterializedGraph) -> tuple[MaterializedGraph, int]:
    """Do once what is done to each part of an array; the code loads if two equal parts are read."""
    if _count(graph, Slice) < 2:
        return graph, 0
    avals = graph.avals
    parts = [(node[1][0], avals[node[2][0]]) for node in graph.nodes if type(node[0]) is Slice]
    if len(parts) == len(set(parts)):
        return graph, 0
    packs = import_module("tenferro.passes.rewrites.packs")
    found: tuple[MaterializedGraph, int] = packs.with_packs(graph)
    return found


def _swept(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
    joined: int = 0,
) -> MaterializedGraph:
    """Sweep the graph once or twice; ``joined`` paddings were joined before."""
    rewriter = Rewriter(graph, _table(names), merges="cse" in names, can=can)
    changed = rewriter.sweep()
    if changed and len(rewriter) <= _SWEPT_TWICE:
        rewriter.sweep_again()
    if not changed and not joined:
        return graph
    if joined:
        counts[SUMS] += joined
    for name, count in rewriter.counts.items():
        counts[name] += count
    if rewriter.merged:
        counts["cse"] += rewriter.merged
    return rewriter.finished()


def _without_dead_outputs(
    graph: MaterializedGraph,
    names: frozenset[str],
    can: Callable[[type], bool],
    counts: dict[str, int],
) -> MaterializedGraph:
    found, count = without_dead_outputs(graph, can)
    counts[OUTPUTS] = count
    return _swept(found, names, can, counts) if count else found


@lru_cache(maxsize=64)
def _table(names: frozenset[str]) -> RuleTable:
    """Return the rules of these passes, by class."""
    return RuleTable(
        [
            LazyRules(TRIGGERS[name], partial(_rules, name)) if name in TRIGGERS else _rules(name)
            for name in REWRITES
            if name in names
        ]
    )


def _rules(name: str) -> PassRules:
    """Import the rules of a pass."""
    module = import_module(f"tenferro.passes.rewrites.{REWRITES[name]}")
    rules: PassRules = getattr(module, name.upper())
    return rules
