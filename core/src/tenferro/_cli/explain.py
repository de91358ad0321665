"""``tenferro explain``: how a primitive, or a function of a module, would run.

Arguments of a function are written as avals, ``f64[3,4]``: nothing is computed. Read next:
``../transforms/inspection/explain.py``.
"""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import Any

from tenferro._cli.errors import CommandError
from tenferro._cli.plugins import Data
from tenferro.primitives import Aval

_AVAL = re.compile(r"([a-z]+\d*)(?:\[([\d, ]*)\])?")


def collect_explain(options: Any) -> tuple[Data, int]:
    """Collect the explanation of one subject.

    Raises CommandError: if the function cannot be found, or an argument is not an aval.
    """
    explain = import_module("tenferro.transforms").explain
    module, _, name = options.subject.partition(":")
    if not name or name.startswith(":"):  # `std::tan`
        if options.arguments:
            raise CommandError(f"{options.subject} is a primitive, and takes no arguments here")
        found = explain(options.subject, backend=options.backend)
        rows = [dict(zip(("backend", "status", "why"), row, strict=True)) for row in found.rows]
        return {"subject": options.subject, "backends": rows, "text": str(found)}, 0
    avals = [read_aval(text) for text in options.arguments]
    found = explain(imported(module, name), *avals, backend=options.backend)
    return {"subject": options.subject, "text": str(found)}, 0


def imported(module: str, name: str) -> Any:
    """Import a function; the working folder is searched first, as by ``python -m``."""
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise CommandError(f"{module}:{name} cannot be imported: {error}") from error
    return found


def read_aval(text: str) -> Aval:
    """Return the aval that a text writes.

    >>> read_aval("f64[3,4]"), read_aval("i32")
    (f64[3,4], i32[])
    """
    match = _AVAL.fullmatch(text.strip())
    try:
        if match:
            return Aval(tuple(int(n) for n in (match[2] or "").split(",") if n.strip()), match[1])
    except (TypeError, ValueError) as error:
        raise CommandError(f"{text!r} is not an aval: {error}") from error
    raise CommandError(f"{text!r} is not an aval; write a dtype and a shape, as in f64[3,4]")


def write_explain(data: Data, options: Any) -> str:
    """Write the explanation as ``tn.explain`` prints it."""
    return str(data["text"])
