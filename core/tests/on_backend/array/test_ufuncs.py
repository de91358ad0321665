"""Keywords and methods of ufuncs are NumPy's, for every ufunc that NumPy has."""

import against_numpy_elementwise
import numpy as np
import pytest
from against_numpy import quietly
from numpy_rows import REDUCED, X, agree, attempt, fill

import tenferro as tn

NAMES = sorted({f.__name__ for f in vars(np).values() if isinstance(f, np.ufunc)} - {"isnat"})
if REDUCED:  # keywords and methods are the same code for all ufuncs
    NAMES = "add bitwise_and logaddexp logical_or matmul maximum modf remainder sin".split()
FIRST = {}
for _row in reversed(against_numpy_elementwise.ROWS):
    FIRST[_row.name] = _row
BINARY = [
    name
    for name in NAMES
    if getattr(np, name).nin == 2
    and getattr(np, name).nout == 1
    and getattr(np, name).signature is None
    and name != "ldexp"
]
COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
INTEGERS = {
    "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "left_shift", "right_shift",
    "bitwise_count", "invert",
}  # fmt: skip
DIVISIONS = {"floor_divide", "fmod", "power", "reciprocal", "remainder", "divmod"}  # of 0: refused
UNORDERED = {"maximum", "minimum", "fmax", "fmin"}  # of complex numbers
MASK = np.array([[True, False, True], [False, True, True]])
every_ufunc = pytest.mark.parametrize("name", NAMES)
every_binary = pytest.mark.parametrize("name", BINARY)


def operands(name):
    """The ndarrays of the first row of a ufunc."""
    return fill(FIRST[name].args, lambda x: x.make("int32" if name in INTEGERS else "float64"))


def both(name, call, text=""):
    """What a call gives on Arrays and on ndarrays: ``call(function, *operands, convert)``."""
    function, given = getattr(np, name), operands(name)
    return (
        f"{name} {text}",
        lambda: call(function, *[tn.asarray(x) for x in given], tn.asarray),
        lambda: quietly(call, function, *given, np.array),
    )


def results(found):
    return found if isinstance(found, tuple) else (found,)


def test_every_ufunc_has_rows():
    assert set(NAMES) <= set(FIRST)


def into(make_out, **keywords):
    """A call with ``out=``; it must return exactly that, and is judged by what is in it."""

    def call(function, *given):
        *xs, convert = given
        wanted = results(function(*xs))
        outs = tuple(convert(make_out(np.asarray(y))) for y in wanted)
        found = function(*xs, out=outs, **fill(keywords, lambda x: convert(x.make("bool"))))
        assert all(a is b for a, b in zip(results(found), outs, strict=True))
        return outs

    return call


@every_ufunc
def test_out_is_bound_to_the_result_as_its_dtype_allows(name):
    def same(y):
        return np.full_like(y, 7)

    def wider(y):
        return np.full_like(y, 7, dtype=complex)

    def narrow(y):
        return np.full_like(y, 1, dtype=np.int8)

    def larger(y):
        return np.zeros((2, *y.shape), y.dtype)

    makers = (same, wider, narrow, larger)
    cases = [both(name, into(make), f"out={make.__name__}") for make in makers]
    wanted = results(quietly(getattr(np, name), *operands(name)))
    if all([np.isfinite(y).all() for y in wanted]):  # C leaves it open which integer inf is
        cases.append(both(name, into(narrow, casting="unsafe")))
    assert agree(cases) >= 3


@every_ufunc
def test_where_keeps_what_out_had(name):
    if getattr(np, name).signature is not None:
        pytest.skip("NumPy has no `where` for generalized ufuncs")
    given = operands(name)
    shape = np.shape(results(quietly(getattr(np, name), *given))[0])
    mask = X(values=np.arange(np.prod(shape)).reshape(shape) % 2)
    assert agree([both(name, into(lambda y: np.full_like(y, 1), where=mask))])


@every_ufunc
@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe"])
def test_dtype_chooses_the_loop_as_casting_allows(name, casting):
    dtypes = ["float32", "float64", "complex64", "int64", "int8", "bool"]

    def ask(dtype):
        count, inputs = getattr(np, name).nout, getattr(np, name).nin
        keywords = (
            {"dtype": dtype} if count == 1 else {"signature": (*[None] * inputs, dtype, dtype)}
        )
        return lambda f, *given: f(*given[:-1], casting=casting, **keywords)

    if name in DIVISIONS:
        dtypes = dtypes[:3]
    if name in UNORDERED:
        dtypes.remove("complex64")
    agree([both(name, ask(dtype), f"dtype={dtype}, {casting}") for dtype in dtypes])


@every_ufunc
def test_order_and_subok_change_nothing(name):
    assert agree([both(name, lambda f, *xs: f(*xs[:-1], order="F", subok=False))])


def test_an_order_that_is_none_is_refused():
    with pytest.raises(ValueError, match="order"):
        np.exp(tn.asarray(1.0), order="Q")


@pytest.mark.parametrize("name", ["sin", "add", "modf"])
def test_where_without_out_is_refused_and_says_what_to_write(name):
    x = tn.asarray(np.ones((2, 3)))
    with pytest.raises(tn.UnsupportedFunctionError, match=r"np\.where\(mask") as raised:
        getattr(np, name)(*[x] * getattr(np, name).nin, where=MASK)
    assert raised.value.fields["keyword"] == "where"


@pytest.mark.parametrize(
    "name, shapes, keywords",
    [
        ("matmul", ((3, 2), (3, 4)), {"axes": [(1, 0), (0, 1), (1, 0)]}),
        ("matmul", ((5, 2, 3), (3, 5, 4)), {"axes": [(1, 2), (0, 2), (0, 2)]}),
        ("vecdot", ((3, 2), (3, 2)), {"axis": 0}),
        ("vecdot", ((3, 2), (3, 2)), {"axis": 0, "keepdims": True}),
        ("vecdot", ((3, 2), (2, 3)), {"axes": [0, 1]}),
        ("vecdot", ((3, 2), (2, 3)), {"axes": [0, 1, ()]}),
        ("matvec", ((3, 2), (3,)), {"axes": [(1, 0), 0, 0]}),
        ("vecmat", ((3,), (2, 3)), {"axes": [0, (1, 0), 0]}),
    ],
)
def test_axes_of_generalized_ufuncs(name, shapes, keywords):
    given = [X(*shape, seed=i).make("complex128") for i, shape in enumerate(shapes)]
    function = getattr(np, name)
    assert agree(
        [
            (
                f"{name} {keywords}",
                lambda: function(*map(tn.asarray, given), **keywords),
                lambda: function(*given, **keywords),
            )
        ]
    )


# ---- methods -------------------------------------------------------------------------------------


def values(name, shape):
    """Operands for which every function is defined."""
    if name in INTEGERS:
        return X(*shape, low=0.4, high=1.4).make("int64")
    return X(*shape, low=0.4, high=1.4).make("bool" if name.startswith("logical") else "float64")


def method(name, *given, **keywords):
    """A call of a method in which ndarrays become Arrays on our side."""
    kind, method_name = name.split(".")
    function = getattr(getattr(np, kind), method_name)

    def convert(x, make):
        return make(x) if isinstance(x, np.ndarray) and x.dtype.kind in "fibuc" else x

    def ours():
        words = {k: convert(v, tn.asarray) for k, v in keywords.items()}
        return function(*[convert(x, tn.asarray) for x in given], **words)

    text = f"{name} {[np.shape(x) for x in given]} {keywords}"
    return text, ours, lambda: quietly(function, *given, **keywords)


FOLDED = [name for name in BINARY if name not in COMPARISONS]
ALIASED = ["arctan2", "power"]  # NumPy 2.4 reads what it has overwritten, where vectors are wide


@pytest.mark.parametrize("name", ALIASED)
def test_a_reduction_in_order_is_the_end_of_the_accumulation(name):
    x = values(name, (6, 3))
    want = getattr(np, name).accumulate(x)
    cases = [
        ("reduce", lambda: getattr(np, name).reduce(tn.asarray(x)), lambda: want[-1]),
        ("accumulate", lambda: getattr(np, name).accumulate(tn.asarray(x)), lambda: want),
    ]
    assert agree(cases) == 2


@pytest.mark.parametrize("name", sorted({*FOLDED} - {*ALIASED}))
def test_reduce(name):
    """ufunc.reduce is NumPy's for every axis, initial value, mask and empty array"""
    x = values(name, (3, 2, 5))
    cases = [
        method(f"{name}.reduce", x),
        method(f"{name}.reduce", x, axis=1),
        method(f"{name}.reduce", x, axis=-1, keepdims=True),
        method(f"{name}.reduce", x[:, 0, 0], axis=None),
        method(f"{name}.reduce", x, axis=(0, 2)),
        method(f"{name}.reduce", x, axis=(0, 2), keepdims=True),
        method(f"{name}.reduce", x, axis=()),
        method(f"{name}.reduce", x, initial=2),
        method(f"{name}.reduce", x, initial=2, where=x > x.mean()),
        method(f"{name}.reduce", x, where=x > x.mean()),
        method(f"{name}.reduce", x[:0]),
        method(f"{name}.reduce", x[:0], initial=3),
    ]
    if name == "lcm":  # NumPy has no reason to refuse two axes, and does
        cases = [case for case in cases if "(0, 2)" not in case[0]]
    assert agree(cases) >= 5


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logaddexp", "subtract"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "complex64"])
def test_reduce_in_other_dtypes(name, dtype):
    x = X(4, 2, low=0, high=2).make(dtype)
    wide = "complex128" if dtype == "complex64" else "float64"
    if (name, dtype) == ("maximum", "complex64"):
        pytest.skip("complex numbers have no order here")
    agree(
        [
            method(f"{name}.reduce", x),
            method(f"{name}.reduce", x, dtype=wide),
            method(f"{name}.accumulate", x),
            method(f"{name}.accumulate", x, dtype=wide, axis=1),
            method(f"{name}.reduceat", x, [0, 2]),
        ]
    )


@pytest.mark.parametrize("name", ["add", "multiply", "logical_and", "hypot", "divide", "minimum"])
@pytest.mark.parametrize("asked", ["bool", "int8", "float16"])
def test_a_reduction_has_the_dtype_that_is_asked_for(name, asked):
    """Where NumPy has no such loop, both refuse."""
    x = X(4, 2, low=0, high=2).make("int64")
    agree(
        [
            method(f"{name}.reduce", x, dtype=asked),
            method(f"{name}.accumulate", x, dtype=asked),
            method(f"{name}.reduceat", x, [0, 2], dtype=asked),
        ]
    )


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_a_reduction_of_nothing_is_the_identity(name, dtype):
    assert agree([method(f"{name}.reduce", np.zeros((0, 2), dtype))]) == 1


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_a_mask_keeps_the_dtype_of_a_reduction(name, dtype):
    x = X(4, 2, low=0, high=2).make(dtype)
    assert agree([method(f"{name}.reduce", x, where=np.array([True, False]))]) == 1


@pytest.mark.parametrize("name", sorted({*FOLDED} - {*ALIASED}))
def test_accumulate_and_reduceat(name):
    x = values(name, (6, 3))
    cases = [
        method(f"{name}.accumulate", x),
        method(f"{name}.accumulate", x, axis=-1),
        method(f"{name}.accumulate", x[:0]),
        method(f"{name}.reduceat", x, [0, 4, 2, 5]),
        method(f"{name}.reduceat", x, [1], axis=1),
        method(f"{name}.reduceat", x, []),
    ]
    assert agree(cases) == 6


@pytest.mark.parametrize("name", ["hypot", "gcd", "fmax", "logaddexp", "multiply"])
def test_a_single_element_is_reduced_with_the_identity(name):
    """hypot(x) = |x| and gcd(n) = |n|; parts of reduceat and accumulate keep their element."""
    x = np.array([[-3, 4]])
    cases = [
        method(f"{name}.reduce", x),
        method(f"{name}.reduce", x[0], axis=()),
        method(f"{name}.reduceat", x[0], [0, 1]),
        method(f"{name}.accumulate", x),
    ]
    assert agree(cases) == 4


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin", "logaddexp"])
def test_extrema_so_far(name):
    """y_i = max(x_0 … x_i), with the rules for NaN and infinities that NumPy has"""
    x = np.array([[np.nan, -np.inf, 2.0, np.inf, 1.0], [1.0, 3.0, np.nan, -np.inf, 3.0]])
    cases = [
        method(f"{name}.{way}", y, axis=axis)
        for way in ("accumulate", "reduce") for y in (x, x.astype("float32")) for axis in (0, 1)
    ]  # fmt: skip
    assert agree(cases) == 8


@every_binary
def test_outer(name):
    """ufunc.outer(x, y)[i, j] = ufunc(x[i], y[j]), as in NumPy"""
    x, y = values(name, (2, 3)), values(name, (2,))
    given = method(f"{name}.outer", x, y), method(f"{name}.outer", x[0], y, order="C")
    assert agree(given) == 2


@pytest.mark.parametrize("name", [*FOLDED, "negative", "invert", "square", "sqrt"])
@pytest.mark.parametrize(
    "index", [0, (0, 1), [0, 1, 0], ([0, 0, 1], [1, 1, 2]), slice(None), MASK], ids=str
)
def test_at(name, index):
    """ufunc.at changes an Array as NumPy changes its copy, or both refuse"""
    function = getattr(np, name)
    x = values(name, (2, 3))
    others = () if function.nin == 1 else (values(name, x[index].shape),)
    want, got = x.copy(), tn.asarray(x)
    refused = attempt(lambda: function.at(want, index, *others))
    found = attempt(lambda: function.at(got, index, *others))
    assert (refused is None) == (found is None), (refused, found)
    assert agree([(name, lambda: got, lambda: want)])


@pytest.mark.parametrize("name", ["divide", "remainder", "power", "hypot", "fmax", "add"])
@pytest.mark.parametrize("value", [2.5, 1j])
def test_at_does_not_cut_off_a_number(name, value):
    """NumPy computes some of these with floats and cuts off the result, and refuses others."""
    with pytest.raises(tn.DTypeMismatchError):
        getattr(np, name).at(tn.asarray([5, 7]), [0, 0], value)


@pytest.mark.parametrize("name", ["add", "maximum", "hypot", "logical_and", "subtract"])
def test_a_mask_does_not_add_axes(name):
    """NumPy refuses it, too: the axes to reduce are those of the array."""
    x, where = np.array([1.0, 2.0, 3.0]), np.ones((2, 3), bool)
    reduction = getattr(np, name).reduce
    assert attempt(lambda: reduction(x, axis=-1, initial=0, where=where))
    with pytest.raises(tn.ShapeMismatchError):
        reduction(tn.asarray(x), axis=-1, initial=0, where=where)


MASKED = {
    "sum": lambda x, where: np.sum(x, where=where),
    "mean": lambda x, where: np.mean(x, where=where),
    "std": lambda x, where: np.std(x, where=where),
    "nanvar": lambda x, where: np.nanvar(x, where=where),
    "max": lambda x, where: np.max(x, where=where, initial=0),
    "any": lambda x, where: np.any(x, where=where),
    "add.reduce": lambda x, where: np.add.reduce(x, where=where),
    "subtract.reduce": lambda x, where: np.subtract.reduce(x, where=where, initial=0),
    "out": lambda x, where: np.exp(x, out=np.zeros_like(x), where=where),
    "copyto": lambda x, where: np.copyto(np.zeros_like(x), x, where=where),
}


@pytest.mark.parametrize("call", MASKED.values(), ids=MASKED)
def test_masks_hold_bools(call):
    """An array of integers is a mistake: NumPy refuses it, too. A list of them is taken."""
    x = np.array([1.0, 2.0, 3.0])
    assert attempt(lambda: call(x, np.array([1, 0, 1])))
    with pytest.raises(tn.DTypeMismatchError):
        call(tn.asarray(x), np.array([1, 0, 1]))
    with pytest.raises(tn.DTypeMismatchError):
        call(tn.asarray(x), tn.asarray([1.0, 0.0, 1.0]))


@pytest.mark.parametrize(
    "name, way, primitive",
    [
        ("add", "reduce", "reduce_sum"), ("multiply", "reduce", "reduce_prod"),
        ("maximum", "reduce", "reduce_max"), ("logaddexp", "reduce", "reduce_logsumexp"),
        ("add", "accumulate", "cumsum"), ("multiply", "accumulate", "cumprod"),
        ("minimum", "accumulate", "cummin"), ("logaddexp", "accumulate", "cumlogsumexp"),
    ],
)  # fmt: skip
def test_a_method_with_a_primitive_is_one_equation(name, way, primitive):
    method = getattr(getattr(np, name), way)
    text = str(tn.jit(lambda x: method(x)).lower(np.ones(9)))
    assert text.count(" = ") == 1
    assert f" = {primitive}[" in text


@pytest.mark.parametrize("method_name", ["reduce", "accumulate", "reduceat"])
def test_methods_take_out(method_name):
    x = X(3, 3).make("float64")
    more = ([0, 1, 2],) if method_name == "reduceat" else ()
    want = getattr(np.add, method_name)(x, *more)
    out = tn.asarray(np.ones_like(want))
    assert getattr(np.add, method_name)(tn.asarray(x), *more, out=out) is out
    agree([(method_name, lambda: out, lambda: want)])


@pytest.mark.parametrize("name", ["add.reduce", "add.accumulate", "add.outer"])
def test_memory_of_numpy_is_never_written(name):
    x = tn.asarray(np.ones((2, 3)))
    given = (x, x) if name == "add.outer" else (x,)
    kind, method_name = name.split(".")
    with pytest.raises(tn.ImmutableArrayError):
        getattr(getattr(np, kind), method_name)(*given, out=np.zeros(3))


@pytest.mark.skipif(REDUCED, reason="derivatives of primitives are compared by the kit")
def test_methods_are_differentiable():
    x = X(3, 4, low=0.5, high=1.5).make("float64")
    tn.check_grads(lambda x: np.logaddexp.reduce(x, axis=(0, 1)), (x,))
    tn.check_grads(lambda x: np.hypot.accumulate(x), (x,))
    tn.check_grads(lambda x: np.multiply.reduceat(x, [0, 2], axis=1), (x,))
    tn.check_grads(lambda x, y: np.arctan2.outer(x, y), (x, x[0]))


# ---- promotion and special values ----------------------------------------------------------------

ELEMENTWISE = [name for name in NAMES if getattr(np, name).signature is None]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e300, np.inf, -np.inf, np.nan]
MIXED = [
    ("int8", "uint8"), ("uint64", "int64"), ("int16", "float16"), ("int64", "float32"),
    ("bool", "float16"), ("bool", "uint8"), ("float64", "complex64"), ("uint32", "int8"),
]  # fmt: skip


def pairs_of(name, dtypes):
    """Operands near 1 in two dtypes, so that no integer is divided by zero."""
    return [X(3, low=0.4, high=1.2, seed=i).make(dtype) for i, dtype in enumerate(dtypes)]


def called(name, *given):
    function = getattr(np, name)
    ours = [tn.asarray(x) if isinstance(x, np.ndarray) else x for x in given]
    text = f"{name} {[getattr(x, 'dtype', x) for x in given]}"
    return text, lambda: function(*ours), lambda: quietly(function, *given)


def is_refused(name, given):
    """Complex numbers have no order here, and integers are not divided by zero."""
    kinds = {np.asarray(x).dtype.kind for x in given}
    if name in UNORDERED | COMPARISONS - {"equal", "not_equal"}:
        return "c" in kinds
    return name in DIVISIONS and "b" in kinds


@every_binary
def test_two_dtypes_promote(name):
    given = [pairs_of(name, dtypes) for dtypes in MIXED]
    given += [given[::-1] for given in given]
    agree([called(name, *xs) for xs in given if not is_refused(name, xs)])


@every_binary
def test_python_scalars_are_weak(name):
    known = [
        X(3, low=0.7, high=1.2).make(d) for d in ("bool", "int8", "uint8", "float32", "complex64")
    ]
    given = [(x, scalar) for x in known for scalar in (True, 2, 2.5, 1j)]
    given += [given[::-1] for given in given]
    agree([called(name, *xs) for xs in given if not is_refused(name, xs)])


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_special_values_and_signs_of_zeros(name):
    special = np.array(SPECIAL)
    given = (special,) if getattr(np, name).nin == 1 else (special[:, None], special)
    case = called(name, *given)
    if agree([case]) and name not in UNORDERED:  # of two zeros, either is the larger
        for ours, theirs in zip(*(results(call()) for call in case[1:]), strict=True):
            zero = (theirs == 0) & (theirs.dtype.kind == "f")
            np.testing.assert_array_equal(np.signbit(ours)[zero], np.signbit(theirs)[zero])
