"""Processes that are ended, with all that they started, when their time is over."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

__all__ = ["ended_at", "said_by"]


def ended_at(command: Sequence[str], seconds: float) -> int | None:
    """Run a command, and return its exit code; None if its time was over and it was ended."""
    try:
        return _run(command, seconds, stdout=None)
    except subprocess.TimeoutExpired:
        return None


def said_by(
    command: Sequence[str], seconds: float, folder: Path, environment: Mapping[str, str]
) -> str:
    """Run a command in a folder, and return what it printed.

    Raises subprocess.TimeoutExpired: if its time was over and it was ended.
    Raises AssertionError: if it failed, with the end of what it printed.
    """
    output = folder / "output.txt"
    with output.open("w") as file:
        code = _run(command, seconds, stdout=file, cwd=folder, env={**os.environ, **environment})
    text = output.read_text("utf-8", "replace")
    assert code == 0, f"exit code {code}\n{text[-3000:]}"
    return text


def _run(command: Sequence[str], seconds: float, *, stdout: IO[str] | None, **given: Any) -> int:
    """Run a command in a session of its own, which is ended as a whole."""
    errors = None if stdout is None else subprocess.STDOUT
    process = subprocess.Popen(
        command, stdout=stdout, stderr=errors, start_new_session=True, **given
    )
    try:
        return process.wait(seconds)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
