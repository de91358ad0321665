"""Assigning into what NumPy would have made as a view: a warning at the user's line."""

import math

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import CopyAssignmentWarning


def u():
    return tn.asarray(np.arange(6.0).reshape(2, 3))


def row(x):
    y = x[1]
    y[1] = 5.0


def window(x):
    y = x[0:1]
    y[0, 0] += 5.0


def whole(x):
    y = x[:]
    y[1] = 5.0


def loop(x):
    for y in x[:1]:
        y[0] = 1.0


def unpacked(x):
    y, _ = x
    y[0] = 1.0


@pytest.mark.parametrize("writes", [row, window, whole, loop, unpacked])
def test_a_view_of_numpy_is_told_of_at_the_line_that_writes(writes):
    x = u()
    with pytest.warns(CopyAssignmentWarning, match="take `u.1..copy") as found:
        writes(x)
    (warning,) = found
    assert warning.filename == __file__
    assert warning.lineno == writes.__code__.co_firstlineno + 2
    np.testing.assert_array_equal(x, u())
    memory = np.arange(6.0).reshape(2, 3)
    writes(memory)
    assert not np.array_equal(memory, u())  # a view there


@pytest.mark.parametrize(
    "copied",
    [
        *(lambda x: x.copy(), lambda x: x[1].copy(), lambda x: np.copy(x[1]), lambda x: x[1] + 0),
        *(lambda x: np.zeros_like(x[1]), lambda x: x[[0, 1]], lambda x: x[np.array([1])]),
        *(lambda x: x[x > 1], lambda x: np.diff(x), lambda x: np.roll(x, 1), lambda x: x[1] * 1.0),
        *(lambda x: np.take(x, 1, axis=0), lambda x: np.sort(x[1]), lambda x: x.at[0].set(1.0)),
    ],
)
def test_what_numpy_copies_is_written_without_a_word(copied):
    x = u()
    y = copied(x)
    y[0] = 5.0  # warnings are errors
    x[0] += 1.0
    x[0, 1] = 2.0
    np.testing.assert_array_equal(y[0], np.full(y.shape[1:], 5.0))


NOBODYS = {
    "reshaped": lambda x: np.sin(x).reshape(3, 2),
    "of a function": lambda x: np.reshape(np.sin(x), (3, 2)),
    "of an operator": lambda x: (2 * x).T,
    "read": lambda x: np.stack([x, x])[0],
    "window": lambda x: (x + x)[::-1],
    "part": lambda x: np.split(-x, 2)[1],
    "nested": lambda x: np.cumsum(x, axis=0).T[1:].ravel(),
    "of linalg": lambda x: np.linalg.pinv(x).T,
    "copied": lambda x: x[0].copy().ravel(),
    "converted": lambda x: x.astype("float32").T,
}


@pytest.mark.parametrize("take", NOBODYS.values(), ids=NOBODYS)
def test_a_view_of_an_array_that_nothing_else_refers_to_is_written_without_a_word(take):
    def written(x):
        y = take(x)
        y[0] = 5.0  # warnings are errors
        y += 1.0
        np.exp(y, out=y)
        return y

    memory = np.arange(6.0).reshape(2, 3)
    expected = written(memory)
    np.testing.assert_allclose(written(u()), expected, rtol=100 * np.finfo(expected.dtype).eps)
    np.testing.assert_array_equal(memory, u())


OTHERS = {
    "own function": lambda x: (lambda z: z)(x)[0],
    "view of a view": lambda x: x.T[1:],
    "over lines": lambda x: (
        x
        .reshape(3, 2)
    ),
    "row of a call": lambda x: next(iter(x)),
    "argument": lambda x: np.atleast_2d(x),
    "deep": lambda x: np.atleast_3d(x),
    "not converted": lambda x: x.astype("float64", copy=False),
    "einsum": lambda x: np.einsum("ij->ji", x),
    "diagonal": lambda x: np.einsum("ii->i", x[:, :2]),
    "not turned": lambda x: np.rot90(x, 4),
    "real": lambda x: x.real,
    "conjugate": lambda x: x.conj(),
    "close": lambda x: np.real_if_close(x),
    "trimmed": lambda x: np.trim_zeros(x[1]),
    "no differences": lambda x: np.diff(x, n=0),
}  # fmt: skip


@pytest.mark.parametrize("take", OTHERS.values(), ids=OTHERS)
def test_a_view_of_the_argument_is_told_of_however_it_is_taken(take):
    x = u()
    y = take(x)
    with pytest.warns(CopyAssignmentWarning):
        y[0] = 50.0
    np.testing.assert_array_equal(x, u())
    memory = np.arange(6.0).reshape(2, 3)
    take(memory)[0] = 50.0
    assert not np.array_equal(memory, u())


def in_a_loop(x):
    for y in x * 2:
        y[0] = 5.0


def in_a_loop_of_rows(x):
    for y in np.sin(x)[:1]:
        y += 1.0


def by_unpacking(x):
    y, z = x * 2
    y[0] = z[0]


def over_lines(x):
    y = (
        np.sin(x)
        .reshape(3, 2)
        .T
    )  # fmt: skip
    y[0] = 5.0


def of_a_function(x):
    y = by_statement(x)[0]
    y[0] = 5.0


def by_statement(x):
    y = np.cos(x)
    y = y.T
    y[0] = 5.0
    return y


@pytest.mark.parametrize(
    "writes", [in_a_loop, in_a_loop_of_rows, by_unpacking, over_lines, of_a_function, by_statement]
)
def test_no_word_is_said_where_no_array_is_left_that_would_change(writes):
    x = u()
    writes(x)  # warnings are errors
    for _ in range(3):
        tn.grad(lambda x: (writes(x), np.sum(x))[1])(x)
    np.testing.assert_array_equal(x, u())


def test_the_same_value_in_another_function_does_not_matter():
    """Equal values share their graph; the array that a write would change is that of the user"""
    x = u()
    other = np.cumsum(x, axis=0).T
    y = x.T
    z = (lambda: x.T)()
    for view in (y, z):
        with pytest.warns(CopyAssignmentWarning):
            view[0] = 5.0
    other[0] = 5.0  # what it was taken from is gone: warnings are errors


def test_a_loop_reads_rows_that_are_written_while_it_runs():
    x = u()
    seen = []
    for y in x:
        x[1] = 7.0
        seen.append(np.asarray(y).tolist())
        x = x * 1.0
    assert seen == [[0.0, 1.0, 2.0], [7.0, 7.0, 7.0]]


@pytest.mark.parametrize("writes", [row, window, loop])
def test_a_line_that_has_run_often_warns_as_at_first(writes):
    """CPython specializes instructions that run often, and returns to another offset then."""
    for _ in range(40):
        x = u()
        with pytest.warns(CopyAssignmentWarning, match="take `u.1..copy"):
            writes(x)


def test_one_warning_for_a_handle():
    x = u()
    y = x[1]
    with pytest.warns(CopyAssignmentWarning):
        y[0] = 1.0
    y[1] = 2.0
    np.testing.assert_array_equal(y, [1, 2, 5])


def test_trunc_is_a_number_and_refused_inside_a_transform():
    assert math.trunc(tn.asarray(-2.5)) == -2
    with pytest.raises(tn.TracedConversionError, match=r"math\.trunc"):
        tn.grad(lambda x: x * math.trunc(x))(2.5)


TAKEN = {
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "ravel": lambda x: x.ravel(),
    "np.ravel": lambda x: np.ravel(x),
    "reshape": lambda x: x.reshape(3, 2),
    "np.reshape": lambda x: np.reshape(x, (6,)),
    "transpose": lambda x: x.transpose(1, 0),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "rot90": lambda x: np.rot90(x),
    "squeeze": lambda x: x[:, None].squeeze(),
    "expand_dims": lambda x: np.expand_dims(x, 0),
    "split": lambda x: np.split(x, 2)[1],
    "array_split": lambda x: np.array_split(x, 2, axis=1)[0],
    "flip": lambda x: np.flip(x, 0),
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_function_whose_result_is_a_view_in_numpy_is_told_of(name):
    x = u()
    y = TAKEN[name](x)
    with pytest.warns(CopyAssignmentWarning, match="that array does not change") as found:
        y[0] = 70.0
    assert found[0].filename == __file__
    np.testing.assert_array_equal(x, u())
    x[0] = 70.0  # the array itself was never a view
    assert TAKEN[name](np.arange(6.0).reshape(2, 3)).base is not None


WRITING = {
    "sort": lambda y: y.sort(),
    "partition": lambda y: y.partition(1),
    "fill": lambda y: y.fill(3.0),
    "put": lambda y: y.put([0], [5.0]),
    "flat": lambda y: setattr(y, "flat", 2.0),
    "real": lambda y: setattr(y, "real", 2.0),
    "out=": lambda y: np.multiply(y, 2.0, out=y),
    "reduction": lambda y: np.add.reduce(np.ones((2, 3)), axis=0, out=y),
    "clip": lambda y: np.clip(y, 0.0, 4.0, out=y),
    "cumsum": lambda y: np.cumsum(y, out=y),
    "copyto": lambda y: np.copyto(y, 5.0),
    "put of a function": lambda y: np.put(y, [0], [5.0]),
    "place": lambda y: np.place(y, y > 3, [9.0]),
    "putmask": lambda y: np.putmask(y, y > 3, y * 9),
    "put_along_axis": lambda y: np.put_along_axis(y, np.array([0]), 8.0, 0),
    "add.at": lambda y: np.add.at(y, [1, 1], 1.0),
    "multiply.at": lambda y: np.hypot.at(y, [1], 1.0),
    "nan_to_num": lambda y: np.nan_to_num(y, copy=False),
}


@pytest.mark.parametrize("name", WRITING)
def test_a_function_that_writes_into_a_view_of_numpy_is_told_of(name):
    """np.exp(v, out=u[1]) changes u in NumPy"""
    x = tn.asarray(np.array([[0.0, 1.0, 2.0], [np.nan, 5.0, 4.0]]))
    before = np.asarray(x)
    with pytest.warns(CopyAssignmentWarning, match="that array does not change — write") as found:
        WRITING[name](x[1])
    assert found[0].filename == __file__
    np.testing.assert_array_equal(x, before)
    memory = before.copy()
    WRITING[name](memory[1])
    assert not np.array_equal(memory, before, equal_nan=True)


@pytest.mark.parametrize("name", WRITING)
def test_a_function_writes_into_an_array_of_its_own_without_a_word(name):
    x = tn.asarray(np.array([[0.0, 1.0, 2.0], [np.nan, 5.0, 4.0]]))[1].copy()
    before = np.asarray(x)
    WRITING[name](x)
    WRITING[name](memory := before.copy())
    np.testing.assert_allclose(x, memory, rtol=1e-14)


def test_parts_of_complex_numbers_are_views_in_numpy():
    """z.real[0] = 1 changes z there"""
    z = tn.asarray(np.array([1 + 2j, 3 - 1j]))
    for part in (z.real, z.imag, np.real(z), np.imag(z)):
        with pytest.warns(CopyAssignmentWarning, match="that array does not change"):
            part[0] = 7.0
    np.testing.assert_array_equal(z, [1 + 2j, 3 - 1j])
    z.real *= 2.0  # put back, so nothing is lost
    np.testing.assert_array_equal(z, [2 + 2j, 6 - 1j])


def added(x):
    y = x[0]
    y += 1.0


def multiplied(x):
    y = x.T
    y *= 2.0


def cut(x):
    for y in np.split(x, 2):
        y -= 1.0


@pytest.mark.parametrize("writes", [added, multiplied, cut])
def test_an_augmented_assignment_into_a_view_of_numpy_is_told_of(writes):
    """z = u[0]; z += 1 changes u in NumPy"""
    x = u()
    with pytest.warns(CopyAssignmentWarning, match="that array does not change") as found:
        writes(x)
    assert found[0].lineno == writes.__code__.co_firstlineno + 2
    np.testing.assert_array_equal(x, u())
    memory = np.arange(6.0).reshape(2, 3)
    writes(memory)
    assert not np.array_equal(memory, u())


@pytest.mark.parametrize(
    "copied",
    [
        *(
            lambda x: x.flatten(),
            lambda x: x.T.ravel(),
            lambda x: x.T.reshape(6),
            lambda x: x.T + 0,
        ),
        *(lambda x: x.ravel().copy(), lambda x: np.kron(x, x), lambda x: np.repeat(x, 2)),
        *(lambda x: np.tile(x, 2), lambda x: np.append(x, x), lambda x: np.outer(x, x)),
        *(lambda x: np.concatenate(np.split(x, 2)), lambda x: np.diff(x), lambda x: np.sort(x)),
    ],
)
def test_what_numpy_copies_is_augmented_without_a_word(copied):
    x = u()
    y = copied(x)
    y += 1.0  # warnings are errors
    y[0] = 5.0
    x[0] += 1.0
    x[0, 1] += 2.0
    x[0:1] *= 2.0
