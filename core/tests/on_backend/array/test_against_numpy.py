"""Every covered function gives NumPy's value, dtype and shape, for every dtype and keyword.

The rows are in tables beside this file. A function without a row fails, and so does a keyword that
the covering function takes and no row gives. Derivatives are compared with differences.
"""

import inspect
import re

import against_numpy_rows
import numpy as np
import pytest
from against_numpy import quietly
from numpy_rows import (
    COMPLEX,
    REDUCED,
    agree,
    attempt,
    covered_names,
    dtypes_of,
    exists,
    fill,
    leaves,
    table_of,
)

import tenferro as tn
from tenferro.arrays import is_traced
from tenferro.arrays.numpy_protocols.numpy_table import TABLE
from tenferro.arrays.registry import FUNCTIONS, UFUNC_KEYWORDS, UFUNCS, keywords_of

ROWS = [
    _row for _row in against_numpy_rows.ROWS if exists(np, _row.name)
]  # an older NumPy lacks some
BY_NAME = {}
for _row in ROWS:
    BY_NAME.setdefault(_row.name, []).append(_row)
DIFFERENTIABLE = [_row for _row in ROWS if _row.grad]
CONSTANT = [_row for _row in ROWS if not any(other.grad for other in BY_NAME[_row.name])]
by_name = pytest.mark.parametrize("name", sorted(BY_NAME))


def id_of(one):
    return re.sub(r" at 0x[0-9a-f]+", "", str(one))[:60]  # the same name in every process


@by_name
def test_a_function_is_numpys(name):
    cases = [
        (f"{one} in {dtype}", lambda o=one, d=dtype: o.ours(d), lambda o=one, d=dtype: o.theirs(d))
        for one in BY_NAME[name]
        for dtype in dtypes_of(one)
    ]
    assert agree(cases), f"NumPy refuses every row of {name}"


def parameters(function):
    """The parameters of a function of NumPy, as far as it says them."""
    try:
        return set(inspect.signature(function).parameters)
    except ValueError:
        return set()


WITH_OUT = [
    one
    for one in ROWS
    if "out" in parameters(one.numpy_function)
    and one.by == "np"
    and one.after is None
    and "out" not in one.keywords
    and not isinstance(one.numpy_function, np.ufunc)
]


@pytest.mark.parametrize("one", WITH_OUT, ids=id_of)
def test_out_is_bound_to_the_result(one):
    dtype = "float64" if "float64" in one.dtypes else one.dtypes[0]
    want = one.theirs(dtype)
    args, keywords = fill((one.args, one.keywords), lambda x: tn.asarray(x.make(dtype)))
    out = tn.asarray(np.ones_like(want))
    assert one.our_function(*args, **keywords, out=out) is out
    agree([(str(one), lambda: out, lambda: want)])


def by_names(one, make):
    """The function called with the arguments of a row by NumPy's names, where that may be."""
    args, keywords = fill((one.args, one.keywords), make)
    like = {key: keywords.pop(key) for key in ("like",) if key in keywords}
    bound = inspect.signature(one.numpy_function).bind(*args, **keywords)
    parameters = bound.signature.parameters
    free = {p.kind for p in parameters.values()} & {inspect.Parameter.VAR_POSITIONAL}
    fixed = [n for n, p in parameters.items() if free or p.kind is p.POSITIONAL_ONLY]
    args = [bound.arguments.pop(name) for name in fixed if name in bound.arguments and not free]
    if free:
        return lambda: one.numpy_function(*bound.args, **bound.kwargs, **like)
    more = bound.arguments.pop("kwargs", {})
    return lambda: one.numpy_function(*args, **bound.arguments, **more, **like)


NAMED = [one for one in ROWS if one.by == "np" and one.after is None]


@pytest.mark.parametrize("one", NAMED, ids=id_of)
def test_arguments_may_be_given_by_numpys_names(one):
    dtype = "float64" if "float64" in one.dtypes else one.dtypes[0]
    if "like" in one.keywords or not parameters(one.numpy_function):
        return
    ours = by_names(one, lambda x: tn.asarray(x.make(dtype)))
    want = attempt(lambda: quietly(by_names(one, lambda x: x.make(dtype))))
    if not isinstance(want, Exception):
        assert agree([(str(one), ours, lambda: want)])


def test_out_may_be_given_by_position():
    x, out = tn.asarray(np.ones((2, 3))), tn.asarray(np.zeros(3))
    np.sum(x, 0, None, out)
    assert np.asarray(out).tolist() == [2, 2, 2]


def test_every_covered_function_has_a_row():
    old_names = {"trapz": "trapezoid"}  # NumPy has removed it in 2.4
    assert covered_names() - set(BY_NAME) - set(old_names) == set()
    assert all(FUNCTIONS[old] is FUNCTIONS[new] for old, new in old_names.items())


@by_name
def test_every_claimed_keyword_is_exercised(name):
    claimed = set(keywords_of(name)) & parameters(BY_NAME[name][0].numpy_function)
    given = set().union(*(one.exercised() for one in BY_NAME[name]))
    elsewhere = UFUNC_KEYWORDS if name in UFUNCS else ("out",)  # test_ufuncs.py, and above
    assert claimed - given - {*elsewhere} == set()


def test_what_is_said_of_functions_is_what_their_rows_show():
    """If not, ``python tools/generate.py`` writes it anew."""
    assert table_of(ROWS) == {name: said for name, said in TABLE.items() if exists(np, name)}


def test_at_least_three_hundred_functions_are_covered():
    assert len(tn.numpy_functions()) >= 300


def operands_of(one):
    """The operands of a row that have derivatives, and the function of them."""
    dtype = "complex128" if one.grad is True and set(COMPLEX) & set(one.dtypes) else "float64"
    places = []
    fill((one.args, one.keywords), places.append)
    made = [x.make(dtype) for x in places]
    moving = [i for i, x in enumerate(made) if x.dtype.kind in "fc"]

    def function(*given):
        known = dict(zip(moving, given, strict=True))
        values = iter([known.get(i, x) for i, x in enumerate(made)])
        args, keywords = fill((one.args, one.keywords), lambda _: tn.asarray(next(values)))
        result = leaves(one.then(one.our_function)(*args, **keywords))
        return [x for x in result if isinstance(x, tn.Array) and x.dtype.is_inexact]

    return function, [made[i] for i in moving]


@pytest.mark.skipif(REDUCED, reason="derivatives of primitives are compared by the kit")
@pytest.mark.parametrize("one", DIFFERENTIABLE, ids=id_of)
def test_a_derivative_is_that_of_differences(one):
    function, operands = operands_of(one)
    tn.check_grads(function, operands, order=1)


@pytest.mark.parametrize("one", CONSTANT, ids=id_of)
def test_what_is_not_called_differentiable_carries_no_derivative(one):
    function, operands = operands_of(one)
    traced = []

    def watched(*given):
        traced.extend(is_traced(x.key) for x in function(*given))
        return given

    if operands:
        attempt(lambda: quietly(tn.jvp, watched, operands, operands))
    assert not any(traced)


VALUES_DECIDE = set(
    "argwhere asarray_chkfinite bincount compress delete extract flatnonzero histogram "
    "histogram_bin_edges intersect1d ix_ nonzero place polydiv real_if_close repeat setdiff1d "
    "setxor1d trim_zeros union1d unique unique_all unique_counts unique_inverse unique_values "
    "where".split()
)  # shapes depend on elements: under jit, where these are unknown, it is an error that says so


def whole_call(one):
    """A row as a function of all its operands, and the operands."""
    dtype = "float64" if "float64" in one.dtypes else one.dtypes[0]
    places = []
    fill((one.args, one.keywords), places.append)

    def function(*given):
        values = iter(given)
        args, keywords = fill((one.args, one.keywords), lambda _: next(values))
        result = leaves(one.then(one.our_function)(*args, **keywords))
        return [x for x in result if isinstance(x, tn.Array)]

    return function, [x.make(dtype) for x in places]


@pytest.mark.skipif(REDUCED, reason="both are compiled there")
@pytest.mark.parametrize("one", ROWS, ids=id_of)
def test_jit_gives_the_same(one):
    function, operands = whole_call(one)
    want = attempt(lambda: function(*map(tn.asarray, operands)))
    if isinstance(want, Exception) or not operands:
        return
    try:
        got = tn.jit(function)(*operands)
    except tn.ConcretizationError:
        assert one.name in VALUES_DECIDE
    else:
        agree([(str(one), lambda: [*map(tn.asarray, got)], lambda: [*map(np.asarray, want)])])


@pytest.mark.skipif(REDUCED, reason="both are compiled there")
@pytest.mark.parametrize("one", [o for o in ROWS if o.name not in VALUES_DECIDE], ids=id_of)
def test_vmap_gives_the_same_for_each(one):
    function, first = whole_call(one)
    second = [x * 0.9 if x.dtype.kind in "fc" else x for x in first]
    want = attempt(lambda: [function(*map(tn.asarray, given)) for given in (first, second)])
    if isinstance(want, Exception) or not first:
        return
    got = tn.vmap(function)(*[np.stack(pair) for pair in zip(first, second, strict=True)])
    both = [np.stack([*map(np.asarray, pair)]) for pair in zip(*want, strict=True)]
    agree([(str(one), lambda: [*map(tn.asarray, got)], lambda: both)])
