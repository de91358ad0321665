"""x[i] is NumPy's for every kind of index, and its derivative puts numbers where they came from."""

import numpy as np
import pytest
from against_numpy import agree, expression_cases, sample

import tenferro as tn

VARIABLES = {
    "s": np.array(3.0),
    "v": sample("float64", (7,)),
    "m": sample("float64", (3, 4)),
    "t": sample("float64", (2, 3, 4)),
    "q": sample("float64", (2, 3, 4, 5)),
    "e": np.zeros((0, 3)),
    "k": np.array(2),
    "rows": np.array([0, 2, -1]),
    "grid": np.array([[0, 1], [2, -3]]),
    "odd": np.array([True, False, True]),
    "four": np.array([True, False, True, True]),
    "some": sample("bool", (3, 4)),
}
INDICES = {
    "s": "() ... None (None,None) (...,None) True False n.k==2",
    "v": """0 -1 n.k k 1:4 ::2 ::-1 5:1:-2 -3: :-3 10: 3:1 : ... None (None,...) (...,None) [0,2,-1]
        n.grid grid rows n.v>0 v>0 -1:-8:-1 -100:100:3 100::-3 [] np.array([],int) True False
        (None,2) (2,...) (None,slice(None),None) np.uint8(2) np.array([0,1],np.uint8) [[0,1],[2,3]]
        (None,[0,1]) ([0,1],None) k:6 [True,False,True,False,True,False,True]""",
    "m": """0 (1,2) (slice(None),1) (-1,-1) (slice(None,None,-1),slice(None,None,-1)) (...,0)
        (0,...) (slice(None),None,slice(None)) (None,slice(None),None,0) [0,2] ([0,2],[1,3]) rows
        (rows,0)
        (slice(None),[0,0,1]) ([0,2],slice(1,None)) ([[0],[2]],[[1,3]]) (1,[0,2]) ([0,2],1) some
        n.some odd (odd,0) (slice(None),four) (odd,slice(1,3)) np.ix_([0,2],[1,3]) ([0,1],[1])
        (some,None) (odd,[1,2]) (...,[0,1]) ([0,1],...) (1,None,[0,2]) ([0,1],None,[0,2])
        (None,odd) (0,...,[1,2]) (...,0,[1,2]) ([1,2],...,0) (k,[0,2]) (True,[0,1])
        (slice(None),True,0) (slice(None),[]) ([],slice(None)) ([],[]) m>100 (slice(0,0),[1])""",
    "t": """0 (slice(None),[0,2]) ([0,1],slice(None),[0,3]) ([0,1],[0,2],slice(None)) ([0,1],0)
        (0,slice(None),[0,1]) (slice(None),0,[0,1]) ([0,1],slice(None),0) (...,[0,1],[0,1])
        ([[0,1],[1,0]],slice(None),[[0,1],[2,3]]) (slice(None),None,[0,1],[1,2]) ([0,1],None,[0,2])
        (slice(1,None),...,slice(None,None,-1)) (slice(None),some) t>0 (0,some) ([0],...,[1])
        (slice(None),[0,1],None,[1,2]) (None,[0,1],slice(None),None,[1,2]) (...,four) (0,[1],2)
        (slice(None),[[1],[2]],0) (slice(None),1,None,[0,1]) (1,...,[0,1]) (...,1,[0,1])""",
    "q": """(slice(None),[0,1],slice(None),[1,2]) (slice(None),[0,1],[1,2]) (0,slice(None),[1,2])
        (slice(None),0,slice(None),[1,2]) ([0,1],slice(None),slice(None),[1,2]) (...,[0],[1])
        (0,[0,1],slice(None),[1,2]) (slice(None),slice(None),[[0,1]],[[1],[2]]) (slice(None),some)
        ([0],[1],...,[2]) (slice(None,None,-1),[0,1],slice(None,None,-2),[1,2]) n.some[:2,:3]""",
    "e": "(slice(None),0) (slice(None),[0,1]) ([],0) np.zeros((0,3),bool) np.zeros(0,bool) ::-1",
}


def expressions(name):
    return [f"{name}[{index}]" for index in INDICES[name].split()]


@pytest.mark.parametrize("name", INDICES)
def test_indexing_is_numpys(name):
    agree(expression_cases("\n".join(expressions(name)), VARIABLES))


def parts(name, variables):
    """All table entries of one array, by NumPy's own evaluation or ours."""
    fixed = {"np": np, "n": type("Operands", (), VARIABLES)}
    return [eval(line, {**fixed, **VARIABLES, **variables}) for line in expressions(name)]


@pytest.mark.parametrize("name", ["v", "m", "t", "q"])
def test_the_tangent_of_a_part_is_the_part_of_the_tangent(name):
    x, dx = VARIABLES[name], sample("float64", VARIABLES[name].shape, seed=3)
    found = tn.jvp(lambda x: parts(name, {name: x}), (x,), (dx,))[1]
    for got, places in zip(found, places_read(name), strict=True):
        np.testing.assert_array_equal(got, dx.ravel()[places])


def places_read(name):
    """Which elements of the flattened array each table entry reads."""
    places = np.arange(VARIABLES[name].size).reshape(VARIABLES[name].shape)
    names = {"np": np, "n": type("Operands", (), VARIABLES), **VARIABLES, "places": places}
    return [eval(f"places{line.removeprefix(name)}", names) for line in expressions(name)]


@pytest.mark.parametrize("name", ["v", "m", "t", "q"])
def test_the_gradient_of_a_part_adds_up_where_elements_came_from(name):
    x = VARIABLES[name]
    read = np.concatenate([places.ravel() for places in places_read(name)])
    gradient = tn.grad(lambda x: sum(np.sum(part) for part in parts(name, {name: x})))(x)
    np.testing.assert_array_equal(gradient, np.bincount(read, minlength=x.size).reshape(x.shape))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[::-2, 1:] ** 2,
        lambda x: x[[0, 2, 0]] * x[[1, 1, 2]],
        lambda x: x[x > 0] ** 3,
        lambda x: x[np.argmax(x, axis=0), [0, 1, 2, 3]] ** 2,
        lambda x: np.take(x, [[0, -1]], axis=1) ** 2,
    ],
    ids=["slices", "rows twice", "mask", "positions of the largest", "take"],
)
def test_derivatives_of_indexing_agree_with_differences(function):
    tn.check_grads(function, (VARIABLES["m"],), order=2)


def test_a_part_of_a_part_is_differentiated_again():
    inner = tn.grad(lambda x: np.sum(x[1:][::-1][0] ** 3 * x[0]))
    found = tn.grad(lambda x: inner(x)[2])(np.array([2.0, 5.0, 3.0]))
    np.testing.assert_allclose(found, [27, 0, 36])


def test_indexing_copies_and_never_aliases():
    x = np.zeros(3)
    part = np.asarray(tn.asarray(x)[:2])
    part[:] = 1
    assert not x.any()


@pytest.mark.parametrize(
    "index, error",
    [
        ("v[7]", tn.OutOfBoundsError),
        ("v[-8]", tn.OutOfBoundsError),
        ("v[[0, 7]]", tn.OutOfBoundsError),
        ("v[np.array([-8])]", tn.OutOfBoundsError),
        ("v[k + 5]", tn.OutOfBoundsError),  # a pending index is checked too
        ("e[0]", tn.OutOfBoundsError),
        ("np.take(v, 7)", tn.OutOfBoundsError),
        ("v[0, 0]", tn.IndexKindError),
        ("m[..., ...]", tn.IndexKindError),
        ("s[0]", tn.IndexKindError),
        ("v[1.0]", tn.IndexKindError),
        ("v['a']", tn.IndexKindError),
        ("v[{}]", tn.IndexKindError),
        ("v[odd]", tn.IndexKindError),
        ("m[n.four]", tn.IndexKindError),
        ("m[some.T]", tn.IndexKindError),
    ],
)
def test_what_numpy_refuses_as_an_index_is_an_index_error(index, error):
    variables = {name: tn.asarray(x) for name, x in VARIABLES.items()}
    with pytest.raises(IndexError) as raised:
        eval(index, {"np": np, "n": type("Operands", (), VARIABLES), **variables})
    assert type(raised.value) is error


SLICES = [slice(None), slice(1, None), slice(None, -1), slice(None, None, -2), slice(-2, None, 1)]
PLAIN_INDICES = [
    *((i, s) for i in (0, 1, -1) for s in SLICES),
    *((s, i) for i in (0, 2, -1) for s in SLICES),
    *((s, None, i, ...) for i in (1, -3) for s in SLICES),
    *((..., i, s) for i in (0, -2) for s in SLICES),
    *((i, ..., None, j) for i in (0, -2) for j in (1, -4)),
    *((s, s, s) for s in SLICES),
    *((i, j, k) for i in (0, -1) for j in (1, -3) for k in (3, -4)),
]


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 5, 4), (1, 1, 4, 4)])
def test_an_index_reads_the_same_again_with_other_integers(shape):
    """x[i, s] for one form after the other: the second time by what was kept of the first."""
    x = np.arange(float(np.prod(shape))).reshape(shape)
    array = tn.asarray(x)
    for index in [*PLAIN_INDICES, *PLAIN_INDICES[::-1]]:
        try:
            want = x[index]
        except IndexError:
            with pytest.raises(tn.OutOfBoundsError):
                array[index]
        else:
            np.testing.assert_array_equal(array[index], want)


@pytest.mark.parametrize("index", [(5, slice(None)), (slice(None), -4), (..., 3), (-3, None, 0)])
def test_integers_are_checked_every_time(index):
    x = tn.asarray(np.zeros((2, 3)))
    inside = tuple(0 if type(entry) is int else entry for entry in index)
    errors = []
    for _ in range(2):
        with pytest.raises(tn.OutOfBoundsError) as raised:
            x[index]
        errors.append(raised.value.fields)
        assert x[inside].size
    assert errors[0] == errors[1]


@pytest.mark.parametrize("index", [(1, slice(1, None)), (..., -1), (slice(None, None, -2), 0)])
def test_a_part_that_was_read_before_is_differentiated(index):
    """∂/∂x ½ Σ x[i]² is x where i reads, and 0 elsewhere; its Hessian is 1 and 0 there."""
    x = np.arange(1.0, 7.0).reshape(2, 3)
    tn.asarray(x)[index]
    want = np.zeros((2, 3))
    want[index] = x[index]
    loss = lambda x: np.sum(x[index] ** 2) / 2  # noqa: E731
    np.testing.assert_array_equal(tn.grad(loss)(x), want)
    np.testing.assert_array_equal(tn.hvp(loss)(x, x), want)
    np.testing.assert_array_equal(tn.jit(tn.grad(loss))(x), want)
    rows = tn.vmap(tn.grad(loss))(np.stack([x, 2 * x]))
    np.testing.assert_array_equal(rows, np.stack([want, 2 * want]))


def test_an_index_out_of_bounds_names_axis_index_and_size():
    with pytest.raises(tn.OutOfBoundsError) as raised:
        tn.asarray(np.zeros((2, 3)))[0, 5]
    assert raised.value.fields == {"axis": 1, "index": 5, "size": 3}


def test_positions_that_are_only_traced_are_clipped():
    assert tn.jit(lambda x, i: x[i])(np.arange(3.0), np.array([-9, 1, 9])).tolist() == [0, 1, 2]


def test_a_slice_has_no_step_of_zero():
    with pytest.raises(ValueError, match="zero"):
        tn.asarray(np.zeros(3))[::0]


@pytest.mark.parametrize(
    "window", [((2, 3),), ((2,), 0), ((2, 2), (1, 1)), (3, -1), (((0,), 0))], ids=str
)
def test_sliding_windows_are_numpys(window):
    """values, and the derivative: the transpose adds up the windows"""
    windows = np.lib.stride_tricks.sliding_window_view
    x = np.arange(24.0).reshape(4, 6)
    np.testing.assert_array_equal(windows(tn.asarray(x), *window), windows(x, *window))
    tn.check_grads(lambda x: windows(x, *window), (x,), order=1)


@pytest.mark.parametrize("window", [(5, 0), (-1, 0), ((2, 2), 0)], ids=str)
def test_windows_that_do_not_fit_are_refused(window):
    with pytest.raises(ValueError, match="sliding_window_view"):
        tn.sliding_window_view(tn.asarray(np.ones((4, 6))), *window)
