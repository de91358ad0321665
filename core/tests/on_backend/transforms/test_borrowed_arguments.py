"""A function may write into its own argument: what was recorded before keeps the value it read."""

import os
import threading
import warnings

import numpy as np
import pytest

import tenferro as tn

SMALL, LARGE = 5, 20_000  # elements: up to 64 KiB, and more
TRANSFORMS = {
    "grad": lambda f, x: tn.grad(f)(x),
    "value_and_grad": lambda f, x: tn.value_and_grad(f)(x)[1],
    "vjp": lambda f, x: tn.vjp(f, x)[1](1.0)[0],
    "linearize": lambda f, x: tn.linearize(f, x)[1].transpose(1.0)[0],
    "jacrev": lambda f, x: tn.jacrev(f)(x),
    "jit(grad)": lambda f, x: tn.jit(tn.grad(f))(x),
    "grad(jit)": lambda f, x: tn.grad(tn.jit(f))(x),
    "in a tree": lambda f, x: tn.grad(lambda tree: f(tree["x"]))({"x": x})["x"],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_derivative_is_that_at_the_point_of_the_call(name):
    """f(y) = y·y, x overwritten after it was read: ∇f = 2 x as it was"""
    x = np.ones(SMALL)

    def f(y):
        value = np.sum(y * y)
        x[:] = 3.0
        return value

    np.testing.assert_array_equal(TRANSFORMS[name](f, x), 2 * np.ones(SMALL))
    assert x[0] == 3.0
    assert x.flags.writeable


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_large_argument_is_not_written_to(name):
    x = np.ones(LARGE)

    def f(y):
        value = np.sum(y * y)
        x[:] = 3.0
        return value

    with pytest.raises(tn.BorrowedWriteError) as caught:
        TRANSFORMS[name](f, x)
    assert caught.value.avals == (tn.Aval((LARGE,), "float64"),)
    assert "x[:] = 3.0" in "".join(caught.value.__notes__)
    assert isinstance(caught.value.__cause__, ValueError)
    assert x.flags.writeable
    assert x[0] == 1.0


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_the_value_under_jit_is_that_at_the_call(size):
    x = np.ones(size)

    def f(y):
        value = np.sum(y * y)
        x[:2] = 3.0
        return value

    if size == LARGE:
        with pytest.raises(tn.BorrowedWriteError):
            tn.jit(f)(x)
    else:
        assert tn.jit(f)(x) == size


def test_an_argument_that_is_not_differentiated_is_read_where_it_is_used():
    """b·w before b is written to, b·w after: each reads b of its own time"""

    def f(w, buffer):
        before = np.sum(buffer * w)
        buffer[:] = 5.0
        return before + np.sum(buffer * w) * 100.0

    buffer = np.ones(3)
    assert tn.grad(f)(2.0, buffer) == 3.0 + 1500.0
    assert tn.grad(f)(2.0, buffer=np.ones(3)) == 3.0 + 1500.0
    assert buffer[0] == 5.0


def test_vmap_reads_its_arguments_at_the_call():
    x, shared = np.ones((4, 2)), np.ones(2)

    def f(row, other):
        value = np.sum(row * other)
        x[:] = 9.0
        shared[:] = 9.0
        return value

    np.testing.assert_array_equal(tn.vmap(f, in_axes=(0, None))(x, shared), 2 * np.ones(4))


def test_a_rule_that_writes_into_the_argument_changes_no_derivative():
    x = np.ones(SMALL)

    @tn.custom_vjp
    def f(y):
        return np.sum(y * y)

    def backward(y, ct):
        x[:] = 3.0
        return (2 * y * ct,)

    f.defvjp(lambda y: (np.sum(y * y), y), backward)
    np.testing.assert_array_equal(tn.grad(f)(x), 2 * np.ones(SMALL))


def read(y, *rest):
    return np.sum(y * y)


@pytest.mark.parametrize(
    "before, after", [(0.0, -0.0), (-0.0, 0.0), (1.0, np.nan), (0.5 + 0.0j, complex(0.5, -0.0))]
)
def test_the_call_under_jit_reads_each_bit_as_it_was(before, after):
    """f(y) = y, x overwritten while f is traced: x as it was, also where == sees no difference"""
    x = np.full(SMALL, before)
    bits = x.tobytes()

    def f(y):
        x[1] = after
        return y

    assert tn.jit(f)(x).tobytes() == bits


@pytest.mark.parametrize(
    "arguments",
    [
        lambda x: (x, x),
        lambda x: (x[:-1], x),
        lambda x: (x, x[1:]),
        lambda x: (np.broadcast_to(x, (2, LARGE)), x),
        lambda x: (x.reshape(2, -1), x.reshape(-1, 2)),
    ],
    ids=["twice", "view first", "view second", "broadcast", "two views"],
)
def test_every_array_is_writeable_again_after_the_call(arguments):
    x = np.ones(LARGE)
    given = arguments(x)
    before = [y.flags.writeable for y in given]
    tn.grad(read, argnums=(0, 1))(*given) if given[0] is x else tn.grad(read)(*given)
    assert [y.flags.writeable for y in given] == before
    x[:] = 2.0


def test_nested_transforms_and_exceptions_leave_it_writeable():
    x = np.ones(LARGE)

    def fails(y):
        tn.grad(lambda z: np.sum(z * z))(x)
        assert not x.flags.writeable
        raise KeyError

    with pytest.raises(KeyError):
        tn.grad(fails)(x)
    assert x.flags.writeable


def test_a_read_only_array_stays_read_only():
    x = np.ones(LARGE)
    x.flags.writeable = False
    tn.grad(read)(x)
    assert not x.flags.writeable


def test_an_array_whose_flag_cannot_be_set_again_is_copied():
    """NumPy never lets a view by as_strided become writeable again: it is not made read-only"""
    memory = np.ones(LARGE)
    x = np.lib.stride_tricks.as_strided(memory, (LARGE,), (8,))

    def f(y):
        value = np.sum(y * y)
        x[:] = 3.0
        return value

    np.testing.assert_array_equal(tn.grad(f)(x), 2 * np.ones(LARGE))
    assert x.flags.writeable


def test_what_was_recorded_under_protection_is_a_copy():
    """A read-only flag that was set by a transform says nothing about the time after it"""
    x, kept = np.ones(LARGE), []

    def f(y):
        kept.append(tn.asarray(x) + 1.0)
        kept.append(tn.asarray(x[1:]) + 1.0)
        return np.sum(y * y)

    tn.grad(f)(x)
    x[:] = 7.0
    assert [np.asarray(value).max() for value in kept] == [2.0, 2.0]


def test_a_generator_that_is_suspended_holds_no_array():
    x = np.ones(LARGE)

    def steps():
        while True:
            yield tn.grad(read)(x)

    generator = steps()
    next(generator)
    assert x.flags.writeable
    x[:] = 2.0
    assert next(generator)[0] == 4.0


def test_threads_that_share_an_array_leave_it_writeable():
    """One thread ends while another still records: the last one sets the flag"""
    x, view = np.ones(LARGE), np.ones(LARGE)[1:]
    inside, finish, seen = threading.Event(), threading.Event(), []

    def waits(y, other):
        inside.set()
        assert finish.wait(60)
        seen.append(x.flags.writeable)
        return np.sum(y * y)

    thread = threading.Thread(target=lambda: tn.grad(waits)(x, view.base))
    thread.start()
    assert inside.wait(60)
    tn.grad(read)(x, view)
    assert (x.flags.writeable, view.flags.writeable) == (False, True)
    finish.set()
    thread.join()
    assert seen == [False]
    assert x.flags.writeable
    assert view.base.flags.writeable


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_ends_the_loans_of_threads_that_it_lacks():
    """The child has the forking thread alone: what another one borrowed is writeable there"""
    x, own = np.ones(LARGE), np.ones(LARGE)
    inside, finish = threading.Event(), threading.Event()

    def waits(y):
        inside.set()
        assert finish.wait(60)
        return np.sum(y * y)

    def forks(y):
        child = os.fork()
        if not child:
            os._exit(0 if x.flags.writeable and not own.flags.writeable else 1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return np.sum(y * y)

    codes = []
    thread = threading.Thread(target=lambda: tn.grad(waits)(x))
    thread.start()
    assert inside.wait(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer interpreters warn of fork beside threads
        tn.grad(forks)(own)
    assert codes == [0]
    assert not x.flags.writeable
    finish.set()
    thread.join()
    assert x.flags.writeable


def test_other_errors_about_values_stay_what_they_are():
    def f(y):
        raise ValueError("of the user")

    with pytest.raises(ValueError, match="of the user") as caught:
        tn.grad(f)(np.ones(LARGE))
    assert type(caught.value) is ValueError


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize(
    "transform",
    [
        lambda f, x, i: tn.grad(f)(x, i),
        lambda f, x, i: tn.vjp(lambda x: f(x, i), x),
        lambda f, x, i: tn.vmap(f, in_axes=(0, None))(np.stack([x, x]), i),
    ],
    ids=["grad", "vjp", "vmap"],
)
def test_a_program_that_captured_an_argument_keeps_its_value(transform, size, dtype):
    """g(x) = i x, jitted, traced while i was an argument of f: the same after i was written to"""
    read = {}

    @tn.jit
    def product(x):
        return x * read["i"]

    def f(x, i):
        read["i"] = i
        return np.sum(product(x))

    i = np.arange(size).astype(dtype)
    transform(f, np.ones(size), i)
    i[:] = 7
    np.testing.assert_array_equal(product(np.ones(size)), np.arange(size))
