"""Laws on random graphs: both forms agree, transposes are adjoint, modes commute, threads too."""

import random
import sys
import threading

import pytest
from toy_functions import Sincos, Tanh
from toy_running import (
    FORMS,
    EmittingForm,
    GraphForm,
    apply,
    differences,
    keys,
    nest,
    numbers,
    var,
    view_of,
)
from toy_scalars import Const, Dup, Neg

from tenferro.tidu import linear_transpose, linearize
from tenferro.tidu._value import Sweep, join_flow

SEEDS = pytest.mark.parametrize("seed", range(12))
UNARY = [lambda v: Tanh()(v), lambda v: Neg()(v), *(lambda v, i=i: Sincos()(v)[i] for i in (0, 1))]
UNARY += [lambda v, i=i: Dup()(v)[i] for i in (0, 1)]


def random_graph(seed, inputs, size=12):
    """Values of a random graph over the inputs; every one is bounded for inputs near 1."""
    draw = random.Random(seed)
    values = [*inputs, Const(0.5)()]
    for _ in range(size):
        if draw.random() < 0.5:
            values.append(draw.choice(UNARY)(draw.choice(values)))
        else:
            x, y = draw.choice(values), draw.choice(values)
            values.append(Tanh()(x + y) if draw.random() < 0.5 else x * y)
    return values[len(inputs) :]


def sample(seed):
    draw = random.Random(seed + 1000)
    wrt = [var("x"), var("y")]
    outputs = draw.sample(random_graph(seed, wrt), 4)
    at = {x: draw.uniform(0.2, 0.9) for x in wrt}
    return wrt, outputs, at, [draw.gauss(0, 1) for _ in wrt], [draw.gauss(0, 1) for _ in outputs]


def dot(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True) if a is not None and b is not None)


@SEEDS
def test_transposes_are_adjoint(seed):
    wrt, outputs, at, tangents, cotangents = sample(seed)
    for form in FORMS:
        forward = dot(form.jvp(outputs, wrt, at, tangents), cotangents)
        assert forward == pytest.approx(dot(form.vjp(outputs, wrt, at, cotangents), tangents))


@SEEDS
def test_both_forms_give_the_same_numbers(seed):
    wrt, outputs, at, tangents, cotangents = sample(seed)
    assert GraphForm.jvp(outputs, wrt, at, tangents) == EmittingForm.jvp(outputs, wrt, at, tangents)
    found = [form.vjp(outputs, wrt, at, cotangents) for form in FORMS]
    assert found[0] == pytest.approx(found[1])


@SEEDS
def test_jvps_are_slopes(seed):
    wrt, outputs, at, tangents, _ = sample(seed)
    found = GraphForm.jvp(outputs, wrt, at, tangents)

    def along(t, output):
        moved = {x: at[x] + t * d for x, d in zip(wrt, tangents, strict=True)}
        return numbers([output], moved)[0]

    slopes = [differences(lambda t, o=o: along(t, o), 0.0) for o in outputs]
    assert [value or 0.0 for value in found] == [pytest.approx(s, abs=1e-7) for s in slopes]


@SEEDS
def test_transposing_twice_gives_the_same_numbers(seed):
    wrt, outputs, at, tangents, _ = sample(seed)
    linear = linearize(view_of(outputs, wrt), keys(outputs), keys(wrt))
    twice = linear_transpose(linear_transpose(linear))
    assert apply(twice, at, tangents) == pytest.approx(apply(linear, at, tangents))


@SEEDS
def test_the_order_of_modes_does_not_matter(seed):
    x = var("x")
    found = [
        nest(modes, lambda u: random_graph(seed, [u])[-1])(x) for modes in ("FF", "FR", "RF", "RR")
    ]
    values = numbers(found, {x: 0.6})
    assert values == [pytest.approx(values[0], abs=1e-12)] * 4


def test_threads_may_transform_at_once():
    wrt, outputs, at, _, cotangents = sample(3)

    def both():
        second = nest("RF", lambda u: random_graph(3, [u])[-1])(wrt[0])
        return GraphForm.vjp(outputs, wrt, at, cotangents), numbers([second], at)

    expected, results, before = both(), [], sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    work = [threading.Thread(target=lambda: results.append(both())) for _ in range(24)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    sys.setswitchinterval(before)
    assert results == [expected] * 24


def test_flow_is_ordered_by_age():
    sweeps = [Sweep(None, transposed=False) for _ in range(6)]
    for left, right in [((3,), (1,)), ((0, 5), (2, 5)), ((), (4,)), ((4,), ()), ((1, 2), (1,))]:
        joined = join_flow(tuple(sweeps[i] for i in left), tuple(sweeps[i] for i in right))
        assert joined == tuple(sweeps[i] for i in sorted({*left, *right}))
