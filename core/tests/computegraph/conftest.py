"""The toy vocabulary of this folder, importable as ``toy_graphs`` in every import mode."""

import gc
import sys
from pathlib import Path

import pytest

from tenferro.computegraph import _operation

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def impatient_threads():
    """Threads that change places after every microsecond."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def freed_by_references_alone():
    """Free what earlier tests left; then only a lost reference frees a key.

    They leave cycles, and recent operations, which may hold keys: at the limit of their number all
    are dropped at once, in whichever test makes one more.
    """
    _operation._recent.clear()
    gc.collect()
    gc.disable()
    yield
    gc.enable()
