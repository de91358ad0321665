"""``python -m benchmarks.xla_primitives``: measure, store, and write ``docs/xla_primitives.md``.

With names of primitives or of dtypes, only these are measured again; ``--page`` only writes the
page from what is stored, ``--check`` compares it.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from benchmarks.harness.environment import environment
from benchmarks.xla_primitives.page import PAGE, RESULTS, merged, page, table


def measured(wanted: list[str], dtypes: list[str]) -> list[dict[str, Any]]:
    """Measure all rows, or those of some primitives; a row that fails ends it."""
    from benchmarks.xla_primitives.measure import measured as one
    from benchmarks.xla_primitives.rows import ROWS

    found = []
    for row in ROWS:
        if wanted and row.key.removeprefix("std::") not in wanted:
            continue
        for dtype in row.dtypes:
            if not dtypes or dtype in dtypes:
                found.append(one(row, dtype))
                print(*table(found[-1:])[2:], sep="\n", flush=True)
    return found


def main() -> int:
    """Measure and write, or only write, or compare."""
    parser = argparse.ArgumentParser(prog="benchmarks.xla_primitives", description=__doc__)
    parser.add_argument("primitives", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--dtype", action="append", default=[], help="only this; repeatable")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    given = parser.parse_args()
    if not (given.page or given.check):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before JAX starts its threads
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        found = {"environment": environment(), "rows": measured(given.primitives, given.dtype)}
        if given.primitives or given.dtype:
            found = merged(json.loads(RESULTS.read_text("utf-8")), found)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    made = page(json.loads(RESULTS.read_text("utf-8")))
    if not given.check:
        PAGE.write_text(made, "utf-8")
    elif PAGE.read_text("utf-8") != made:
        print(f"{PAGE} is not what {RESULTS} says: python -m benchmarks.xla_primitives --page")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
