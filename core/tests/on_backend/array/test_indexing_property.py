"""Reading and writing at random indices is NumPy's, in value, shape and refusal."""

import numpy as np
import pytest

import tenferro as tn

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
extra = pytest.importorskip("hypothesis.extra.numpy")

SETTINGS = hypothesis.settings(max_examples=100, deadline=None)
SHAPES = extra.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@st.composite
def entries(draw, n):
    """One entry of an index for an axis of size n, sometimes beyond it."""
    kind = draw(st.sampled_from(["int", "slice", "array", "mask", "scalar", "list"]))
    inside = st.integers(-n, n - 1) if n else st.just(0)
    if kind == "slice":
        ends = st.none() | st.integers(-n - 2, n + 2)
        step = st.none() | st.integers(-3, 3).filter(bool)
        return slice(draw(ends), draw(ends), draw(step))
    if kind == "mask":
        return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    if not n or kind == "int":
        return draw(st.integers(-n - 1, n) if draw(st.integers(0, 9)) == 0 else inside)
    if kind == "scalar":
        return np.int32(draw(inside))
    shape = draw(st.sampled_from([(), (1,), (2,), (2, 1), (3,), (0,)]))
    found = np.array(draw(st.lists(inside, min_size=6, max_size=6)))
    array = found[: int(np.prod(shape))].reshape(shape)
    return array.tolist() if kind == "list" and array.ndim else array


@st.composite
def arrays_and_indices(draw):
    """An array of distinct numbers and an index, its entries in the order of its axes."""
    shape = draw(SHAPES)
    x = np.arange(1.0, np.prod(shape, dtype=int) + 1).reshape(shape)
    if len(shape) >= 2 and draw(st.integers(0, 9)) == 0:
        return x, x % 2 > 0
    count = draw(st.integers(0, len(shape)))
    first = draw(st.integers(0, count))
    index = [draw(entries(n)) for n in shape[:first]]
    rest = shape[len(shape) - (count - first) :] if count > first else ()
    if draw(st.booleans()) or rest:
        index.append(...)
    index += [draw(entries(n)) for n in rest]
    for _ in range(draw(st.integers(0, 2))):
        index.insert(draw(st.integers(0, len(index))), None)
    if len(index) == 1 and draw(st.booleans()):
        return x, index[0]
    return x, tuple(index)


def outcome(function):
    """The value, or IndexError where it is refused."""
    try:
        return function()
    except IndexError:
        return IndexError


def same(got, want):
    if want is IndexError or got is IndexError:
        assert got is want
        return
    got = np.asarray(got)
    assert got.shape == np.shape(want)
    np.testing.assert_array_equal(got, want)


@SETTINGS
@hypothesis.given(arrays_and_indices())
def test_reading_is_numpys(case):
    x, index = case
    same(outcome(lambda: tn.asarray(x)[index]), outcome(lambda: x[index]))


def write(x, index, value):
    x[index] = value
    return x


@SETTINGS
@hypothesis.given(arrays_and_indices(), st.booleans())
def test_writing_is_numpys(case, scalar):
    x, index = case
    part = outcome(lambda: x[index])
    value = -5.0 if scalar or part is IndexError else -np.arange(1.0, part.size + 1)
    value = value if np.ndim(value) == 0 else value.reshape(part.shape)
    got = outcome(lambda: write(tn.asarray(x.copy()), index, value))
    same(got, outcome(lambda: write(x.copy(), index, value)))


@SETTINGS
@hypothesis.given(arrays_and_indices())
def test_the_gradient_counts_how_often_an_element_is_read(case):
    x, index = case
    part = outcome(lambda: x[index])
    hypothesis.assume(part is not IndexError)
    want = np.bincount(np.ravel(part).astype(int), minlength=x.size + 1)[1:].reshape(x.shape)
    same(tn.grad(lambda x: np.sum(x[index] * 1.0))(x), want)


@SETTINGS
@hypothesis.given(arrays_and_indices())
def test_jit_reads_and_writes_the_same(case):
    x, index = case
    part = outcome(lambda: x[index])
    hypothesis.assume(part is not IndexError)
    same(tn.jit(lambda x: x[index])(x), part)
    same(tn.jit(lambda x: write(x * 1.0, index, -1.0))(x), write(x.copy(), index, -1.0))
