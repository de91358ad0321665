"""Choice of the graph passes of plugins that rewrite a program, by the option ``passes``.

The option has three levels: of the backend, of its configuration, of the program. "none" and a list
of names at a level drop what was chosen below it; a mapping changes it; ``None`` and "all" leave
it. A pass that is bound to primitives of its own namespace is chosen unasked, unless the backend's
own default is "none". Read next: ``_options.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro.backend._errors import PluginBrokenError
from tenferro.backend.records import GraphPass

if TYPE_CHECKING:
    from tenferro.computegraph import MaterializedGraph

Offered = tuple[tuple[GraphPass, str], ...]  # passes with their providers, in their order


def chosen_among(offered: Offered, default: object, *choices: object) -> frozenset[str]:
    """Return the names of the chosen passes, ``default`` being the choice of the backend.

    Raises UnknownPassError: if a choice names a pass that no plugin has.
    """
    names = tuple([each.name for each, _ in offered])
    chosen = {each.name for each, _ in offered if each.unasked} if default != "none" else set()
    for choice in choices:
        if choice is None or choice == "all":
            continue
        named = _named(choice)
        for name in named:
            if name not in names:
                raise import_module("tenferro.passes._selection").refused(name, names)
        if not isinstance(choice, Mapping):
            chosen = set()
        chosen.update([name for name, on in named.items() if on])
        chosen.difference_update([name for name, on in named.items() if not on])
    return frozenset(chosen)


def _named(choice: Any) -> dict[str, bool]:
    """Return the passes of plugins that a choice names, and whether they shall run."""
    if isinstance(choice, str):
        return {}
    items: Iterable[tuple[object, object]] = (
        choice.items() if isinstance(choice, Mapping) else [(name, True) for name in choice]
    )
    return {str(name): bool(on) for name, on in items if "::" in str(name)}


def after_passes(
    graph: MaterializedGraph, offered: Offered, names: frozenset[str]
) -> tuple[MaterializedGraph, dict[str, int]]:
    """Return a graph after the passes of these names, and how many graphs each changed.

    Raises BrokenPassError: if a pass raises or returns another program.
    Raises PluginBrokenError: if its function cannot be imported.
    """
    counts: dict[str, int] = {}
    for each, provider in offered:
        if each.name in names:
            runs = import_module("tenferro.passes").PluginPass
            load = partial(_function, each, provider)
            rewrite = runs(each.name, provider, each.primitives, load)
            graph, counts[each.name] = rewrite(graph)
    return graph, counts


def _function(each: GraphPass, provider: str) -> Any:
    """Return the function of a pass, imported now if it is named."""
    if not isinstance(each.rewrite, str):
        return each.rewrite
    module, _, name = each.rewrite.partition(":")
    try:
        return getattr(import_module(module), name)
    except (Exception, SystemExit) as error:
        raise PluginBrokenError(
            f"the graph pass {each.name} cannot be used\n"
            f"  provider   {provider or 'unknown'}\n"
            f"  target     {each.rewrite}\n"
            f"  because    {type(error).__name__}: {error}",
            name=each.name,
            group="",
            dist=provider,
            reason=str(error),
        ) from error
