"""A scalar vocabulary for the derivatives: numbers of abstract value "f", "c" or "int"."""

# ruff: noqa: E731 (a formula is a lambda: the whole vocabulary has sixty lines)
import cmath

from tenferro.tidu import NO_TANGENT, Primitive, Residual, Value, emit


class Scalar(Value):
    __add__ = lambda x, y: Add()(x, y)
    __mul__ = lambda x, y: Mul()(x, y)
    __neg__ = lambda x: Neg()(x)


class Space:
    value = Scalar
    add = Scalar.__add__
    zeros = lambda aval: Const(0.0, aval)()
    is_zero = lambda key: is_const(Value(key), 0)
    tangent_aval = lambda aval: NO_TANGENT if aval == "int" else aval


class Toy(Primitive):
    """Rules: ``turn(rule, *cts, *inputs)`` where linear, ``slope(*inputs, *outputs)`` elsewhere."""

    space = Space
    abstract_eval = lambda self, *avals: (min(avals),) * self.output_count

    def __call__(self, *values):
        results = emit(self, values, Scalar)
        return results[0] if self.output_count == 1 else results

    def jvp_input(self, rule, index, tangent, primals, results):
        return [factor * tangent for factor in self.slope(*primals, *results)]

    def transpose(self, rule, cts, inputs):
        known = [i.value if isinstance(i, Residual) else None for i in inputs]
        turned = self.turn(rule, *cts, *known)
        return [ct if value is None else None for ct, value in zip(turned, known, strict=True)]


class Const(Toy):
    key, input_count, literal = "toy::const", 0, True
    value: complex
    aval: str = "f"
    abstract_eval = lambda self: self.aval
    run = lambda self: self.value


class Add(Toy):
    key, input_count, commutative, linear = "toy::add", 2, True, ((0, 1),)
    run = lambda self, x, y: x + y
    turn = lambda self, rule, ct, x, y: (ct, ct)
    simplify = lambda self, x, y: y if is_const(x, 0) else x if is_const(y, 0) else None


class Mul(Toy):
    key, input_count, commutative, linear = "toy::mul", 2, True, ((0,), (1,))
    run = lambda self, x, y: x * y
    turn = lambda self, rule, ct, x, y: (ct * Conj()(y or x), Conj()(x or y) * ct)
    simplify = lambda self, x, y: y if is_const(x, 1) else x if is_const(y, 1) else None


class Neg(Toy):
    key, linear = "toy::neg", ((0,),)
    run = lambda self, x: -x
    turn = lambda self, rule, ct, x: (-ct,)
    simplify = lambda _, x: Scalar(x.key.inputs[0], x.flow) if x.key.operation is _ else None


class Conj(Toy):
    key, linear = "toy::conj", ((0,),)
    run = lambda self, x: x.conjugate()
    turn = lambda self, rule, ct, x: (Conj()(ct),)
    simplify = lambda self, x: x if x.aval == "f" else None


class Exp(Toy):
    key = "toy::exp"
    run = lambda self, x: cmath.exp(x) if isinstance(x, complex) else cmath.exp(x).real
    slope = lambda self, x, y: (y,)


class Dup(Toy):
    key, output_count, linear = "toy::dup", 2, ((0,),)
    run = lambda self, x: (x, x)
    turn = lambda self, rule, first, second, x: (rule.add_all((first, second)),)


def is_const(x, number):
    return type(x.key.operation) is Const and x.key.operation.value == number
