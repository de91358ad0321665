"""Functions of common templates, compiled with this package instead of when a program needs them.

The key is the template and the number of bound values. A template that is not here is compiled by
``expression.py`` to the same code, which takes ten times as long as a small program's first run
of it. Read next: ``expression.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["MAKERS"]

#: bound values → function of the operands
MAKERS: dict[tuple[str, int], Callable[..., Callable[..., Any]]] = {
    ("{0}.take({p0})", 1): lambda p0: lambda a0: a0.take(p0),
    ("{0}.reshape({p0})", 1): lambda p0: lambda a0: a0.reshape(p0),
    ("{0}.dot({p0})", 1): lambda p0: lambda a0: a0.dot(p0),
    ("{0}.astype({p0})", 2): lambda p0, p1: lambda a0: a0.astype(p0),
    ('{0}.take({p0}, None, {1}, "clip")', 1): lambda p0: (
        lambda a0, a1: a0.take(p0, None, a1, "clip")
    ),
    ("{0}.dot({1})", 0): lambda: lambda a0, a1: a0.dot(a1),
    ("{0}[{p0}]", 1): lambda p0: lambda a0: a0[p0],
    ("{0}[{p1}]", 2): lambda p0, p1: lambda a0: a0[p1],
    ('{0}.ravel("K").dot({p0})', 1): lambda p0: lambda a0: a0.ravel("K").dot(p0),
    ("{p0}.dot({0})", 1): lambda p0: lambda a0: p0.dot(a0),
    ("{p0}({0}, {p1})", 2): lambda p0, p1: lambda a0: p0(a0, p1),
    ("{p0}({0}, {p1}, {p2})", 3): lambda p0, p1, p2: lambda a0: p0(a0, p1, p2),
    ("{p0}(({0}, {1}, ), {p1})", 2): lambda p0, p1: lambda a0, a1: p0((a0, a1), p1),
    ("{p0}(({0}, {1}, {2}, ), {p1})", 2): lambda p0, p1: lambda a0, a1, a2: p0((a0, a1, a2), p1),
    ("{0}.T.dot({1})", 0): lambda: lambda a0, a1: a0.T.dot(a1),
    ("{0}.dot({1}.T)", 0): lambda: lambda a0, a1: a0.dot(a1.T),
    ("{0}.T", 0): lambda: lambda a0: a0.T,
    ("{0}.dot({p0}, {1})", 1): lambda p0: lambda a0, a1: a0.dot(p0, a1),
    ("{p0}.dot({0}, {1})", 1): lambda p0: lambda a0, a1: p0.dot(a0, a1),
    ("{0}.item({p0})", 1): lambda p0: lambda a0: a0.item(p0),
    ('{p0}({0}.transpose({p1}), order="C")', 2): lambda p0, p1: (
        lambda a0: p0(a0.transpose(p1), order="C")
    ),
    ("{p0}({0}.reshape({p1}), {p2})", 3): lambda p0, p1, p2: lambda a0: p0(a0.reshape(p1), p2),
    ("{p0}({0}, {1}, {p1})", 2): lambda p0, p1: lambda a0, a1: p0(a0, a1, p1),
    ("{p0}(({0}, {1}, ), {p1}, {2})", 2): lambda p0, p1: lambda a0, a1, a2: p0((a0, a1), p1, a2),
    ("{p0}({0}, {1}, {p1}({p2}, {p3}))", 4): lambda p0, p1, p2, p3: (
        lambda a0, a1: p0(a0, a1, p1(p2, p3))
    ),
    ("{0}[{0}.argmax()]", 0): lambda: lambda a0: a0[a0.argmax()],
    ("{0}.transpose({p0})", 1): lambda p0: lambda a0: a0.transpose(p0),
    ('{p1}({1}, {0}, "unsafe")', 2): lambda p0, p1: lambda a0, a1: p1(a1, a0, "unsafe"),
}
