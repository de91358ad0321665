"""Levels: which primitives a backend of each level runs, from the tables of cases.

Read `../samples/rows.py` for special functions, which are claimed in addition to a level.
"""

from __future__ import annotations

import json
import textwrap

from tenferro_conformance import SUITE_VERSION
from tenferro_conformance.running.operations import primitive_of
from tenferro_conformance.samples import FAMILIES, tables
from tenferro_conformance.samples.rows import SPECIAL

__all__ = ["levels", "levels_as_json", "levels_text", "required", "required_text"]

_PREFIX = "std::"


def levels() -> dict[int, list[str]]:
    """Return keys of primitives by the least level that has them, without special functions."""
    found: dict[int, list[str]] = {}
    for family in FAMILIES:
        for table in tables(family):
            if table.primitive not in SPECIAL:
                found.setdefault(table.level, []).append(table.primitive)
    return {level: sorted(found[level]) for level in sorted(found)}


def required(level: int) -> list[str]:
    """Return keys of the primitives up to a level that a backend has to lower: they have no
    decomposition.
    """
    keys = [key for least, found in levels().items() if least <= level for key in found]
    return sorted(key for key in keys if primitive_of(key).decompose is None)


def required_text(level: int) -> str:
    """Return what a backend has to lower, one primitive a line, with what it computes."""
    return "\n".join(
        f"{key.removeprefix(_PREFIX):<20} {(primitive_of(key).__doc__ or '').splitlines()[0]}"
        for key in required(level)
    )


def levels_as_json() -> str:
    """Return the lists for machines."""
    data = {
        "schema": 1,
        "suite": SUITE_VERSION,
        "levels": {str(level): keys for level, keys in levels().items()},
        "special": sorted(SPECIAL),
    }
    return json.dumps(data, indent=2)


def levels_text() -> str:
    """Return the lists for people."""
    rows = {f"level {level}": keys for level, keys in levels().items()}
    rows["special"] = sorted(SPECIAL)
    return "\n".join(_row(name, keys) for name, keys in rows.items())


def _row(name: str, keys: list[str]) -> str:
    names = " ".join(key.removeprefix(_PREFIX) for key in keys)
    return textwrap.fill(names, 98, initial_indent=f"{name:<9}", subsequent_indent=" " * 9)
