"""Donated arrays of JAX: results take their memory, and reading them again is an error."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tenferro as tn

N = 512


def updated(x, y):
    return x * 2.0 + y, np.sum(y)


def compiled(function=updated, **settings):
    return tn.jit(function, donate_argnums=0, backend="xla", **settings)


def arrays():
    return jnp.arange(N, dtype="float32"), jnp.ones(N, "float32")


def figure(report, name):
    (row,) = [line for line in report.splitlines() if line.startswith(f"  {name}")]
    return int(row.split()[-1])


FUNCTIONS = [
    updated,
    lambda x, y: tn.grad(lambda x: np.sum(np.sin(x) * y))(x),
    lambda x, y: tn.scan(lambda c, _: (c * y, None), x, None, 3)[0],
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=["sum", "gradient", "loop"])
def test_a_result_takes_the_memory_of_a_donated_array(function):
    x, y = arrays()
    want = tn.jit(function)(np.asarray(x), np.asarray(y))
    place = x.unsafe_buffer_pointer()
    f = compiled(function)
    assert figure(f.explain(x, y), "donated bytes") == x.nbytes
    got = f(x, y)
    first = got[0] if isinstance(got, tuple) else got
    assert first.unsafe_buffer_pointer() == place
    assert x.is_deleted()
    assert not y.is_deleted()
    want = want[0] if isinstance(want, tuple) else want
    np.testing.assert_allclose(first, want, rtol=1e-6)


READERS = {
    "the same program": lambda f, x, y: f(x, y),
    "as another argument": lambda f, x, y: f(y, x),
    "another program": lambda f, x, y: tn.jit(lambda a: a + 1, backend="xla")(x),
    "un-jitted": lambda f, x, y: np.asarray(tn.asarray(x) + 1),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_donated_array_cannot_be_read_again(reader):
    f, (x, y) = compiled(), arrays()
    f(x, y)
    with pytest.raises(tn.TenferroError, match="was donated to a program") as caught:
        reader(f, x, y)
    assert caught.value.got == "a donated array"


@pytest.mark.parametrize("bad", [(2,), (-1,), (True,), ("x",), 0, None])
def test_donated_are_numbers_of_inputs(bad):
    f = tn.jit(np.add, backend="xla", options={"donated": bad})
    with pytest.raises(tn.InvalidOptionError, match="numbers of the 2 inputs"):
        f(*arrays())


@pytest.mark.parametrize("runs", [0, 1, 2, 3])
def test_one_array_for_two_arguments_is_refused(runs):
    """JAX raises other errors where a program is new"""
    f, (x, y) = compiled(lambda x, y: updated(x, y + runs)), arrays()
    for _ in range(runs):
        x, _ = f(x, y)
    with pytest.raises(tn.TenferroError, match="x is donated, and y is the same array") as caught:
        f(x, x)
    assert caught.value.input == "x"


@pytest.mark.parametrize("runs", [0, 3])
def test_another_array_of_the_same_memory_is_refused(runs):
    f, (x, y) = compiled(), arrays()
    for _ in range(runs):
        x, _ = f(x, y)
    with pytest.raises(tn.OperandError, match="x is donated, and y is the same array"):
        f(x, jax.device_put(x, x.device))


def test_numpy_arrays_keep_their_numbers():
    """They are NumPy's, so that XLA may read them where they are, and never writes there."""
    for shift in range(3):
        x, y = np.full(N + shift, 3.0)[shift:], np.ones(N)
        np.testing.assert_array_equal(compiled()(x, y)[0], np.full(N, 7.0))
        np.testing.assert_array_equal(x, np.full(N, 3.0))


@pytest.mark.parametrize("options", [{"segment_size": 1}, {"check_errors": True}])
def test_other_ways_to_run_give_the_same_results(options):
    x, y = arrays()
    want = np.asarray(x) * 2 + 1
    np.testing.assert_array_equal(compiled(options=options)(x, y)[0], want)


def test_nothing_to_reuse_is_no_warning():
    """No result has the shape of the argument; JAX alone would warn."""
    x, _ = arrays()
    assert float(compiled(np.sum)(x)) == N * (N - 1) / 2


def test_donation_lowers_the_peak():
    x, y = arrays()
    plain, donating = tn.jit(updated, backend="xla").explain(x, y), compiled().explain(x, y)
    saved = figure(plain, "peak bytes") - figure(donating, "peak bytes")
    assert saved == x.nbytes
