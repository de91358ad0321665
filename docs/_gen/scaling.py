"""Write the table of scaling in `docs/scale_out.md`; `--check` only compares.

The machine that builds the pages has few cores, so that times on virtual devices say nothing. The
table has work per device instead: XLA's own count of operations and of bytes that it reads and
writes, and what devices exchange. Programs are lowered from shapes alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/scale_out.md"
MARKS = "<!-- scaling: written by docs/_gen/scaling.py -->", "<!-- end of scaling -->"
DEVICES = (1, 2, 4, 8)


def programs(devices):
    """(name, jitted function, avals) of each program on so many devices."""
    sys.path.insert(0, str(ROOT / "examples/scale_out"))
    import chain
    import digits

    import tenferro as tn

    def aval(*shape):
        return tn.Aval(shape, "float64")

    weights = {"first": aval(64, 1024), "bias": aval(1024), "second": aval(1024, 10)}
    rows = aval(4096, 64), aval(4096, 10)
    for name, axes in (
        ("network, rows split", {"data": devices, "model": 1}),
        ("network, weights split", {"data": 1, "model": devices}),
    ):
        yield (
            name,
            tn.jit(
                tn.value_and_grad(digits.loss),
                backend="xla",
                mesh=tn.mesh(axes),
                in_shardings=(digits.SPLIT, digits.ROWS, digits.ROWS),
                out_shardings=[(), digits.SPLIT],
            ),
            (weights, *rows),
        )
    tensors = (aval(chain.LENGTH, 256, 2, 256),)
    yield "chain, bonds split", chain.jitted(tn.mesh({"bond": devices})), tensors


def rows():
    """The lines of the table."""
    yield "| program | devices | operations per device | bytes accessed | devices exchange |"
    yield "|---|---|---|---|---|"
    found = [(devices, *row) for devices in DEVICES for row in programs(devices)]
    for devices, name, function, avals in sorted(found, key=lambda row: (row[1], row[0])):
        text = function.explain(*avals)
        flops, accessed = (
            int(re.search(rf"{word} +(\d+) per device", text)[1])
            for word in ("flops", "bytes accessed")
        )
        exchanged = re.search(r"collectives +(.*)", text)[1]
        yield f"| {name} | {devices} | {flops:,} | {accessed:,} | {exchanged} |"


def page():
    """The page with its table."""
    before, rest = PAGE.read_text("utf-8").split(MARKS[0])
    _, after = rest.split(MARKS[1])
    return "\n".join([before + MARKS[0], "", *rows(), "", MARKS[1] + after])


def main(arguments):
    """Write the page, or compare; in a process of its own, with eight devices."""
    if "TENFERRO_SCALING" not in os.environ:
        flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
        environment = {**os.environ, **flags, "TENFERRO_SCALING": "1"}
        return subprocess.run([sys.executable, __file__, *arguments], env=environment).returncode
    text = page()
    if text == PAGE.read_text("utf-8"):
        return 0
    if arguments == ["--check"]:
        print("docs/scale_out.md is stale: run python docs/_gen/scaling.py", file=sys.stderr)
        return 1
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
