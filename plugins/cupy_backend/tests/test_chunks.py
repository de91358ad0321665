"""Long loops in a captured program: chunks of steps that are launched again and again."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import UnsupportedError
from tenferro_cupy.plan import chunks

GRAPH = {"cuda_graph": True}
X = np.linspace(-1.0, 1.0, 9).reshape(3, 3)
ROWS = np.cos(np.arange(7 * 9.0)).reshape(7, 3, 3)


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch):
    """So that seven steps are several chunks"""
    monkeypatch.setattr(chunks, "MAX_LAUNCHES", 4)


def leaves(values):
    if isinstance(values, (tuple, list)):
        return [leaf for value in values for leaf in leaves(value)]
    operand = getattr(values, "operand", values)
    return [np.array(getattr(operand, "_a", operand))]


def rolled(step, **how):
    return lambda x, rows: tn.scan(step, x, rows, **how)


def nested(c, r):
    """A step that is a loop of products"""
    return tn.scan(lambda d, _: (np.tanh(d @ r), None), c, None, 5)[0], None


LOOPS = {
    "a product": rolled(lambda c, r: (np.tanh(c @ r), None)),
    "rows of results": rolled(lambda c, r: (c @ r, np.sum(c @ c))),
    "backwards": rolled(lambda c, r: (np.tanh(c @ r), c @ c), reverse=True),
    "a row is carried": rolled(lambda c, r: (r, c @ r)),
    "nothing is carried": rolled(lambda c, r: (c, c @ r)),
    "exchanged values": lambda x, rows: tn.scan(
        lambda c, r: ((c[1], c[0] @ r), None), (x, x + 1), rows
    )[0],
    "a transposed value": lambda x, rows: tn.scan(
        lambda c, r: ((c[1].T, c[0], c[2] @ r), None), (x, x + 1, x), rows
    )[0],
    "a loop in a loop": rolled(nested),
    "two loops, and steps between": lambda x, rows: rolled(nested)(
        np.sin(rolled(lambda c, r: (c @ r, None))(x, rows)[0]), rows
    )[0].sum(),
    "a gradient": tn.grad(lambda x, rows: np.sum(LOOPS["a product"](x, rows)[0]), (0, 1)),
    "a gradient of a gradient": tn.grad(
        lambda x, rows: np.sum(
            tn.grad(lambda y: np.sum(LOOPS["backwards"](y, rows)[0] ** 2))(x) ** 2
        )
    ),
    "vmap": lambda x, rows: tn.vmap(lambda y: LOOPS["a product"](y, rows))(np.stack([x, -x])),
    "complex": lambda x, rows: LOOPS["rows of results"](x * (0.6 + 0.8j), rows),
    "float32": lambda x, rows: LOOPS["a product"](x.astype(np.float32), rows.astype(np.float32)),
    "values without elements": lambda x, rows: LOOPS["a product"](x[:0], rows),
    "numbers": lambda x, rows: tn.scan(lambda c, r: (c * np.sort(r)[0], c), x[0, 0], rows[:, 0]),
}


@pytest.mark.parametrize("name", LOOPS)
def test_chunks_compute_what_the_steps_compute(name, make_backend):
    """A replay launches graphs alone, and leaves the results of earlier calls as they were"""
    backend, function = make_backend(), LOOPS[name]
    replayed = tn.jit(function, backend=backend, options=GRAPH)
    plain = tn.jit(function, backend=backend)
    kept = []
    for k in range(4):
        given = X + k / 8, ROWS - k / 8
        kept.append((leaves(replayed(*given)), leaves(plain(*given))))
    del backend.cupy.launches[:]
    replayed(X, ROWS)
    assert {name for name, _ in backend.cupy.launches} <= {"graph", "setitem", "copy"}
    for got, want in kept:
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)


def of_replay(function, backend, *given):
    """The launches of the third call."""
    replayed = tn.jit(function, backend=backend, options=GRAPH)
    for _ in range(2):
        replayed(*given)
    del backend.cupy.launches[:]
    replayed(*given)
    return [name for name, _ in backend.cupy.launches]


@pytest.mark.parametrize("length", [3, 4, 7, 8])
def test_launches_of_chunks_and_of_the_rest(length, make_backend):
    """A step is a product and a row that is written, so that a chunk has two of them"""
    function = lambda x: tn.scan(lambda c, _: (c @ c, c), x, length=length)  # noqa: E731
    names = of_replay(function, make_backend(), X / 4)
    before_and_after = 2
    assert names.count("graph") == before_and_after + length // 2 + length % 2
    rows_copied = length // 2 + length % 2
    assert names.count("setitem") == 1 + rows_copied  # the operand is copied, too


def test_a_loop_of_few_launches_is_one_graph(make_backend):
    function = lambda x: tn.scan(lambda c, _: (c @ c, None), x, length=4)[0]  # noqa: E731
    assert of_replay(function, make_backend(), X).count("graph") == 1
    function = lambda x: tn.scan(lambda c, _: (c @ c, None), x, length=5)[0]  # noqa: E731
    assert of_replay(function, make_backend(), X).count("graph") == 4


def test_values_stay_where_they_are(make_backend, monkeypatch):
    """Replays copy between the same addresses, for any operands"""
    backend, written = make_backend(), []
    replayed = tn.jit(LOOPS["rows of results"], backend=backend, options=GRAPH)
    for _ in range(2):
        replayed(X, ROWS)
    copy = backend.cupy.ndarray.__setitem__

    def noted(array, key, value):
        written.append(array[key].data.ptr)
        copy(array, key, value)

    monkeypatch.setattr(backend.cupy.ndarray, "__setitem__", noted)
    for _ in range(2):
        replayed(X + 1, ROWS + 1)
    half = len(written) // 2
    assert half > 2
    assert written[:half] == written[half:]


@pytest.mark.parametrize(
    "step",
    [
        lambda c, r: (tn.cond(np.sum(c) > 0, lambda x: x, lambda x: -x, c) @ r, None),
        lambda c, r: (tn.while_loop(lambda x: np.sum(x) < 9.0, lambda x: x + 1, c) @ r, None),
        lambda c, r: (np.linalg.eigvals(c @ r).real * c, None),
    ],
)
def test_steps_that_wait_are_refused(step, make_backend):
    with pytest.raises(UnsupportedError, match="waits for the device"):
        tn.jit(rolled(step), backend=make_backend(), options=GRAPH)(X, ROWS)


def test_an_effect_in_a_step_is_refused(make_backend):
    def step(c, r):
        tn.debug.callback(lambda x: None, c)
        return c @ r, None

    with pytest.raises(UnsupportedError, match="waits for the device"):
        tn.jit(rolled(step), backend=make_backend(), options=GRAPH)(X, ROWS)


@pytest.mark.parametrize("number", range(1, 12, 2))
def test_an_error_in_a_capture_leaves_the_stream_usable(number, make_backend, monkeypatch):
    """The n-th product of the capture fails; the call after it captures anew"""
    backend, function = make_backend(), LOOPS["rows of results"]
    want = leaves(tn.jit(function, backend=backend)(X, ROWS))
    replayed = tn.jit(function, backend=backend, options=GRAPH)
    replayed(X, ROWS)
    launch, count = backend.cupy.launch, []

    def failing(name, *given):
        count.append(name)
        if len(count) == number:
            raise RuntimeError("a kernel failed")
        return launch(name, *given)

    with monkeypatch.context() as patched:
        patched.setattr(backend.cupy, "launch", failing)
        with pytest.raises(RuntimeError, match="a kernel failed"):
            replayed(X, ROWS)
    assert backend.cupy.captured is None
    for _ in range(2):
        for a, b in zip(leaves(replayed(X, ROWS)), want, strict=True):
            np.testing.assert_array_equal(a, b)
