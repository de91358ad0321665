"""Linear graphs print; the same text in every run, so it is the oracle of the transforms."""

import subprocess
import sys

import pytest
from toy_functions import Sincos, Tanh
from toy_running import keys, nest, program, var, view_of
from toy_scalars import Conj, Dup, Exp

from tenferro.tidu import linear_transpose, linearize


def samples():
    x, a, z = var("x"), var("a"), var("z", "c")
    first, second = Dup()(x * a)
    return {
        "exp_of_product": ([x, a], [Exp()(a * x)]),
        "shared": ([x], [(x + x) * x]),
        "two_outputs": ([x], [first * second, *Sincos()(x)]),
        "repeated": ([x], [-x, -x]),
        "modulus": ([z], [z * Conj()(z)]),
        "nothing": ([x], [Exp()(a)]),
    }


@pytest.mark.parametrize("name", samples())
def test_linear_graphs_print(name, golden):
    wrt, outputs = samples()[name]
    golden(f"linear_{name}", linearize(view_of(outputs), keys(outputs), keys(wrt)))


@pytest.mark.parametrize("name", samples())
def test_transposed_graphs_print(name, golden):
    wrt, outputs = samples()[name]
    linear = linearize(view_of(outputs), keys(outputs), keys(wrt))
    golden(f"transposed_{name}", linear_transpose(linear))


@pytest.mark.parametrize("modes", ["FF", "FR", "RF", "RR"])
def test_second_derivatives_print(modes, golden):
    x, a = var("x"), var("a")
    second = nest(modes, lambda u: Exp()(a * u))(x)
    golden(f"second_{modes}", program([second], [x, a]))


def test_emission_is_deterministic():
    x = var("x")
    made = [
        str(program([nest("RFR", lambda u: Tanh()(Sincos()(u)[0] * u))(x)], [x])) for _ in range(3)
    ]
    assert made[0] == made[1] == made[2]


def test_emission_is_the_same_in_every_process():
    code = (
        "from test_printing import *\nx = var('x')\n"
        "print(program([nest('RFR', lambda u: Tanh()(Sincos()(u)[0] * u))(x)], [x]))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONPATH": ":".join(filter(None, sys.path)), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "7")
    ]
    assert runs[0] == runs[1]
    assert "mul" in runs[0]
