"""Marks in derivatives of eigenvectors and singular vectors, from which a pass makes checks.

A rule of ``eigh``, ``eig`` or ``svd`` drops what turns the vectors of equal values among
themselves. That is right for what depends on such vectors through the projector on their space. It
is wrong for V g(w) Vᴴ: its derivative there needs g′, which no rule of the factorization can know.
Which of the two a function is shows only where tangents or cotangents of vectors and values meet,
so the rules mark that place with operations that change nothing. The pass ``outputs`` replaces them
by ``GaugeCheck`` for a backend that can warn, and removes them for one that cannot.
Read next: ``eigh.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import at_least_zero, integer, invalid
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind_all, over_leading_axes
from tenferro.primitives.constants import zeros_like
from tenferro.tidu import RuleBuilder, Value

__all__ = ["VectorsSeen", "VectorsVary", "vectors_seen", "vectors_vary"]


class _Mark(Mixed):
    """Base of the marks: results are the leading operands, in every derivative too."""

    batch = over_leading_axes
    input_count = None
    prunable = True
    turns: int
    is_square: bool
    epsilon: float

    @property
    def output_count(self) -> int:
        """The turns, and what a mark adds."""
        return self.turns

    def __post_init__(self) -> None:
        integer(self, "turns", "a decomposition has one set of vectors or two", 1, 2)
        at_least_zero(self, "epsilon", "no relative gap")

    @property
    def operand_count(self) -> int:
        """The results and the values of the factorization."""
        return self.output_count + 1

    def abstract_eval(self, *xs: Aval) -> tuple[Aval, ...]:
        if len(xs) != self.operand_count:
            need = f"{self.operand_count} operands for turns={self.turns}"
            raise invalid(self, "turns", "wrong number of operands", got=len(xs), need=need)
        return xs[: self.output_count]

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return one group of all inputs but the values of the factorization, which come last."""
        return (tuple(range(count - 1)),)

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Return the tangents of the results unchanged: second derivatives are not marked."""
        return list(tangents_in[: self.output_count])

    def jvp_input(
        self,
        rule: RuleBuilder,
        index: int,
        tangent: Value,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
    ) -> Sequence[Value | None]:
        """Return None: no result varies with the values of the factorization."""
        return [None] * self.output_count

    def decompose(self, *xs: Handle) -> Sequence[Handle]:
        return xs[: self.output_count]


class VectorsVary(_Mark):
    """X…, dw as they are: tangents of vectors, as turns X, and of values.   X…, dw, P, w"""

    key = "std::vectors_vary"

    @property
    def output_count(self) -> int:
        """The turns and the tangent of the values."""
        return self.turns + 1

    @property
    def operand_count(self) -> int:
        """The results, the matrix in the basis of the vectors, and the values."""
        return self.output_count + 2

    def transpose_each(self, ct: Any, index: int, *xs: Handle) -> Handle | None:
        """Return the cotangents unchanged, marked if one of the vectors is among them."""
        if index > self.turns:
            return None
        values, turns = ct[self.turns], list(ct[: self.turns])
        if index == self.turns:
            return values  # type: ignore[no-any-return]
        if all([x is None for x in turns]):
            return None
        known = [zeros_like(x) if c is None else c for c, x in zip(turns, xs[:-1], strict=False)]
        given = known if values is None else [*known, values]
        operation = VectorsSeen(self.turns, self.is_square, self.epsilon, values is not None)
        return bind_all(operation, *given, xs[-1])[index]


class VectorsSeen(_Mark):
    """C… as they are: cotangents of vectors, as those of turns.   C…, [ct of w], w"""

    key = "std::vectors_seen"
    with_values: bool

    @property
    def operand_count(self) -> int:
        """The turns, the cotangent of the values if they have one, and the values."""
        return self.output_count + 1 + bool(self.with_values)

    def transpose_each(self, ct: Any, index: int, *xs: Handle) -> Handle | None:
        """Return the cotangents unchanged."""
        if self.turns == 1:
            ct = (ct,)
        return ct[index] if index < self.turns else None


class GaugeCheck(Mixed):
    """The first operand as it is; warns where a derivative needs what the rule dropped.

    ``is_tangent`` says which mark it stands for; ``line`` is that of the factorization. It has no
    decomposition, so that the pass can tell which backends check.
    """

    key = "std::gauge_check"
    linear = ()
    input_count = None
    turns: int
    is_square: bool
    epsilon: float
    is_tangent: bool
    with_values: bool
    line: str

    def abstract_eval(self, *xs: Aval) -> Aval:
        return xs[0]


def vectors_seen(
    turns: Sequence[H], w: H, dw: H | None = None, *, epsilon: float, is_square: bool = True
) -> tuple[H, ...]:
    """Mark the cotangents of vectors, and of values if they have one.

    turns: one [*b, n, n] for eigenvectors, two for singular vectors   dw, w: [*b, n]
    →   the turns, as they are

    Definition   the cotangents of what ``vectors_vary`` marks
    Transpose    the turns as they are
    Convention   as ``vectors_vary``
    Raises       nothing: a backend that checks warns by ``GaugeWarning`` at run time.

    >>> from tenferro.primitives import variable, vectors_seen
    >>> x, w = variable("x", (3, 3), "f64"), variable("w", (3,), "f64")
    >>> [x.aval for x in vectors_seen([x], w, epsilon=1e-12)]
    [f64[3,3]]
    """
    operation = VectorsSeen(len(turns), is_square, epsilon, dw is not None)
    return bind_all(operation, *turns, *([] if dw is None else [dw]), w)


def vectors_vary(
    turns: Sequence[H], dw: H, p: H, w: H, *, epsilon: float, is_square: bool = True
) -> tuple[H, ...]:
    """Mark the tangents of vectors and values of one factorization.

    turns: one [*b, n, n] for eigenvectors, two for singular vectors   dw, w: [*b, n]
    p: [*b, n, n]   →   the turns and dw, as they are

    Definition   dV = V X with a turn X, or Ω = X₁ ± X₂ for U and V; P = Vᴴ dA V or Uᴴ dA V, and
                 V⁻¹ dA V with complex values w of a general matrix
    Transpose    the cotangents as they are, marked by ``VectorsSeen``
    Convention   values at a distance of at most epsilon·max|w| are equal; a matrix that is not
    square has
                 more vectors for the singular value 0
    Raises       nothing: a backend that checks warns by ``GaugeWarning`` at run time.

    >>> from tenferro.primitives import variable, vectors_vary
    >>> p, w = variable("p", (3, 3), "f64"), variable("w", (3,), "f64")
    >>> [x.aval for x in vectors_vary([p], w, p, w, epsilon=1e-12)]
    [f64[3,3], f64[3]]
    """
    return bind_all(VectorsVary(len(turns), is_square, epsilon), *turns, dw, p, w)
