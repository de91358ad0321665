"""One check for all tables: contract lowerings, interpreter, source and debug mode agree."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tenferro import primitives as tp
from tenferro.backend import PluginHost
from tenferro.backend.records import BackendConfig
from tenferro.computegraph import KeyView, compile_program, evaluate, materialize_merge
from tenferro_numpy import row_blocks as block_run
from tenferro_numpy.kernels import region

sys.path.insert(0, str(Path(__file__).parent))  # tests import programs of this folder

TILES_OF_AN_ARRAY = 256  # at most about as many: each is a turn of a loop in Python
MODES = [
    {"executor": "interpret"},
    {"executor": "source"},
    {"executor": "auto"},
    {"debug": True},
    {"tile": 0},
    {"tile": 1, "threads": 1, "poison": True},
    {"tile": 2, "threads": 3, "poison": True, "executor": "source"},
]


@pytest.fixture(scope="session", autouse=True)
def threads_for_little_work():
    """Regions and blocks asked for threads use them, however small the arrays of a test are."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (region, block_run):
            patch.setattr(module, "WORTH_THREADS", 0)
        yield


@pytest.fixture(scope="session")
def backend():
    return PluginHost(environment={}).backend("numpy", BackendConfig(deterministic=True))


def compile_function(function, *avals):
    """The program of a function of handles."""
    handles = [tp.variable(f"x{i}", aval.shape, aval.dtype) for i, aval in enumerate(avals)]
    results = function(*handles)
    outputs = results if isinstance(results, tuple) else (results,)
    keys = [output.key for output in outputs]
    graph = materialize_merge(KeyView(), keys, inputs=[handle.key for handle in handles])
    return compile_program(graph)


@pytest.fixture(scope="session")
def checks():
    """The functions of this file for tests that put them together themselves."""
    return SimpleNamespace(
        compile_function=compile_function,
        evaluate_by_contract=evaluate_by_contract,
        assert_detached=assert_detached,
    )


@pytest.fixture
def program(backend):
    def make(function, *arrays):
        return compile_function(function, *[backend.aval_of(array) for array in arrays])

    return make


@pytest.fixture
def run(backend, program):
    """Run a function of handles on arrays; `options` go to `compile`."""

    def run(function, *arrays, **options):
        made = program(function, *arrays)
        return backend.compile(made, made.input_avals, options)(*arrays)

    return run


@pytest.fixture
def check(backend, program):
    """Compare a function of handles with what is expected, in every way there is to run it."""

    def check(function, arrays, expected, rtol=0.0, atol=0.0):
        arrays = [np.asarray(array) for array in arrays]
        made = program(function, *arrays)
        expected = expected if isinstance(expected, tuple) else (expected,)
        layouts = arrays, [strided(array) for array in arrays]
        before = [array.copy() for array in arrays]
        for results in every_result(backend, made, layouts):
            compare(results, expected, made.output_avals, rtol, atol)
        for given in layouts:
            for array, copy in zip(given, before, strict=True):
                np.testing.assert_array_equal(array, copy)

    return check


def every_result(backend, program, layouts):
    """Run a program in every way on arrays of several layouts; `auto` begins with a first run."""
    scale = max(1, *(array.size // TILES_OF_AN_ARRAY for array in layouts[0]), 1)
    for arrays in layouts:
        yield evaluate_by_contract(backend, program, arrays)
    for options in MODES:
        backend._plans.clear()  # so that the first run of "auto" is that of a new program
        chosen = {**options, "tile": options["tile"] * scale} if "tile" in options else options
        executable = backend.compile(program, program.input_avals, chosen)
        for arrays in layouts:
            results = executable(*arrays)
            assert_detached(results, arrays)
            again = executable(*arrays)
            assert [r.tobytes() for r in results] == [r.tobytes() for r in again]
            assert_detached((*results, *again), arrays)
            yield results


def evaluate_by_contract(backend, program, arrays):
    """Every lowering called as the contract says, and nothing else."""

    def execute(operation, operands):
        avals = [backend.aval_of(operand) for operand in operands]
        return (backend.lowerings.lookup(operation, avals)(operation, *operands),)

    with np.errstate(all="ignore"):
        return evaluate(program, execute, arrays)


def compare(results, expected, avals, rtol, atol):
    assert len(results) == len(expected)
    for result, value, aval in zip(results, expected, avals, strict=True):
        value = np.asarray(value)
        assert (result.shape, result.dtype.name) == (aval.shape, aval.dtype.name)
        assert (value.shape, value.dtype) == (result.shape, result.dtype)
        if value.tobytes() == result.tobytes():
            continue
        if rtol or atol:
            np.testing.assert_allclose(result, value, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(result, value)
            if value.dtype.kind == "f":
                zero = np.equal(value, 0)
                np.testing.assert_array_equal(np.signbit(result)[zero], np.signbit(value)[zero])


def assert_detached(results, operands):
    """Results are arrays that can be written to and share memory with nothing."""
    for i, result in enumerate(results):
        assert type(result) is np.ndarray
        assert result.flags.writeable
        assert not any(np.shares_memory(result, other) for other in (*results[:i], *operands))


def strided(array):
    """The same values, neither contiguous nor writeable."""
    if not array.ndim:
        return array
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    view = wide[..., ::2]
    view.flags.writeable = False
    return view
