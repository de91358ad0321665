"""What is differentiated is chosen by position or by name, however it is passed."""

import re

import numpy as np
import pytest

import tenferro as tn


def f(x, y, z=2.0):
    return x * y**2 * z


X, Y = 3.0, 5.0
DX, DY, DZ = 2 * Y**2, 4 * X * Y, X * Y**2  # at z = 2


@pytest.mark.parametrize(
    "found, need",
    [
        (lambda: tn.grad(f, argnames="x")(X, Y), DX),
        (lambda: tn.grad(f, argnames="y")(X, Y), DY),
        (lambda: tn.grad(f, argnames="y")(X, y=Y), DY),
        (lambda: tn.grad(f, argnames="x")(y=Y, x=X), DX),
        (lambda: tn.grad(f, argnames=("z", "x"))(X, Y, z=2.0), (DZ, DX)),
        (lambda: tn.grad(f, argnames=("y", "z"))(y=Y, z=2.0, x=X), (DY, DZ)),
        (lambda: tn.grad(f, argnames=("x",))(X, Y), (DX,)),
        (lambda: tn.value_and_grad(f, argnames="z")(X, Y, z=2.0), (f(X, Y), DZ)),
        (lambda: tn.jacrev(f, argnames="y")(X, y=Y), DY),
        (lambda: tn.jacfwd(f, argnames="y")(X, y=Y), DY),
        (lambda: tn.hessian(f, argnames="y")(X, y=Y), 4 * X),
        (lambda: tn.grad(tn.grad(f, argnames="y"), argnames="x")(X, y=Y), 4 * Y),
        (lambda: tn.grad(tn.jit(f), argnames="y")(X, y=Y), DY),
        (lambda: tn.jit(tn.grad(f, argnames="y"))(X, y=Y), DY),
        (lambda: tn.grad(f, argnums=-1)(X, Y), DY),
        (lambda: tn.grad(f, argnums=(-1, 0))(X, Y, 2.0), (DZ, DX)),
        (lambda: tn.grad(f, argnums=[np.int64(1)])(X, Y), (DY,)),
        (lambda: tn.grad(f, argnums=range(2))(X, Y), (DX, DY)),
        (lambda: tn.grad(f, argnums=np.int64(1))(X, Y), DY),
    ],
)
def test_the_derivative_is_that_of_the_chosen_argument(found, need):
    assert found() == pytest.approx(need)


def test_a_named_argument_has_its_name_in_the_graph():
    graph = tn.trace(lambda x, y: tn.grad(f, argnames="y")(x, y=y), 1.0, 2.0)
    assert str(graph).startswith("graph(x: f64[], y: f64[]")


@pytest.mark.parametrize(
    "ask, got",
    [
        (lambda: tn.grad(f, argnums=0.5), "argnums=0.5"),
        (lambda: tn.grad(f, argnums="x"), "argnums='x'"),
        (lambda: tn.grad(f, argnums=("x", 1)), "argnums=('x', 1)"),
        (lambda: tn.grad(f, argnums=None), "argnums=None"),
        (lambda: tn.grad(f, argnums=True), "argnums=True"),
        (lambda: tn.grad(f, argnums=-3)(X, Y), "argnums=-3"),
        (lambda: tn.grad(f, argnums=2)(X, Y), "argnums=2"),
        (lambda: tn.grad(f, argnums=(0, 2))(X, y=Y), "argnums=(0, 2), keyword arguments y"),
        (lambda: tn.grad(f, argnums=(0, -2))(X, Y), "argnums=(0, 0)"),
        (lambda: tn.grad(f, argnums=1, argnames="y"), "argnums=1, argnames='y'"),
        (lambda: tn.grad(f, argnames=1.5), "argnames=1.5"),
        (lambda: tn.grad(f, argnames=("x", "x")), "argnames=('x', 'x')"),
        (lambda: tn.grad(f, argnames="w")(X, Y), "2 positional arguments (x, y), by keyword none"),
        (lambda: tn.jacobian(f, argnames="z")(X, y=Y), "1 positional arguments (x), by keyword y"),
    ],
)
def test_what_chooses_nothing_is_refused(ask, got):
    with pytest.raises(tn.ArgumentNumberError) as raised:
        ask()
    assert f"  got        {got}\n" in f"{raised.value}\n"


def argnums_by_name():
    return tn.grad(f, argnums="x")(X, Y)


def argnums_of_a_keyword():
    return tn.grad(f, argnums=1)(X, y=Y)


@pytest.mark.parametrize("function", [argnums_by_name, argnums_of_a_keyword])
def test_the_text_names_the_remedy(function, golden):
    with pytest.raises(tn.ArgumentNumberError) as raised:
        function()
    text = "\n".join([str(raised.value), *raised.value.__notes__])
    golden(f"error_{function.__name__}", re.sub(r"\.py:\d+", ".py:…", text))
