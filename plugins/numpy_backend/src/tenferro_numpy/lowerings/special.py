"""Special functions on NumPy: those of `scipy.special`, imported when one is first used.

The import takes longer than that of NumPy, so it happens only when needed.
Read next: `rounding.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import SPECIAL, family
from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called, simple

__all__ = ["EXPRESSIONS", "register"]


def register(lowerings: Lowerings) -> None:
    """Register what the shared lowerings lack."""
    for name in SPECIAL:
        family(name).register(lowerings, np, _find)


def _find(name: str) -> Function:
    from scipy import special  # noqa: PLC0415 - slow to import, see above

    function: Function = getattr(special, name)
    return function


def _ufunc(op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if result.dtype.name not in ("float32", "float64"):
        return called(op, len(avals), lowering, shares=False)
    return simple(_find(_NAMES[type(op)]), len(avals))


_NAMES: dict[type, str] = {}
for _name in SPECIAL:
    _NAMES.update(family(_name).NAMES)
EXPRESSIONS: dict[type, Specialize] = dict.fromkeys(_NAMES, _ufunc)
