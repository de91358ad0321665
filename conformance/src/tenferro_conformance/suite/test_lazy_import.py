"""Listing plugins imports nothing heavy; neither does asking a backend for its
static description.
"""

import pytest

pytestmark = pytest.mark.tenferro_law("lazy import")

HEAVY_LIBRARIES = {"numpy", "cupy", "jax", "opt_einsum", "scipy"}


def test_listing_imports_nothing_heavy(tenferro_run_python):
    """`host().records()` imports none of numpy, cupy, jax, opt_einsum."""
    loaded = tenferro_run_python(
        "import sys, tenferro; tenferro.host().records(); print(*sys.modules)"
    ).split()
    assert not HEAVY_LIBRARIES & set(loaded)


def test_describing_imports_nothing_heavy(tenferro_run_python):
    """`tenferro_backend_info()` of every installed backend imports none of them either."""
    program = (
        "import sys; from importlib.metadata import entry_points\n"
        "for point in entry_points(group='tenferro.backends'):\n"
        "    point.load().tenferro_backend_info()\n"
        "print(*sys.modules)"
    )
    assert not HEAVY_LIBRARIES & set(tenferro_run_python(program).split())


def test_the_plugin_is_inert(tenferro_run_python):
    """The pytest plugin imports nothing heavy, and neither tenferro."""
    loaded = tenferro_run_python(
        "import sys, tenferro_conformance.pytest_plugin; print(*sys.modules)"
    ).split()
    assert not (HEAVY_LIBRARIES | {"tenferro"}) & set(loaded)
