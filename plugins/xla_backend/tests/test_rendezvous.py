"""The meeting of processes before JAX connects them; threads play the processes."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from ports import free_port

import tenferro as tn
from tenferro_xla import _rendezvous
from tenferro_xla._rendezvous import meet

ENOUGH, SHORT = 60.0, 0.5  # seconds


def errors_of(calls):
    """The ProcessError of each (number, processes, seconds), or None"""
    address = f"127.0.0.1:{free_port()}"

    def error_of(number, processes, seconds):
        try:
            meet(address, processes, number, seconds)
        except tn.ProcessError as error:
            return error
        return None

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(error_of, *zip(*calls, strict=True)))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_all_that_come_go_on(order):
    assert errors_of([(number, 3, ENOUGH) for number in order]) == [None] * 3


WRONG = {
    "two have one number": ([(0, 3, ENOUGH), (1, 3, ENOUGH), (1, 3, ENOUGH)], "have the number 1"),
    "they disagree": ([(0, 2, ENOUGH), (1, 3, ENOUGH)], "process 1 is one of 3, and process 0"),
    "process 0 is missing": ([(1, 2, SHORT)], "process 0 does not answer"),
}


@pytest.mark.parametrize("name", WRONG)
def test_all_learn_what_is_wrong(name):
    calls, fact = WRONG[name]
    errors = errors_of(calls)
    assert [fact in str(error) for error in errors] == [True] * len(calls), errors


def test_those_that_came_learn_which_one_is_missing(monkeypatch):
    """The time ends when process 0 has heard process 1, however long that takes"""
    seconds, receive = [0.0], _rendezvous._receive

    def receive_and_end_the_time(*args):
        said = receive(*args)
        if said and "process" in said:
            seconds[0] = 2 * ENOUGH
        return said

    monkeypatch.setattr(_rendezvous, "monotonic", lambda: seconds[0])
    monkeypatch.setattr(_rendezvous, "_receive", receive_and_end_the_time)
    errors = errors_of([(0, 3, ENOUGH), (1, 3, ENOUGH)])
    assert ["process 2 of 3 has not come" in str(error) for error in errors] == [True] * 2, errors
    assert errors[0].processes == (2,)


def test_a_missing_process_is_named():
    assert [error.processes for error in errors_of([(0, 2, SHORT)])] == [(1,)]


def test_a_second_process_0_is_refused_at_once():
    with socket.create_server(("", 0)) as other:
        with pytest.raises(tn.ProcessError, match="is taken here"):
            meet(f"127.0.0.1:{other.getsockname()[1]}", 2, 0, ENOUGH)


def test_other_connections_do_not_disturb():
    """What says no number is dropped, and the others still meet"""
    address = f"127.0.0.1:{free_port()}"
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(meet, address, 2, 0, ENOUGH)
        while True:
            try:
                stranger = socket.create_connection(("127.0.0.1", int(address[10:])))
                break
            except ConnectionRefusedError:
                continue
        with stranger:
            stranger.sendall(b"GET / HTTP/1.1\n")
            second = pool.submit(meet, address, 2, 1, ENOUGH)
            assert (first.result(), second.result()) == (None, None)


@pytest.mark.parametrize("given", [(None, None, None), ("nowhere", 2, 0), ("a:1", 2, 2)])
def test_what_jax_finds_or_refuses_is_left_to_it(given):
    assert meet(*given, SHORT) is None
