"""Golden tests of the graph engine with the standard set: build, merge, compile, run."""

from math import e, exp

import numpy as np
import pytest

import tenferro.primitives as p
from tenferro.computegraph import (
    External,
    GraphBuilder,
    KeyView,
    compile_program,
    materialize_merge,
    resolve,
)
from tenferro_conformance.running.doors import close
from tenferro_conformance.running.session import Session

pytestmark = pytest.mark.tenferro_golden
x, a = p.variable("x", (), "float64"), p.variable("a", (), "float64")


@pytest.mark.parametrize(
    "inputs, outputs, want",
    [
        ({x: 3.0, a: 4.0}, [x + a], [7.0]),
        ({x: 0.0}, [p.exp(x)], [1.0]),
        ({x: 5.0}, [x, x], [5.0, 5.0]),
        ({x: 1.0}, [p.exp(2.0 * x)], [exp(2)]),
        ({x: 1.0}, [2.0 * x, p.exp(2.0 * x)], [2.0, exp(2)]),
        ({x: 2.0, a: 3.0}, [p.exp(a * x)], [exp(6)]),
        ({x: 1.0, a: 1.0}, [p.exp(a * x)], [e]),
        ({x: 5.0}, [x + x], [10.0]),
        ({x: 0.0}, [-p.exp(x)], [-1.0]),
        ({x: 7.0}, [x + x, x], [14.0, 7.0]),
    ],
    ids=[
        "add",
        "exp",
        "twice the same",
        "exp 2x",
        "two outputs",
        "exp ax",
        "exp ax again",
        "x+x",
        "-exp",
        "dup then add",
    ],
)
def test_program(tenferro_session: Session, inputs, outputs, want):
    """A program on numbers."""
    close(tenferro_session.evaluate(inputs, outputs), [np.asarray(w) for w in want])


def test_one_program_runs_again(tenferro_session: Session):
    """(1, 2) → 3, then (10, 20) → 30, with one executable."""
    program = compile_program(materialize_merge(KeyView(), [(x + a).key], inputs=[x.key, a.key]))
    executable = tenferro_session.backend.compile(program, program.input_avals)
    for numbers, want in (((1.0, 2.0), 3.0), ((10.0, 20.0), 30.0)):
        operands = [tenferro_session.backend.asoperand(np.asarray(n), x.aval) for n in numbers]
        close([tenferro_session.backend.to_numpy(executable(*operands)[0])], [np.asarray(want)])


def test_across_graphs(tenferro_session: Session):
    """exp(ax) from one graph and from two: the same program, the same number."""
    first = GraphBuilder()
    product = first.apply(p.Mul(), first.input("x", x.aval), first.input("a", a.aval))[0]
    first.output(product)
    inner = first.build()
    second = GraphBuilder((inner,))
    second.output(*second.apply(p.Exp(), External(inner.output_keys[0])))
    outer = second.build()
    (y,) = outer.output_keys
    split = materialize_merge(resolve([outer]), [y])
    whole = materialize_merge(KeyView(), [p.exp(x * a).key])
    assert str(split) == str(whole)
    close(tenferro_session.evaluate({x: 2.0, a: 3.0}, [p.Handle(y)]), [np.asarray(exp(6))])


def test_interning():
    """Equal structure is one object; other parameters are another."""
    assert (x + a).key is (x + a).key
    assert p.exp(x).key is not p.exp(a).key
    assert p.Constant(1.0, p.float64, ()) is p.Constant(1.0, p.float64, ())


def test_merge():
    """x + x is two values and one operation; a chain keeps its order."""
    once = materialize_merge(KeyView(), [(x + x).key])
    assert (len(once.inputs), len(once.nodes)) == (1, 1)
    chain = materialize_merge(KeyView(), [p.exp(x * a).key])
    assert [node.operation.name for node in chain.nodes] == ["mul", "exp"]
