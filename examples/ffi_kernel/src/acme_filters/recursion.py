"""The first-order recursive filter: its meaning, its derivatives, its decomposition.

Nothing here knows a backend. Read next: ``on_xla.py``.
"""

from __future__ import annotations

import tenferro as tn
from tenferro.primitives import (
    Aval,
    Handle,
    Mixed,
    ShapeMismatchError,
    bind,
    broadcast_in_dim,
    constant,
    mul,
    over_leading_axes,
    pad,
    slice,
)


class Recursion(Mixed):
    """y_t = x_t + a y_{t-1} along the last axis, y_{-1} = 0;  with ``reverse``, from the last t on.

    a: f[*s]   x: f[*s,n]   →   y: f[*s,n]

    JVP          dy = recursion(a, da·y_{t-1})
    Transpose    ct_x = recursion(a, ct_y) in the other direction
    """

    key = "acme_filters::recursion"
    batch = over_leading_axes
    linear = ((1,),)  # in x
    reverse: bool = False

    def abstract_eval(self, a: Aval, x: Aval) -> Aval:
        if x.ndim == 0 or a.shape != x.shape[:-1] or a.dtype != x.dtype:
            raise ShapeMismatchError(
                "recursion: there is one coefficient for each row, of its dtype\n"
                f"  got        a {a}, x {x}\n"
                "  need       a f[*s] and x f[*s,n]",
                got=(a, x),
            )
        return x

    def jvp_a(self, da: Handle, a: Handle, x: Handle, y: Handle) -> Handle:
        return bind(self, a, times(da, shifted(y, 1, self.reverse)))

    def transpose_x(self, ct: Handle, a: Handle, x: Handle) -> Handle:
        return bind(Recursion(not self.reverse), a, ct)

    def decompose(self, a: Handle, x: Handle) -> Handle:
        """Double the length of the memory in each step."""
        y, factor, reach = x, a, 1
        while reach < x.shape[-1]:
            y = y + times(factor, shifted(y, reach, self.reverse))
            factor, reach = factor * factor, 2 * reach
        return y


def times(a: Handle, x: Handle) -> Handle:
    """Multiply each row by its coefficient."""
    return mul(broadcast_in_dim(a, x.shape, tuple(range(a.ndim))), x)


def shifted(x: Handle, by: int, reverse: bool) -> Handle:
    """Return x_{t-by}, or x_{t+by} if ``reverse``; zeros where x has no such element."""
    n, zeros, ones = x.shape[-1], (0,) * (x.ndim - 1), x.shape[:-1]
    by = min(by, n)
    kept = slice(x, (*zeros, by if reverse else 0), (*ones, n if reverse else n - by))
    before, after = (0, by) if reverse else (by, 0)
    zero = constant(0.0, x.dtype)
    return pad(kept, zero, (*zeros, before), (*zeros, after), (0,) * x.ndim)


def recursion(a, x):
    """Filter the last axis of x: y_t = x_t + a y_{t-1}. One coefficient, or one for each row."""
    x = tn.asarray(x)
    rows = x.shape[:-1]
    return bind(Recursion(), tn.broadcast_to(tn.astype(tn.asarray(a), x.dtype), rows), x)
