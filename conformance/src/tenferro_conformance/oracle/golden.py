"""Write the stored numbers of `golden/`, and check them against the oracle.

`write` and `check` compute everything anew with mpmath; writing is an explicit command, never a
side effect of a test run. Read `cases/golden_data.py` for how a test run reads the files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from tenferro_conformance.cases import golden_data
from tenferro_conformance.cases.case import Stored, draw
from tenferro_conformance.cases.golden_data import SCHEMA, manifest
from tenferro_conformance.oracle.numbers import DIGITS, Tensor, mp
from tenferro_conformance.oracle.reference import (
    define,
    directional,
    reference,
    scale_of,
    term_scale,
)
from tenferro_conformance.samples import FAMILIES, tables
from tenferro_conformance.samples.stored_inputs import digest, given
from tenferro_conformance.samples.table import ORACLE, Row, Table

__all__ = ["check", "compute", "define_meanings", "generate", "write"]


#: Arrays with more entries than this go to the npz file.
MAX_ELEMENTS_IN_JSON = 256
#: Derivatives are stored up to this many entries.
DIFFERENTIATED = 64


def _to_tensor(stored: Stored) -> Tensor:
    """Convert stored numbers to exact oracle numbers."""
    make = {"float": mp.mpf, "bfloat": mp.mpf, "complex": mp.mpc, "bool": bool}.get(
        stored.dtype.rstrip("0123456789"), int
    )
    return Tensor(stored.shape, tuple(make(entry) for entry in stored.data))


def _pair(value: Any) -> tuple[str, str]:
    """Return the double nearest to a number, and the double nearest to the rest."""
    exact = mp.mpf(value)
    high = float(exact)
    low = float(exact - mp.mpf(high)) if mp.isfinite(exact) and abs(high) != float("inf") else 0.0
    return high.hex(), low.hex()


def _packed(tensor: Tensor) -> dict[str, Any]:
    """Return an oracle result as JSON data."""
    if all(isinstance(entry, int) for entry in tensor.flat) and tensor.flat:
        return {"shape": list(tensor.shape), "kind": "exact", "data": list(tensor.flat)}
    is_complex = any(isinstance(entry, mp.mpc) for entry in tensor.flat)
    reals = [
        part
        for entry in tensor.flat
        for part in ((entry.real, entry.imag) if is_complex else (entry,))
    ]
    pairs = [_pair(part) for part in reals]
    packed: dict[str, Any] = {
        "shape": list(tensor.shape),
        "kind": "complex" if is_complex else "real",
        "data": [high for high, _ in pairs],
    }
    if any(float.fromhex(low) for _, low in pairs):
        packed["low"] = [low for _, low in pairs]
    return packed


@cache
def define_meanings() -> None:
    """Define the elementwise primitives whose tables state what they compute."""
    for family in FAMILIES:
        for table in tables(family):
            if table.meaning is not None:
                define(table.primitive, table.meaning)


def compute(table: Table, row: Row, dtype: str, key: str) -> dict[str, Any]:
    """Compute everything that the oracle states about one entry."""
    define_meanings()
    primitive = table.primitive
    inputs = row.stored_inputs(dtype)
    params = {
        name: value(dtype) if callable(value) else value for name, value in row.params.items()
    }
    tensors = [_to_tensor(x) for x in inputs]
    if row.observe is not None:
        primitive = f"{primitive}@{row.observe}"
    entry: dict[str, Any] = {"inputs": [given(x) for x in inputs]}
    if row.expected is ORACLE:
        entry["expected"] = _packed(reference(primitive, params, tensors))
    is_sum = (row.tol or table.tol) != "factorization"
    if is_sum and (row.size > 1 or primitive == "std::dot_general"):
        entry["scale"] = _packed(scale_of(primitive, params, tensors))
    if (
        row.wrt
        and row.derivative is ORACLE
        and sum(len(tensors[i].flat) for i in row.wrt) <= DIFFERENTIATED
    ):
        entry.update(_derivatives(primitive, params, tensors, inputs, row, key))
    return entry


def _derivatives(
    primitive: str,
    params: Mapping[str, Any],
    tensors: Sequence[Tensor],
    inputs: Sequence[Stored],
    row: Row,
    key: str,
) -> dict[str, Any]:
    tangents = {i: draw(f"{key}#tangent{i}", inputs[i].shape, inputs[i].dtype) for i in row.wrt}
    directions = {i: _to_tensor(tangent) for i, tangent in tangents.items()}
    along = [
        _without_noise(directional(primitive, params, tensors, directions, n))
        for n in range(1, row.order + 1)
    ]
    return {
        "tangents": [given(tangents[i]) for i in row.wrt],
        "derivatives": [_packed(d) for d in along],
        "derivative_scale": _packed(term_scale(primitive, params, tensors, directions)),
    }


def _without_noise(derivative: Tensor) -> Tensor:
    """Zero where only the error of the differences is left (below 1e-40 relative to numbers of
    order one).
    """
    return derivative.map(lambda entry: entry if abs(entry) > 1e-34 else 0 * entry)


def _entries(family: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(golden key, entry) for every row of a family that needs stored numbers, each key once."""
    seen = set()
    for table in tables(family):
        for key, row, dtype in table.entries():
            needed = row.expected is ORACLE or (row.wrt and row.derivative is ORACLE)
            if needed and key not in seen:
                seen.add(key)
                yield key, compute(table, row, dtype, key)


def _moved_to_npz(key: str, entry: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Take large float arrays out of an entry; its inputs are in the table."""
    kept: dict[str, Any] = {}
    for name, value in entry.items():
        if not isinstance(value, dict) or len(value["data"]) <= MAX_ELEMENTS_IN_JSON:
            kept[name] = value
            continue
        place = f"{key}#{name}"
        arrays[f"{place}:data"] = np.array([float.fromhex(x) for x in value["data"]])
        arrays[f"{place}:low"] = np.array(
            [float.fromhex(x) for x in value.get("low", ["0x0p0"] * len(value["data"]))]
        )
        kept[name] = {"shape": value["shape"], "kind": value["kind"], "npz": place}
    if any(len(x["data"]) > MAX_ELEMENTS_IN_JSON for x in entry["inputs"]):
        kept["inputs"] = [
            {"shape": x["shape"], "kind": x["kind"], "sha256": digest(x)} for x in entry["inputs"]
        ]
    return kept


def generate(
    families: Sequence[str] = FAMILIES,
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Compute all entries of these families, and their large arrays."""
    arrays: dict[str, Any] = {}
    found = {
        family: {key: _moved_to_npz(key, entry, arrays) for key, entry in _entries(family)}
        for family in families
    }
    return found, arrays


def write(date: str, only: Sequence[str] = ()) -> list[str]:
    """Compute and store everything, or these families only; returns the names of the files."""
    import mpmath

    folder = golden_data.FOLDER
    families, arrays = generate(only or FAMILIES)
    arrays |= _kept_arrays(families)
    for family, entries in families.items():
        header = {"schema": SCHEMA, "generator": "tenferro_conformance.oracle",
                  "mpmath": mpmath.__version__,
                  "digits": DIGITS, "date": date}  # fmt: skip
        head = json.dumps(header)[1:-1]
        lines = ",\n".join(
            f"{json.dumps(key)}: {_dumps(entry)}" for key, entry in sorted(entries.items())
        )
        (folder / f"{family}.json").write_text(f'{{{head}, "entries": {{\n{lines}\n}}}}\n')
    np.savez(folder / "large.npz", **{name: arrays[name] for name in sorted(arrays)})
    stored = [f"{family}.json" for family in sorted(FAMILIES)]
    names = [*(name for name in stored if (folder / name).exists()), "large.npz"]
    lines = "".join(
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names
    )
    (folder / "MANIFEST.sha256").write_text(lines)
    return [*(f"{family}.json" for family in sorted(families)), "large.npz"]


def _kept_arrays(written: Collection[str]) -> dict[str, Any]:
    """Return the large arrays of the families that are not written now."""
    others = {t.primitive for family in FAMILIES if family not in written for t in tables(family)}
    if not others:
        return {}
    stored = np.load(golden_data.FOLDER / "large.npz", allow_pickle=False)
    return {name: stored[name] for name in stored.files if name.split("/", 1)[0] in others}


def _dumps(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, separators=(",", ":"))


def check(only: Sequence[str] = ()) -> list[str]:
    """Compute everything anew, or these families only; one line per difference from the stored."""
    families, arrays = generate(only or FAMILIES)
    arrays |= _kept_arrays(families)
    problems = [f"{name}: not in the manifest, or altered" for name in _altered()]
    for family, entries in families.items():
        stored = json.loads((golden_data.FOLDER / f"{family}.json").read_text())["entries"]
        problems += [
            f"{key}: missing or stale"
            for key in sorted(entries)
            if _json(entries[key]) != stored.get(key)
        ]
        problems += [f"{key}: no row asks for it" for key in sorted(set(stored) - set(entries))]
    return problems + _different_arrays(arrays)


def _json(entry: Mapping[str, Any]) -> Any:
    return json.loads(_dumps(entry))


def _altered() -> list[str]:
    names = [*(f"{family}.json" for family in FAMILIES), "large.npz"]
    return [
        n
        for n in names
        if manifest().get(n) != hashlib.sha256((golden_data.FOLDER / n).read_bytes()).hexdigest()
    ]


def _different_arrays(arrays: Mapping[str, Any]) -> list[str]:
    stored = np.load(golden_data.FOLDER / "large.npz", allow_pickle=False)
    names = sorted(set(arrays) ^ set(stored.files))
    differ = [
        name
        for name in sorted(arrays)
        if name in stored.files and not np.array_equal(arrays[name], stored[name])
    ]
    return [f"large.npz: {name} missing or stale" for name in [*names, *differ]]
