"""Writes ``docs/xla_primitives.md`` from what was measured; it imports no array library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks/xla_primitives.json", ROOT / "docs/xla_primitives.md"
Data = dict[str, Any]
HEAD = ("primitive", "JAX", "dtype", "ns", "÷ JAX", "ulp", "ulp of JAX", "edges", "")
#: A ratio of times, and of errors, above which a row is remarked upon; an error below `EXACT` ulp
#: is none.
SLOWER, LESS_EXACT, EXACT = 1.1, 1.5, 1.0


#: Of primitives with such rows: what the lowering does for that time and JAX's function does not.
REASONS = {
    "div": "an integer divided by zero is 0, as NumPy has it",
    "abs": "the modulus is infinite as soon as one part is, also beside nan, as C has it",
    "sign": "the sign of -0.0 is 0.0, and a complex number with one infinite part has a sign, as "
    "NumPy has it; JAX keeps -0.0, and gives nan beside an infinite part",
    "pow": "a negative power of an integer truncates towards 0; of JAX 2 to the power -1 is "
    "-9223372036854775808",
    "digamma": "half precision is computed as float32, where JAX has 29 times our error",
    "reduce_max": "nan wins. XLA's own reduction keeps it in half precision and drops it from a "
    "maximum in float32 or float64, and from each minimum; nothing says that it must keep it",
    "scatter": "of several updates of one place the last remains; JAX leaves open which one",
    "sort": "complex numbers with a nan come last, in NumPy's order",
    "gammainc_derivative": "JAX fails eight cases of the kit",
}


def verdict(row: Data) -> str:
    """Return in words whether the lowering is slower than JAX's function, or less exact."""
    ours, jax = row.get("ours ulp", 0.0), row.get("jax ulp", 0.0)
    is_slower = not row["same"] and ratio_of(row) > SLOWER
    if ours > max(EXACT, LESS_EXACT * jax):
        return "less exact" if is_slower or ratio_of(row) > 1 / SLOWER else "faster, less exact"
    if not is_slower:
        return ""
    is_better = jax > max(EXACT, LESS_EXACT * ours) or row.get("jax fails")
    return "slower, more exact" if is_better else "slower"


def ratio_of(row: Data) -> float:
    """Return the time of the lowering over that of JAX's function."""
    found: float = row["ours seconds"] / row["jax seconds"]
    return found


def table(rows: Iterable[Data]) -> list[str]:
    """Return the lines of the table."""
    lines = [f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
    for row in rows:
        cells = (
            row["primitive"],
            row["jax"].replace("|", "\\|"),
            row["dtype"],
            f"{row['ours seconds'] * 1e9:.3g}",
            "=" if row["same"] else f"{ratio_of(row):.2f}",
            ulp(row.get("ours ulp")),
            ulp(row.get("jax ulp")),
            str(row.get("jax fails") or ""),
            verdict(row),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def ulp(error: float | None) -> str:
    """Return an error as text; nothing where it was not measured."""
    if error is None:
        return ""
    if math.isinf(error):
        return "∞"
    return f"{error:.0f}" if 10 <= error < 1e5 else f"{error:.2g}"


def merged(old: Data, new: Data) -> Data:
    """Return results with some rows measured again; both must come from the same versions."""
    if any(old["environment"][key] != new["environment"][key] for key in ("versions", "processor")):
        raise SystemExit("other versions or another processor: measure everything again")
    rows = {_name(row): row for row in [*old["rows"], *new["rows"]]}
    return {**old, "rows": [*rows.values()]}


def _name(row: Data) -> tuple[str, str, str]:
    return row["primitive"], row["jax"], row["dtype"]


INTRODUCTION = """\
# Primitives on XLA, beside JAX

Every lowering of the [XLA backend](xla.md) that has a counterpart in JAX, one dtype a row. The same
program, `jax.jit` of the function and of a sum of its results, is compiled with the plugin's
lowering and with JAX's function.

* **ns**: nanoseconds of CPU time per element, the shortest of up to 25 samples on one core; both
  programs run by turns. **÷ JAX**: over that of JAX; `=` where XLA makes the same program of both.
* **ulp**: the largest error, against mpmath with 50 digits. Of elementwise functions in units of
  the last place of each exact result (of its modulus, if complex), over about a hundred and sixty
  arguments: drawn ones, and a geometric approach to zero and to the ends of the domain. Next to a
  zero of a function that is not at a float the error in this unit has no bound. Of reductions and
  products in units of the last place of the largest result, on small arrays. Nothing is
  written where results are not unique (signs of eigenvectors).
* **edges**: cases of the [conformance kit](conformance.md), infinities, nan, signed zeros and poles
  among them, that JAX's function fails; for reductions 1 if it drops a nan.
* **slower**: by more than a tenth; *more exact* adds that JAX has more than 1.5 times our error and
  more than 1 ulp, or fails edges. **less exact**: the same with the roles exchanged.

`python -m benchmarks.xla_primitives` measures, stores `benchmarks/xla_primitives.json` and writes
this page; with names of primitives it measures these again.
"""


def summary(rows: Sequence[Data]) -> str:
    """Return the counts in a sentence."""
    said = [verdict(row) for row in rows]
    same = sum(row["same"] for row in rows)
    faster = sum(not row["same"] and ratio_of(row) < 1 / SLOWER for row in rows)
    less_exact = sum("less exact" in text for text in said)
    return (
        f"Of {len(rows)} rows {same} are the same program, {faster} are faster by more than a "
        f"tenth, {said.count('slower, more exact')} slower and more exact, "
        f"{said.count('slower')} slower at equal accuracy, and {less_exact} less exact.\n"
    )


def reasons(rows: Iterable[Data]) -> list[str]:
    """Return a line for each primitive with a known reason."""
    names = dict.fromkeys(row["primitive"].split()[0] for row in rows)
    return [f"* `{name}`: {REASONS[name]}." for name in names if name in REASONS]


def page(results: Data) -> str:
    """Return the whole page."""
    found, rows = results["environment"], results["rows"]
    versions = ", ".join(f"{key} {value}" for key, value in found["versions"].items())
    named = [row for row in rows if verdict(row) in ("slower", "less exact", "faster, less exact")]
    parts = [
        INTRODUCTION,
        f"* {found['processor']}, {found['system']}, Python {found['python']}; {versions}\n",
        summary(rows),
        *(["## Slower at equal accuracy, or less exact\n", *table(named), ""] if named else []),
        *(["What the lowerings do for that time:\n", *reasons(named), ""] if named else []),
        "## All\n",
        *table(rows),
    ]
    return "\n".join(parts) + "\n"
