"""CUDA graphs and memory, on the stand-in: a replay computes what the steps compute."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import InvalidOptionError, UnsupportedError
from tenferro_cupy._errors import OutOfMemoryError

GRAPH = {"cuda_graph": True}
X = np.linspace(0.1, 2, 12).reshape(3, 4)

FUNCTIONS = {
    "elementwise": lambda x: np.sin(x) * x,
    "a value and its gradient": tn.value_and_grad(lambda x: np.sum(np.exp(-x) * x)),
    "products": lambda x: (x @ x.T, np.sum(x, axis=0)),
    "a scan": lambda x: tn.scan(lambda c, row: (c * 0.5 + row, c), x[0], x),
    "an operand itself": lambda x: (x, x + 1),
    "a sort": lambda x: np.sort(x, axis=1),
    "a gradient of a gradient": tn.grad(lambda x: np.sum(tn.grad(lambda y: np.sum(y**4))(x) ** 2)),
}


def leaves(values):
    if isinstance(values, (tuple, list)):
        return [leaf for value in values for leaf in leaves(value)]
    operand = getattr(values, "operand", values)
    return [np.array(getattr(operand, "_a", operand))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_replay_computes_what_the_steps_compute(name, make_backend):
    """The third call launches one graph, with other operands than were captured"""
    function, backend = FUNCTIONS[name], make_backend()
    replayed = tn.jit(function, backend=backend, options=GRAPH)
    plain = tn.jit(function, backend=backend)
    kept = []
    for k in range(4):
        x = X + k
        kept.append((leaves(replayed(x)), leaves(plain(x))))
    del backend.cupy.launches[:]
    replayed(X)
    names = [n for n, _ in backend.cupy.launches]
    assert names.count("graph") == 1
    assert set(names) <= {"graph", "setitem", "copy"}
    for got, want in kept:  # the results of earlier calls are still what they were
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)


def test_streams_wait_for_each_other_and_the_host_for_none(make_backend):
    backend = make_backend()
    replayed = tn.jit(FUNCTIONS["elementwise"], backend=backend, options=GRAPH)
    x = backend.asoperand(X, tn.Aval(X.shape, "float64"))
    before = backend.cupy.synchronizations
    for _ in range(3):
        replayed(x)
    assert backend.cupy.synchronizations == before
    (stream,) = {event[1] for event in backend.cupy.cuda.get_current_stream().waited}
    assert stream != 0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tn.while_loop(lambda c: np.sum(c) < 100.0, lambda c: c * 2, x),
        lambda x: tn.cond(np.sum(x) > 0, lambda y: y, lambda y: -y, x),
        lambda x: np.linalg.eigvals(x @ x.T),
        lambda x: np.linalg.eig(x @ x.T)[0],
        lambda x: tn.linalg.expm(x @ x.T),
        lambda x: tn.host_callback(np.sin, x, results=x),
    ],
)
def test_a_program_that_waits_is_refused(function, make_backend):
    with pytest.raises(UnsupportedError, match="waits for the device"):
        tn.jit(function, backend=make_backend(), options=GRAPH)(X)


def test_the_option_is_a_bool(make_backend):
    with pytest.raises(InvalidOptionError):
        tn.jit(np.sin, backend=make_backend(), options={"cuda_graph": 1})(X)


@pytest.mark.parametrize("options", [None, GRAPH])
def test_no_memory_is_a_typed_error_and_the_next_program_runs(options, make_backend):
    backend = make_backend()
    function = tn.jit(lambda x: np.sin(x) * x, backend=backend, options=options)
    backend.cupy.bytes_left = 50
    with pytest.raises(OutOfMemoryError, match="not enough memory") as caught:
        function(X)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.device == "cuda:0"
    assert any("equation" in note for note in caught.value.__notes__)
    backend.cupy.bytes_left = float("inf")
    np.testing.assert_array_equal(leaves(function(X))[0], np.sin(X) * X)


def captured(backend):
    """A function that ran once, so that the next call captures it"""
    function = tn.jit(lambda x: np.sin(x) * x, backend=backend, options=GRAPH)
    function(X)
    return function


def replays(backend, function):
    """Check that a call launches a graph, and computes."""
    del backend.cupy.launches[:]
    np.testing.assert_array_equal(leaves(function(X + 1))[0], np.sin(X + 1) * (X + 1))
    return [name for name, _ in backend.cupy.launches].count("graph") == 1


@pytest.mark.parametrize("unused", [0, 1000])
def test_memory_that_runs_out_in_a_capture_is_freed_after_it(unused, make_backend):
    """The stand-in raises AssertionError if memory is freed in a capture"""
    backend = make_backend()
    function = captured(backend)
    backend.cupy.bytes_left, backend.cupy.cuda.pools[0].free = 50, unused
    if not unused:
        with pytest.raises(OutOfMemoryError):
            function(X)
        assert backend.cupy.captured is None
        backend.cupy.bytes_left = float("inf")
    assert replays(backend, function)
    assert backend.cupy.cuda.pools[0].free == 0


def test_the_limit_of_memory_holds_for_captures(make_backend):
    backend = make_backend()
    function = captured(backend)
    pool = backend.cupy.cuda.pools[0]
    pool.limit = pool.used = 200
    with pytest.raises(OutOfMemoryError):
        function(X)
    pool.used = 100
    assert replays(backend, function)


def test_the_first_error_of_a_capture_is_raised(make_backend, monkeypatch):
    """After an error of CUDA the end of the capture raises another one"""
    backend = make_backend()
    function = captured(backend)

    def fails(size):
        backend.cupy.captured = ()
        raise backend.cupy.cuda.runtime.CUDARuntimeError(700)

    monkeypatch.setattr(backend.cupy.cuda, "Memory", fails)
    with pytest.raises(RuntimeError, match="700"):
        function(X)
    monkeypatch.undo()
    assert replays(backend, function)


def test_a_first_call_that_failed_is_not_a_warm_one(make_backend):
    """Kernels may be left to compile, which a capture must not do"""
    backend = make_backend()
    function = tn.jit(lambda x: np.sin(x) * x, backend=backend, options=GRAPH)
    backend.cupy.bytes_left = 50
    with pytest.raises(OutOfMemoryError):
        function(X)
    backend.cupy.bytes_left = float("inf")
    assert [replays(backend, function) for _ in range(3)] == [False, True, True]
