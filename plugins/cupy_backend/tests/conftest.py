"""A backend over the stand-in, and the check that all tables share."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tenferro import primitives as tp
from tenferro.backend import LoweringTable
from tenferro.backend.interpreter import Interpreter
from tenferro.backend.records import BackendConfig
from tenferro.computegraph import KeyView, compile_program, materialize_merge
from tenferro_cupy import plugin
from tenferro_cupy._backend import CupyBackend
from tenferro_cupy.lowerings import lowerings


def _load(name):
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path.insert(0, str(Path(__file__).parent))  # of `on_cpu`, for the stand-in
fake_cupy = _load("fake_cupy")
kernel_on_numpy = _load("kernel_on_numpy")
#: Plans are tested without compiling each kernel for the CPU: `test_kernels_on_cpu.py` does that.
kernel_on_numpy.install()
fake_cupy.RAW_ON_NUMPY.update(kernel_on_numpy.RAW)


def pytest_configure(config):
    os.environ["TENFERRO_CUPY_CACHE"] = ""
    config.addinivalue_line("markers", "gpu: needs a CUDA device")
    config.addinivalue_line("markers", "slow: runs for more than a few seconds")


@pytest.fixture(scope="session")
def stand_in():
    """The module that defines the stand-in."""
    return fake_cupy


@pytest.fixture
def real(monkeypatch):
    """Plans of kernels, which the C++ compiler compiles, not of their stand-ins."""
    kernel_on_numpy.uninstall(monkeypatch)


@pytest.fixture
def make_backend():
    """Make the backend as the host does, over a stand-in."""

    def make(fake=None, **config):
        fake = fake or fake_cupy.Fake()
        backend = CupyBackend(BackendConfig(**config), fake)
        backend.name, backend.info = "cupy", plugin.tenferro_backend_info()
        records = lowerings(fake, *fake_cupy.cupyx)
        backend.lowerings = LoweringTable("cupy", records)
        return backend

    return make


@pytest.fixture
def interpreted():
    """Let a backend call one lowering per operation, as it does without kernels."""

    def interpreted(backend):
        def compiled(program, avals, options=None):
            return Interpreter(backend, backend.lowerings.close(program))

        backend.compile = compiled
        return backend

    return interpreted


@pytest.fixture
def backend(make_backend):
    return make_backend()


@pytest.fixture
def run():
    """Run a function of handles on NumPy arrays, moved by name; results as NumPy arrays."""

    def run(backend, function, *arrays):
        arrays = [np.asarray(array) for array in arrays]
        handles = [tp.variable(f"x{i}", a.shape, a.dtype.name) for i, a in enumerate(arrays)]
        results = function(*handles)
        outputs = results if isinstance(results, tuple) else (results,)
        keys = [output.key for output in outputs]
        graph = materialize_merge(KeyView(), keys, inputs=[handle.key for handle in handles])
        program = compile_program(graph)
        executable = backend.compile(program, program.input_avals)
        operands = [
            backend.asoperand(array, aval)
            for array, aval in zip(arrays, program.input_avals, strict=True)
        ]
        with fake_cupy.counted(backend.cupy) as waited:
            results = executable(*operands)
            again = executable(*operands)
        owners = [id(array.root) for array in (*operands, *results, *again)]
        assert len(set(owners)) == len(owners), "results share memory"
        assert all(r._a.flags.writeable for r in results)
        for array, operand in zip(arrays, operands, strict=True):
            np.testing.assert_array_equal(array, operand._a)
        for result, aval in zip(results, program.output_avals, strict=True):
            assert (result.shape, result.dtype.name) == (aval.shape, aval.dtype.name)
        return [backend.to_numpy(result) for result in results], waited[0]

    return run


@pytest.fixture
def check(backend, run):
    """The results are as expected, and nothing waited for the device."""

    def check(function, arrays, expected, rtol=0.0):
        results, waited = run(backend, function, *arrays)
        assert waited == 0
        expected = expected if isinstance(expected, tuple) else (expected,)
        for result, value in zip(results, expected, strict=True):
            assert result.dtype == np.asarray(value).dtype
            np.testing.assert_allclose(result, value, rtol=rtol)

    return check
