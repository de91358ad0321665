"""Refusal of XLA in forked children.

XLA runs threads, which a fork does not copy: in a child of a process that has used XLA, a call
would wait for ever for one of them. A child whose parent had not used XLA may use it.
"""

from __future__ import annotations

from tenferro.backend.extend import after_fork_in_child
from tenferro_xla._errors import ForkedProcessError

_is_used = False
is_broken = False  # read by every call, so a plain name


def _after_fork() -> None:
    global is_broken
    is_broken = _is_used


after_fork_in_child(_after_fork)


def mark_used() -> None:
    """Note that XLA starts its threads in this process."""
    global _is_used
    check_process()
    _is_used = True


def check_process() -> None:
    """Raise ForkedProcessError in a forked child of a process that has used XLA."""
    if is_broken:
        raise ForkedProcessError(
            "xla: XLA cannot run in a forked child of a process that has used it\n"
            "  because    the threads of XLA exist in the parent process alone\n"
            "  hint       start the child with `multiprocessing.get_context('spawn')`, or use "
            "another backend in it",
            backend="xla",
        )
