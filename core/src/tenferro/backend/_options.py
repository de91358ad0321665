"""The options of one compilation: those of core, and those that a backend says it takes.

``passes`` is core's: which graph passes rewrite a graph before the backend sees it. A backend's
default is in its ``BackendInfo``, that of one configuration among its options, that of one program
with ``jit(f, options=…)``; the last of them that says something holds. The passes load with the
first program. Read next: ``select.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro.backend._errors import InvalidOptionError, UnknownOptionError
from tenferro.computegraph import MaterializedGraph, compile_program

if TYPE_CHECKING:
    from tenferro.backend.base import Backend, Executable
    from tenferro.backend.lowering import LoweringTable
    from tenferro.passes import Report
    from tenferro.primitives._aval import Aval
    from tenferro.tidu import Primitive

Options = Mapping[str, Any]
PASSES = "passes"
MEMORY_BUDGET = "memory_budget"  # bytes, or a fraction of what the program needs without it
DONATED = "donated"  # numbers of inputs that are not read afterwards
MESH, IN_SHARDINGS, OUT_SHARDINGS = "mesh", "in_shardings", "out_shardings"
_OF_CORE = (PASSES, MEMORY_BUDGET)
_OF_MESH = (MESH, IN_SHARDINGS, OUT_SHARDINGS, DONATED)  # refused without the feature `sharding`
_SHARED = (*_OF_CORE, *_OF_MESH)


def compiled(
    graph: MaterializedGraph,
    avals: Sequence[Aval],
    backend: Backend,
    options: Options | None = None,
) -> Executable:
    """Compile a graph, after the graph passes have rewritten it.

    Raises UnknownOptionError: if the backend does not take an option.
    Raises UnknownPassError: if a name is not that of a pass.
    """
    program = compile_program(rewritten(graph, backend, options)[0])
    if not options:
        return backend.compile(program, avals)
    check_options(options, backend)
    return backend.compile(program, avals, _of_backend(options))


def donated_inputs(backend: str, numbers: Any, count: int) -> tuple[int, ...]:
    """Return the value of the option ``donated`` for a program of ``count`` inputs.

    Raises InvalidOptionError: for anything but numbers of inputs.
    """
    found = tuple(numbers) if isinstance(numbers, Iterable) else (None,)
    if not all([type(i) is int and 0 <= i < count for i in found]):
        raise InvalidOptionError.of(backend, DONATED, numbers, f"numbers of the {count} inputs")
    return found


def rewritten(
    graph: MaterializedGraph, backend: Backend, options: Options | None = None
) -> tuple[MaterializedGraph, Report]:
    """Return the graph after the chosen passes, and a report of what they did."""
    passes = import_module("tenferro.passes")
    can = _can(backend.lowerings, backend.lowerings.generation)
    chosen = chosen_passes(backend, options)
    budget = (options or {}).get(MEMORY_BUDGET)
    own = _of_backend(options)

    def predict(graph: MaterializedGraph) -> int | None:
        return backend.memory_of(compile_program(graph), own)

    offered = backend.lowerings.graph_passes()
    if not offered:
        result: tuple[MaterializedGraph, Report] = passes.optimized(
            graph, chosen, can, budget, predict
        )
        return result
    before = len(graph)
    graph, counts = _plugin_passes().after_passes(graph, offered, chosen)
    found, report = passes.optimized(graph, chosen - counts.keys(), can, budget, predict)
    return found, report._replace(rewritten={**counts, **report.rewritten}, before=before)


def _of_backend(options: Options | None) -> Options | None:
    """Return the options that a backend is given."""
    return {k: v for k, v in (options or {}).items() if k not in _OF_CORE} or None


@lru_cache(maxsize=8)
def _can(table: LoweringTable, generation: int) -> Callable[..., bool]:
    """Return the one function that says which primitives a backend runs.

    Passes ask it thousands of times about a few classes, and know rewritten bodies by it.
    """

    def can(cls: type[Primitive]) -> bool:
        return table.status(cls) != "missing"

    return cache(can)


def chosen_passes(backend: Backend, options: Options | None = None) -> frozenset[str]:
    """Return the names of the graph passes that rewrite a program."""
    passes = import_module("tenferro.passes")
    default, own = backend.info.passes, backend.config.options.get(PASSES)
    asked = (options or {}).get(PASSES)
    offered = backend.lowerings.graph_passes()
    if not offered and own is None and asked is None:
        return _of_core(passes.selected(default))
    found = passes.selected(own, default)
    chosen: frozenset[str] = passes.selected(asked, found)
    of_plugins: frozenset[str] = _plugin_passes().chosen_among(offered, default, own, asked)
    return _of_core(chosen) | of_plugins


def _plugin_passes() -> Any:
    return import_module("tenferro.backend._plugin_passes")


@lru_cache(maxsize=64)
def _of_core(names: frozenset[str]) -> frozenset[str]:
    """Return the names that are not those of plugins' passes."""
    return frozenset([name for name in names if "::" not in name])


def check_options(options: Options, backend: Backend) -> None:
    """Raise UnknownOptionError for a name that neither core nor the backend knows."""
    known = (PASSES, *backend.info.options)
    for name in options:
        if name not in known and name not in _SHARED:
            raise UnknownOptionError(
                f"{backend.name} has no option {name!r}\n"
                f"  got        {name}={options[name]!r}\n"
                f"  need       one of {', '.join(known)}",
                backend=backend.name,
                option=name,
                options=known,
            )


def identity_of(options: Options) -> Hashable:
    """Return options as a value that is equal for equal options.

    Raises TypeError: if an option's value is neither hashable nor made of what is.
    """
    found = _hashable(options)
    hash(found)
    return found


def _hashable(value: Any) -> Hashable:
    if isinstance(value, Mapping):
        return "mapping", tuple(sorted((str(k), _hashable(v)) for k, v in value.items()))
    if isinstance(value, (list, tuple)):
        return tuple([_hashable(item) for item in value])
    return type(value).__name__, value
