"""``tenferro primitives``: how each backend runs each primitive: native, decomposed or missing.

Read next: ``doctor.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tenferro._cli.layout import table_text
from tenferro._cli.plugins import Data
from tenferro.backend import BackendError, LoweringTable, host
from tenferro.tidu import Primitive


def collect_primitives(options: Any) -> tuple[Data, int]:
    """Collect primitives by backend: native, decomposed or missing.

    Raises if ``--backend`` is unknown.
    """
    plugins = host()
    names = [options.backend] if options.backend else plugins.backends()
    tables, unusable = {}, {}
    for name in names:
        try:
            tables[name] = plugins.table(name)
        except BackendError as error:
            if options.backend:
                raise
            unusable[name] = error.fields.get("reason") or str(error).split("\n", 1)[0]
    rows = [
        {
            "key": key,
            "version": primitive.version,
            "provider": plugins.provider(key),
            "backends": {name: table.status(primitive) for name, table in tables.items()},
            "lowered_by": {name: _lowered_by(table, primitive) for name, table in tables.items()},
            "offered_by": {name: table.offers(primitive) for name, table in tables.items()},
        }
        for key, primitive in plugins.primitives().items()
    ]
    return {"backends": list(tables), "unusable": unusable, "primitives": rows}, 0


def _lowered_by(table: LoweringTable, primitive: type[Primitive]) -> str:
    """Return the provider of the lowering that runs; empty if it is the backend's own."""
    provider = table.runs(primitive)
    return "" if provider == table.home else provider


def write_primitives(data: Data, options: Any) -> str:
    """Write the table of primitives."""
    header = ("primitive", "version", "provider", *data["backends"])
    rows = [
        (row["key"], str(row["version"]), row["provider"], *_cells(row, data["backends"]))
        for row in data["primitives"]
    ]
    notes = [f"{name}: {reason}" for name, reason in data["unusable"].items()]
    return "\n".join([table_text(header, rows), *notes])


def _cells(row: Data, backends: Sequence[str]) -> Iterator[str]:
    for name in backends:
        by, offered = row["lowered_by"][name], row["offered_by"][name]
        notes = [f"by {by}"] if by else []
        notes += [f"not used: {dist}" for dist in offered]
        status = row["backends"][name]
        yield f"{status} ({'; '.join(notes)})" if notes else status
