"""The tables of rows beside this file are importable in its tests."""

import gc
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def few_objects():
    """Hide the objects of other tests from the collector, so that counting keys is quick."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
