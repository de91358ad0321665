"""Functions of toy scalars: of several outputs, quotients, tuples, integers, and without rules."""

import math

from toy_scalars import Mul, Neg, Space, Toy

from tenferro.computegraph import Operation
from tenferro.tidu import Primitive


class Sincos(Toy):
    key = "toy::sincos"
    output_count = 2

    def run(self, x):
        return math.sin(x), math.cos(x)

    def slope(self, x, s, c):
        return c, -s


class Tanh(Toy):
    key = "toy::tanh"

    def run(self, x):
        return math.tanh(x)

    def slope(self, x, y):
        return (one() + -(y * y),)


class Div(Toy):
    key = "toy::div"
    input_count = 2
    linear = ((0,),)

    def run(self, x, y):
        return x / y

    def slope(self, x, y, z):
        return (-Div()(z, y),)

    def turn(self, rule, ct, x, y):
        return Div()(ct, y), None


class Round(Toy):
    """To an integer: nothing flows."""

    key = "toy::round"

    def abstract_eval(self, x):
        return "int"

    def run(self, x):
        return round(x)


class Total(Toy):
    """The sum of a tuple."""

    key = "toy::total"
    linear = ((0,),)
    count: int

    def whole(self, x):
        return math.fsum(x) if all(isinstance(item, float) for item in x) else sum(x)

    def turn(self, rule, ct, x):
        return (Spread(self.count)(ct),)


class Spread(Toy):
    """A tuple of equal numbers."""

    key = "toy::spread"
    linear = ((0,),)
    count: int

    def whole(self, x):
        return (x,) * self.count

    def turn(self, rule, ct, x):
        return (Total(self.count)(ct),)


class Sum(Toy):
    """The sum of any number of numbers."""

    key = "toy::sum"
    input_count = None

    def groups(self, count):
        return (tuple(range(count)),)

    def run(self, *values):
        return sum(values)

    def turn(self, rule, ct, *inputs):
        return (ct,) * len(inputs)


class NoRules(Primitive):
    """y = x, but nobody said how to differentiate it."""

    key = "toy::no_rules"
    space = Space

    def abstract_eval(self, x):
        return x


class NoTranspose(NoRules):
    key = "toy::no_transpose"
    linear = ((0,),)


class Opaque(Operation):
    """An operation that is not even a primitive."""

    def abstract_eval(self, x):
        return x


def one():
    from toy_scalars import Const

    return Const(1.0)()


def sub(x, y):
    return x + Neg()(y)


def square(x):
    return Mul()(x, x)
