"""Primitives that decompose, well and badly, and tables of lowerings that give their names."""

from tenferro.backend import Lowering, LoweringTable
from tenferro.primitives import Aval, Elementwise, Mixed, bind, exp, sin

F64, F32 = Aval((), "float64"), Aval((), "float32")


def fake(name):
    """A lowering whose result is its own name."""
    return lambda operation, *operands: name


def table(*lowerings, **named):
    return LoweringTable("toy", lowerings, **named)


def native(*keys):
    return table(*[Lowering(key, fake(key)) for key in keys])


def names(program):
    return [instruction.operation.name for instruction in program.instructions]


class Double(Elementwise):
    """2x"""

    key = "test::double"

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return x + x


class Quadruple(Elementwise):
    """4x"""

    key = "test::quadruple"

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return bind(Double(), bind(Double(), x))


class Two(Mixed):
    """x, exp sin x"""

    key = "test::two"
    output_count = 2

    def abstract_eval(self, x):
        return x, x

    def decompose(self, x):
        return x, exp(sin(x))


class Countdown(Mixed):
    """A decomposition into itself that ends."""

    key = "test::countdown"
    n: int

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return x if self.n == 0 else bind(Countdown(self.n - 1), x) + x


class Loop(Mixed):
    """A decomposition into itself that does not end."""

    key = "test::loop"
    n: int

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return bind(Loop(1 - self.n), x)


class Grows(Mixed):
    """A decomposition into ever larger ones."""

    key = "test::grows"
    n: int

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return bind(Grows(self.n + 1), x)


class Wrong(Elementwise):
    """A decomposition of another dtype."""

    key = "test::wrong"

    def abstract_eval(self, x):
        return x.with_dtype("float32")

    def decompose(self, x):
        return x + x
