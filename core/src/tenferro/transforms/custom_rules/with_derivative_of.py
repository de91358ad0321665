"""A value with the derivative of another one, which computes the same in a differentiable way.

An iteration that decides by values, such as the search for the steps of a differential equation,
gives the value; the computation that it has decided on, made again, gives the derivative. It runs
only in programs of derivatives. Unlike rules of the user, this one is the same at every call, so
that programs are kept. Read next: ``custom_rules/jvp.py``.
"""

from __future__ import annotations

from tenferro.arrays import Array
from tenferro.primitives import Handle, Mixed
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_aval
from tenferro.primitives._primitive import bind, pointwise


class WithDerivativeOf(Mixed):
    """y = value,   dy = d other.   value, other: [*s]   →   [*s]"""

    key = "std::with_derivative_of"
    linear = ()
    transparent = True
    redirects = True
    batch = pointwise

    def abstract_eval(self, value: Aval, other: Aval) -> Aval:
        """Return the aval of both."""
        return same_aval(self, value, other)

    def jvp_value(self, *_: Handle) -> None:
        """Return None: the derivative of the value itself is not used."""

    def jvp_other(self, dother: Handle, *_: Handle) -> Handle:
        """Return the tangent of the other value."""
        return dother


def with_derivative_of(value: Array, other: Array) -> Array:
    """Return the value with the derivatives, of any order, of the other one."""
    return bind(WithDerivativeOf(), value, other)
