"""Series of ``np.polynomial`` that would silently have another shape for Arrays.

``chebval(x, c)`` and its kin test ``isinstance(x, np.ndarray)`` before they append axes to ``c``.
The test fails for Arrays, and what follows are operators alone, which broadcast, so that the result
would have other axes. NumPy gives these operators no sign of it: only the frame that calls them has
the name of the series and its arguments. Read next: ``protocols.py``.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from tenferro.arrays.errors import UnsupportedFunctionError
from tenferro.arrays.handle.array import Array
from tenferro.primitives._source import caller, source_text

_FAMILIES = ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e")
_MODULES = frozenset([f"numpy.polynomial.{family}" for family in _FAMILIES])
_AXES = "(1,) * x.ndim"


def refuse_other_shape(frame: FrameType) -> None:
    """Raise if the frame is that of a series whose coefficients need more axes.

    Raises UnsupportedFunctionError.
    """
    module = frame.f_globals.get("__name__")
    if module not in _MODULES:
        return
    given, name = frame.f_locals, frame.f_code.co_name
    x = given.get("x")
    if not isinstance(x, Array) or not x.ndim:
        return
    if name == "polyvalfromroots" and (given["tensor"] or x.ndim >= given["r"].ndim):
        instead = f"np.prod(x - r.reshape(r.shape + {_AXES}), axis=0)"
        raise _error(f"{module}.{name}", given["r"], x, instead)
    if given.get("tensor") and given["c"].ndim > 1:
        instead = f"{name}(x, c.reshape(c.shape + {_AXES}), tensor=False)"
        raise _error(f"{module}.{name}", given["c"], x, instead)


def _error(function: str, coefficients: Any, x: Array, instead: str) -> Exception:
    place = source_text(caller())
    where = f"\n  from       {place}" if place else ""
    return UnsupportedFunctionError(
        f"{function}: the axes of the result would be other ones than for arrays of NumPy\n"
        f"  got        x {x.aval}, coefficients of shape {coefficients.shape}\n"
        f"  need       `{instead}`, which has the same meaning{where}\n"
        "  hint       NumPy appends axes only if isinstance(x, np.ndarray)",
        function=function, nearest=None,
    )  # fmt: skip
