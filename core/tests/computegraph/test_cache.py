"""A cache is bounded, counts what it does, and makes each entry once."""

import threading

import pytest
from toy_graphs import exp, input_key, mul, names, program, six_threads

from tenferro.computegraph import CacheLimits, CacheStats, ProgramCache


def filled(keys="abc", **bounds):
    cache = ProgramCache(**bounds)
    for key in keys:
        cache.get_or_make(key, lambda key=key: key.upper(), size=lambda value: 10)
    return cache


def kept(cache, keys="abcd"):
    return "".join(key for key in keys if cache.get(key) is not None)


def test_an_entry_is_made_once():
    cache = ProgramCache()
    made = [cache.get_or_make("key", lambda i=i: [i]) for i in range(3)]
    assert made == [[0]] * 3
    assert cache.stats == CacheStats(hits=2, misses=1, evictions=0, entries=1, size_bytes=0)


def test_programs_of_one_structure_share_an_entry():
    cache = ProgramCache()
    made = [program([exp(mul(*names(*pair)))]) for pair in ("xy", "pq")]
    first, second = (cache.get_or_make(one.structure, lambda one=one: one) for one in made)
    assert first is second


def test_none_is_a_value():
    cache = ProgramCache()
    assert cache.get_or_make("key", lambda: None) is None
    assert cache.get_or_make("key", lambda: 1) is None


def test_entries_are_bounded_and_the_oldest_goes():
    cache = filled("abc", max_entries=2)
    assert kept(cache) == "bc"
    assert (cache.stats.evictions, len(cache), cache.stats.size_bytes) == (1, 2, 20)


@pytest.mark.parametrize("use", [lambda c: c.get("a"), lambda c: c.get_or_make("a", lambda: 0)])
def test_a_use_makes_an_entry_young(use):
    cache = filled("ab", max_entries=2)
    assert use(cache) == "A"
    cache.get_or_make("c", lambda: "C")
    assert kept(cache) == "ac"


def test_bytes_are_bounded():
    cache = filled("abcd", max_bytes=25)
    assert kept(cache) == "cd"
    assert cache.stats.size_bytes == 20


def test_an_entry_larger_than_the_bound_stays_alone():
    cache = filled("ab", max_bytes=25)
    cache.get_or_make("huge", lambda: "H", size=lambda value: 1000)
    assert (len(cache), cache.get("huge")) == (1, "H")
    cache.get_or_make("c", lambda: "C", size=lambda value: 10)
    assert kept(cache) == "c"


def test_no_entries_are_kept_where_none_may_be():
    cache = filled("abc", max_entries=0)
    assert (len(cache), cache.stats.misses, cache.stats.size_bytes) == (0, 3, 0)


def test_limits_can_be_read_and_changed():
    cache = filled("abcd")
    assert cache.limits == CacheLimits(1024, 256 * 2**20)
    cache.limits = CacheLimits(max_entries=1, max_bytes=100)
    assert kept(cache) == "d"
    assert cache.limits.max_entries == 1


def test_clear_forgets_entries_and_counters():
    cache = filled()
    cache.clear()
    assert cache.stats == CacheStats(0, 0, 0, 0, 0)
    assert cache.get_or_make("a", lambda: "again") == "again"


def test_a_maker_that_raises_does_not_poison():
    cache = ProgramCache()
    with pytest.raises(ZeroDivisionError):
        cache.get_or_make("key", lambda: 1 // 0)
    assert cache.get_or_make("key", lambda: "fine") == "fine"
    assert (cache.stats.misses, len(cache)) == (2, 1)


def test_a_size_that_raises_does_not_poison():
    cache = ProgramCache()
    with pytest.raises(TypeError):
        cache.get_or_make("key", lambda: 1, size=len)
    assert cache.get_or_make("key", lambda: "fine", size=len) == "fine"


def test_one_thread_makes_and_the_others_wait(impatient_threads):
    cache, makers, started = ProgramCache(), [], threading.Event()

    def make():
        makers.append(threading.get_ident())
        started.wait(0.05)
        return object()

    made = six_threads(lambda _: cache.get_or_make("key", make))
    assert (len(makers), len(set(made))) == (1, 1)
    assert (cache.stats.misses, cache.stats.hits) == (1, 5)


def test_a_waiting_thread_makes_what_another_failed_to_make(impatient_threads):
    cache, attempts, pause = ProgramCache(), [], threading.Event()

    def make():
        attempts.append(None)
        pause.wait(0.05)
        return 1 // (len(attempts) - 1)

    def work(_):
        try:
            return cache.get_or_make("key", make)
        except ZeroDivisionError:
            return "failed"

    assert sorted(six_threads(work), key=str) == [1] * 5 + ["failed"]
    assert len(attempts) == 2


def test_different_keys_are_made_at_the_same_time():
    cache, barrier = ProgramCache(), threading.Barrier(6, timeout=60)
    made = six_threads(lambda i: cache.get_or_make(i, lambda: barrier.wait() >= 0))
    assert made == [True] * 6


def test_a_maker_may_use_the_cache():
    cache = ProgramCache()
    outer = cache.get_or_make("outer", lambda: cache.get_or_make("inner", lambda: "made") + "!")
    assert (outer, len(cache)) == ("made!", 2)


def test_threads_keep_the_bounds(impatient_threads):
    cache = ProgramCache(max_entries=5, max_bytes=40)
    six_threads(
        lambda i: [cache.get_or_make(j % 17, object, size=lambda v: 10) for j in range(500)]
    )
    stats = cache.stats
    assert (stats.entries, stats.size_bytes) == (4, 40)
    assert stats.misses == stats.evictions + stats.entries
    assert stats.hits + stats.misses == 3000


def test_operands_are_not_held():
    x = input_key("x")
    cache = ProgramCache()
    cache.get_or_make("key", lambda: program([exp(x)]))
    assert not any("operand" in name for name in vars(cache))


def test_a_maker_may_ask_for_what_it_makes():
    """As a signal handler or a finalizer does that runs on the thread of the maker."""
    cache = ProgramCache()
    assert cache.get_or_make("a", lambda: cache.get_or_make("a", lambda: [1], len), len) == [1]
    assert (len(cache), cache.stats.size_bytes) == (1, 1)


def test_makers_that_ask_for_each_others_entries_finish():
    first, second = ProgramCache(), ProgramCache()
    both = threading.Barrier(2)
    found = []

    def make(mine, other):
        both.wait()
        return [other.get_or_make("key", lambda: 0)]

    def run(mine, other):
        found.append(mine.get_or_make("key", lambda: make(mine, other)))

    pairs = [(first, second), (second, first)]
    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 2
