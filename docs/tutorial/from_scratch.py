"""From scratch: derivatives as transforms of graphs.

This page is a program; run it with `python docs/tutorial/from_scratch.py`. It uses the two lowest
layers of tenferro, which know neither arrays nor any function, so everything else is written here:
first of all a vocabulary, of four operations on plain numbers. Every output shown below is compared
with what the program really prints.
"""

import math
from dataclasses import dataclass

from tenferro.computegraph import (
    Graph,
    compile_program,
    evaluate,
    input_key,
    materialize_merge,
    resolve,
)
from tenferro.tidu import (
    FlowInput,
    NotLinearError,
    Primitive,
    Residual,
    Trace,
    Value,
    emit,
    linear_transpose,
    linearize,
    pin,
    pullback,
    pushforward,
)


def shows(thing, expected):
    """Print, and insist on what this page says is printed."""
    print(thing, end="\n\n")
    got = [line.split() for line in str(thing).splitlines()]
    assert got == [line.split() for line in expected.strip().splitlines()], expected


def close(got, wanted):
    assert math.isclose(got, wanted, rel_tol=1e-12), (got, wanted)


# ## 1. Dual numbers
#
# The oldest trick: compute with pairs. Beside each number `x` stands its tangent `dx`, the small
# change that it undergoes, and each operation says how tangents pass through it.


@dataclass
class Dual:
    x: float
    dx: float

    def __mul__(self, other):
        return Dual(self.x * other.x, self.dx * other.x + self.x * other.dx)


def exp_of_dual(u):
    y = math.exp(u.x)
    return Dual(y, y * u.dx)


# The derivative of `exp(a·x)` with respect to `x`, at `x = 1` and `a = 2`, is `2·e²`. The seed
# `dx = 1` asks for it:

y = exp_of_dual(Dual(2.0, 0.0) * Dual(1.0, 1.0))
close(y.dx, 2 * math.exp(2))

# It works, and it gives one column of the Jacobian per run. But look at what happened to the second
# component: it went through multiplications by `a` and by `exp(a·x)`, nothing else. **It is linear
# in the seed, whatever the function was.** Numbers forget that; a graph can keep it.

# ## 2. A program is a graph
#
# An *operation* is a value: frozen, and equal to any other with equal parameters. Ours are
# addition, multiplication, the exponential, and constants. `run` is for the interpreter at the end
# of this section. The rest is all that differentiation will ever ask:
#
# * `linear` lists the groups of inputs in which the operation is jointly linear. Addition has one
#   group of two inputs, multiplication two groups of one input each, the exponential none.
# * For an input in a group, `transpose` says how to turn the flow around. For any other input,
#   `jvp_input` gives its tangent. **One rule for each input**, so no two rules can disagree.
#
# In `transpose`, an input is `FlowInput` where the flow came from, and gets a cotangent; the others
# are `Residual`, plain values that may be used as coefficients.


class Number(Value):
    def __add__(self, other):
        return Add()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)


class Space:
    """What differentiation borrows from a vocabulary: how to add tangents, what is zero."""

    value = Number

    @staticmethod
    def add(x, y):
        return x + y

    @staticmethod
    def zeros(aval):
        return Constant(0.0)()

    @staticmethod
    def is_zero(key):
        return key.operation is Constant(0.0)

    @staticmethod
    def tangent_aval(aval):
        return aval


class Operation(Primitive):
    space = Space

    def __call__(self, *values):
        return emit(self, values, Number)[0]

    def abstract_eval(self, *avals):
        return "number"


class Constant(Operation):
    input_count, literal = 0, True
    value: float

    def run(self):
        return self.value


class Add(Operation):
    input_count, linear = 2, ((0, 1),)

    def run(self, x, y):
        return x + y

    def transpose(self, rule, cotangents, inputs):
        (ct,) = cotangents
        return [ct if isinstance(flow, FlowInput) else None for flow in inputs]


class Mul(Operation):
    input_count, linear = 2, ((0,), (1,))

    def run(self, x, y):
        return x * y

    def transpose(self, rule, cotangents, inputs):
        (ct,), (x, y) = cotangents, inputs
        return (ct * y.value, None) if isinstance(y, Residual) else (None, x.value * ct)


class Exp(Operation):
    input_count = 1

    def run(self, x):
        return math.exp(x)

    def jvp_input(self, rule, index, dx, primals, results):
        (y,) = results
        return [y * dx]


def variable(name):
    return Number(input_key(name, "number"))


# Nothing runs when we write a formula. It is recorded:

x, a = variable("x"), variable("a")
y = Exp()(a * x)
program = Graph.of(inputs=[x.key, a.key], outputs=[y.key])
shows(
    program,
    """
    graph(x: number, a: number) {
      %2 = mul %1 %0                       : number
      %3 = exp %2                          : number
      return %3
    }
    """,
)

# A value *is* its structure. Write the same formula again and it is the same object, so nothing is
# ever computed twice for having been written twice:

assert Exp()(a * x).key is y.key

# This matters more than it seems. Sixty doublings are sixty-one values, however often they are
# written, while a tree of them would have 2⁶⁰ leaves:


def doubled(value, times):
    for _ in range(times):
        value = value + value
    return value


big = doubled(x, 60)
assert doubled(x, 60).key is big.key
assert len(Graph.of([x.key], [big.key])) == 60

# To run a program, flatten it (`materialize_merge`), number its values and note where each is used
# for the last time (`compile_program`), then interpret (`evaluate`). A backend does the last step
# faster, and otherwise the same.


def run(view, outputs, inputs, operands):
    flat = materialize_merge(view, outputs, inputs=inputs)
    return evaluate(compile_program(flat), lambda op, args: (op.run(*args),), operands)


view = resolve([program])
close(run(view, [y.key], [x.key, a.key], [1.0, 2.0])[0], math.exp(2))

# ## 3. The linear graph
#
# `linearize` is the dual number without the numbers. It walks the program once and asks each
# operation for its tangent, and keeps what comes out: a graph that is linear in `dx`.

forward = linearize(view, outputs=[y.key], wrt=[x.key])
shows(
    forward.linear,
    """
    graph(dx: number) {
      %1 = mul ^a *%0                      : number     linear
      %2 = mul ^exp1 *%1                   : number     linear
      return %2
    }
    """,
)

# This is the "delta" of calculus, `dy = exp(a·x) · (a · dx)`, as an object. The star marks the
# operand that carries the flow. A hat marks a *residual*, a value that the linear graph reads from
# the program: it is not copied, only referred to. Nothing here is a rule for `exp(a·x)`; there is
# none.
#
# Sharing is kept. With `u = exp(x)`, the tangent of `u·u` needs `du` twice, and it is there once:

u = Exp()(x)
square = Graph.of([x.key], [(u * u).key])
shows(
    linearize(resolve([square]), square.output_keys, [x.key]).linear,
    """
    graph(dx: number) {
      %1 = mul ^exp0 *%0                   : number     linear
      %2 = mul *%1 ^exp0                   : number     linear
      %3 = mul ^exp0 *%1                   : number     linear
      %4 = add *%2 *%3                     : number     linear
      return %4
    }
    """,
)

# And linearity is enforced. A rule that emits `dx·dx`, which is not linear in `dx`, is refused on
# the spot:


class Wrong(Exp):
    def jvp_input(self, rule, index, dx, primals, results):
        return [dx * dx]


wrong = Graph.of([x.key], [Wrong()(x).key])
try:
    linearize(resolve([wrong]), wrong.output_keys, [x.key])
    raise AssertionError("a rule that is not linear went through")
except NotLinearError as error:
    print(error, end="\n\n")

# ## 4. The transpose
#
# A linear graph is a matrix that was never written down, so it can be transposed without writing it
# down: reverse the arrows. Where a value was used twice, two contributions arrive and are added.
# What was an output takes a *cotangent* in; what was the input gives one out.

backward = linear_transpose(forward)
shows(
    backward.linear,
    """
    graph(ct_y0: number) {
      %1 = mul ^exp0 *%0                   : number     transposed
      %2 = mul ^a *%1                      : number     transposed
      return %2
    }
    """,
)

# That is reverse mode. No derivative was made here: all of it was made by `linearize`, and
# `linear_transpose` only transposed it. Run it, with the program whose residuals it reads:

ct_y, ct_x = backward.linear.input_keys[0], backward.linear.output_keys[0]
everything = resolve([backward.linear])
outputs = [y.key, ct_x]
value, slope = run(everything, outputs, [x.key, a.key, ct_y], [1.0, 2.0, 1.0])
close(value, math.exp(2))
close(slope, 2 * math.exp(2))

# The flat program that ran computes the exponential once, for the value and for the derivative,
# because in both places it is the same object:

shows(
    materialize_merge(everything, outputs, inputs=[x.key, a.key, ct_y]),
    """
    graph(x: number, a: number, ct_y0: number) {
      %3 = mul %1 %0                       : number
      %4 = exp %3                          : number
      %5 = mul %4 *%2                      : number     transposed
      %6 = mul %1 *%5                      : number     transposed
      return %4, %6
    }
    """,
)

# A transpose must satisfy ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ for every v and w. With v = 0.7 and w = 0.3:

dx, dy = forward.linear.input_keys[0], forward.linear.output_keys[0]
(jv,) = run(resolve([forward.linear]), [dy], [x.key, a.key, dx], [1.0, 2.0, 0.7])
(jtw,) = run(everything, [ct_x], [x.key, a.key, ct_y], [1.0, 2.0, 0.3])
close(0.3 * jv, jtw * 0.7)

# ## 5. Second order: resolve again
#
# The derivative is a graph like any other, in the same four operations. So take the view in which
# program and derivative stand together, and linearize *that*. What is asked for now is the
# derivative of `ct_x`, in the direction of a new seed:

second = linearize(everything, outputs=[ct_x], wrt=[x.key])
shows(
    second.linear,
    """
    graph(dx: number) {
      %1 = mul ^a *%0                      : number     linear
      %2 = mul ^exp1 *%1                   : number     linear
      %3 = mul *%2 ^ct_y0                    : number     linear
      %4 = mul ^a *%3                      : number     linear
      return %4
    }
    """,
)
ddx, d_ct_x = second.linear.input_keys[0], second.linear.output_keys[0]
twice = resolve([second.linear])
(curvature,) = run(twice, [d_ct_x], [x.key, a.key, ct_y, ddx], [1.0, 2.0, 1.0, 1.0])
close(curvature, 4 * math.exp(2))

# The two lines `%1` and `%2` are those of section 3: the tangent of `exp(a·x)`, found again rather
# than written again. Third order is the same sentence once more.

# ## 6. Four ways to the same number
#
# `linearize` and `linear_transpose` show two sweeps as graphs. `pushforward` and `pullback` run the
# same sweeps and return values instead of graphs; `pullback` is what `tn.grad` calls. They take
# tangents and cotangents that exist already instead of fresh seeds. With the seed 1 they are the
# derivative of a function of one variable, so the second derivative can be had in four orders:
# forward over forward, forward over reverse, reverse over forward, reverse over reverse.


def by_forward(value, wrt):
    return pushforward([value.key], [wrt.key], [Constant(1.0)()], space=Space)[0]


def by_reverse(value, wrt):
    return pullback([value.key], [wrt.key], [Constant(1.0)()], space=Space)[0]


def number(value, **operands):
    graph = Graph.of([input_key(name, "number") for name in operands], [value.key])
    return run(resolve([graph]), graph.output_keys, graph.input_keys, list(operands.values()))[0]


for inner in (by_forward, by_reverse):
    for outer in (by_forward, by_reverse):
        close(number(outer(inner(x * x, x), x), x=3.0), 2.0)
        close(number(outer(inner(y, x), x), x=1.0, a=2.0), 4 * math.exp(2))
        print(f"{outer.__name__} over {inner.__name__}: x² gives 2, exp(a·x) gives a²·exp(a·x)")
print()

# They agree because there is one piece of knowledge under all four, the rules of section 2.

# ## 7. Derivatives inside derivatives
#
# One trap is left. What is d/dx of `x · d/dy (x + y)`, with `y` taken at `x`? The inner derivative
# is 1, so the whole is `x`, and the answer is 1. But at `y = x` the sum is `x + x`, and an engine
# that asks for its derivative with respect to `x` is told 2: it cannot tell the inner variable from
# the outer one. This is *perturbation confusion*, the classical bug.
#
# Here a value is its structure, so the trap is wide open, and the remedy is to give the inner
# derivative an argument that no one else has. A *pin* is the identity with a name of its own:

confused = x * by_reverse(x + x, x)
close(number(by_reverse(confused, x), x=1.0), 2.0)

y_alone = Number(pin(x.key, Trace()))
right = x * by_reverse(x + y_alone, y_alone)
close(number(by_reverse(right, x), x=1.0), 1.0)

# Nested transforms of the library pin their arguments by themselves. To outer transforms a pin is
# the identity, and flattening removes it, so it costs nothing when the program runs.

# ## 8. The same, with arrays
#
# Everything above is what `tenferro` does with the vocabulary of arrays instead of ours. A user
# sees one new name, `grad`, and plain NumPy:

import numpy as np

import tenferro as tn


def f(x, a):
    return np.exp(a * x)


close(tn.grad(f)(1.0, 2.0), 2 * math.exp(2))


def derivative_by_jvp(function):
    return lambda x: tn.jvp(function, (x,), (1.0,))[1]


for inner in (derivative_by_jvp, tn.grad):
    for outer in (derivative_by_jvp, tn.grad):
        close(outer(inner(lambda x: x * x))(3.0), 2.0)
        close(outer(inner(lambda x: f(x, 2.0)))(1.0), 4 * math.exp(2))

# And the trap of section 7, for every nesting of the two:

for inner in (derivative_by_jvp, tn.grad):
    for outer in (derivative_by_jvp, tn.grad):
        close(outer(lambda x, d=inner: x * d(lambda y: x + y)(x))(1.0), 1.0)

# `tn.trace` shows the graph of any function, derivatives included, in the form that you have been
# reading all along:

print(tn.trace(tn.grad(f), 1.0, 2.0))

# Where to go from here: the [reading order](../reading_order.md) of the source, which has the shape
# of this page; or [a primitive of your own](../add_a_primitive.md).
print("\nThe tutorial ran to its end; every number in it was checked.")
