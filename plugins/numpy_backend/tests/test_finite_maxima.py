"""Derivatives of `logsumexp` beside infinite maxima, which are looked at, not computed with."""

import numpy as np
import pytest

import tenferro as tn
import tenferro.primitives as tp
from tenferro_numpy import planner

INF, NAN, LARGEST = np.inf, np.nan, 1.7976931348623157e308  # the last is that of the dtype
FINITE = np.random.default_rng(3).normal(size=(5, 3))
SHARES = {  # rows, and how equal parts are shared in them
    "finite": ([0.0, 0.0, -800.0], [0.5, 0.5, 0.0]),
    "inf": ([INF, 1.0, INF], [0.5, 0.0, 0.5]),
    "one inf": ([-INF, INF, 1e30], [0.0, 1.0, 0.0]),
    "-inf": ([-INF, -INF, -INF], [1 / 3, 1 / 3, 1 / 3]),
    "beside -inf": ([-INF, 2.0, -INF], [0.0, 1.0, 0.0]),
    "nan": ([NAN, 0.0, INF], [NAN, NAN, NAN]),
    "largest": ([LARGEST, 0.0, -INF], [1.0, 0.0, 0.0]),
    "lowest": ([-LARGEST, -INF, -INF], [1.0, 0.0, 0.0]),
}


@pytest.fixture
def on_numbers(monkeypatch):
    """Compute short arrays number by number, in small programs, too."""
    monkeypatch.setattr(planner, "_MIN_SPLIT", 1)


def last_axis(x):
    return tn.sum(tn.arange(1.0, len(x) + 1) * tn.special.logsumexp(x, axis=1))


def first_axis(x):
    return last_axis(x.T)


def two_axes(x):
    y = x.reshape(len(x), 1, 3)
    return tn.sum(tn.arange(1.0, len(x) + 1) * tn.special.logsumexp(y, axis=(1, 2)))


def shares_too(x):
    """Σ n·ln Σ exp x, and shares that count in no derivative."""
    y = tn.special.logsumexp(x, axis=1)
    shares = tn.where(tn.isfinite(y)[:, None], tn.exp(x - y[:, None]), 0.0)
    weights = tn.arange(1.0, len(x) + 1)
    return tn.sum(weights * y) + tn.sum(tn.stop_gradient(shares)) * 1e-30


def compiled(function):
    return tn.jit(tn.value_and_grad(function), backend="numpy")


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize(
    "function, dtype",
    [
        (last_axis, "float64"),
        (first_axis, "float64"),
        (two_axes, "float64"),
        (last_axis, "float32"),
        (shares_too, "float64"),
    ],
)
def test_equal_infinities_share_equally(function, name, dtype):
    """One program sees rows with and without infinite maxima, before and after it is planned."""
    row, share = SHARES[name]
    largest = float(np.finfo(dtype).max)
    row = [np.sign(x) * largest if abs(x) == LARGEST else x for x in row]
    check_shares(function, FINITE.astype(dtype), row, share)


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("function", [last_axis, first_axis, two_axes])
@pytest.mark.usefixtures("on_numbers")
def test_equal_infinities_share_equally_on_numbers(function, name):
    check_shares(function, FINITE[:4], *SHARES[name])


def check_shares(function, finite, row, share):
    """Compare gradients of one program where the row is among finite ones, and where it is not."""
    others = np.exp(finite - finite.max(axis=1, keepdims=True))
    others /= others.sum(axis=1, keepdims=True)
    program = compiled(function)
    turn = np.transpose if function is first_axis else np.array
    for place in [None, 0, -1] * 7:
        x, wanted = finite.copy(), others.copy()
        if place is not None:
            x[place], wanted[place] = row, share
        if place == -1:
            x[2], wanted[2] = [INF, 0.0, -800.0], [1.0, 0.0, 0.0]
        _, gradient = program(turn(x))
        wanted *= np.arange(1.0, len(x) + 1)[:, None]
        tolerance = 1e-14 if x.dtype == "float64" else 1e-5
        np.testing.assert_allclose(turn(gradient), wanted, rtol=tolerance, atol=tolerance)
        assert gradient.dtype == x.dtype


def test_finite_maxima_keep_the_terms_and_their_sum():
    text = compiled(last_axis).explain(FINITE)
    assert "lowering 24," in text
    assert "finite_maxima 21," in text
    program = text[text.index("def make") :]
    assert program.count("argmax") == 1
    assert program.count(" is ") == 2  # the terms and their sum


def test_finite_maxima_keep_the_shares_of_terms():
    text = compiled(shares_too).explain(FINITE)
    assert text[text.index("def make") :].count(" is ") == 3  # terms, their sum, their quotient


@pytest.mark.usefixtures("on_numbers")
def test_finite_maxima_keep_terms_on_numbers():
    """12 terms and 4 sums look at the maxima; no line compares these with the lowest number."""
    text = compiled(last_axis).explain(FINITE[:4])
    assert "lowering 24," in text
    assert "short_arrays 21," in text
    assert text[text.index("def make") :].count(" is ") == 12 + 4


def test_values_alone_do_not_look_at_maxima():
    text = tn.jit(last_axis, backend="numpy").explain(FINITE)
    assert "argmax" not in text


LOWEST = -LARGEST


def number(value, shape):
    return tp.constant(value, "float64", shape)


def clamped_terms(x, z, low=LOWEST, axis=0, one=1.0):
    """exp(x - m) between [max z = -inf] and 1, and sums of both, with m the maxima from `low`."""
    top = tp.reduce_max(z, (1,))
    finite = tp.clamp(number(low, top.shape), top, number(LARGEST, top.shape))
    terms = tp.exp(tp.sub(x, tp.broadcast_in_dim(finite, x.shape, (axis,))))
    least = tp.convert(tp.lt(top, number(LOWEST, top.shape)), "float64")
    least = tp.broadcast_in_dim(least, x.shape, (0,))
    clamped = tp.clamp(least, terms, number(one, x.shape))
    sums = [tp.reduce_sum(clamped, (0,)), tp.reduce_sum(clamped, (1,))]
    return clamped, tp.reduce_sum(terms, (0,)), *sums


def clamped_terms_of_numpy(x, z, low=LOWEST, axis=0, one=1.0):
    top = z.max(axis=1)
    terms = np.exp(x - np.expand_dims(np.clip(top, low, LARGEST), 1 - axis))
    least = np.broadcast_to((top < LOWEST)[:, None], x.shape)
    clamped = np.minimum(np.maximum(terms, least), one)
    return clamped, terms.sum(axis=0), clamped.sum(axis=0), clamped.sum(axis=1)


@pytest.mark.parametrize(
    "kind",
    [{}, {"low": 0.3}, {"axis": 1}, {"one": 0.5}],
    ids=["as logsumexp", "another bound", "another axis", "another limit"],
)
@pytest.mark.parametrize("infinite", [False, True])
@pytest.mark.parametrize("same", [True, False], ids=["its maxima", "others"])
@pytest.mark.parametrize("numbers", [False, True], ids=["arrays", "numbers"])
def test_programs_that_look_like_it_clamp_all_terms(
    check, kind, infinite, same, numbers, monkeypatch
):
    """Terms exceed 1 where the maxima are of another array or axis, or are bounded."""
    x = np.array([[0.5, -1.0, 0.2], [2.0, 0.1, 1.5], [-3.0, -2.0, 0.0]])
    if numbers:  # another program
        monkeypatch.setattr(planner, "_MIN_SPLIT", 1)
        x = x[:, ::2] if kind.get("axis") != 1 else x[:2, :2]
    if infinite:
        x[1] = -INF
    z = x if same else x[::-1] - 1.0
    with np.errstate(all="ignore"):
        expected = clamped_terms_of_numpy(x, z, **kind)
    function = (lambda x: clamped_terms(x, x, **kind)) if same else (
        lambda x, z: clamped_terms(x, z, **kind)
    )  # fmt: skip
    check(function, [x] if same else [x, z], expected, rtol=1e-15)
