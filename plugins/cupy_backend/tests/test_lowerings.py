"""What is ours in the CuPy lowerings, on the stand-in: gaps of CuPy, dtypes, no waiting."""

import math

import numpy as np
import pytest

from tenferro import primitives as tp

X = np.array([[0.5, 1.25, 2.0], [0.75, 1.0, 1.5]])
FLOATS = ["float32", "float64", "complex64", "complex128"]
NUMERIC = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *FLOATS]


@pytest.mark.parametrize("dtype", NUMERIC)
def test_arithmetic(check, dtype):
    """x + y, x - y, x·y and -x are NumPy's"""
    x, y = (4 * X).astype(dtype), (2 * X).astype(dtype)
    check(lambda x, y: (x + y, x - y, x * y, -x), [x, y], (x + y, x - y, x * y, -x), rtol=1e-6)


def test_integer_division_truncates(check):
    x, y = np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])
    check(tp.div, [x, y], np.array([3, -3, -3, 3]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_elementwise(check, dtype):
    """Elementwise functions are NumPy's"""
    x = X.astype(dtype) * (1 - 0.5j if dtype.startswith("c") else 1)
    x = x.astype(dtype)
    names = ("exp", "log", "expm1", "log1p", "sin", "cos", "tan", "tanh", "sqrt", "square", "sign")
    expected = tuple(getattr(np, name)(x) for name in names)
    check(lambda x: tuple(getattr(tp, n)(x) for n in names), [x], expected, rtol=1e-5)
    check(tp.logistic, [x], 1 / (1 + np.exp(-x)), rtol=1e-5)
    check(tp.rsqrt, [x], 1 / np.sqrt(x), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erf(check, dtype):
    """erf is that of Python's math"""
    x = X.astype(dtype)
    check(tp.erf, [x], np.vectorize(math.erf, otypes=[dtype])(x), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", *FLOATS])
def test_powers(check, dtype):
    """Integer powers are NumPy's"""
    x = (2 * X).astype(dtype)
    for n in (2, 3, 5):
        check(lambda x, n=n: tp.integer_pow(x, n), [x], x**n, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32"])
def test_comparison_and_selection(check, dtype):
    x, y = X.astype(dtype), X[::-1].astype(dtype)
    expected = (x == y, x != y, x < y, x <= y, x > y, x >= y)
    names = ("eq", "ne", "lt", "le", "gt", "ge")
    check(lambda x, y: tuple(getattr(tp, n)(x, y) for n in names), [x, y], expected)
    check(lambda x, y: tp.select(tp.lt(x, y), x, y), [x, y], np.where(x < y, x, y))
    p, q = X > 1, X < 1.3
    both = (p & q, p | q, p ^ q, ~p)
    names = ("logical_and", "logical_or", "logical_xor")
    check(lambda p, q: (*(getattr(tp, n)(p, q) for n in names), tp.logical_not(p)), [p, q], both)


def test_complex_parts(check):
    """re z, im z, conj z, and z put together of its parts"""
    z = X + 1j * X[::-1]
    parts = (z.real, z.imag, z.conj(), z)
    check(
        lambda z: (tp.real(z), tp.imag(z), tp.conj(z), tp.complex(tp.real(z), tp.imag(z))),
        [z],
        parts,
    )


def test_constants_do_not_leave(check):
    def constants():
        return (
            tp.constant(2.0, "float32", (3,)),
            tp.constant(True, "bool"),
            tp.iota((2, 3), 1, "int32"),
        )

    expected = (np.full(3, 2, "float32"), np.array(True), np.array([[0, 1, 2]] * 2, "int32"))
    check(constants, [], expected)


def test_structural(check):
    """Shapes and layouts are NumPy's"""

    def every(x, v):
        return (
            tp.reshape(x, (3, 2)),
            tp.transpose(x, (1, 0)),
            tp.broadcast_in_dim(x, (2, 2, 3), (0, 2)),
            tp.slice(x, (0, 1), (2, 3)),
            tp.pad(x, v, (1, -1), (0, 2), (1, 0)),
            tp.concatenate([x, x], 1),
            tp.reverse(x, (1,)),
            tp.stop_gradient(x),
            x,
        )

    pad = np.full((4, 4), 9.0)
    pad[1::2, :2] = X[:, 1:]
    wide = np.broadcast_to(X[:, None], (2, 2, 3))
    expected = (
        X.reshape(3, 2), X.T, wide, X[:, 1:], pad, np.concatenate([X, X], 1), X[:, ::-1], X, X
    )  # fmt: skip
    check(every, [X, np.float64(9)], expected)


@pytest.mark.parametrize("target", ["bool", "int32", "float32", "complex64"])
def test_convert(check, target):
    """Conversions are NumPy's; a complex number loses its imaginary part"""
    z = np.array([0, 1.5 + 2j])
    expected = {"bool": z != 0, "complex64": z.astype("complex64")}.get(target)
    expected = z.real.astype(target) if expected is None else expected
    check(lambda x: tp.convert(x, target), [z], expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32", "complex128"])
@pytest.mark.parametrize("axes", [(), (0,), (0, 1)])
def test_sums(check, dtype, axes):
    """Sums and products are NumPy's, in the dtype of the operand"""
    x = (4 * X).astype(dtype)
    check(lambda x: tp.reduce_sum(x, axes), [x], np.sum(x, axes, dtype=dtype))
    check(lambda x: tp.reduce_prod(x, axes), [x], np.prod(x, axes, dtype=dtype))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_extremes(check, dtype):
    """Largest and smallest elements, and the place of the largest, are NumPy's"""
    x = (4 * X).astype(dtype)
    check(lambda x: (tp.reduce_max(x, (0,)), tp.reduce_min(x, (1,))), [x], (x.max(0), x.min(1)))
    check(lambda x: tp.argmax(x, 1, "int32"), [x], x.argmax(1).astype("int32"))


def test_the_first_nan_wins(check):
    x = np.array([1.0, np.nan, 3.0, np.nan])
    check(lambda x: (tp.argmax(x, 0), tp.argmin(x, 0)), [x], (np.int64(1), np.int64(1)))


@pytest.mark.parametrize("dtype", ["int8", "int64", *FLOATS])
def test_contraction(check, dtype):
    """Contractions are NumPy's for every arrangement of axes"""
    x, y = (4 * X).astype(dtype), (2 * X.T).astype(dtype)
    check(lambda x, y: tp.dot_general(x, y, (1,), (0,)), [x, y], x @ y, rtol=1e-5)
    check(lambda x, y: tp.dot_general(x, y, (0,), (1,)), [x, y], x.T @ y.T, rtol=1e-5)
    check(
        lambda x, y: tp.dot_general(x, y, (), (), (1,), (0,)),
        [x, y],
        np.einsum("ib,bj->bij", x, y),
        rtol=1e-5,
    )
    check(
        lambda x: tp.dot_general(x, x, (0, 1), (0, 1)), [x], np.sum(x * x, dtype=dtype), rtol=1e-5
    )
    stack = np.stack([x, x + x])
    check(
        lambda s: tp.dot_general(s, s, (2,), (2,), (0,), (0,)),
        [stack],
        np.einsum("bik,bjk->bij", stack, stack),
        rtol=1e-5,
    )


def test_the_lowering_of_bool_contractions(backend):
    op, p = tp.DotGeneral((1,), (0,), (), ()), np.array([[True, False], [False, False]])
    operand = backend.asoperand(p, backend.aval_of(p))
    result = backend.lowerings.lookup(op)(op, operand, operand)
    np.testing.assert_array_equal(backend.to_numpy(result), p @ p)


@pytest.mark.parametrize("mode", ["clip", "fill"])
def test_gather_is_in_bounds_although_cupy_wraps(check, mode):
    indices = np.array([[1], [-1], [7]])
    expected = X[[1, 0, 1]] if mode == "clip" else np.array([X[1], X[0] * 0, X[0] * 0])
    check(
        lambda x, i: tp.gather(
            x, i, offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,),
            slice_sizes=(1, 3), mode=mode,
        ),
        [X, indices],
        expected,
    )  # fmt: skip


def scatter(x, i, u, mode="drop"):
    return tp.scatter_add(
        x, i, u, update_window_dims=(1,), inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,), mode=mode,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [*NUMERIC, "float16"])
def test_scatter_add_has_every_dtype(check, dtype):
    x, indices = (4 * X).astype(dtype), np.array([[1], [1], [5], [0]])
    updates = np.arange(12).reshape(4, 3).astype(dtype)
    updates[0, 0] = 100
    expected = x.copy()
    for k, i in enumerate(indices[:, 0]):
        if i < 2:
            expected[i] += updates[k]
    check(scatter, [x, indices, updates], expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
def test_deterministic_scatter_add(make_backend, run, dtype):
    """A kernel adds a few windows in their order; CuPy sorts many; nothing waits for the device"""
    for repeats in (1, 150):
        x, indices = X.astype(dtype), np.array([[1], [1], [0], [1]] * repeats)
        updates = np.resize(np.arange(12), (4 * repeats, 3)).astype(dtype)
        expected = x.copy()
        np.add.at(expected, indices[:, 0], updates)
        (result,), waited = run(make_backend(deterministic=True), scatter, x, indices, updates)
        np.testing.assert_allclose(result, expected)
        assert waited == 0


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int32"])
@pytest.mark.parametrize("reverse", [False, True])
def test_deterministic_scans_do_not_use_cub(make_backend, run, dtype, reverse):
    """CUB combines floating parts in any order; integers are the same bits in each"""
    x = np.stack([X[0], X[1], X[0] + 1, X[1], X[0]]).astype(dtype)
    from_the_front = x[::-1] if reverse else x
    wanted = [f(from_the_front, 0, dtype) for f in (np.cumsum, np.cumprod)]
    wanted = [y[::-1] for y in wanted] if reverse else wanted
    for deterministic in (False, True):
        backend = make_backend(deterministic=deterministic)
        both = lambda x: (tp.cumsum(x, 0, reverse=reverse), tp.cumprod(x, 0, reverse=reverse))  # noqa: E731
        results, waited = run(backend, both, x)
        for result, want in zip(results, wanted, strict=True):
            np.testing.assert_allclose(result, want, rtol=1e-6)
        assert waited == 0
        names = {name for name, _ in backend.cupy.launches}
        scanned = not (deterministic and dtype != "int32")
        assert ({"cumsum", "cumprod"} <= names) == scanned


def test_dynamic_slices_wait_for_nothing(check):
    starts = [np.int32(9), np.int32(-2)]
    check(lambda x, i, j: tp.dynamic_slice(x, [i, j], (1, 2)), [X, *starts], X[1:, :2])
    expected = X.copy()
    expected[1:, :2] = -1
    update = np.full((1, 2), -1.0)
    check(lambda x, u, i, j: tp.dynamic_update_slice(x, u, [i, j]), [X, update, *starts], expected)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_empty(check, shape):
    """Reductions and products of no elements are NumPy's"""
    x = np.ones(shape)
    check(lambda x: tp.reduce_sum(x * x, (0,)), [x], np.zeros(shape[1]))
    check(lambda x: tp.dot_general(x, x, (0,), (0,)), [x], x.T @ x)
    check(lambda x: tp.dot_general(x, x, (1,), (1,)), [x], x @ x.T)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_fourier_transforms(check, dtype):
    """Transforms are NumPy's for every norm and direction"""
    z = (X - 0.5j * X[::-1]).astype(dtype)
    x = z.real.copy()
    bound = 1e-5 if dtype == "complex64" else 1e-12
    check(lambda z: tp.fft(z, (0, 1)), [z], np.fft.fft2(z), rtol=bound)
    check(lambda z: tp.fft(z, (0,), inverse=True), [z], 2 * np.fft.ifft(z, axis=0), rtol=bound)
    check(lambda x: tp.rfft(x, (1, 0), norm="mean"), [x], np.fft.rfft2(x, None, (1, 0), "forward"),
          rtol=bound)  # fmt: skip
    twice = np.fft.rfft(x) * np.array([1, 2], x.dtype)
    check(lambda x: tp.rfft(x, (1,), twice=True), [x], twice, rtol=bound)
    want = np.fft.irfft2(z, (2, 5), norm="ortho")  # of what is no spectrum of real numbers
    check(lambda z: tp.irfft(z, (0, 1), 5, norm="ortho"), [z], want, rtol=bound)
    check(lambda z: tp.fft(z, (0, 1)), [z.reshape(2, 3, 1)[..., :0]], z[..., None][..., :0])


def test_three_keys_are_sorted_by_the_first(check):
    """Rows in the order of (a, b, c); d, which is no key, moves with them."""
    a, b = np.array([1, 0, 1, 0, 1, 0]), np.array([2.0, 3.0, 1.0, 3.0, 2.0, 1.0])
    c, d = np.array([6, 5, 4, 3, 2, 1]), np.arange(6.0)
    order = np.lexsort((c, b, a))
    expected = tuple(x[order] for x in (a, b, c, d))
    check(lambda *xs: tp.sort(xs, 0, 3), [a, b, c, d], expected)
