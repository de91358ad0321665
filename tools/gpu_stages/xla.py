"""Stage: typical cases of the kit over the XLA backend on the same device."""

from __future__ import annotations

import tempfile
from pathlib import Path

from gpu_stages.notes import StageNotes
from gpu_stages.processes import said_by
from gpu_stages.setting import Setting

__all__ = ["xla"]


def xla(setting: Setting, notes: StageNotes) -> None:
    """Run typical cases of the kit over XLA, and note its last line.

    Raises LeftOutError: if JAX is not installed or finds no GPU.
    """
    command = setting.xla_command()
    with tempfile.TemporaryDirectory() as folder:
        text = said_by(command, setting.seconds_left(), Path(folder), {})
    notes["summary"] = (text.strip() or "no output").splitlines()[-1]
