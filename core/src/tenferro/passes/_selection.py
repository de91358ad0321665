"""Choice of passes: ``"all"``, ``"none"``, names, or a mapping from names to bools.

A mapping changes the default of the backend; names alone are exactly these. Read next:
``_driver.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module

from tenferro.passes._errors import UnknownPassError

REWRITES = {
    "sums": "scatters",
    "fold": "folding",
    "simplify": "arithmetic",
    "moves": "moves",
    "windows": "windows",
    "diagonals": "diagonals",
    "broadcast": "broadcasts",
    "factors": "factors",
    "reduce": "reductions",
    "contract": "contractions",
    "systems": "systems",
}
"""The passes with rules for single equations, in their order, and their files in ``rewrites``.

``sums`` has a part that looks at the whole graph, too: ``paddings.py``.
"""
TRIGGERS = {
    "sums": ("std::pad", "std::scatter_add"),
    "systems": ("std::triangular_solve", "std::linear_solve", "std::cholesky_tangent"),
}
"""By pass, the operations that all its rules look at or read; it loads when one of them is met."""
ROLL, PACKS = "roll", "packs"
NAMES = (
    ROLL, PACKS, *REWRITES, "cse", "outputs", "spectra", "loops", "fission", "product_fission",
    "unswitch", "layout", "residuals",
)  # fmt: skip
"""All passes in their order; those of a whole graph stand before and behind those of equations."""


def selected(choice: object, default: object = "all") -> frozenset[str]:
    """Return the names that a choice selects; ``None`` stands for the default.

    Raises UnknownPassError: naming all passes.

    >>> from tenferro.passes import NAMES, selected
    >>> selected({"fold": False}) == frozenset(NAMES) - {"fold"}
    True
    """
    return _plain(default) if choice is None else _plain(choice, default)


def _plain(choice: object, default: object = "all") -> frozenset[str]:
    if isinstance(choice, str):
        return _named(choice)
    if type(choice) is frozenset:  # mostly what was selected before
        return _checked(choice)
    if isinstance(choice, Mapping):
        asked = {str(name): bool(on) for name, on in choice.items()}
        check(asked)
        kept = _plain(default) - {name for name, on in asked.items() if not on}
        return kept | {name for name, on in asked.items() if on}
    if not isinstance(choice, Iterable):
        raise refused(repr(choice))
    return _checked(frozenset(map(str, choice)))


@lru_cache(maxsize=64)
def _checked(choice: frozenset[object]) -> frozenset[str]:
    names = frozenset(map(str, choice))
    check(names)
    return names


@lru_cache(maxsize=64)
def _named(choice: str) -> frozenset[str]:
    if choice == "all":
        return frozenset(NAMES)
    if choice == "none":
        return frozenset()
    raise refused(choice)


def check(names: Iterable[str]) -> None:
    """Raise UnknownPassError for a name that no pass has.

    A name with a namespace, such as ``acme::fuse``, is that of a plugin's pass: ``backend`` checks
    these.
    """
    for name in names:
        if name not in NAMES and "::" not in name:
            raise refused(name)


def refused(name: str, of_plugins: tuple[str, ...] = ()) -> UnknownPassError:
    """Make the error about a name that no pass has, of core or of the plugins."""
    names = (*NAMES, *of_plugins)
    known = ", ".join(names)
    close = import_module("difflib").get_close_matches(name, (*names, "all", "none"), n=1)
    alone = name in names  # a name instead of names
    meant = f'["{name}"]' if alone else repr(close[0]) if close else ""
    hint = f"\n  hint       did you mean {meant}?" if meant else ""
    return UnknownPassError(
        f"passes: there is no pass {name!r}\n"
        f"  got        {name!r}\n"
        '  need       "all", "none", names, or a mapping of names to whether they run, of\n'
        f"             {known}{hint}",
        name=name,
        names=names,
    )
