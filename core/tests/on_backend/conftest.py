"""Tests that need a backend, whichever is installed. `against_numpy` is importable everywhere here.

They run in the environment of each backend, with that backend alone, and select nothing.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config):
    """SciPy's test modules, which some tests take functions from, use markers of their own."""
    theirs = "fail_slow parallel_threads_limit skip_xp_backends thread_unsafe uses_xp_capabilities"
    theirs += " xfail_on_32bit xslow"
    for name in theirs.split():
        config.addinivalue_line("markers", f"{name}: of SciPy's own tests")
