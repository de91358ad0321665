"""Rules of primitives are linear, also where tangents and cotangents are known numbers."""

import pytest

import tenferro as tn
from tenferro.primitives import Linear, Mixed, bind, exp, maximum, pow, sin


class Ruled(Mixed):
    """y = sin x, with a tangent that a test gives."""

    key = "test::pushed"
    rule: object

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return sin(x)

    def jvp_x(self, dx, x, y):
        return self.rule(dx, x)


class Transposed(Linear):
    """y = 2x, with a cotangent that a test gives."""

    key = "test::pulled"
    rule: object

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return x + x

    def transpose_x(self, ct, x):
        return self.rule(ct, ct)


NOT_LINEAR = {
    "dx dx": lambda dx, x: dx * dx,
    "dx x dx": lambda dx, x: dx * x * dx,
    "dx / dx": lambda dx, x: dx / dx,
    "dx + 1": lambda dx, x: dx + 1,
    "1 / dx": lambda dx, x: 1 / dx,
    "dx ** dx": lambda dx, x: pow(dx, dx),
    "exp dx": lambda dx, x: exp(dx),
    "max": lambda dx, x: maximum(dx, dx),
    "dx ** 2": lambda dx, x: dx**2,
}
FORWARD = {
    "by 1": lambda f: tn.jvp(f, (2.0,), (1.0,)),
    "by 0": lambda f: tn.jvp(f, (2.0,), (0.0,)),
    "by 3": lambda f: tn.jvp(f, (2.0,), (3.0,)),
    "grad": lambda f: tn.grad(f)(2.0),
    "jit": lambda f: tn.jit(lambda x: tn.jvp(f, (x,), (1.0,)))(2.0),
}


@pytest.mark.parametrize("ask", FORWARD.values(), ids=FORWARD)
@pytest.mark.parametrize("rule", NOT_LINEAR.values(), ids=NOT_LINEAR)
def test_a_jvp_rule_is_linear_whatever_the_tangent_is(ask, rule):
    with pytest.raises(tn.NotLinearError):
        ask(lambda x: bind(Ruled(rule), tn.asarray(x)) * 3)


@pytest.mark.parametrize("ask", [tn.grad, tn.jacrev, lambda f: tn.vjp(f, 2.0)[1]])
@pytest.mark.parametrize("rule", NOT_LINEAR.values(), ids=NOT_LINEAR)
def test_a_transpose_rule_is_linear_whatever_the_cotangent_is(ask, rule):
    """The cotangent of ``grad`` is the literal 1."""
    with pytest.raises(tn.NotLinearError):
        ask(lambda x: bind(Transposed(rule), tn.asarray(x)))(2.0)
