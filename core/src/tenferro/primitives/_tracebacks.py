"""Tracebacks without the frames of tenferro's own files.

An error leaves a public function with the user's frames and one of ours, the function's boundary.
``TENFERRO_TRACEBACKS=full`` leaves all frames in place; ``full_traceback`` has them in any case.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

_VARIABLE = "TENFERRO_TRACEBACKS"
_KEPT = "_tenferro_traceback"
_OURS = frozenset(("tenferro", "tenferro_numpy", "tenferro_cupy", "tenferro_xla"))
_CALLED_BY_US = frozenset(("numpy", "scipy", "optree", "opt_einsum", "jax", "jaxlib"))


class _Kept:
    """The whole of a traceback, and the short one that took its place from ``head`` on."""

    def __init__(
        self, head: TracebackType | None = None, whole: TracebackType | None = None
    ) -> None:
        self.head = head
        self.whole = whole

    def __reduce__(self) -> tuple[type[_Kept], tuple[()]]:
        return _Kept, ()  # frames cannot be pickled


def full_traceback(error: BaseException) -> TracebackType | None:
    """Return the traceback of an error with the frames of tenferro's files, which are hidden.

    >>> import tenferro as tn
    >>> try:
    ...     tn.reshape(tn.asarray([1.0, 2.0, 3.0]), (2, 2))
    ... except tn.TenferroError as error:
    ...     whole = tn.debug.full_traceback(error)
    >>> names = []
    >>> while whole is not None:
    ...     names.append(whole.tb_frame.f_code.co_name)
    ...     whole = whole.tb_next
    >>> "reshape" in names
    True
    """
    kept = vars(error).get(_KEPT)
    if kept is None or kept.whole is None:
        return error.__traceback__
    outer: list[TracebackType] = []
    entry = error.__traceback__
    while entry is not None and entry is not kept.head:
        outer.append(entry)
        entry = entry.tb_next
    if entry is not kept.head:  # the traceback was replaced
        return error.__traceback__
    return _chained(outer, kept.whole)


def shorten(error: BaseException, start: TracebackType | None, *, keep_first: bool) -> None:
    """Let the traceback of an error be ``start`` without our frames; the first may stay."""
    if start is None or os.environ.get(_VARIABLE) == "full":
        error.__traceback__ = start
        return
    short = _without_ours(start.tb_next if keep_first else start)
    if keep_first:
        short = _chained([start], short)
    error.__traceback__ = short
    setattr(error, _KEPT, _Kept(short, start))


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """Return the entries of the user, and of libraries that the user called."""
    kept: list[TracebackType] = []
    is_hidden = True
    while traceback is not None:
        package = (traceback.tb_frame.f_globals.get("__name__") or "").partition(".")[0]
        is_library = package in _CALLED_BY_US or package in sys.stdlib_module_names
        is_hidden = package in _OURS or (is_hidden and is_library)
        if not is_hidden:
            kept.append(traceback)
        traceback = traceback.tb_next
    return _chained(kept, None)


def _chained(entries: list[TracebackType], end: TracebackType | None) -> TracebackType | None:
    for entry in reversed(entries):
        end = TracebackType(end, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return end
