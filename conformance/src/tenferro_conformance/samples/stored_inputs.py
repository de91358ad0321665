"""The inputs of the tables as they are stored in `golden/`, and which stored ones are stale.

Needs no oracle, so a test run can ask.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tenferro_conformance.cases.case import Stored
from tenferro_conformance.cases.golden_data import load
from tenferro_conformance.samples import FAMILIES, tables

__all__ = ["digest", "given", "stale_inputs"]


def given(stored: Stored) -> dict[str, Any]:
    """Return an input as JSON data."""
    if not stored.dtype.startswith(("float", "bfloat", "complex")):
        return {"shape": list(stored.shape), "kind": "exact", "data": list(stored.data)}
    if stored.dtype.startswith("complex"):
        kind, parts = "complex", [p for z in map(complex, stored.data) for p in (z.real, z.imag)]
    else:
        kind, parts = "real", [float(x) for x in stored.data]
    return {"shape": list(stored.shape), "kind": kind, "data": [part.hex() for part in parts]}


def digest(inputs: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest that stands for the data of a large input."""
    return hashlib.sha256(json.dumps(inputs["data"]).encode()).hexdigest()


def stale_inputs() -> list[str]:
    """List golden keys whose stored inputs differ from the table."""
    problems = []
    for family in FAMILIES:
        entries = load(family)
        for table in tables(family):
            for key, row, dtype in table.entries():
                entry = entries.get(key)
                if entry and not _same_inputs(entry["inputs"], row.stored_inputs(dtype)):
                    problems.append(key)
    return sorted(set(problems))


def _same_inputs(stored: Sequence[Mapping[str, Any]], inputs: Sequence[Stored]) -> bool:
    mine = [json.loads(json.dumps(given(x))) for x in inputs]
    return len(mine) == len(stored) and all(
        digest(ours) == theirs["sha256"] if "sha256" in theirs else ours == theirs
        for ours, theirs in zip(mine, stored, strict=True)
    )
