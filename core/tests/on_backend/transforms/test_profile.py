"""tn.profile: seconds for each equation of the program that jit makes; explain in a notebook."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import tenferro as tn

X = np.linspace(0.1, 1.0, 5)


def energy(x):
    return np.sum(np.exp(x) * np.sin(x))


def loop(x):
    return tn.scan(lambda c, r: (np.tanh(c * r), None), x, np.ones((3, 5)))[0]


FUNCTIONS = {
    "plain": (energy, (X,)),
    "grad": (tn.grad(energy), (X,)),
    "jit": (tn.jit(energy), (X,)),
    "grad of grad": (tn.vmap(tn.grad(tn.grad(lambda x: np.sin(x) * x))), (X,)),
    "vmap": (tn.vmap(energy), (np.ones((3, 5)),)),
    "scan": (loop, (X,)),
    "grad of scan": (tn.grad(lambda x: np.sum(loop(x))), (X,)),
    "complex": (lambda x: np.abs(np.exp(1j * x)), (X,)),
    "float32": (energy, (X.astype("float32"),)),
    "empty": (energy, (np.zeros((0,)),)),
    "rank 0": (lambda x: np.sin(x) * x, (0.5,)),
    "pytree": (lambda p: p["a"] @ p["b"][0], ({"a": X, "b": (X,)},)),
    "captured": (lambda x: x @ tn.asarray(X), (X,)),
    "nothing": (lambda x: x, (X,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_program_can_be_profiled(name):
    function, args = FUNCTIONS[name]
    times = tn.profile(function, *args)
    assert all(row.seconds >= 0 and row.equation for row in times)
    assert times.total == pytest.approx(sum(row.seconds for row in times))
    ET.fromstring(times._repr_html_())


def test_rows_name_the_users_lines():
    lines = {row.line for row in tn.profile(energy, X) if row.line}
    assert all(re.fullmatch(r"test_profile\.py:\d+   return .*np\.exp\(x\).*", x) for x in lines)


def test_a_program_runs_once_and_keeps_the_options_of_jit():
    seen = []
    f = tn.jit(lambda x, n: tn.debug.callback(seen.append, x) or x * n, static_argnums=1)
    tn.profile(f, X, 3)
    f.profile(X, 3)
    np.testing.assert_array_equal(seen, [X, X])
    np.testing.assert_array_equal(f(X, 3), 3 * X)


REFUSED = {
    "an aval": lambda: tn.profile(energy, tn.Aval((5,), "f8")),
    "inside a transform": lambda: tn.grad(lambda x: tn.profile(energy, x).total * x[0])(X),
    "a second backend": lambda: tn.profile(tn.jit(energy), X, backend="numpy"),
    "no function": lambda: tn.profile(X),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_values_is_refused(name):
    with pytest.raises(TypeError, match="profile"):
        REFUSED[name]()


# ---- explain in a notebook -----------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_explain_has_a_bar_for_each_equation(name):
    function, args = FUNCTIONS[name]
    found = tn.explain(function, *args)
    root = ET.fromstring(found._repr_html_())
    rows = ["".join(row[2].itertext()) for row in root.iter("tr")]
    program = found.graph.program
    assert rows == [" ".join(program.equation(i).split()) for i in range(len(program))]
    sizes = [int(row[0].text.split()[0].replace(",", "")) for row in root.iter("tr")]
    assert sum(sizes) == found.cost.moved
    whole = "".join(root.find("pre").itertext())
    assert str(found).startswith(whole)
