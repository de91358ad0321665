"""`erf` on CuPy, which lives in `cupyx.scipy.special` and is imported when it is first used.

Read next: `reduction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.elementwise import Erf

__all__ = ["register"]


def register(lowerings: Lowerings, erf: Callable[[Any], Any] | None = None) -> None:
    """Register what the shared lowerings lack."""

    @lowerings.register(Erf)
    def lower_erf(op: Erf, x: Any) -> Any:
        function = erf or _cupy_erf()
        return function(x).astype(x.dtype, copy=False)  # float16 is computed in float32


def _cupy_erf() -> Callable[[Any], Any]:
    from cupyx.scipy.special import erf  # noqa: PLC0415 - with the library only

    function: Callable[[Any], Any] = erf
    return function
