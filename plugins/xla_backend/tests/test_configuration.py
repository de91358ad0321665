"""JAX belongs to the user: its configuration is the same before, during and after."""

import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

from tenferro.primitives import Aval, DotGeneral, add, bind, mul, sin

F64 = Aval((3,), "float64")


def settings():
    """Every value of JAX's configuration that a program could depend on."""
    names = [n for n in dir(jax.config) if n.startswith("jax_")]
    return {name: getattr(jax.config, name) for name in names}


def test_nothing_of_the_configuration_changes(xla, programs):
    before = settings()
    assert before
    executable = programs.compile(lambda x, y: sin(mul(x, y)), F64, F64)
    executable(np.ones(3), np.ones(3))
    executable.explain()
    executable.profile(np.ones(3), np.ones(3))
    xla.asoperand(np.ones(3), F64)
    xla.synchronize()
    assert settings() == before
    assert jax.config.jax_enable_x64 is False


def test_the_users_own_code_keeps_its_narrow_defaults(programs):
    user = jax.jit(lambda x: jax.numpy.ones(3) * x)
    assert user(np.ones(3)).dtype == jax.numpy.float32
    (ours,) = programs.compile(lambda x: add(x, x), F64)(np.full(3, 0.1))
    assert ours.dtype == np.float64
    np.testing.assert_array_equal(np.asarray(ours), 0.2)
    assert user(np.ones(3)).dtype == jax.numpy.float32
    assert jax.numpy.arange(3).dtype == jax.numpy.int32


def test_after_an_error_the_configuration_is_as_before(programs):
    before = settings()
    with pytest.raises(Exception, match="does not fit"):
        programs.compile(add, F64, F64)(np.ones(3), np.ones(4))
    assert settings() == before


@pytest.mark.parametrize(
    "context",
    [
        lambda: jax.enable_x64(False),
        lambda: jax.enable_x64(True),
        lambda: jax.disable_jit(),
        lambda: jax.default_matmul_precision("bfloat16"),
        lambda: jax.numpy_dtype_promotion("strict"),
        lambda: jax.numpy_rank_promotion("raise"),
        lambda: jax.default_device(jax.devices()[1]),
    ],
)
def test_the_users_contexts_do_not_reach_our_numbers(programs, context):
    rng = np.random.default_rng(0)
    a, b = rng.random((4, 5), np.float32), rng.random((5, 3), np.float32)
    matmul = DotGeneral((1,), (0,), (), ())

    def function(x, y, z):
        return [bind(matmul, x, y), sin(z)]

    with context():
        dot, sine = programs.run(function, a, b, np.array([0.1]))
    assert (dot.dtype, sine.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(dot, a.astype(float) @ b, rtol=1e-6)
    np.testing.assert_allclose(sine, np.sin([0.1]), rtol=1e-15)


def test_threads_run_side_by_side_with_the_user(programs):
    """Our 64-bit context is local to a thread: others keep their 32 bits meanwhile."""
    function = programs.compile(lambda x: sin(add(x, x)), F64)
    stop = threading.Event()

    def user():
        found = set()
        while not stop.is_set():
            found.add(str(jax.numpy.ones(2).dtype))
        return found

    def ours(_):
        compiled = programs.compile(lambda x: sin(add(x, x)), F64)
        results = [f(np.full(3, 0.1))[0] for f in [compiled, function] * 10]
        return {(str(r.dtype), float(r[0])) for r in results}

    with ThreadPoolExecutor(5) as pool:
        watched = pool.submit(user)
        results = list(pool.map(ours, range(4)))
        stop.set()
    assert watched.result() == {"float32"}
    (dtype, value), *others = set().union(*results)
    assert (dtype, others) == ("float64", [])
    assert value == pytest.approx(np.sin(0.2), rel=1e-15)
