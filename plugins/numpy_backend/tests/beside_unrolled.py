"""Comparison of a loop with the unrolled program: bits, memory of results, arguments."""

from typing import Any

import numpy as np

import tenferro as tn


def unrolled(f, carry, xs=None, length=None, reverse=False):
    """Return what `scan` returns, by Python's own loop."""
    count = len(xs) if length is None else length
    ys: list[Any] = [None] * count
    for k in reversed(range(count)) if reverse else range(count):
        carry, ys[k] = f(carry, None if xs is None else xs[k])
    flat = [y if isinstance(y, tuple) else (y,) for y in ys]
    columns = tuple([np.stack(column) for column in zip(*flat, strict=True)])
    return carry, columns if isinstance(ys[0], tuple) else columns[0]


def leaves(found):
    """Return the arrays of nested tuples."""
    return [y for x in found for y in leaves(x)] if isinstance(found, tuple) else [found]


#: Sums and functions of short arrays are rounded otherwise where they are computed by numbers.
_BY_ARRAYS = {"backend": "numpy", "options": {"without": ("short_arrays",)}}


@np.errstate(all="ignore")
def beside(program, *arguments):
    """Compare bits of a program with `scan` and unrolled, run twice; arguments stay as they are."""
    kept = [np.array(x) for x in arguments]
    rolled = tn.jit(lambda *xs: program(tn.scan, *xs), **_BY_ARRAYS)
    straight = tn.jit(lambda *xs: program(unrolled, *xs), **_BY_ARRAYS)
    by_numbers = tn.jit(lambda *xs: program(tn.scan, *xs), backend="numpy")
    need = leaves(straight(*arguments))
    for _ in range(2):
        found = leaves(rolled(*arguments))
        for x, y in zip(found, need, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)
            np.testing.assert_array_equal(1.0 / np.real(x), 1.0 / np.real(y))  # signs of 0
        for i, x in enumerate(found):  # results are the caller's own
            assert not any(np.shares_memory(x, y) for y in (*found[:i], *arguments))
            if x.shape:
                x[...] = 77
    for x, y in zip(leaves(by_numbers(*arguments)), need, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-12)
    for x, y in zip(arguments, kept, strict=True):
        np.testing.assert_array_equal(x, y)


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
