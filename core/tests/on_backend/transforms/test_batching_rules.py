"""Batching rules against a loop over examples, for every choice of batched inputs."""

from itertools import chain, combinations

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as p

RNG = np.random.default_rng(7)
N = 3
X = RNG.normal(size=(N, 4, 3))
ROWS = RNG.integers(-2, 6, (N, 5, 1))
UPDATES = np.round(RNG.normal(size=(N, 5, 3)), 1)
CORNERS = RNG.integers(-2, 5, (N, 2, 2))
WINDOWS = RNG.normal(size=(N, 2, 2, 2))
STARTS = RNG.integers(-2, 5, (2, N))
INTO_ROWS = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
}
INTO_WINDOWS = {
    "update_window_dims": (1, 2),
    "inserted_window_dims": (),
    "scatter_dims_to_operand_dims": (0, 1),
}
AROUND = {**INTO_ROWS, "update_window_dims": (0,)}
OF_ROWS = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
    "slice_sizes": (1, 3),
}
OF_WINDOWS = {
    "offset_dims": (0, 2),
    "collapsed_slice_dims": (),
    "start_index_map": (0, 1),
    "slice_sizes": (2, 2),
}
SORTED = np.sort(RNG.integers(0, 9, (N, 6)).astype(float), -1)


def scatters():
    for name in ("scatter", "scatter_add", "scatter_mul", "scatter_max", "scatter_min"):
        for mode in ("drop", "clip"):
            f = getattr(p, name)
            yield (
                f"{name} {mode}",
                lambda x, i, u, f=f, m=mode: f(x, i, u, **INTO_ROWS, mode=m),
                (
                    X,
                    ROWS,
                    UPDATES,
                ),
            )
            yield (
                f"{name} windows {mode}",
                lambda x, i, u, f=f, m=mode: f(x, i, u, **INTO_WINDOWS, mode=m),
                (X, CORNERS, WINDOWS),
            )
        yield (
            f"{name} around",
            lambda x, i, u, f=f: f(x, i, u, **AROUND, mode="drop"),
            (
                X,
                ROWS,
                UPDATES.swapaxes(1, 2),
            ),
        )


def others():
    for mode in ("fill", "clip"):
        yield f"gather {mode}", lambda x, i, m=mode: p.gather(x, i, **OF_ROWS, mode=m), (X, ROWS)
        yield (
            f"gather windows {mode}",
            lambda x, i, m=mode: p.gather(x, i, **OF_WINDOWS, mode=m),
            (
                X,
                CORNERS,
            ),
        )
    small = ROWS.astype("int8")
    yield "gather int8", lambda x, i: p.gather(x, i, **OF_ROWS, mode="clip"), (X, small)
    yield "dynamic_slice", lambda x, i, j: p.dynamic_slice(x, (i, j), (2, 2)), (X, *STARTS)
    yield (
        "dynamic_update_slice",
        lambda x, u, i, j: p.dynamic_update_slice(x, u, (i, j)),
        (X, WINDOWS[:, 0], *STARTS),
    )
    yield "sort", lambda x, y: p.sort([x, y], 0)[1], (np.round(X), X + 1)
    yield "top_k", lambda x: p.top_k(x, 2, axis=0)[1], (X,)
    yield "searchsorted", p.searchsorted, (SORTED, np.round(4 + X))
    for f in (p.cumsum, p.cumprod, p.cummax, p.cummin, p.cumlogsumexp):
        yield f.__name__, lambda x, f=f: f(x, 0, reverse=True), (X,)
    for f in (p.reduce_sum, p.reduce_prod, p.reduce_max, p.reduce_min):
        yield f.__name__, lambda x, f=f: f(x, (1,)), (X,)
    yield "argmax", lambda x: p.argmax(x, 1), (X,)
    yield "reduce_and", lambda x: p.reduce_and(x, (0,)), (X > -1,)


def subsets(count):
    return chain.from_iterable(combinations(range(count), k) for k in range(1, count + 1))


RULES = {name: (f, xs) for name, f, xs in chain(scatters(), others())}
CASES = [(name, subset) for name, (_, xs) in RULES.items() for subset in subsets(len(xs))]


def rule(name):
    f, batches = RULES[name]
    return lambda *xs: f(*map(tn.asarray, xs)), batches


def _named(case):
    return f"{case[0]}-{''.join(map(str, case[1]))}"


@pytest.mark.parametrize("name, subset", CASES, ids=map(_named, CASES))
def test_a_batch_is_a_loop(name, subset):
    f, batches = rule(name)
    given = [x if i in subset else x[0] for i, x in enumerate(batches)]
    axes = tuple(0 if i in subset else None for i in range(len(batches)))
    alone = [
        np.asarray(f(*[x[k] if i in subset else x for i, x in enumerate(given)])) for k in range(N)
    ]
    np.testing.assert_allclose(tn.vmap(f, in_axes=axes)(*given), np.stack(alone), rtol=1e-13)


@pytest.mark.parametrize("name", ["gather clip", "scatter drop", "dynamic_slice", "sort"])
def test_a_batch_of_none(name):
    f, batches = rule(name)
    one = np.asarray(f(*[x[0] for x in batches]))
    assert tn.vmap(f)(*[x[:0] for x in batches]).shape == (0, *one.shape)
