"""Operations on Python numbers, for tests of the graph engine; the engine knows none of them."""

import math
import threading

from tenferro.computegraph import (
    Fragment,
    Graph,
    Operation,
    compile_program,
    derive,
    derive_one,
    evaluate,
    input_key,
    materialize_merge,
    resolve,
)


class Add(Operation):
    input_count = 2
    commutative = True

    def abstract_eval(self, x, y):
        return x


class Sub(Operation):
    input_count = 2

    def abstract_eval(self, x, y):
        return x


class Mul(Operation):
    input_count = 2

    def abstract_eval(self, x, y):
        return x


class Neg(Operation):
    def abstract_eval(self, x):
        return x


class Exp(Operation):
    def abstract_eval(self, x):
        return x


class Dup(Operation):
    output_count = 2

    def abstract_eval(self, x):
        return x, x


class Scale(Operation):
    by: float

    def abstract_eval(self, x):
        return x


class Sum(Operation):
    input_count = None

    def abstract_eval(self, *values):
        return values[0]


class Const(Operation):
    input_count = 0
    literal = True
    value: object

    def abstract_eval(self):
        return type(self.value).__name__


class Repeat(Operation):
    """A loop over a body of one input, which runs `times` times."""

    key = "toy::repeat"
    times: int
    body: Fragment

    def abstract_eval(self, x):
        return self.body.output_avals[0]


class Alias(Operation):
    transparent = True
    number: int

    def abstract_eval(self, x):
        return x


RULES = {
    Add: lambda op, x, y: (x + y,),
    Sub: lambda op, x, y: (x - y,),
    Mul: lambda op, x, y: (x * y,),
    Neg: lambda op, x: (-x,),
    Exp: lambda op, x: (math.exp(x),),
    Dup: lambda op, x: (x, x),
    Scale: lambda op, x: (op.by * x,),
    Sum: lambda op, *values: (math.fsum(values),),
    Const: lambda op: (op.value,),
}
OPERATIONS = {**{cls.name: cls for cls in (*RULES, Alias)}, Repeat.key: Repeat}


def execute(operation, operands):
    return RULES[type(operation)](operation, *operands)


def loops(depth, aval="f64"):
    """Return input and output of loops that lie in each other; each also negates its result."""
    x = input_key("x", aval)
    y = neg(x)
    for times in range(depth):
        y = neg(derive_one(Repeat(times, Fragment.of([x], [y])), (x,)))
    return x, y


def add(x, y):
    return derive_one(Add(), (x, y))


def sub(x, y):
    return derive_one(Sub(), (x, y))


def mul(x, y):
    return derive_one(Mul(), (x, y))


def neg(x):
    return derive_one(Neg(), (x,))


def exp(x):
    return derive_one(Exp(), (x,))


def dup(x):
    return derive(Dup(), (x,))


def names(*texts, aval="f64"):
    return [input_key(text, aval) for text in texts]


def chain(x, length):
    for _ in range(length):
        x = derive_one(Neg(), (x,))
    return x


def flat(outputs, inputs=None):
    """The materialized graph of keys."""
    return materialize_merge(resolve([Graph.of(inputs or (), outputs)]), outputs, inputs=inputs)


def program(outputs, inputs=None):
    return compile_program(flat(outputs, inputs))


def run(outputs, inputs, *operands):
    """Values of keys for operands of the inputs."""
    return evaluate(program(outputs, inputs), execute, operands)


def six_threads(work):
    """Results of ``work(i)`` run in six threads that start together."""
    results = [None] * 6
    barrier = threading.Barrier(6)

    def start(i):
        barrier.wait()
        results[i] = work(i)

    threads = [threading.Thread(target=start, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
