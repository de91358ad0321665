"""A value that was recorded keeps what it read from an array of CuPy's, which anybody may write to.

The stand-in is registered in a host of its own, under the name of a backend.
"""

import numpy as np
import pytest

import tenferro as tn
from tenferro._runtime.frozen import replace
from tenferro.backend import Probe, hookimpl
from tenferro_cupy import plugin
from tenferro_cupy._backend import CupyBackend
from tenferro_cupy.lowerings import lowerings

NAME = "cupy_stand_in"


@pytest.fixture
def x(stand_in):
    """An array of the stand-in, [1, 1, 1], in a process that has its backend."""
    fake = stand_in.Fake()

    class StandIn:
        TENFERRO_PLUGIN = replace(plugin.TENFERRO_PLUGIN, name=NAME, requires_libs=())

        @staticmethod
        @hookimpl
        def tenferro_backend_info():
            kinds = (f"{fake.ndarray.__module__}.ndarray",)
            return replace(plugin.tenferro_backend_info(), name=NAME, operand_types=kinds)

        @staticmethod
        @hookimpl
        def tenferro_backend_probe():
            return Probe(available=True, devices=("stand-in",))

        @staticmethod
        @hookimpl
        def tenferro_backend_create(config):
            return CupyBackend(config, fake)

        @staticmethod
        @hookimpl
        def tenferro_lowerings(backend):
            found = lowerings(fake, *stand_in.cupyx)
            return found if backend == NAME else ()

    before = tn.backend.set_host(None)
    tn.backend.host().register(StandIn())
    yield tn.backend.host().backend(NAME).asoperand(np.ones(3), tn.Aval((3,), "float64"))
    tn.backend.set_host(before)


def numbers(operand):
    return operand._a.tolist()


def test_a_lazy_value_keeps_what_it_read(x):
    y = tn.asarray(x) * 2.0
    x[0] = 9.0
    assert numbers(y.evaluate().operand) == [2.0, 2.0, 2.0]


def test_a_jitted_function_keeps_what_it_captured(x):
    f = tn.jit(lambda w: tn.asarray(x) * w)
    before = numbers(f(2.0))
    x[0] = 9.0
    assert numbers(f(2.0)) == before == [2.0, 2.0, 2.0]


def test_a_pullback_keeps_its_point(x):
    _, pull = tn.vjp(lambda x: np.sum(x * x), x)
    x[0] = 9.0
    assert numbers(pull(1.0)[0]) == [2.0, 2.0, 2.0]


def test_a_function_may_write_into_its_argument(x):
    def f(y):
        value = np.sum(y * y)
        x[0] = 9.0
        return value

    assert numbers(tn.grad(f)(x)) == [2.0, 2.0, 2.0]
    assert numbers(x) == [9.0, 1.0, 1.0]


def test_an_argument_that_is_not_differentiated_is_read_where_it_is_used(x):
    def f(w, buffer):
        before = np.sum(tn.asarray(buffer) * w)
        buffer[0] = 9.0
        return before + np.sum(tn.asarray(buffer) * w) * 100.0

    assert numbers(tn.grad(f)(2.0, x)) == 3.0 + 1100.0


def test_what_leaves_by_dlpack_is_a_copy(x, monkeypatch):
    y = (tn.asarray(x) + 0.0).evaluate()
    left = []
    monkeypatch.setattr(type(x), "__dlpack__", lambda self, **_: left.append(self), raising=False)
    y.__dlpack__()
    left[0][0] = 9.0
    assert numbers(y.operand) == [1.0, 1.0, 1.0]
