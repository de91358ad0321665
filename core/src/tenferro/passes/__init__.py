"""Graph passes: a graph that computes the same with less, before a backend compiles it.

A pass never changes a dtype or a shape, and a result by rounding at most; each file says what it
may do beyond that, with its reasons. ``docs/passes.md`` shows each pass at work. Importing this
loads no pass: they come with the first program. ``rewrites/`` has the rules of the passes
(``REWRITES`` in ``_selection.py`` says which file) and the passes over a whole graph; ``cse`` is
part of the sweep (``_rewriter.py``). ``roll/`` makes loops of what Python unrolled, and ``budget/``
makes a program fit into memory. CONTRIBUTING.md shows how to add a pass; a backend with a list of
its own (XLA) names it, too. ``_plugin_passes`` runs those of plugins. Read in this order:
``_rewriter``, ``_driver``, ``rewrites/arithmetic``, then any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenferro._runtime import later
from tenferro.passes._errors import BrokenPassError, MemoryBudgetError, UnknownPassError
from tenferro.passes._selection import NAMES, selected

if TYPE_CHECKING:
    from tenferro.passes._driver import Report, optimized
    from tenferro.passes._plugin_passes import PluginPass, swept
    from tenferro.passes._rules import PassRules
else:  # with the passes, which come with the first program
    # generated: lazy names
    __getattr__, __dir__ = later(
        __name__,
        {
            "_driver": "Report optimized",
            "_plugin_passes": "PluginPass swept",
            "_rules": "PassRules",
        },
    )
    # end generated

# fmt: off
# generated: public names
__all__ = [
    "NAMES", "BrokenPassError", "MemoryBudgetError", "PassRules", "PluginPass", "Report",
    "UnknownPassError", "optimized", "selected", "swept",
]
# end generated
# fmt: on
