"""Stage: fused chains, 1,000 small operations, and gradients beside CuPy by hand and the peers."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.chains import bandwidths, launches
from benchmarks.gpu.device import Device
from benchmarks.gpu.gradients import measured

from gpu_stages.notes import StageNotes
from gpu_stages.setting import Setting

__all__ = ["speed"]


def speed(setting: Setting, notes: StageNotes) -> None:
    """Note each measurement as soon as it is done; what an earlier run measured stays."""
    device = Device(
        setting.backend, setting.cupy, setting.by_hand, setting.solve_triangular, setting.peers,
        setting.budget, setting.is_small,
    )  # fmt: skip
    for title, measure in (("fused chains", bandwidths), ("small operations", launches)):
        if notes.get(f"{title}, done", False):
            continue
        rows: dict[str, Any] = {}
        for name, row in measure(device):
            rows[name] = row
            notes[title] = rows
        notes[f"{title}, done"] = True
    gradients(device, notes)


def gradients(device: Device, notes: StageNotes) -> None:
    """Note a row for each contestant of each workload.

    Raises AssertionError: if a contestant of ours failed or disagreed with CuPy by hand.
    """
    kept = _whole(notes.get("gradients", []))
    done = frozenset([(row["workload"], row["case"]) for row in kept])
    for row in measured(device, done):
        kept.append(row)
        notes["gradients"] = kept
    wrong = [row for row in kept if "why" in row and row["contestant"].startswith("tenferro")]
    assert not wrong, "\n".join([f"{r['workload']} {r['contestant']}: {r['why']}" for r in wrong])


def _whole(rows: list[Any]) -> list[Any]:
    """Return the rows of workloads that an earlier run measured to the end, and found right.

    The last workload may lack contestants, and what failed is measured again.
    """
    last = (rows[-1]["workload"], rows[-1]["case"]) if rows else ()
    wrong = [(r["workload"], r["case"]) for r in rows if "why" in r]
    return [r for r in rows if (r["workload"], r["case"]) not in (last, *wrong)]
