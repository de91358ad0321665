"""Stages of `gpu_check.py`: a name, the minutes that it may take, and a function that checks.

A function takes the `Setting` and the `StageNotes` to write into. It raises if the check failed,
and `LeftOutError` if it cannot run here. Its module is imported when the stage runs.
Read next: `setting.py`, `notes.py`, then a stage.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gpu_stages.notes import StageNotes
    from gpu_stages.setting import Setting

__all__ = ["STAGES", "Stage"]


class Stage(NamedTuple):
    """A stage: its name in the results, its limit, and what it runs."""

    name: str
    minutes: float
    check: Callable[[Setting, StageNotes], None]


def _in(module: str, function: str) -> Callable[[Setting, StageNotes], None]:
    def check(setting: Setting, notes: StageNotes) -> None:
        getattr(import_module(f"gpu_stages.{module}"), function)(setting, notes)

    return check


#: 22 minutes together
STAGES = (
    Stage("probe", 1, _in("probe", "probe")),
    Stage("kernels", 4, _in("kernels", "kernels")),
    Stage("kit, level 2", 4, _in("kit", "level_2")),
    Stage("kit, level 3", 5, _in("kit", "level_3")),
    Stage("speed", 4, _in("speed", "speed")),
    Stage("xla", 2, _in("xla", "xla")),
    Stage("sanitizer", 2, _in("sanitizer", "sanitizer")),
)
