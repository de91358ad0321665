"""Families of lowerings load when they are needed, and have what is promised for them."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from tenferro.backend import host, numpy_like
from tenferro.backend.lowering import Lowerings, load_target
from tenferro_numpy.lowerings import lowerings, ufuncs

SHARED, OWN = numpy_like.FAMILIES, import_module("tenferro_numpy.lowerings")._OWN


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_family_lowers_what_is_listed_for_it(name):
    collected = Lowerings()
    numpy_like.family(name).register(collected, np)
    assert {x.primitive for x in collected} == {f"std::{key}" for key in SHARED[name].split()}


@pytest.mark.parametrize("name", OWN)
def test_a_family_of_this_package_lowers_what_is_listed_for_it(name):
    collected = Lowerings()
    import_module(f"tenferro_numpy.lowerings.{name}").register(collected)
    listed = {f"std::{key}" for key in OWN[name].split()}
    listed |= {"std::random_log_gamma", "std::gamma_moment"} if name == "random" else set()
    assert {x.primitive for x in collected} == listed


def test_what_is_promised_is_what_is_registered():
    """Dtypes, versions and priorities too"""
    registered = {}
    for name in SHARED:
        collected = Lowerings()
        numpy_like.family(name).register(collected, np)
        registered.update({x.primitive: x for x in collected})
    for name in OWN:
        collected = Lowerings()
        import_module(f"tenferro_numpy.lowerings.{name}").register(collected)
        registered.update({x.primitive: x for x in collected})
    for record in lowerings():
        other = registered[record.primitive]
        for field in ("dtypes", "for_version", "priority"):
            assert getattr(record, field) == getattr(other, field), record
        assert load_target(record, "numpy").__qualname__ == other.target.__qualname__
    assert {x.primitive for x in lowerings()} == set(registered)


@pytest.mark.parametrize("key", ufuncs.UFUNCS)
def test_a_primitive_in_the_table_of_ufuncs_is_lowered_and_has_as_many_operands(key):
    cls = host().primitive(key)
    assert key in {x.primitive for x in lowerings()}
    assert getattr(np, ufuncs.UFUNCS[key]).nin == cls.input_count


def test_a_first_gradient_loads_no_family_that_it_does_not_use():
    program = """
import sys, numpy as np, tenferro as tn
tn.grad(lambda x: np.sum(np.sin(x)))(np.ones(3)).shape
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    loaded = set(done.stdout.decode().split())
    families = ("fft", "random", "sorting", "bessel", "linalg")
    places = (
        "tenferro.backend.numpy_like",
        "tenferro_numpy.lowerings",
        "tenferro.arrays.functions",
    )
    assert not {f"{place}.{name}" for place in places for name in families} & loaded
    written_without = {
        "tenferro.backend.numpy_like.trigonometric",
        "tenferro.passes.rewrites.systems",
    }
    assert not written_without & loaded
    assert (
        not {"tenferro.primitives.random", "tenferro_numpy.execution.codegen", "dataclasses"}
        & loaded
    )


@pytest.mark.parametrize("x, loads", [("0.5", False), ("0.5 + 0.25j", True)])
def test_a_lowering_loads_if_an_expression_calls_it(x, loads):
    """expm1 is one ufunc for real numbers, and the shared lowering for complex ones."""
    program = f"""
import sys, numpy as np, tenferro as tn
with tn.use("numpy"):
    x = np.array([{x}])
    assert abs(np.asarray(tn.expm1(tn.asarray(x))) - np.expm1(x)).max() < 1e-15
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    loaded = "tenferro.backend.numpy_like.elementwise" in done.stdout.decode().split()
    assert loaded is loads
