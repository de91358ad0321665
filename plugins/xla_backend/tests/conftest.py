"""A host that knows this plugin and the standard set alone, and programs written in one line."""

import os
import sys
from itertools import islice
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Two devices that share one processor, enough to put an operand on another one. Of a flag that is
# given twice XLA takes the last, so that a number of devices from outside holds.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2 " + os.environ.get(
    "XLA_FLAGS", ""
)

sys.path.insert(0, str(Path(__file__).parent))  # tests import operands from this folder

import numpy as np
import pytest
from operands import same

import tenferro_xla.plugin
from tenferro.backend import BackendConfig, PluginHost
from tenferro.computegraph import Graph, compile_program, materialize_merge, resolve
from tenferro.primitives import Aval, Handle, bind, variable


@pytest.fixture(scope="session")
def host():
    """A host that no other installed plugin reaches."""
    made = PluginHost(autoload=False)
    assert made.register(tenferro_xla.plugin).status == "loaded"
    return made


@pytest.fixture(scope="session")
def xla(host):
    """The backend on its default device."""
    return host.backend("xla")


@pytest.fixture(scope="session")
def backend_with(host):
    """Backends by configuration."""
    return lambda **settings: host.backend("xla", BackendConfig(**settings))


class Programs:
    """Builds, compiles and runs programs on one backend."""

    def __init__(self, backend):
        self.backend = backend

    @staticmethod
    def program(inputs, outputs):
        """The program from handles to handles."""
        keys, results = [h.key for h in inputs], [h.key for h in outputs]
        view = resolve([Graph.of(keys, results)])
        return compile_program(materialize_merge(view, results, inputs=keys))

    def compile(self, function, *avals, **options):
        """The executable of a function of handles."""
        inputs = [variable(f"x{i}", a.shape, a.dtype) for i, a in enumerate(avals)]
        found = function(*inputs)
        outputs = [found] if isinstance(found, Handle) else list(found)
        program = self.program(inputs, outputs)
        return self.backend.compile(program, program.input_avals, options or None)

    def run(self, function, *operands, **options):
        """The results of a function of handles, as NumPy arrays; one alone if it is one."""
        arrays = [np.asarray(operand) for operand in operands]
        avals = [Aval(a.shape, a.dtype.name) for a in arrays]
        results = self.compile(function, *avals, **options)(*arrays)
        found = [self.backend.to_numpy(result) for result in results]
        return found[0] if len(found) == 1 else found

    def apply(self, operation, *operands):
        """The result of one operation, as a NumPy array."""
        return self.run(lambda *handles: bind(operation, *handles), *operands)

    def apply_to_each(self, operation, rows):
        """The results of one operation on several rows of operands, in one program."""
        return self.apply_all([(operation, *row) for row in rows])

    def apply_all(self, calls):
        """The results of operations, each followed by its operands, in one program."""

        def function(*handles):
            given = iter(handles)
            return [bind(call[0], *islice(given, len(call) - 1)) for call in calls]

        found = self.run(function, *[operand for call in calls for operand in call[1:]])
        return [found] if len(calls) == 1 else found

    def expect(self, rows, compare=same):
        """Check operations in one program; a row is an operation, its operands and its result."""
        for row, found in zip(rows, self.apply_all([row[:-1] for row in rows]), strict=True):
            try:
                compare(found, row[-1])
            except AssertionError as error:
                given = ", ".join(f"{x.dtype}{list(x.shape)}" for x in map(np.asarray, row[1:-1]))
                error.add_note(f"{row[0]!r} of {given}")
                raise


@pytest.fixture(scope="session")
def programs(xla):
    """Programs on the default device."""
    return Programs(xla)


@pytest.fixture(scope="session")
def programs_on():
    """Programs on a given backend."""
    return Programs
