"""Functions of matrices, exp, sqrt and log, with their Fréchet derivatives of every order.

f(a) with directions e₁ … e_k is L_k(a; e₁ … e_k), the k-th Fréchet derivative, linear and symmetric
in the directions. A derivative in a is one direction more, and the adjoint in a direction is the
same function of aᴴ: the family is closed. Nothing is divided by gaps, so all of it is right where
eigenvalues are equal and where a has no basis of eigenvectors. L_k is a block of f of a
block triangular matrix, 2ᵏ times as large. Read next: ``_gauge.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid, same_aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives.linalg._matrices import adjoint, factorizable, square_size
from tenferro.tidu import RuleBuilder, Value

__all__ = ["MatrixFunction", "matrix_function"]

FUNCTIONS = ("expm", "logm", "sqrtm")


class MatrixFunction(Mixed):
    """y = L_k(a; e₁ … e_k);   dy = L_{k+1}(a; e₁ … e_k, da), linear in each direction"""

    key = "std::matrix_function"
    batch = over_leading_axes
    function: str
    input_count = None

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            need = f"one of {', '.join(FUNCTIONS)}"
            raise invalid(self, "function", "unknown", got=repr(self.function), need=need)

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return one group per direction."""
        return tuple((i,) for i in range(1, count))

    def abstract_eval(self, a: Aval, *directions: Aval) -> Aval:
        square_size(self, factorizable(self, a))
        return same_aval(self, a, *directions)

    def jvp_input(
        self,
        rule: RuleBuilder,
        index: int,
        tangent: Value,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
    ) -> Sequence[Value | None]:
        """Add one more direction for the matrix."""
        return [matrix_function(self.function, *primals_in, tangent)]

    def transpose_each(self, ct: Handle, index: int, a: Handle, *directions: Handle) -> Handle:
        """⟨ct, L(a; e, …)⟩ = ⟨L(aᴴ; ct, …ᴴ), e⟩."""
        others = [adjoint(e) for i, e in enumerate(directions) if i != index - 1]
        return matrix_function(self.function, adjoint(a), ct, *others)


def matrix_function(function: str, a: H, *directions: H) -> H:
    """Take a function of square matrices, or its Fréchet derivative along directions.

    a: [*b,n,n]   directions: each [*b,n,n]   →   y: [*b,n,n]

    Definition   function: "expm" Σ aᵏ/k!; "sqrtm" the root of a with eigenvalues in the open right
                 half plane; "logm" the logarithm with eigenvalues of imaginary part in (-π, π).
                 y = d/dt₁ … d/dt_k f(a + t₁e₁ + … + t_k e_k) at t = 0
    JVP          dy = L(a; …, da) + Σ L(a; …, de_i, …)
    Transpose    ct_e = L(aᴴ; ct, …ᴴ), because f(aᴴ) = f(a)ᴴ
    Convention   a real matrix has real results: "sqrtm" and "logm" are nan where it has an
                 eigenvalue below zero (convert it to a complex dtype before); of a singular matrix
                 they are nan or what the backend gives, and have no derivative
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError (function).
    Source       Mathias (1996), A chain rule for matrix functions, SIAM J. Matrix Anal. Appl. 17;
                 Higham & Relton (2014), Higher order Fréchet derivatives, SIAM J. Matrix Anal.
                 Appl. 35; the adjoint: Higham (2008), Functions of matrices, 3.2

    >>> from tenferro.primitives import variable
    >>> from tenferro.primitives.linalg.matrix_function import matrix_function
    >>> a = variable("a", (3, 3), "f64")
    >>> matrix_function("expm", a, a).aval
    f64[3,3]
    """
    return bind(MatrixFunction(function), a, *directions)
