"""``outputs``: what nobody reads is not computed, what is computed anyway is not computed twice."""

import pytest
from graphs import after, apply, graph_of, short, value

from tenferro.passes import optimized
from tenferro.primitives.constants import Iota
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.linalg.eig import Eig, Eigvals
from tenferro.primitives.linalg.eigh import Eigh, Eigvalsh
from tenferro.primitives.linalg.svd import Svd, Svdvals
from tenferro.primitives.sorting import Sort

a, b = value("a", shape=(4, 4)), value("b", shape=(4, 4))
ALONE = [(Svd, Svdvals, 1), (Eigh, Eigvalsh, 0), (Eig, Eigvals, 0)]


@pytest.mark.parametrize("whole, alone, slot", ALONE)
def test_values_alone_need_no_vectors(whole, alone, slot):
    read = apply(Exp(), apply(whole(), a)[slot])
    assert after(["outputs"], read) == short(graph_of(apply(Exp(), apply(alone(), a))))


@pytest.mark.parametrize("whole, alone, slot", ALONE)
def test_values_are_those_of_the_vectors(whole, alone, slot):
    """In whatever order: a function comes before its derivative, which needs the vectors"""
    values, vectors = apply(Exp(), apply(alone(), a)), apply(whole(), a)
    wanted = graph_of(apply(Exp(), apply(whole(), a)[slot]), vectors[1 - slot])
    assert after(["outputs"], values, vectors[1 - slot]) == short(wanted)
    assert after(["outputs"], vectors[1 - slot], values) == short(
        graph_of(vectors[1 - slot], apply(Exp(), vectors[slot]))
    )


def test_values_of_another_matrix_are_computed():
    graph = graph_of(apply(Svdvals(), a), apply(Svd(), b)[0])
    assert optimized(graph, ["outputs"])[0] is graph


def test_a_decomposition_that_is_read_stays():
    graph = graph_of(*apply(Svd(), a))
    assert optimized(graph, ["outputs"])[0] is graph


def test_two_gauges_are_two_decompositions():
    graph = graph_of(*apply(Eigh(), a), *apply(Eigh("canonical"), a))
    assert optimized(graph, ["outputs"])[0] is graph


def test_what_is_for_derivatives_alone_is_forgotten():
    u, s, vh = apply(Svd(epsilon=1e-6), a)
    again = apply(Svd(epsilon=1e-3), a)[0]
    plain = apply(Svd(), a)
    assert after(["outputs"], u, s, vh, again) == short(graph_of(*plain, plain[0]))


def test_a_backend_without_the_values_keeps_the_decomposition():
    graph = graph_of(apply(Svd(), a)[1])
    assert optimized(graph, ["outputs"], lambda cls: cls is not Svdvals)[0] is graph


def test_what_is_sorted_along_for_nobody_is_dropped():
    keys, _, third = apply(Sort(1, 1, 3), a, b, a)
    wanted = apply(Sort(1, 1, 2), a, a)
    assert after(["outputs"], keys, third) == short(graph_of(*wanted, inputs=[a, b]))


def test_a_second_key_is_needed_for_the_order():
    graph = graph_of(apply(Sort(1, 2, 2), a, b)[0])
    assert optimized(graph, ["outputs"])[0] is graph


def test_sorted_once_with_the_positions():
    alone = apply(Exp(), apply(Sort(1, 1, 1), a))
    both = apply(Sort(1, 1, 2), a, apply(Iota((4, 4), 1, "i64")))
    wanted = graph_of(apply(Exp(), both[0]), both[1])
    assert after(["outputs"], alone, both[1]) == short(wanted)


def test_sorted_along_another_axis_is_sorted_twice():
    both = apply(Sort(0, 1, 2), a, apply(Iota((4, 4), 1, "i64")))
    graph = graph_of(apply(Sort(1, 1, 1), a), both[1])
    assert optimized(graph, ["outputs"])[0] is graph
