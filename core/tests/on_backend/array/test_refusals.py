"""What arrays refuse: the class that users catch, the fields, and the user's line in the text."""

import math
import re
from unittest import mock

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays.diagnosis.hints import HINTS

X = tn.asarray(np.ones((2, 3)))
Y = tn.asarray(np.ones(4))
I = tn.asarray(np.array([1, 2]))  # noqa: E741
B = X > 0


def fields(function, error):
    """The fields of the error that the function raises; its class is exactly this one."""
    with pytest.raises(error) as raised:
        function()
    assert type(raised.value) is error
    return raised.value.fields


# ---- functions of NumPy that are not there, and writing into memory ------------------------------


@pytest.mark.parametrize(
    "function, name",
    [
        (lambda: np.roots(Y), "roots"),
        (lambda: np.packbits(X), "packbits"),
        (lambda: np.exp(X, where=np.ones((2, 3), bool)), "exp"),
        (lambda: np.emath.sqrt(X), "scimath.sqrt"),
        (lambda: np.frombuffer(b"", like=X), "frombuffer"),
        pytest.param(
            lambda: np.char.upper(X),
            "strings.upper",
            marks=pytest.mark.skipif(
                not hasattr(np.char.upper, "_implementation"),
                reason="this NumPy asks no operand of `upper` for its own function",
            ),
        ),
        (lambda: np.char.equal(X, X), "char.equal"),
        (lambda: np.busday_count(X, X), "busday_count"),
        (lambda: np.isnat(X), "isnat"),
        (lambda: np.frompyfunc(abs, 1, 1)(X), "abs (vectorized)"),
    ],
)
def test_what_is_not_covered_is_named_and_never_converted(function, name):
    assert fields(function, tn.UnsupportedFunctionError)["function"] == name


def test_the_nearest_covered_function_is_named():
    found = fields(lambda: np.packbits(X), tn.UnsupportedFunctionError)
    assert found["nearest"] in tn.numpy_functions()


def test_a_hint_names_what_is_covered_for_what_is_not():
    names = {name for name in HINTS if not name.endswith(".")}
    nearest = {near for near, _ in HINTS.values() if near}
    assert nearest <= set(tn.numpy_functions())
    assert names & set(tn.numpy_functions()) == set()


def test_functions_of_python_and_what_numpy_does_not_dispatch():
    x = tn.asarray(np.array([3.0, 1.0, 2.0]))
    assert (float(sum(x)), float(max(x)), float(min(x))) == (6.0, 3.0, 1.0)
    assert [float(v) for v in sorted(x)] == [1.0, 2.0, 3.0]
    assert math.sin(x[0]) == math.sin(3.0)
    assert type(np.random.default_rng(0).normal(x)) is np.ndarray
    assert tn.grad(lambda x: sum(x * x))(np.ones(3)).tolist() == [2, 2, 2]


def augmented(buffer):
    buffer += X


@pytest.mark.parametrize(
    "function, name",
    [
        (lambda: np.add(X, 1, out=np.zeros((2, 3))), "add"),
        (lambda: np.sum(X, out=np.zeros(())), "sum"),
        (lambda: np.concatenate([X, X], out=np.zeros((4, 3))), "concatenate"),
        (lambda: augmented(np.zeros((2, 3))), "add"),
    ],
)
def test_memory_of_numpy_is_never_written(function, name):
    assert fields(function, tn.ImmutableArrayError) == {"function": name}


# ---- conversions that would cut a derivative -----------------------------------------------------


@pytest.mark.parametrize(
    "convert, asked",
    [
        (float, "float()"),
        (complex, "complex()"),
        (math.exp, "float()"),
        (round, "round()"),
        (tn.Array.item, "item()"),
        (tn.Array.tolist, "tolist()"),
        (np.asarray, "conversion to a NumPy array"),
        (lambda x: np.array([x, x]), "conversion to a NumPy array"),
        (lambda x: np.random.default_rng(0).normal(x), "conversion to a NumPy array"),
    ],
)
def test_a_conversion_under_a_trace_is_refused(convert, asked):
    """Constants are a way out of derivatives; under ``jit`` no value is known, constant or not."""
    with pytest.raises(tn.TracedConversionError, match=r"tenferro\.stop_gradient") as raised:
        tn.grad(lambda x: x * convert(x))(2.0)
    assert raised.value.asked == asked
    with pytest.raises(tn.TracedConversionError) as raised:
        tn.jit(lambda x: x * convert(x))(2.0)
    assert raised.value.asked == asked
    assert "stop_gradient" not in str(raised.value)


def into_a_buffer(x):
    buffer = np.zeros(3)
    buffer[0] = x
    return np.sum(buffer)


def test_writing_a_traced_value_into_a_buffer_is_refused_with_the_reason():
    with pytest.raises(tn.TracedConversionError, match=r"a = tenferro\.asarray\(a\)"):
        tn.grad(into_a_buffer)(1.0)


def test_the_way_out_works():
    assert tn.grad(lambda x: x * np.floor(np.asarray(tn.stop_gradient(x))))(2.5) == 2


def test_a_constant_may_be_converted_anywhere():
    assert tn.grad(lambda x: x * float(tn.stop_gradient(x)))(3.0) == 3.0
    assert tn.grad(lambda x: x * round(float(tn.asarray(2.4))))(3.0) == 2.0


# ---- shapes, dtypes, values ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, error, field, value",
    [
        (lambda: X + Y, tn.ShapeMismatchError, "shapes", ((2, 3), (4,))),
        (lambda: X @ Y, tn.ShapeMismatchError, "shapes", ((2, 3), (4,))),
        (lambda: np.dot(X, Y), tn.ShapeMismatchError, "operation", "dot"),
        (lambda: X @ 2, tn.ShapeMismatchError, "operation", "matmul"),
        (lambda: X.reshape(4), tn.ShapeMismatchError, "shapes", ((2, 3), (4,))),
        (lambda: X.reshape(4, -1), tn.ShapeMismatchError, "operation", "reshape"),
        (lambda: np.concatenate([X, Y]), tn.ShapeMismatchError, "operation", "concatenate"),
        (lambda: np.squeeze(X, 0), tn.ShapeMismatchError, "operation", "squeeze"),
        (lambda: np.broadcast_to(X, (3,)), tn.ShapeMismatchError, "operation", "broadcast_to"),
        (lambda: np.where(B, X, Y), tn.ShapeMismatchError, "operation", "where"),
        (lambda: X.sum(axis=2), tn.AxisError, "value", 2),
        (lambda: X.any(axis=-3), tn.AxisError, "operation", "any"),
        (lambda: X.sum(axis=(0, 0)), tn.AxisError, "operation", "sum"),
        (lambda: np.concatenate([X, X], axis=2), tn.AxisError, "operation", "concatenate"),
        (lambda: np.moveaxis(X, (0, 1), (0,)), tn.AxisError, "operation", "moveaxis"),
        (lambda: np.tensordot(X, Y, 2), tn.AxisError, "operation", "tensordot"),
        (lambda: X.transpose(0), tn.InvalidParameterError, "operation", "transpose"),
        (lambda: np.max(X[:0]), tn.InvalidParameterError, "operation", "reduce_max"),
        (lambda: X.ravel(order="Z"), tn.InvalidParameterError, "parameter", "order"),
        (lambda: -B, tn.DTypeMismatchError, "operation", "negative"),
        (lambda: B - B, tn.DTypeMismatchError, "operation", "subtract"),
        (lambda: X & X, tn.DTypeMismatchError, "operation", "bitwise_and"),
        (lambda: ~X, tn.DTypeMismatchError, "operation", "invert"),
        (lambda: I**-1, tn.DTypeMismatchError, "operation", "power"),
        (lambda: (X * 1j) < 2, tn.DTypeMismatchError, "operation", "lt"),
        (lambda: np.fabs(X * 1j), tn.DTypeMismatchError, "operation", "fabs"),
        (lambda: tn.asarray("text"), tn.UnknownOperandError, "value", "text"),
        (lambda: X + None, tn.UnknownOperandError, "value", None),
        (lambda: X < None, tn.UnknownOperandError, "value", None),
    ],
)
def test_a_refusal_says_what_was_wrong_in_fields(function, error, field, value):
    assert fields(function, error)[field] == value


class Length(np.ndarray):
    """Numbers with a unit, which a plain array would lose."""

    def __array_ufunc__(self, ufunc, method, *operands, **options):
        raise AssertionError(f"{ufunc} was called")


class Quantity:
    """The same, as a class that is not a subclass."""

    dtype, shape = np.dtype("float64"), (2,)
    __array_ufunc__ = Length.__array_ufunc__

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)


@pytest.mark.parametrize(
    "operand, cure",
    [(np.ma.array([1.0, 2.0], mask=[0, 1]), r"filled"), (np.eye(2).view(np.matrix), r"np\.asarray"),
     (np.ones(2).view(Length), r"np\.asarray"), (Quantity(), r"np\.asarray")],
    ids=["masked", "matrix", "units", "units of another class"],
)  # fmt: skip
def test_arrays_that_mean_something_else_are_not_taken_for_plain_ones(operand, cure):
    for ask in (tn.asarray, tn.grad(np.sum), tn.jit(np.sum), lambda x: tn.asarray(np.ones(2)) * x):
        with pytest.raises(tn.UnknownOperandError, match=cure) as raised:
            ask(operand)
        assert cure != "filled" or "np.asarray" not in str(raised.value)


def class_of(module, name, method, **attributes):
    """A value of a class that says it is of some library, which need not be installed."""
    operand = {"dtype": np.dtype("float64"), "shape": (2,), method: lambda self: np.ones(2)}
    return type(name, (), {"__module__": module, **operand, **attributes})()


OF_OTHERS = {
    "x.numpy()": class_of("torch", "Tensor", "numpy", requires_grad=False, is_cpu=True),
    "x.detach().numpy()": class_of("torch.nn.parameter", "Parameter", "numpy", requires_grad=True),
    "x.cpu().numpy()": class_of("torch", "Tensor", "numpy", is_cpu=False),
    "x.toarray()": class_of("scipy.sparse._csr", "csr_array", "toarray"),
    "x.to_numpy()": class_of("pandas.core.series", "Series", "to_numpy"),
}
FRAME = type("DataFrame", (), {"__module__": "pandas", "shape": (1, 1), "to_numpy": None})()


def converting(module):
    """A function of a library, which makes numbers of what it is given."""
    scope = {"__name__": module, "np": np}
    exec("def convert(x):\n    return np.asarray(x)", scope)
    return scope["convert"]


@pytest.mark.parametrize(
    "module, cure",
    [
        ("pandas.core.frame", "table.to_numpy()"),
        ("matplotlib.pyplot", "return the array"),
        ("sklearn.metrics", "return the array"),
        ("xarray.core", "return the array"),
    ],
)
def test_a_library_that_converts_is_named_and_the_line_is_the_users(module, cure):
    """not a line of the library, nor advice for a list of Arrays"""
    convert = converting(module)
    with pytest.raises(tn.TracedConversionError) as raised:
        tn.grad(lambda x: np.sum(convert(x)))(np.ones(2))
    assert cure in str(raised.value)
    assert "np.stack" not in str(raised.value)
    assert "from       test_refusals.py" in str(raised.value)
    assert raised.value.function == f"{module}.convert"


def test_a_table_leaves_its_operators_to_what_is_differentiated():
    """pandas asks for this number; tables have 3000 and 4000, and take known Arrays themselves"""
    seen = []
    tn.grad(lambda x: (seen.append(x.__pandas_priority__), np.sum(x))[1])(np.ones(2))
    assert min(seen) > 4000
    assert tn.asarray([1.0]).__pandas_priority__ < 3000


@pytest.mark.parametrize(
    "conversion, value",
    [*OF_OTHERS.items(), ("x.to_numpy()", FRAME)],
    ids=["tensor", "parameter", "device", "sparse", "series", "frame"],
)
@pytest.mark.parametrize(
    "ask",
    [
        tn.asarray,
        tn.grad(np.sum),
        tn.jit(np.sum),
        tn.vmap(np.sum),
        lambda v: tn.grad(lambda p: np.sum(p["a"]))({"a": v}),
        lambda v: tn.jvp(np.sin, (np.ones(2),), (v,)),
        lambda v: tn.grad(lambda x: np.sum(x * v))(np.ones(2)),
        lambda v: tn.jit(lambda x: np.multiply(x, v))(np.ones(2)),
        lambda v: tn.grad(lambda x, y: np.sum(x + y))(np.ones(2), v),
    ],
)
def test_data_of_other_libraries_are_refused_with_the_conversion(conversion, value, ask):
    """As an argument, in a pytree, as a tangent and as what a function closes over."""
    with pytest.raises(tn.UnknownOperandError) as raised:
        ask(value)
    assert f"convert it: `{conversion}`" in str(raised.value)
    assert type(value).__name__ in str(raised.value)


def test_sparse_arrays_of_scipy_are_known():
    sparse = pytest.importorskip("scipy.sparse")
    for value in (sparse.csr_array(np.eye(2)), sparse.coo_matrix(np.eye(2))):
        with pytest.raises(tn.UnknownOperandError, match=r"x\.toarray\(\)"):
            tn.asarray(value)
        with pytest.raises(tn.SparseResultError, match=r"np\.sum.*sparse"):
            tn.grad(np.sum)(value)


@pytest.mark.parametrize("other", [None, "text", b"text"])
def test_no_element_equals_none_or_a_text(other):
    """As in NumPy, x == None has one bool for each element."""
    equal, differs = X == other, X != other
    assert (equal.dtype, equal.shape, differs.shape) == (np.bool_, X.shape, X.shape)
    assert not np.asarray(equal).any()
    assert np.asarray(differs).all()


def test_the_other_operand_decides_whether_it_equals_an_array():
    assert (X == mock.ANY, X != mock.ANY, object() == X) == (True, False, False)


@pytest.mark.parametrize(
    "function, builtin",
    [
        (lambda: X + Y, ValueError),
        (lambda: X.sum(axis=2), IndexError),
        (lambda: X.sum(axis=2), ValueError),
        (lambda: -B, TypeError),
        (lambda: Y[9], IndexError),
        (lambda: np.packbits(X), TypeError),
        (lambda: tn.asarray(np.array(["a"])), TypeError),
        (lambda: tn.asarray(np.array([None])), TypeError),
        (lambda: bool(X), ValueError),
        (lambda: len(X.sum()), TypeError),
        (lambda: iter(X.sum()), TypeError),
        (lambda: [1, 2][X.sum()], TypeError),
        (lambda: {X: 1}, TypeError),
        (lambda: tn.stack([]), ValueError),
        (lambda: I + 2**70, OverflowError),
        (lambda: tn.asarray(2**70), OverflowError),
        (lambda: tn.asarray(np.array([1], "int8")) + 200, OverflowError),
        (lambda: tn.Array([1.0]), TypeError),
        (lambda: tn.evaluate([X]), TypeError),
    ],
)
def test_errors_are_what_users_of_numpy_catch(function, builtin):
    with pytest.raises(builtin):
        function()


# ---- the text ------------------------------------------------------------------------------------


def shapes():
    return X + Y


def contraction():
    return X @ Y


def uncovered():
    return np.packbits(X)


def conversion():
    return tn.grad(lambda x: x * float(x))(2.0)


def control_flow():
    return tn.jit(lambda x: x if x > 0 else -x)(2.0)


def augmented_assignment():
    return np.add(np.zeros(2), I, out=np.zeros(2))


def out_of_bounds():
    return Y[7]


def axis():
    return X.mean(axis=5)


@pytest.mark.parametrize(
    "function",
    [
        shapes,
        contraction,
        uncovered,
        conversion,
        control_flow,
        augmented_assignment,
        out_of_bounds,
        axis,
    ],
)
def test_the_text_of_a_frequent_error_ends_at_the_users_line(function, golden):
    with pytest.raises(tn.TenferroError) as raised:
        function()
    error = raised.value
    text = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
    assert f"  from       test_refusals.py:{function.__code__.co_firstlineno + 1}   return" in text
    golden(f"error_array_{function.__name__}", re.sub(r"\.py:\d+", ".py:…", text))
