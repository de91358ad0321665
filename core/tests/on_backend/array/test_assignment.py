"""Writing into an Array is NumPy's, for every index, and is differentiated as a value is."""

import copy
import operator

import numpy as np
import pytest
from against_numpy import sample

import tenferro as tn
from tenferro.arrays.registry import FUNCTIONS

ROWS = np.array([0, 2, -1])
TARGETS = {
    "v": sample("float64", (7,)),
    "m": sample("float64", (3, 4)),
    "t": sample("float64", (2, 3, 4)),
    "e": np.zeros((0, 3)),
    "s": np.array(2.0),
}
# target, index, value; the value is broadcast to what the index reads
WRITES = [
    row.split("|")
    for row in """
    v|0|1.5
    v|-1|2
    v|np.int64(3)|-1.0
    v|...|4.0
    v|slice(1,4)|np.arange(3.)
    v|slice(1,4)|np.arange(3.)[None]
    v|slice(None,None,2)|np.arange(4.)
    v|slice(None,None,-2)|np.arange(4.)
    v|slice(5,1,-1)|np.arange(4.)
    v|slice(5,1,-3)|np.arange(2.)
    v|slice(3,3)|9.0
    v|slice(10,20)|9.0
    v|None|np.ones((1,7))
    v|[0,2]|np.array([5.,6.])
    v|[2,2,2]|np.array([5.,6.,7.])
    v|[-1,6]|np.array([5.,6.])
    v|[]|1.0
    v|np.array([[0,1],[2,1]])|np.array([[1.,2.],[3.,4.]])
    v|np.array([[0,1],[2,1]])|np.array([8.,9.])
    v|x>0|0.0
    v|x>0|np.ones(1)
    v|x>0|np.arange(float((x>0).sum()))
    v|x>100|3.0
    v|np.zeros(7,bool)|np.zeros(0)
    v|True|1.0
    v|False|1.0
    m|0|1.0
    m|(1,2)|7.0
    m|(slice(None),1)|np.arange(3.)
    m|(slice(None),slice(None,None,2))|np.arange(6.).reshape(3,2)
    m|(slice(None,None,-1),slice(3,0,-2))|np.arange(6.).reshape(3,2)
    m|(1,slice(None,None,3))|np.array([5.,6.])
    m|(slice(None,None,2),2)|np.array([5.,6.])
    m|(...,0)|np.arange(3.)
    m|(slice(None),None,slice(1,3))|np.arange(6.).reshape(3,1,2)
    m|[0,2]|np.arange(8.).reshape(2,4)
    m|([0,2],[1,3])|np.array([5.,6.])
    m|([0,0],[1,1])|np.array([5.,6.])
    m|([[0],[2]],[1,3])|np.arange(4.).reshape(2,2)
    m|(slice(1,3),[0,0,1])|np.arange(6.).reshape(2,3)
    m|([0,2],slice(None,None,2))|np.arange(4.).reshape(2,2)
    m|(1,[0,2])|np.array([5.,6.])
    m|(x>0)|2.0
    m|(x>0)|np.arange(float((x>0).sum()))
    m|(x[:,0]>0)|np.arange(4.)
    m|(x[:,0]>0)|2.0
    m|(x[:,0]>0)|np.full((1,4),3.)
    m|(slice(None),x[0]>0)|1.0
    m|(x[:,0]>0,0)|5.0
    m|(ROWS,0)|np.arange(3.)
    m|np.ix_([0,2],[1,3])|np.arange(4.).reshape(2,2)
    m|...|np.arange(4.)
    m|()|0.0
    t|(slice(None),[0,2])|np.arange(16.).reshape(2,2,4)
    t|([0,1],slice(None),[0,3])|np.arange(6.).reshape(2,3)
    t|(0,slice(None),[0,1])|np.arange(6.).reshape(2,3)
    t|(slice(None),0,[0,1])|np.arange(4.).reshape(2,2)
    t|([0,1],None,[0,2])|np.arange(8.).reshape(2,1,4)
    t|(slice(1,None),...,slice(None,None,-2))|np.arange(6.).reshape(1,3,2)
    t|(...,[0,0])|np.arange(2.)
    t|(slice(None),x[0]>0)|1.0
    t|(1,slice(0,3,2),slice(1,3))|np.arange(4.).reshape(2,2)
    e|(slice(None),0)|1.0
    e|0 if len(x) else ...|1.0
    e|(slice(None),[0,1])|1.0
    s|()|1.0
    s|...|1.0
    s|True|3.0
    """.strip().splitlines()
    for row in [row.strip()]
]
IDS = [f"{target}[{index}] = {value}" for target, index, value in WRITES]
AUGMENTED = "+= -= *= /= //= %= **=".split()


def parts(row):
    """The array, the index and the value of a row, all of NumPy."""
    target, index, value = row
    names = {"np": np, "ROWS": ROWS, "x": TARGETS[target]}
    return TARGETS[target], eval(index, names), eval(value, names)


def written(x, index, value):
    x[index] = value
    return x


@pytest.mark.parametrize("row", WRITES, ids=IDS)
def test_writing_is_numpys(row):
    x, index, value = parts(row)
    np.testing.assert_array_equal(
        written(tn.asarray(x.copy()), index, value), written(x.copy(), index, value)
    )


@pytest.mark.parametrize("row", WRITES, ids=IDS)
def test_the_value_and_the_index_may_be_arrays(row):
    x, index, value = parts(row)
    ours = tn.asarray(x.copy())
    ours[_arrays(index)] = tn.asarray(value)
    np.testing.assert_array_equal(ours, written(x.copy(), index, value))


def _arrays(index):
    if isinstance(index, tuple):
        return tuple(_arrays(i) for i in index)
    return tn.asarray(index) if isinstance(index, np.ndarray | list) and len(index) else index


@pytest.mark.parametrize("row", WRITES, ids=IDS)
def test_the_tangent_is_written_where_the_value_is(row):
    x, index, value = parts(row)
    v = np.asarray(value, float)
    dx, dv = sample("float64", x.shape, seed=3), sample("float64", v.shape, seed=4)
    _, got = tn.jvp(lambda x, v: written(x * 1.0, index, v), (x, v), (dx, dv))
    np.testing.assert_array_equal(got, written(dx.copy(), index, dv))


@pytest.mark.parametrize("row", WRITES, ids=IDS)
def test_the_gradient_counts_each_value_as_often_as_it_remains(row):
    x, index, value = parts(row)
    v = np.asarray(value, float)
    weights = sample("float64", x.shape, seed=5)
    gx, gv = tn.grad(lambda x, v: np.sum(written(x * 1.0, index, v) * weights), argnums=(0, 1))(
        x, v
    )
    origin = np.arange(1.0, x.size + 1).reshape(x.shape)  # where each element of the result is from
    came = written(origin.copy(), index, -np.arange(1.0, v.size + 1).reshape(v.shape))
    want_x = np.where(came > 0, weights, 0)
    want_v = [weights[came == -1 - i].sum() for i in range(v.size)]
    np.testing.assert_allclose(gx, want_x, atol=1e-13)
    np.testing.assert_allclose(np.ravel(gv), want_v, atol=1e-13)


@pytest.mark.parametrize("row", WRITES, ids=IDS)
def test_writing_under_jit(row):
    x, index, value = parts(row)
    fast = tn.jit(lambda x, v: written(x * 1.0, index, v))
    np.testing.assert_array_equal(fast(x, value), written(x.copy(), index, value))


@pytest.mark.parametrize("row", [row for row in WRITES if "x>" not in row[1]])
@pytest.mark.parametrize("sign", AUGMENTED)
def test_augmented_assignment_to_a_part_is_numpys(row, sign):
    x, index, value = parts(row)
    x, value = np.asarray(np.abs(x) + 1), value[0] if np.ndim(value) > x[index].ndim else value
    scope = {"np": np, "i": index, "v": np.abs(value) + 1}
    ours, want = tn.asarray(x.copy()), x.copy()
    exec(f"x[i] {sign} v", {**scope, "x": want})
    exec(f"x[i] {sign} v", {**scope, "x": ours})
    np.testing.assert_allclose(ours, want, rtol=1e-14)


@pytest.mark.parametrize("sign", AUGMENTED)
def test_augmented_assignment_rebinds_the_handle_and_whoever_shares_it(sign):
    x = np.array([1.5, 4.0, 9.0])
    ours = shared = tn.asarray(x.copy())
    apart = ours.copy()
    scope = {"x": ours, "v": np.array([2.0, 3.0, 0.5])}
    exec(f"x {sign} v", scope)
    want = {"x": x.copy(), "v": scope["v"]}
    exec(f"x {sign} v", want)
    assert scope["x"] is shared
    np.testing.assert_allclose(shared, want["x"])
    np.testing.assert_array_equal(apart, x)


@pytest.mark.parametrize("sign", ["&=", "|=", "^=", "<<=", ">>="])
def test_augmented_assignment_of_integers(sign):
    x, v = np.array([6, 5, 12]), np.array([3, 1, 2])
    ours, want = {"x": tn.asarray(x.copy()), "v": v}, {"x": x.copy(), "v": v}
    exec(f"x {sign} v", ours)
    exec(f"x {sign} v", want)
    np.testing.assert_array_equal(ours["x"], want["x"])


def test_the_matrix_product_in_place():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    ours = tn.asarray(x.copy())
    ours @= np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(ours, [[2, 1], [4, 3]])


def test_a_number_is_not_shared_by_augmented_assignment():
    total = tn.asarray(1.0) * 2
    best = total
    total += 1
    assert (float(best), float(total)) == (2.0, 3.0)


def test_ufuncs_write_into_arrays_that_are_given_as_out():
    x = shared = tn.asarray(np.array([1.0, 2.0]))
    result = np.add(x, 1.0, out=x)
    np.multiply(x, x, out=x)
    assert result is x
    np.testing.assert_array_equal(shared, [4.0, 9.0])


# ---- dtypes and shapes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype, value",
    [
        ("float32", 1.5),
        ("float32", np.float64(1.5)),
        ("float32", 2),
        ("int8", 3),
        ("int8", np.int64(3)),
        ("complex64", 1.5),
        ("complex64", 2j),
        ("uint8", 200),
        ("bool", True),
        ("int32", True),
    ],
)
def test_the_dtype_of_the_array_stays(dtype, value):
    x = written(tn.asarray(np.zeros(3, dtype)), 1, value)
    want = written(np.zeros(3, dtype), 1, value)
    assert x.dtype == dtype
    np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize(
    "dtype, value, error",
    [
        ("int64", 1.5, tn.DTypeMismatchError),
        ("int64", np.ones(3), tn.DTypeMismatchError),
        ("float64", 1j, tn.DTypeMismatchError),
        ("uint8", np.arange(3), tn.DTypeMismatchError),
        ("bool", 2, tn.DTypeMismatchError),
        ("uint8", -1, OverflowError),
        ("int8", 300, OverflowError),
        ("float64", np.ones(4), tn.ShapeMismatchError),
        ("float64", np.ones((2, 3)), tn.ShapeMismatchError),
        ("float64", "a", tn.UnknownOperandError),
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_nothing_is_written(dtype, value, error):
    x = tn.asarray(np.zeros(3, dtype))
    with pytest.raises(error):
        x[:] = value
    np.testing.assert_array_equal(x, np.zeros(3, dtype))


def test_in_place_results_keep_shape_and_kind():
    x = tn.asarray(np.arange(3))
    with pytest.raises(tn.DTypeMismatchError):
        x /= 2
    with pytest.raises(tn.ShapeMismatchError):
        x += np.ones((2, 3), int)
    y = tn.asarray(np.ones(2, "float32"))
    y += np.ones(2, "float64")
    assert y.dtype == "float32"
    np.testing.assert_array_equal(x, np.arange(3))


# ---- who sees it ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::tenferro.arrays.CopyAssignmentWarning")
def test_reading_copies():
    """A row that was read is a value of its own: what is written to it does not reach the array"""
    x = tn.asarray(np.arange(6.0).reshape(2, 3))
    row = x[0]
    row[1] = 9.0
    row += 1
    np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(row, [1, 10, 3])


@pytest.mark.parametrize(
    "same",
    [
        *(copy.copy, copy.deepcopy, tn.Array.copy, operator.pos, np.positive, np.copy),
        *(lambda x: x[:], lambda x: x[...], lambda x: x[()], lambda x: x.reshape(x.shape)),
        *(lambda x: x.astype(float), lambda x: x.transpose(), lambda x: np.broadcast_to(x, (3,))),
        *(lambda x: x.ravel(), lambda x: x.squeeze(), lambda x: x.real, lambda x: x.conj()),
        *(lambda x: x + tn.zeros(3), lambda x: np.clip(x, None, None), lambda x: x**1),
        *(lambda x: tn.reshape(x, (3,)), tn.ravel, tn.squeeze),
        *(
            lambda x: np.array(x, copy=True, like=x),
            lambda x: tn.flip(x, ()),
            lambda x: tn.transpose(x),
        ),
        *(lambda x: tn.where(True, x, x), lambda x: tn.add(x, tn.zeros(3))),
        *(lambda x: tn.concatenate([x]), lambda x: x @ tn.asarray(np.eye(3)), tn.copy),
    ],
)
@pytest.mark.filterwarnings("ignore::tenferro.arrays.CopyAssignmentWarning")
def test_no_result_shares_the_handle_of_its_argument(same):
    x = tn.asarray(np.arange(3.0))
    y = same(x)
    y[0] = 7.0
    np.testing.assert_array_equal(x, np.arange(3.0))


ITSELF = "asarray asanyarray asarray_chkfinite ascontiguousarray asfortranarray".split()


@pytest.mark.parametrize("name", sorted(n for n in FUNCTIONS if not n.startswith("_")))
@pytest.mark.filterwarnings("ignore")
def test_no_function_gives_back_the_handle_of_its_argument(name):
    """Whatever further arguments it takes, as far as they make sense."""
    if name in ITSELF:
        return
    for dtype in ("float64", "int64", "bool", "complex128"):
        for shape in ((3,), (1, 3), (3, 3), ()):
            for further in ((), (1,), (0,), (shape,), (dtype,)):
                x = tn.asarray(np.ones(shape, dtype))
                assert not any(found is x for found in results(name, x, further)), further


def results(name, x, further):
    """The arrays that a call gives; none where it is refused."""
    if name == "nan_to_num" and further and not further[0]:  # copy=False asks for the same handle
        return []
    try:
        found = FUNCTIONS[name](x, *further)
    except Exception:  # whatever a function has against these arguments
        return []
    return list(found) if isinstance(found, tuple | list) else [found]


def test_arrays_of_numpy_are_never_written():
    buffer = np.zeros(3)
    x = tn.asarray(buffer)
    x[0] = 1.0
    x += 1
    assert not buffer.any()


def scale_in_place(x, factor):
    x *= factor
    x[0] = 0.0
    return np.sum(x)


@pytest.mark.parametrize("transform", ["grad", "jit", "jvp", "vjp", "other argument", "keyword"])
def test_a_function_that_writes_into_its_argument_changes_nothing_for_the_caller(transform):
    x = tn.asarray(np.array([1.0, 2.0]))
    call = {
        "grad": lambda: tn.grad(scale_in_place)(x, 2.0),
        "jit": lambda: tn.jit(scale_in_place)(x, 2.0),
        "jvp": lambda: tn.jvp(scale_in_place, (x, 2.0), (x, 0.0)),
        "vjp": lambda: tn.vjp(scale_in_place, x, 2.0)[1](1.0),
        "other argument": lambda: tn.grad(lambda s, x: scale_in_place(x, s))(2.0, x),
        "keyword": lambda: tn.grad(lambda s, x: scale_in_place(x, s))(2.0, x=x),
    }[transform]
    call()
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_what_a_lazy_result_read_is_what_was_there_then():
    x = tn.asarray(np.array([1.0, 2.0]))
    y = x * 10
    x[0] = 5.0
    np.testing.assert_array_equal(y, [10, 20])
