"""Stage: generated kernels under compute-sanitizer, which finds accesses out of bounds."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from gpu_stages.notes import StageNotes
from gpu_stages.processes import said_by
from gpu_stages.setting import LeftOutError, Setting

__all__ = ["sanitizer"]

TOOL = "compute-sanitizer"
CHECK = Path(__file__).parents[1] / "gpu_check.py"


def sanitizer(setting: Setting, notes: StageNotes) -> None:
    """Run the stage of kernels on float32 under compute-sanitizer; an error fails the stage.

    Raises LeftOutError: if compute-sanitizer is not installed.
    """
    found = shutil.which(TOOL)
    if found is None:
        raise LeftOutError(f"{TOOL} is not installed here")
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "kernels.json"
        command = [found, "--error-exitcode", "1", sys.executable, str(CHECK), "--here"]
        command += ["--stage", "kernels", "--setting", setting.name, "--results", str(results)]
        command += ["--dtypes", "float32"]
        text = said_by(command, setting.seconds_left(), Path(folder), {})
    notes["summary"] = (text.strip() or "no output").splitlines()[-1]
