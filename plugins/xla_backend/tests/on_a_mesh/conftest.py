"""Tests that need eight devices: collected only in the process that `test_on_a_mesh.py` starts."""

import os

import pytest

collect_ignore_glob = [] if os.environ.get("TENFERRO_MESH") else ["test_*.py"]


@pytest.fixture(scope="session")
def mesh():
    """Four by two devices."""
    import tenferro as tn

    return tn.mesh({"data": 4, "model": 2})
