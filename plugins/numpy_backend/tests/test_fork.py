"""Children that are forked while threads compile programs compute, and collect garbage."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings

import numpy as np
import pytest

import tenferro as tn

CHILDREN = 24


def compile_programs(first: int, stop: threading.Event) -> None:
    """Differentiate and compile new programs until the event."""
    constant = float(first)
    while not stop.is_set():
        constant += 1

        def f(x: tn.Array, constant: float = constant) -> tn.Array:
            for j in range(10):
                x = np.sin(x + constant * j)
            return np.sum(x)

        tn.jit(tn.grad(f))(np.ones(4))


def child_answers() -> bool:
    """Fork a child that computes a gradient; whether it is right and the collector runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # forks beside threads are the subject
        child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            slope = tn.grad(lambda x: np.sum(x * x * 3))(np.ones(2))
            os._exit(0 if float(slope[0]) == 6 and gc.isenabled() else 1)
        except BaseException:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_children_forked_while_threads_compile_answer() -> None:
    stop = threading.Event()
    threads = [threading.Thread(target=compile_programs, args=(10**6 * k, stop)) for k in range(2)]
    for thread in threads:
        thread.start()
    try:
        answers = [child_answers() for _ in range(CHILDREN)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert answers == [True] * CHILDREN
