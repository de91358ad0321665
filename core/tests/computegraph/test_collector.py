"""The cyclic collector rests during whole-graph passes and is restored whatever happens."""

import gc
import sys
import weakref

import pytest
from toy_graphs import exp, flat, input_key, neg, six_threads

from tenferro._runtime import CollectorPaused, collector
from tenferro.computegraph import (
    Graph,
    KeyView,
    MaterializedGraph,
    UnresolvedValueError,
    compile_program,
    materialize_merge,
    resolve,
)


@pytest.fixture(params=[True, False], ids=["enabled", "disabled"])
def before(request):
    (gc.enable if request.param else gc.disable)()
    yield request.param
    gc.enable()


def test_it_rests_and_is_restored(before):
    with CollectorPaused():
        assert not gc.isenabled()
    assert gc.isenabled() is before


def test_it_nests(before):
    """The collector rests until the outermost context ends"""
    with CollectorPaused():
        with CollectorPaused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is before


def test_it_is_restored_after_an_error(before):
    with pytest.raises(ZeroDivisionError), CollectorPaused(), CollectorPaused():
        raise ZeroDivisionError
    assert gc.isenabled() is before


def test_it_is_restored_after_a_pass_that_fails(before):
    x = input_key("x")
    with pytest.raises(UnresolvedValueError):
        materialize_merge(resolve([Graph.of([x], [exp(x)])]), [neg(x)])
    assert gc.isenabled() is before


def test_it_rests_inside_the_passes():
    seen = []

    class View(KeyView):
        def definition(self, key):
            seen.append(gc.isenabled())
            return key.definition

    materialize_merge(View(), [neg(exp(input_key("x")))])
    assert seen == [False] * 3
    assert gc.isenabled()


def test_a_pass_of_the_caller_runs_with_the_collector():
    seen = []

    def look(graph: MaterializedGraph) -> MaterializedGraph:
        seen.append(gc.isenabled())
        return graph

    compile_program(flat([exp(input_key("x"))]), passes=[look])
    assert seen == [True]


def test_a_finalizer_may_enter_again_when_it_comes_back():
    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            with CollectorPaused():
                deleted.append(self)

    deleted = []
    for _ in range(3):
        with CollectorPaused():
            made = [Cycle() for _ in range(2000)]
            del made
    gc.collect()
    assert len(deleted) == 6000
    assert gc.isenabled()


def test_it_may_be_entered_again_at_the_moment_it_comes_back(monkeypatch):
    """A finalizer runs as soon as the collector is enabled, on the same thread."""
    enable = gc.enable
    again = []

    def enable_and_finalize():
        enable()
        if not again:
            again.append(True)
            with CollectorPaused():
                assert not gc.isenabled()

    monkeypatch.setattr(gc, "enable", enable_and_finalize)
    with CollectorPaused():
        pass
    assert again
    assert gc.isenabled()


def test_threads_restore_it_together(impatient_threads):
    def work(_):
        seen = []
        for _ in range(300):
            with CollectorPaused():
                seen.append(gc.isenabled())
        return seen

    assert not any(map(any, six_threads(work)))
    assert gc.isenabled()


class Node:
    """Something that can be part of a cycle."""


def large_pass():
    with CollectorPaused():
        return [[] for _ in range(120_000)]


def test_objects_of_a_large_pass_are_not_young_afterwards():
    gc.collect()
    kept = large_pass()
    [[] for _ in range(2000)]  # enough for the next collection
    for generation in (0, 1):
        assert len(kept) > len(gc.get_objects(generation))
    assert gc.isenabled()


@pytest.mark.parametrize("loads", [True, False], ids=["loads a module", "loads nothing"])
def test_objects_of_a_pause_become_old_at_once_only_if_it_loads_a_module(monkeypatch, loads):
    """young after the pause  ⟺  no module was loaded in it"""
    monkeypatch.setattr(collector, "_modules", len(sys.modules))
    gc.collect()
    with CollectorPaused():
        kept = Node()
        if loads:
            monkeypatch.setitem(sys.modules, "made_up_for_a_pause", Node())
    young = [*gc.get_objects(0), *gc.get_objects(1)]
    assert any([each is kept for each in young]) is not loads


def test_a_module_that_comes_and_goes_makes_objects_old_once(monkeypatch):
    """A program that loads and drops modules keeps a collector of young objects."""
    monkeypatch.setattr(collector, "_modules", len(sys.modules))
    promoted = []
    monkeypatch.setattr(collector, "_promote", promoted.append)
    for _ in range(3):
        with CollectorPaused():
            sys.modules["made_up_for_a_pause"] = Node()
        del sys.modules["made_up_for_a_pause"]
    assert len(promoted) == 1


def test_garbage_that_became_old_with_a_large_pass_is_collected():
    node = Node()
    node.itself = node
    alive = weakref.ref(node)
    del node
    per_block = collector._PROMOTIONS_PER_BLOCK_BEFORE_WALK
    objects = 4 * collector._WALK + per_block * sys.getallocatedblocks()
    for _ in range(2 + objects // 120_000):
        large_pass()
    assert alive() is None


def test_objects_that_a_program_froze_stay_frozen():
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        large_pass()
        assert gc.get_freeze_count() > before // 2
    finally:
        gc.unfreeze()


def record(count):
    value = input_key("x")
    for _ in range(count):
        value = exp(value)
    return value


def walks():
    return gc.get_stats()[2]["collections"]


def test_recording_a_large_graph_waits_with_walks_over_everything(monkeypatch):
    monkeypatch.setattr(collector, "_promoted", 0)
    gc.collect()
    before = walks()
    kept = record(100_000)
    assert walks() == before
    assert gc.isenabled()
    del kept


@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "dropped"])
def test_only_recording_that_grows_makes_old_what_is_young(monkeypatch, is_kept):
    promoted = []
    monkeypatch.setattr(gc, "freeze", lambda: promoted.append(True))
    monkeypatch.setattr(collector, "_samples", [])
    monkeypatch.setattr(collector, "_promoted", 0)
    value = input_key("x")
    for _ in range(3 * collector.STRIDE):
        value = exp(value if is_kept else input_key(value.serial))
    assert bool(promoted) is is_kept


def test_recording_leaves_a_collector_that_is_off_as_it_is():
    gc.disable()
    try:
        record(2 * collector.STRIDE)
        assert not gc.isenabled()
    finally:
        gc.enable()
