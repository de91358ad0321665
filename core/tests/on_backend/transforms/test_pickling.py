"""Pickling: public functions, jitted functions, functions with derivatives, and errors."""

import copy
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.computegraph import SerializationError
from tenferro.transforms.recording import tree as pytrees

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def again(value, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


@tn.jit
def decorated(x):
    return x * 2


def plain(x, n):
    return x * n


renamed = tn.jit(plain, static_argnames="n", options={"passes": "none"})


@tn.custom_jvp
def with_rule(x):
    return 2 * x


with_rule.defjvp(lambda xs, dxs: (2 * xs[0], 7 * dxs[0]))


def apply(d, x):
    return x / d


linear = tn.custom_linear(apply, transpose=apply)


def cube(x, n=1.0):
    return np.sum(n * x**3)


def twice(x):
    return 2 * x**2


MADE = {
    "grad": tn.grad(cube),
    "value_and_grad": tn.value_and_grad(cube, has_aux=False),
    "second argument": tn.grad(cube, argnums=1),
    "by name": tn.grad(cube, argnames="n"),
    "jacobian": tn.jacobian(twice, mode="forward"),
    "jacfwd": tn.jacfwd(twice),
    "jacrev": tn.jacrev(twice),
    "hessian": tn.hessian(cube),
    "hvp": tn.hvp(cube),
    "vmap": tn.vmap(cube, in_axes=(0, None)),
    "vmap of grad": tn.vmap(tn.grad(cube), in_axes=(0, None), out_axes=-1),
    "jit of grad": tn.jit(tn.grad(cube)),
    "grad of jit": tn.grad(tn.jit(cube)),
    "grad of a rule": tn.grad(with_rule),
}


@tn.grad
def slope(x):
    return np.sum(np.sin(x))


def leaves(tree):
    return [np.asarray(x) for x in pytrees.flatten(tree)[0]]


class Model:
    """A model with a jitted method."""

    weight = 3.0

    @tn.jit
    def __call__(self, x):
        return self.weight * x

    @tn.jit
    def step(self, x):
        return self.weight + x


MODULES = [
    tn,
    tn.linalg,
    tn.fft,
    tn.special,
    tn.signal,
    tn.integrate,
    tn.interpolate,
    tn.ndimage,
    tn.spatial.distance,
    tn.random,
    *map(tn.stats.__dict__.get, tn.stats.__all__),
]
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if not inspect.ismodule(getattr(module, name))
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_comes_back_as_the_same_object(name):
    value = PUBLIC[name]
    found = again(value)
    assert found is value if callable(value) else found == value or value != value


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("function", [decorated, with_rule], ids=["jit", "custom_jvp"])
def test_what_a_module_has_under_its_name_is_pickled_by_name(function, protocol):
    assert again(function, protocol) is function


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_jitted_function_under_another_name_keeps_its_settings(protocol):
    found = again(renamed, protocol)
    assert found is not renamed
    assert float(found(2.0, n=3)) == 6.0
    assert found.cache_info().misses == 1
    found(2.0, n=4)
    assert found.cache_info().misses == 2  # n is static


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", MADE)
def test_what_a_transform_made_comes_back_with_its_options(name, protocol):
    """loads(dumps(T(f, options)))(x) == T(f, options)(x) for f at the top of a module"""
    found, made = again(MADE[name], protocol), MADE[name]
    assert found is not made
    args = (np.arange(1.0, 4.0), 2.0) if "rule" not in name and name[:3] != "jac" else (3.0,)
    args = (args[0], args[0]) if name == "hvp" else args
    for x, y in zip(leaves(found(*args)), leaves(made(*args)), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_function_decorated_with_a_transform_is_pickled_by_name(protocol):
    assert again(slope, protocol) is slope
    assert again(tn.vmap(slope), protocol)(np.ones(2)).shape == (2,)


def test_a_function_that_a_transform_made_is_a_method_of_its_class():
    """class A: g = grad(f)  ⇒  A().g(x) is grad(f)(A(), x) with self as first argument"""

    class A:
        g = tn.grad(lambda self, x: x * x, argnums=1)

    assert A().g(3.0) == 6.0
    assert A.g(None, 3.0) == 6.0


def test_a_jitted_method_is_pickled_with_its_object():
    model = Model()
    model.weight = 5.0
    assert float(again(model.step)(1.0)) == 6.0
    assert float(again(model)(2.0)) == 10.0


def test_a_linear_function_comes_back():
    assert float(again(linear)(2.0, 3.0)) == 1.5


def test_a_derivative_survives():
    assert float(tn.grad(again(with_rule))(1.0)) == 7.0


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "wrap",
    [
        *(tn.jit, tn.custom_jvp, tn.custom_vjp, lambda f: tn.custom_linear(apply, transpose=f)),
        *(tn.grad, tn.hessian, tn.hvp, tn.jacrev, tn.vmap, lambda f: tn.jit(tn.grad(f))),
    ],
    ids="jit custom_jvp custom_vjp custom_linear grad hessian hvp jacrev vmap jit-grad".split(),
)
def test_a_lambda_is_refused_and_cloudpickle_named(wrap, protocol):
    with pytest.raises(SerializationError, match="cloudpickle"):
        pickle.dumps(wrap(lambda x: x), protocol)


@pytest.mark.parametrize("wrap", [tn.jit, tn.custom_jvp, tn.grad], ids=["jit", "custom", "grad"])
def test_cloudpickle_takes_lambdas(wrap):
    cloudpickle = pytest.importorskip("cloudpickle")
    factor = 3.0
    made = wrap(lambda x: factor * x)
    assert float(pickle.loads(cloudpickle.dumps(made))(2.0)) == float(made(2.0))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
@pytest.mark.parametrize("wrap", [tn.jit, tn.custom_jvp, tn.grad], ids=["jit", "custom", "grad"])
def test_copies_are_the_function_itself(copied, wrap):
    function = wrap(lambda x: x)
    assert copied(function) is function


def raised(function):
    with pytest.raises(tn.TenferroError) as caught:
        function()
    return caught.value


FAILURES = {
    "shape": lambda: tn.reshape(tn.asarray(np.ones(3)), (2, 2)),
    "backend": lambda: tn.host().backend("nunpy"),
    "concretization": lambda: tn.jit(lambda x: float(x))(1.0),
    "gradient": lambda: tn.grad(lambda x: x)(np.ones(3)),
    "evaluation": lambda: tn.linalg.cholesky(-np.eye(2)).__array__(),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", FAILURES)
def test_an_error_keeps_text_fields_and_notes(name, protocol):
    try:
        error = raised(FAILURES[name])
    except pytest.fail.Exception:
        pytest.skip("this backend gives NaN instead")
    error.add_note("a note of the user")
    found = again(error, protocol)
    assert (type(found), str(found)) == (type(error), str(error))
    assert found.__notes__ == error.__notes__
    assert {k: repr(v) for k, v in found.fields.items()} == {
        k: repr(v) for k, v in error.fields.items()
    }


def test_a_field_that_cannot_be_pickled_arrives_as_text():
    error = SerializationError("no", value=lambda: 0, other=3)
    found = again(error)
    assert found.other == 3
    assert "<lambda>" in found.value


SPAWN = """
import multiprocessing, numpy as np, tenferro as tn

@tn.jit
def double(x): return 2 * x

def fails(n): return tn.reshape(tn.asarray(np.ones(n)), (2, 2))

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print([float(x) for x in pool.map(double, [1.0, 2.0])], pool.map(tn.sin, [0.0]))
        try:
            pool.map(fails, [3])
        except tn.ShapeMismatchError as error:
            print(type(error).__name__, error.operation, *error.__notes__)
"""


def test_functions_and_errors_cross_a_spawned_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SPAWN)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[0], done.stdout.partition("\n")[2]
    assert first.startswith("[2.0, 4.0] [")
    assert second.startswith("ShapeMismatchError reshape")
    assert "script.py:" in second
