"""Threads that meet inside of a recording."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest


@pytest.fixture
def in_impatient_threads():
    """Call a function with the number of its thread in several at once; raise what one raises.

    The threads change places every ten microseconds.
    """

    def run_all(run, threads):
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, range(threads)))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield run_all
    sys.setswitchinterval(before)
