"""Tests that need eight devices: collected only in the process that `test_on_a_mesh.py` starts."""

import os

import pytest


def pytest_ignore_collect(collection_path):
    """Leave these tests to the process that has eight devices; None asks others."""
    is_test = collection_path.name.startswith("test_")
    return True if is_test and not os.environ.get("TENFERRO_MESH") else None


@pytest.fixture(scope="session")
def mesh():
    """Four by two devices."""
    import tenferro as tn

    return tn.mesh({"data": 4, "model": 2})
