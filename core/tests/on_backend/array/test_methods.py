"""Operators and methods of an Array are those of NumPy's arrays; what is missing says so."""

import copy
import operator
import pickle

import numpy as np
import pytest
from against_numpy import agree, expression_cases, quietly, sample

import tenferro as tn
from tenferro.arrays import UnsupportedAttributeError

VARIABLES = {
    "v": sample("float64", (5,)),
    "w": sample("float32", (5,), seed=2) + np.float32(3),
    "m": sample("float64", (3, 4)),
    "i": np.array([7, -8, 9, 3, -2]),
    "j": np.array([2, 3, -4, 5, 3], "int32"),
    "u": np.array([1, 2, 3, 4, 5], "uint8"),
    "b": np.array([True, False, True, True, False]),
    "z": sample("complex128", (5,)),
}
METHODS = """
    v.sum()
    m.mean(0)
    m.max(axis=1, keepdims=True)
    v.argmax()
    m.argmin(1)
    m.argsort(axis=0)
    m.argsort()
    m.cumsum()
    m.cumsum(1)
    m.cumprod(axis=0)
    m.diagonal()
    m.diagonal(1)
    m.trace()
    m.repeat(2)
    m.repeat(2, axis=1)
    m.round(1)
    v.clip(-1, 1)
    m.flatten()
    m.flatten("F")
    m.ravel()
    m.reshape(4, 3)
    m.reshape((2, -1))
    m.reshape(4, 3, order="F")
    m.swapaxes(0, 1)
    m.transpose(1, 0)
    m.squeeze()
    m.take([0, 2], axis=1)
    m.compress([True, False, True], axis=0)
    v.compress(n.b)
    n.i.clip(0, 3).astype(int) * 1 + i * 0
    i.astype(float)
    v.astype("float32")
    v.astype(np.int32)
    z.conj()
    z.conjugate()
    z.real
    z.imag
    m.T
    v.std(ddof=1)
    m.var(0)
    m.dot(m.T)
    b.any()
    b.all()
    v.copy()
"""
OPERATORS = """
    v // 2
    2 // w
    i // 3
    i // j
    i % 3
    7 % j
    v % 0.5
    i << 2
    2 << u
    i >> 1
    n.i >> u
    i & j
    i | 6
    6 ^ i
    ~i
    ~b
    b & n.b
    w * 2.0
    w * 2
    2.0 - w
    1 / i
    w + np.float64(1)
    np.float64(2) * w
    np.float32(2) - v
    np.array(2.0) * w
    [1, 2, 3, 4, 5] + v
    v - [1, 2, 3, 4, 5]
    (1.0, 2.0, 3.0, 4.0, 5.0) * v
    u + 3
    n.v * w
    n.v @ v
    v @ n.v
    n.m @ m.T
    m @ n.v[:4]
    -v
    +v
    abs(i)
    i ** 2
    2 ** u
    w ** 2
    v == n.v
    n.v <= v
    1 < v
    v != 0
    (v > 0) & (v < 1)
    divmod(i, 3)[0]
    divmod(i, 3)[1]
    divmod(7, j)[0]
    divmod(7, j)[1]
    divmod(n.v, w)[1]
"""


@pytest.mark.parametrize("table", [METHODS, OPERATORS], ids=["methods", "operators"])
def test_expressions_mean_what_they_mean_in_numpy(table):
    agree(expression_cases(table, VARIABLES))


IN_PLACE = [
    lambda x: x.sort(),
    lambda x: x.sort(axis=0),
    lambda x: x.fill(2.5),
    lambda x: x.put([0, 3, -1], [7.0, 8.0]),
    lambda x: x.put([0, 20], 1.0, mode="clip"),
    lambda x: x.partition(1),
    lambda x: np.put(x, [1, 2], -1),
    lambda x: np.putmask(x, np.asarray(x) > 0, [9.0, 8.0]),
    lambda x: np.place(x, np.asarray(x) > 0, [1.0, 2.0, 3.0]),
    lambda x: np.copyto(x, 3.0),
    lambda x: np.copyto(x, np.arange(4.0), where=np.array([True, False, True, False])),
    lambda x: np.fill_diagonal(x, 5.0),
    lambda x: np.fill_diagonal(x, [1.0, 2.0], wrap=True),
    lambda x: np.put_along_axis(x, np.array([[0], [1], [2]]), 7.0, axis=1),
    lambda x: x.flat.__setitem__(slice(1, 9, 3), 4.0),
    lambda x: x.flat.__setitem__([0, 5], [1.0, 2.0]),
    lambda x: setattr(x, "flat", [1.0, 2.0]),
]


@pytest.mark.parametrize("change", IN_PLACE)
def test_what_numpy_does_in_place_rebinds_the_handle(change):
    ours, want = tn.asarray(VARIABLES["m"].copy()), VARIABLES["m"].copy()
    assert change(ours) is None
    change(want)
    if change is IN_PLACE[5]:
        want, ours = np.sort(want)[:, :2], np.sort(np.asarray(ours))[:, :2]
    np.testing.assert_array_equal(ours, want)


@pytest.mark.parametrize("name", ["v", "z"])
def test_parts_of_complex_numbers_are_assigned_to(name):
    x = VARIABLES[name].copy()
    ours = tn.asarray(x.copy())
    x.real = ours.real = np.arange(5.0)
    if name == "z":
        x.imag = ours.imag = -1.0
    np.testing.assert_array_equal(ours, x)
    tn.check_grads(lambda a, b: _with_parts(a, b), (VARIABLES["v"], VARIABLES["v"] + 1), order=1)


def _with_parts(a, b):
    z = np.zeros_like(tn.asarray(a), dtype=complex)
    z.real = a * b
    z.imag = a**2
    return z


def test_a_real_array_has_no_imaginary_part_to_set():
    with pytest.raises(tn.DTypeMismatchError):
        tn.asarray(VARIABLES["v"]).imag = 1.0


def test_flat_reads_in_rows():
    m = VARIABLES["m"]
    ours = tn.asarray(m)
    assert [float(x) for x in ours.flat] == list(m.flat)
    assert len(ours.flat) == m.size
    np.testing.assert_array_equal(ours.flat[2:9:3], m.flat[2:9:3])
    np.testing.assert_array_equal(np.asarray(ours.flat), np.asarray(m.flat))


@pytest.mark.parametrize(
    "ask",
    [
        *(lambda x: x.item(5), lambda x: x.item(1, 2), lambda x: x.tolist(), lambda x: x.tobytes()),
        *(lambda x: x.itemsize, lambda x: x.nbytes, lambda x: x.base, lambda x: x.size, len),
        *(lambda x: x.ndim, lambda x: x.shape, lambda x: 1.5 in x, lambda x: str(x)),
        *(lambda x: format(x.sum(), ".3f"), lambda x: [float(row.sum()) for row in x]),
    ],
)
def test_what_is_plain_python_is_numpys(ask):
    m = np.round(VARIABLES["m"], 1)
    assert ask(tn.asarray(m)) == ask(m)


@pytest.mark.parametrize(
    "value, error",
    [(300, OverflowError), (-1, OverflowError), (2**70, OverflowError)],
)
def test_a_number_that_the_dtype_lacks_overflows(value, error):
    u = VARIABLES["u"]
    for operation in (operator.add, operator.pow):
        with pytest.raises((error, ValueError) if value < 0 else error):
            quietly(operation, u, value)
        with pytest.raises((error, tn.DTypeMismatchError) if value < 0 else error):
            operation(tn.asarray(u), value)


@pytest.mark.parametrize("kind", [int, float])
def test_an_imaginary_part_is_not_lost_to_a_number(kind):
    for z in (np.array(1 + 2j), tn.asarray(1 + 2j), tn.asarray([1 + 0j])):
        with pytest.raises(TypeError):
            kind(z)


@pytest.mark.parametrize("sort", [lambda x: x.sort(axis=None), lambda x: x.partition(1, axis=None)])
def test_sorting_in_place_keeps_the_shape(sort):
    m = VARIABLES["m"]
    for x in (m.copy(), tn.asarray(m)):
        with pytest.raises(TypeError):
            sort(x)
        assert x.shape == m.shape


NO_ATTRIBUTES = "view strides flags byteswap setflags itemset resize tofile data ctypes"


@pytest.mark.parametrize("name", NO_ATTRIBUTES.split())
def test_attributes_of_memory_are_refused_with_a_hint(name):
    x = tn.asarray(VARIABLES["v"])
    assert not hasattr(x, name)
    assert not hasattr(tn.Array, name)
    assert name not in dir(x)
    with pytest.raises(UnsupportedAttributeError) as raised:
        getattr(x, name)
    assert raised.value.attribute == name
    assert "hint" in str(raised.value)
    assert "test_methods.py" in str(raised.value)


def test_other_attributes_are_pythons():
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        _ = tn.asarray(VARIABLES["v"]).colour


def test_an_array_has_no_getattr():
    """With one, CPython reads every attribute of an Array four times as slowly."""
    assert not hasattr(tn.Array, "__getattr__")


def test_casting_is_asked_for():
    x = tn.asarray(VARIABLES["v"])
    assert x.astype("float32", casting="same_kind").dtype == "float32"
    with pytest.raises(tn.DTypeMismatchError):
        x.astype(int, casting="safe")


# ---- copies, pickles, looking --------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_is_another_array(copied):
    x = tn.asarray(VARIABLES["m"]) * 2
    y = copied(x)
    y[0] = 0.0
    np.testing.assert_array_equal(x, VARIABLES["m"] * 2)
    np.testing.assert_array_equal(y[1:], VARIABLES["m"][1:] * 2)


def test_a_deep_graph_is_pickled_as_its_value():
    x = tn.asarray(VARIABLES["v"])
    for _ in range(1500):
        x = x * 0.999
    assert len(pickle.dumps(x)) < 2000
    np.testing.assert_allclose(pickle.loads(pickle.dumps(x)), VARIABLES["v"] * 0.999**1500)


def test_long_arrays_are_abbreviated_as_numpys():
    x = np.arange(5000.0)
    assert "..." in repr(tn.asarray(x))
    assert str(tn.asarray(x)) == str(x)


@pytest.mark.parametrize(
    "x, parts",
    [
        (np.array([[1.0, 2.5], [3.0, 4.0]]), ["f64[2,2]", "<table>", ">2.5<"]),
        (np.arange(100.0), ["f64[100]", "…", ">99<"]),
        (np.ones((40, 30)), ["⋮", "…"]),
        (np.zeros((2, 2, 2)), ["<pre>", "f64[2,2,2]"]),
        (np.array(1.5), ["f64[]", "1.5"]),
        (np.zeros((0, 3)), ["f64[0,3]", "[]"]),
        (np.array([True, False]), [">True<"]),
    ],
)
def test_notebooks_show_a_small_table(x, parts):
    html = tn.asarray(x)._repr_html_()
    assert all(part in html for part in parts)
    assert len(html) < 15000


def test_notebooks_show_the_aval_under_jit():
    seen = []
    tn.jit(lambda x: seen.append(x._repr_html_()) or x)(np.ones(2))
    assert seen == ["<code>Array(f64[2], abstract)</code>"]


# ---- other libraries and devices -----------------------------------------------------------------


def test_dlpack_gives_a_copy_or_what_cannot_be_written():
    x = tn.asarray(VARIABLES["v"])
    y = np.from_dlpack(x)
    if y.flags.writeable:
        y[:] = 0
    np.testing.assert_array_equal(x, VARIABLES["v"])


@pytest.mark.parametrize("name", ["v", "w", "i", "u", "z", "m"])
def test_dlpack_both_ways(name):
    x = VARIABLES[name]
    np.testing.assert_array_equal(np.from_dlpack(tn.asarray(x)), x)
    ours = tn.from_dlpack(x)
    assert (type(ours), ours.dtype) == (tn.Array, x.dtype)
    np.testing.assert_array_equal(ours, x)
    np.testing.assert_array_equal(tn.from_dlpack(tn.asarray(x) + 0), x)


def test_dlpack_never_shares_memory():
    buffer = np.ones(3)
    x = tn.from_dlpack(buffer)
    buffer[:] = 5
    np.testing.assert_array_equal(x, np.ones(3))
    with pytest.raises(BufferError):
        tn.from_dlpack(buffer, copy=False)
    with pytest.raises(BufferError):
        tn.asarray(buffer).__dlpack__(copy=False)


@pytest.mark.parametrize("leave", [np.from_dlpack, tn.from_dlpack, pickle.dumps, tn.Array.tobytes])
def test_nothing_leaves_a_transform_silently(leave):
    if leave is tn.from_dlpack:
        assert tn.grad(lambda x: leave(x) * x)(3.0) == 6.0  # it stays an Array
        return
    with pytest.raises(tn.TracedConversionError):
        tn.grad(lambda x: leave(x) and x)(3.0)


@pytest.mark.filterwarnings("ignore::tenferro.PluginWarning")  # of backends that are not whole
def test_the_device_is_named_and_a_move_is_explicit():
    x = tn.asarray(VARIABLES["v"]) * 2
    here = x.device
    assert isinstance(here, str)
    moved = x.to_device(here)
    assert moved is not x
    np.testing.assert_array_equal(moved, x)
    with pytest.raises(tn.DeviceUnavailableError):
        x.to_device("no such device")


def test_the_namespace_is_tenferro():
    x = tn.asarray(VARIABLES["v"])
    assert x.__array_namespace__() is tn
    assert x.__array_namespace__(api_version="2024.12") is tn
    with pytest.raises(ValueError, match="version"):
        x.__array_namespace__(api_version="1999.01")


def test_a_mask_under_jit_names_where():
    with pytest.raises(tn.ConcretizationError, match=r"np\.where"):
        tn.jit(lambda x: x[x > 0])(np.ones(3))
    chosen = tn.jit(lambda x: _masked(x * 1.0))(np.array([-1.0, 2.0]))
    np.testing.assert_array_equal(chosen, [0, 2])


def _masked(x):
    x[x < 0] = 0.0
    return x
