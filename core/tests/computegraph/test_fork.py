"""A forked child computes, whatever the other threads of its parent were doing."""

import gc
import importlib
import os
import signal
import sys
import threading
import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tenferro._runtime import CollectorPaused, fork
from tenferro.computegraph import ProgramCache
from tenferro.tidu._value import fresh_id

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
SECONDS = 60  # then a child that waits for ever is killed


def holds_in_child(statement):
    """Whether a statement is true in a forked child."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # forks beside threads are the subject
        child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            os._exit(0 if statement() else 1)
        except BaseException:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


@contextmanager
def another_thread(hold):
    """Another thread inside ``hold(wait)``, where it stays until the end."""
    inside, end = threading.Event(), threading.Event()

    def wait():
        inside.set()
        end.wait()

    thread = threading.Thread(target=hold, args=(wait,))
    thread.start()
    inside.wait()
    try:
        yield
    finally:
        end.set()
        thread.join()


def test_a_child_makes_what_another_thread_was_making():
    cache = ProgramCache()
    with another_thread(lambda wait: cache.get_or_make("key", wait)):
        assert holds_in_child(lambda: cache.get_or_make("key", lambda: 1) == 1)


def test_a_child_takes_a_lock_that_another_thread_held():
    cache = ProgramCache()

    def hold(wait):
        with cache._lock:
            wait()

    with another_thread(hold):
        assert holds_in_child(lambda: cache.stats.misses == 0)


def test_the_collector_runs_in_a_child_of_a_paused_parent():
    def hold(wait):
        with CollectorPaused():
            wait()

    with another_thread(hold):
        assert not gc.isenabled()
        assert holds_in_child(gc.isenabled)


def test_the_pause_of_the_forking_thread_goes_on_in_the_child():
    pause = CollectorPaused()
    pause.__enter__()

    def runs_after_the_pause():
        rested = not gc.isenabled()
        pause.__exit__(None, None, None)
        return rested and gc.isenabled()

    try:
        assert holds_in_child(runs_after_the_pause)
    finally:
        pause.__exit__(None, None, None)


def test_a_disabled_collector_stays_disabled_in_a_child():
    with CollectorPaused():
        pass
    gc.disable()
    try:
        assert holds_in_child(lambda: not gc.isenabled())
    finally:
        gc.enable()


def test_identities_of_a_child_are_not_those_of_its_parent():
    here = fresh_id()
    assert holds_in_child(lambda: fresh_id().process != here.process)


def test_a_fork_waits_for_an_import_that_began_while_it_waited_for_the_lock(monkeypatch):
    """whoever waits for a lock lets other threads run"""
    another, begins = -1, iter([True])

    def acquire():
        if next(begins, False):
            fork._importing[another] = 1

    def sleep(seconds):
        del fork._importing[another]

    lock = SimpleNamespace(acquire=acquire, release=lambda: None)
    monkeypatch.setattr(fork, "_imports_lock", lock)
    monkeypatch.setattr(fork, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: 0.0))
    fork._wait_for_imports()
    assert another not in fork._importing


def test_a_child_imports_what_another_thread_was_importing(monkeypatch):
    """an import may begin between the last look and the fork"""
    name = "tenferro.computegraph._builder"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(fork, "_SECONDS_FOR_IMPORTS", 0.0)

    def hold(wait):
        with importlib._bootstrap._ModuleLockManager(name):
            wait()

    with another_thread(hold):
        assert holds_in_child(lambda: importlib.import_module(name).__name__ == name)
