"""Stored numbers: read the files of `golden/`, and refuse one that differs from the manifest.

Needs the standard library only; numpy is imported where a large array is read. `oracle/golden.py`
writes the files. Large arrays live in `large.npz`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tenferro_conformance.errors import GoldenDataError

__all__ = ["FOLDER", "SCHEMA", "load", "manifest"]


FOLDER = Path(__file__).parents[1] / "golden"
SCHEMA = 1


@cache
def load(family: str) -> Mapping[str, Mapping[str, Any]]:
    """Load the entries of one family, by golden key."""
    path = FOLDER / f"{family}.json"
    if not path.exists():
        return {}
    _verify(path)
    content = json.loads(path.read_text())
    if content["schema"] != SCHEMA:
        raise GoldenDataError(f"{path.name}: schema {content['schema']}, this suite reads {SCHEMA}")
    entries: dict[str, dict[str, Any]] = content["entries"]
    return {key: _with_large(key, entry) for key, entry in entries.items()}


@cache
def manifest() -> Mapping[str, str]:
    """Return the SHA-256 digest of every stored file, by its name."""
    lines = (FOLDER / "MANIFEST.sha256").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def _verify(path: Path) -> None:
    if manifest().get(path.name) != hashlib.sha256(path.read_bytes()).hexdigest():
        raise GoldenDataError(
            f"golden/{path.name} differs from MANIFEST.sha256; "
            "`tenferro-conformance golden check` says where"
        )


def _with_large(key: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Replace references into the npz file by their numbers."""
    return {
        name: {**value, **_from_npz(value["npz"])}
        if isinstance(value, dict) and "npz" in value
        else value
        for name, value in entry.items()
    }


@cache
def _npz() -> Any:
    import numpy as np

    _verify(FOLDER / "large.npz")
    return np.load(FOLDER / "large.npz", allow_pickle=False)


def _from_npz(name: str) -> dict[str, Any]:
    stored = _npz()
    found = {part: [float(x).hex() for x in stored[f"{name}:{part}"]] for part in ("data", "low")}
    return found
