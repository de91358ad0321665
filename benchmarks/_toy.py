"""A vocabulary of numbers that knows no arrays, and graphs made of it, to measure the engine on.

The standard library and the two lowest layers of core only, so that nothing but the engine is
measured. See `w09_engine.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tenferro.computegraph import ValueKey
from tenferro.tidu import (
    NO_TANGENT,
    FlowInput,
    LinearSpace,
    Primitive,
    Residual,
    RuleBuilder,
    Value,
    emit,
)

# ---- the vocabulary ----------------------------------------------------------------------------


class Number(Value):
    """A value with operators."""

    __slots__ = ()

    def __add__(self, other: Number) -> Number:
        return ADD(self, other)

    def __mul__(self, other: Number) -> Number:
        return MUL(self, other)

    def __neg__(self) -> Number:
        return NEG(self)


class Numbers:
    """The linear space of numbers, all of one abstract value."""

    value: type[Value] = Number

    def add(self, x: Value, y: Value) -> Value:
        return emit(ADD, (x, y), Number)[0]

    def zeros(self, aval: object) -> Value:
        return emit(Constant(0.0), (), Number)[0]

    def is_zero(self, key: ValueKey) -> bool:
        return key.operation is IS_ZERO

    def tangent_aval(self, aval: object) -> object:
        return NO_TANGENT if aval == "int" else aval


class Toy(Primitive):
    """A primitive on numbers: `turn` is the transpose, `slope` the derivative."""

    space: ClassVar[LinearSpace] = Numbers()
    fixed_rules: ClassVar[bool] = True  # as those of the tensor vocabulary are
    turn: ClassVar[Any] = None
    slope: ClassVar[Any] = None

    def __call__(self, *values: Value) -> Number:
        return emit(self, values, Number)[0]  # type: ignore[return-value]

    def abstract_eval(self, *avals: object) -> object:
        return "f64"

    def jvp_input(
        self, rule: RuleBuilder, index: int, tangent: Value, primals: Any, results: Any
    ) -> Sequence[Value | None]:
        return (self.slope(*primals, *results) * tangent,)

    def transpose(
        self, rule: RuleBuilder, cts: Sequence[Value | None], inputs: Sequence[Residual | FlowInput]
    ) -> Sequence[Value | None]:
        known = [i.value if isinstance(i, Residual) else None for i in inputs]
        ct = self.turn(cts[0], *known)
        return [ct if value is None else None for value in known]


class Constant(Toy):
    input_count = 0
    literal = True
    value: float


class Add(Toy):
    input_count = 2
    commutative = True
    simplify_triggers = ()
    linear = ((0, 1),)

    def turn(self, ct: Number, x: None, y: None) -> Number:
        return ct

    def simplify(self, x: Number, y: Number) -> Number | None:
        return x if y.key.operation is IS_ZERO else y if x.key.operation is IS_ZERO else None


class Mul(Toy):
    input_count = 2
    commutative = True
    simplify_triggers = ()
    linear = ((0,), (1,))

    def turn(self, ct: Number, x: Number | None, y: Number | None) -> Number:
        factor = x or y
        assert factor is not None
        return ct * factor

    def simplify(self, x: Number, y: Number) -> Number | None:
        return x if y.key.operation is IS_ONE else y if x.key.operation is IS_ONE else None


class Neg(Toy):
    simplify_triggers = ("neg",)
    linear = ((0,),)

    def turn(self, ct: Number, x: None) -> Number:
        return -ct

    def simplify(self, x: Number) -> Number | None:
        return Number(x.key.inputs[0], x.flow) if x.key.operation is self else None


class Exp(Toy):
    def slope(self, x: Number, y: Number) -> Number:
        return y


class Sin(Toy):
    def slope(self, x: Number, y: Number) -> Number:
        return COS(x)


class Cos(Toy):
    def slope(self, x: Number, y: Number) -> Number:
        return -SIN(x)


class Tanh(Toy):
    def slope(self, x: Number, y: Number) -> Number:
        return ONE + -(y * y)


ADD: Toy = Add()
MUL: Toy = Mul()
NEG: Toy = Neg()
EXP: Toy = Exp()
SIN: Toy = Sin()
COS: Toy = Cos()
TANH: Toy = Tanh()
IS_ZERO: Toy = Constant(0.0)
IS_ONE: Toy = Constant(1.0)
ONE = IS_ONE()

# ---- shapes of graphs --------------------------------------------------------------------------


def chain(x: Number, count: int) -> Number:
    """sin sin … sin x: as deep as it is long."""
    for _ in range(count):
        x = SIN(x)
    return x


def wide(x: Number, count: int) -> Number:
    """A sum of products with one input, added up by a balanced tree: as flat as it can be."""
    terms: list[Number] = [Constant(i + 2.0)() * x for i in range(count // 3)]
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(terms) & ~1 :]
    return terms[0]


def dag(x: Number, count: int) -> Number:
    """Each value from two earlier ones: much sharing."""
    values = [x, SIN(x)]
    for i in range(count - 1):
        left, right = values[-1], values[-2 - i % 2]
        values.append(left + right if i % 2 else left * right)
    return values[-1]


SHAPES: dict[str, Callable[[Number, int], Number]] = {"chain": chain, "wide": wide, "dag": dag}
