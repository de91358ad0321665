"""Installation hints: the backends that core knows by name, and the search for similar names.

A static table, never a look-up: an error message must not need the network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from importlib import import_module

KNOWN: dict[str, str] = {
    "numpy": "pip install tenferro-numpy",
    "xla": "pip install tenferro-xla",
    "cupy": 'pip install "tenferro-cupy[cuda13]"',
}
OTHER_NAMES: dict[str, str] = {"jax": "xla", "cuda": "cupy", "gpu": "cupy", "cpu": "numpy"}
"""Names that users try, and the backend that they mean."""

VARIABLES: dict[str, str] = {
    "TENFERRO_BACKEND": "default backend",
    "TENFERRO_DISABLE_PLUGINS": "distributions or names to block",
    "TENFERRO_LOAD_PLUGINS": "load exactly these distributions",
    "TENFERRO_PLUGINS": "modules of plugins that are not installed",
    "TENFERRO_STRICT_PLUGINS": "1: raise at the first broken plugin",
    "TENFERRO_TRACEBACKS": "full: tracebacks keep the frames of tenferro's files",
}


def install_lines(installed: Collection[str] = ()) -> list[str]:
    """Return message lines that say how to install each known backend that is not installed."""
    width = max(map(len, KNOWN))
    return [f"  {name:<{width}}  {KNOWN[name]}" for name in KNOWN if name not in installed]


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names that look like ``name``, best first.

    >>> nearest("nunpy", ["numpy", "xla"])
    ('numpy',)
    """
    matches: list[str] = import_module("difflib").get_close_matches(name, sorted(names), n=3)
    return tuple(matches)
