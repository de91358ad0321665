"""vmap(f)(xs) is a loop over examples, whatever is inside f and around vmap."""

import numpy as np
import pytest

import tenferro as tn

X = np.random.default_rng(1).normal(size=(4, 3))
W = np.array([0.5, -1.0, 2.0])


def loop(f, *columns):
    return np.stack([np.asarray(f(*row)) for row in zip(*columns, strict=True)])


FUNCTIONS = {
    "arithmetic": lambda r: r * r - 2 / (1 + r * r),
    "reduction": lambda r: (r * W).sum(),
    "mean and max": lambda r: np.mean(r) + np.max(r),
    "matmul with a shared matrix": lambda r: np.eye(3) @ r + W @ r,
    "outer product": lambda r: np.outer(r, r),
    "indexing": lambda r: r[1] * r[::-1],
    "integer array index": lambda r: r[np.array([2, 0, 0])],
    "reshape and concatenate": lambda r: np.concatenate([r, W, r.reshape(1, 3)[0]]),
    "where": lambda r: np.where(r > 0, np.sqrt(abs(r)), r),
    "independent of the example": lambda r: W * 2,
    "constant": lambda r: np.zeros(2),
    "rank 0": lambda r: r[0],
    "comparison": lambda r: r > 0,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_is_a_loop(name):
    """vmap(f)(xs)[k] = f(xs[k])"""
    f = FUNCTIONS[name]
    np.testing.assert_allclose(tn.vmap(f)(X), loop(f, X), rtol=1e-14)


@pytest.mark.parametrize("name", ["arithmetic", "mean and max", "indexing", "outer product"])
def test_gradient_of_an_example(name):
    """vmap(grad(f))(xs)[k] = grad(f)(xs[k])"""
    f = tn.grad(lambda r: (FUNCTIONS[name](r) ** 2).sum())
    np.testing.assert_allclose(tn.vmap(f)(X), loop(f, X), rtol=1e-13)


@pytest.mark.parametrize("name", ["arithmetic", "mean and max", "indexing", "outer product"])
def test_gradient_through_a_batch(name):
    """grad(Σ vmap(f))(xs)[k] = grad(f)(xs[k])"""
    f = lambda r: (FUNCTIONS[name](r) ** 2).sum()  # noqa: E731
    through = tn.grad(lambda x: tn.vmap(f)(x).sum())
    np.testing.assert_allclose(through(X), loop(tn.grad(f), X), rtol=1e-13)


NESTINGS = {
    "jit of vmap": lambda f: tn.jit(tn.vmap(f)),
    "vmap of jit": lambda f: tn.vmap(tn.jit(f)),
    "vmap of jit of grad": lambda f: tn.vmap(tn.jit(tn.grad(lambda r: (r * f(r)).sum()))),
    "jit of vmap of grad": lambda f: tn.jit(tn.vmap(tn.grad(lambda r: (r * f(r)).sum()))),
    "vmap of jvp": lambda f: tn.vmap(lambda r: tn.jvp(f, (r,), (r * r,))[1]),
    "vmap of vjp": lambda f: tn.vmap(lambda r: tn.vjp(f, r)[1](r * r)[0]),
    "vmap of linearize": lambda f: tn.vmap(lambda r: tn.linearize(f, r)[1](r * r)),
    "vmap of hvp": lambda f: tn.vmap(lambda r: tn.hvp(lambda s: (s * f(s)).sum())(r, W)),
}


@pytest.mark.parametrize("nesting", NESTINGS)
def test_nesting(nesting):
    """Transforms around and inside vmap change nothing about the loop"""
    f = lambda r: np.sin(r) * np.exp(r[0]) + r @ W  # noqa: E731
    inner = {
        "jit of vmap": f,
        "vmap of jit": f,
        "vmap of jit of grad": tn.grad(lambda r: (r * f(r)).sum()),
        "jit of vmap of grad": tn.grad(lambda r: (r * f(r)).sum()),
        "vmap of jvp": lambda r: tn.jvp(f, (r,), (r * r,))[1],
        "vmap of vjp": lambda r: tn.vjp(f, r)[1](r * r)[0],
        "vmap of linearize": lambda r: tn.linearize(f, r)[1](r * r),
        "vmap of hvp": lambda r: tn.hvp(lambda s: (s * f(s)).sum())(r, W),
    }[nesting]
    np.testing.assert_allclose(NESTINGS[nesting](f)(X), loop(inner, X), rtol=1e-13)


def test_vmap_of_vmap():
    """Every pair, also where both run over one array"""
    pairs = tn.vmap(lambda a: tn.vmap(lambda b: a * b + b)(W))(W)
    np.testing.assert_allclose(pairs, np.outer(W, W) + W)
    w = tn.asarray(W)
    pairs = tn.vmap(lambda a: tn.vmap(lambda b: a * b + b)(w))(w)
    np.testing.assert_allclose(np.asarray(pairs), np.outer(W, W) + W)


def test_derivative_with_respect_to_what_is_shared():
    """d/dw Σ_k w·x_k = Σ_k x_k, with w closed over and with w passed along"""
    closed = tn.grad(lambda w: tn.vmap(lambda r: (w * r).sum())(X).sum())
    passed = tn.grad(lambda w: tn.vmap(lambda r, w: (w * r).sum(), in_axes=(0, None))(X, w).sum())
    np.testing.assert_allclose(closed(W), X.sum(0))
    np.testing.assert_allclose(passed(W), X.sum(0))


def test_perturbations_of_examples_are_not_confused():
    """d/dx [x · Σ_k d/dy_k (x + y_k)] = n"""
    f = lambda x: x * tn.vmap(tn.grad(lambda y: x + y))(np.ones(4)).sum()  # noqa: E731
    assert tn.grad(f)(2.0) == 4.0


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_in_axes(axis):
    """in_axes = a maps over axis a of the argument"""
    got = tn.vmap(lambda r: r * 2, in_axes=axis)(X)
    np.testing.assert_allclose(got, np.moveaxis(X, axis, 0) * 2)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_out_axes(axis):
    """out_axes = a puts the batch at axis a of the result"""
    got = tn.vmap(lambda r: r * 2, out_axes=axis)(X)
    np.testing.assert_allclose(got, np.moveaxis(X * 2, 0, axis))


def test_pytrees():
    """in_axes and out_axes are prefixes of pytrees; None shares, or asks for what is shared"""
    f = lambda t, u: {"a": t["x"] * u[0], "b": (t["y"], None)}  # noqa: E731
    over = tn.vmap(f, in_axes=({"x": 0, "y": None}, 1), out_axes={"a": 1, "b": (None, None)})
    found = over({"x": X, "y": W}, (np.ones((3, 4)),))
    np.testing.assert_allclose(found["a"], X.T)
    np.testing.assert_allclose(found["b"][0], W)
    assert found["b"][1] is None


def test_keyword_arguments_are_mapped_along_axis_0():
    np.testing.assert_allclose(tn.vmap(lambda r, w: r * w)(X, w=X), X * X)


def test_an_example_may_index_what_is_shared():
    """X[i] with X shared and i of the example"""
    got = tn.vmap(lambda x, i: x[i], in_axes=(None, 0))(X, np.array([2, 0]))
    np.testing.assert_allclose(got, X[[2, 0]])


def test_arrays_and_operands():
    """NumPy in, NumPy out; an Array among the arguments gives Arrays"""
    assert type(tn.vmap(lambda r: r * 2)(X)) is np.ndarray
    assert isinstance(tn.vmap(lambda r: r * 2)(tn.asarray(X)), tn.Array)


def test_the_arguments_may_change_afterwards():
    x = X.copy()
    y = tn.vmap(lambda r: r * 2)(x)
    x[:] = 0
    np.testing.assert_allclose(y, X * 2)


def test_empty_batch():
    """No examples give a result without elements"""
    assert tn.vmap(lambda r: (r * 2).sum())(np.zeros((0, 3))).shape == (0,)


def test_a_batch_of_one_size_only_is_given():
    assert tn.vmap(lambda: np.ones(2), axis_size=3)().shape == (3, 2)


def test_second_call_transforms_nothing():
    """The finished program is found by the structure of what one example recorded"""
    from tenferro.transforms.recording.run_or_record import TRANSFORMS

    f = tn.vmap(tn.grad(lambda r: (np.sin(r) * r).sum()))
    f(X)
    before = TRANSFORMS.stats.misses
    f(X + 1)
    assert TRANSFORMS.stats.misses == before


REFUSED = {
    "sizes differ": (lambda: tn.vmap(lambda a, b: a)(X, W), "sizes of the mapped axes differ"),
    "number": (lambda: tn.vmap(lambda a: a)(1.0), "has no axis to map"),
    "rank 0": (lambda: tn.vmap(lambda a: a)(np.float64(1)), "has no axis to map"),
    "axis out of range": (lambda: tn.vmap(lambda a: a, in_axes=2)(X), "out of range"),
    "out_axes out of range": (lambda: tn.vmap(lambda a: a, out_axes=2)(X), "out of range"),
    "out_axes None": (lambda: tn.vmap(lambda a: a, out_axes=None)(X), "depends on the example"),
    "nothing mapped": (lambda: tn.vmap(lambda a: a, in_axes=None)(X), "no argument is mapped"),
    "too few in_axes": (lambda: tn.vmap(lambda a, b: a, in_axes=(0,))(X, X), "does not fit"),
    "no axis": (lambda: tn.vmap(lambda a: a, in_axes=("x",))(X), "something else than axes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    """Axes that do not fit are a typed error that names the user's line"""
    call, fact = REFUSED[name]
    with pytest.raises(tn.BatchAxisError, match=fact) as caught:
        call()
    assert caught.value.got
    assert caught.value.need
    assert "test_vmap.py" in "".join(caught.value.__notes__)


def test_control_flow_on_an_example_is_refused_where_it_stands():
    with pytest.raises(tn.ConcretizationError, match=r"test_vmap\.py"):
        tn.vmap(lambda r: r if r[0] > 0 else -r)(X)


def test_control_flow_on_what_is_shared_works():
    np.testing.assert_allclose(tn.vmap(lambda r: r if W[0] > 0 else -r)(X), X)


def test_one_function_is_mapped_along_either_axis_of_a_square():
    """vmap(f, in_axes=1)(x) = vmap(f)(xᵀ), also where avals do not tell the two apart"""
    x = np.arange(9.0).reshape(3, 3)
    mapped = [tn.vmap(lambda row: row.cumsum(), in_axes=axis) for axis in (0, 1)]
    same = tn.vmap(tn.cumsum), tn.vmap(tn.cumsum, in_axes=1)
    for _ in range(2):
        for along_rows, along_columns in (mapped, same):
            np.testing.assert_array_equal(along_rows(x), np.cumsum(x, 1))
            np.testing.assert_array_equal(along_columns(x), np.cumsum(x.T, 1))


def test_one_function_serves_batches_of_any_size():
    """vmap(f, axis_size=n) of a shared argument has n equal rows"""

    def double(x):
        return x + x

    x = np.arange(3.0)
    for size in (2, 3, 2):
        found = tn.vmap(double, in_axes=None, axis_size=size)(x)
        np.testing.assert_array_equal(found, np.tile(x + x, (size, 1)))
