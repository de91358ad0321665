"""The Bessel functions J, of real order, and Y, of integer order.

Derivatives raise and lower the order, so that they exist to every order. There is no derivative in
the order: it is a parameter. Formulas of the NIST Digital Library of Mathematical Functions (DLMF),
chapter 10. Read next: ``logarithms.py``.
"""

from __future__ import annotations

from tenferro.primitives import _bessel_formulas as formulas
from tenferro.primitives._bessel_formulas import HIGHEST_ORDER
from tenferro.primitives._checks import integer, order_up_to
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.constants import full_like, zeros_like

__all__ = ["BesselJ", "BesselY", "bessel_j", "bessel_y"]


class BesselJ(Elementwise):
    """y = J_ν(x),   dy = ½ (J_{ν-1}(x) - J_{ν+1}(x)) dx;   real only

    For 0 < ν < 1 it is dy = (ν y/x - J_{ν+1}(x)) dx, which is inf at 0.
    """

    key = "std::bessel_j"
    accepts = "float"
    order: float = 0

    def __post_init__(self) -> None:
        self._set(order=order_up_to(self, HIGHEST_ORDER))

    def derivative(self, x: Handle, y: Handle) -> Handle:
        raised = bessel_j(self.order + 1, x)
        if not self.order:
            return -raised
        if self.order >= 1:
            return (bessel_j(self.order - 1, x) - raised) * 0.5
        infinite = full_like(x, float("inf"))
        return select(eq(x, zeros_like(x)), infinite, y * self.order / x - raised)

    def decompose(self, x: Handle) -> Handle:
        return formulas.widened(lambda x: formulas.bessel_j(self.order, x), x)


class BesselY(Elementwise):
    """y = Yₙ(x),   dy = ½ (Yₙ₋₁(x) - Yₙ₊₁(x)) dx, inf at 0;   real only"""

    key = "std::bessel_y"
    accepts = "float"
    order: int = 0

    def __post_init__(self) -> None:
        order = integer(self, "order", "no such order", minimum=0, maximum=HIGHEST_ORDER)
        self._set(order=order)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        raised = bessel_y(self.order + 1, x)
        if not self.order:
            return -raised
        found = (bessel_y(self.order - 1, x) - raised) * 0.5
        return select(eq(x, zeros_like(x)), full_like(x, float("inf")), found)

    def decompose(self, x: Handle) -> Handle:
        return formulas.widened(lambda x: formulas.bessel_y(self.order, x), x)


def bessel_j(order: float, x: H) -> H:
    """Take a Bessel function of the first kind, of real order.

    x: f[*s]   →   y: f[*s]

    Definition   y = J_ν(x) = Σ_k (-1)ᵏ (x/2)^(ν+2k) / (k! Γ(ν+k+1))
    JVP          dy = ½ (J_{ν-1}(x) - J_{ν+1}(x))·dx
    Convention   nan for x < 0, except where the order is an integer
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative, or above 128.
    Source       DLMF 10.2.2 and 10.6.1; 10.6.2 for ν < 1

    >>> from tenferro.primitives import bessel_j, variable
    >>> bessel_j(0.5, variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(BesselJ(order), x)


def bessel_y(order: int, x: H) -> H:
    """Take a Bessel function of the second kind, of integer order.

    x: f[*s]   →   y: f[*s]

    Definition   y = Yₙ(x), the solution of Bessel's equation that is -inf at 0;   nan for x < 0
    JVP          dy = ½ (Yₙ₋₁(x) - Yₙ₊₁(x))·dx
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative, or above 128.
    Source       DLMF 10.2.3 and 10.6.1

    >>> from tenferro.primitives import bessel_y, variable
    >>> bessel_y(0, variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(BesselY(order), x)
