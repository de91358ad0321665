"""``systems``: one factorization of each large matrix, and no inverse that only multiplies."""

import pytest
from graphs import apply, graph_of, value

from tenferro.passes import optimized
from tenferro.primitives.comparison import Eq
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.linalg.cholesky import Cholesky
from tenferro.primitives.linalg.linear_solve import LinearSolve
from tenferro.primitives.linalg.lu import Lu
from tenferro.primitives.linalg.slogdet import Slogdet
from tenferro.primitives.linalg.system_factors import SystemFactors, SystemSolve
from tenferro.primitives.structural import BroadcastInDim, Convert, Pad, Reshape

N = 64


def matrix(name="a", n=N, dtype="f64", lead=()):
    return value(name, dtype, (*lead, n, n))


def identity(n=N, dtype="f64", dimensions=(0, 1)):
    counts = [apply(Iota((n, n), d, "i32")) for d in dimensions]
    return apply(Convert(dtype), apply(Eq(), *counts))


def solve(a, b, adjoint=False):
    factors, _, permutation = apply(Lu(), a)
    return apply(LinearSolve(adjoint), a, factors, permutation, b)


def times(x, y, lhs, rhs):
    return apply(DotGeneral((lhs,), (rhs,), (), ()), x, y)


def names(*outputs, can=lambda cls: True):
    """The operations of linear algebra in the rewritten graph, in order."""
    graph = optimized(graph_of(*outputs), ["systems", "cse"], can)[0]
    found = [node[0].key.removeprefix("std::") for node in graph.nodes]
    words = ("lu", "solve", "system", "slogdet", "cholesky")
    return [name for name in found if any(word in name for word in words)]


def without(*classes):
    return lambda cls: cls not in classes


a, few, y = matrix(), value("b", shape=(N, 3)), value("y", shape=(N,))
inverse = solve(a, identity())
ONE = {
    "a system": ([solve(a, few)], ["system_factors", "system_solve"]),
    "a determinant": (apply(Slogdet(), a), ["system_factors", "system_slogdet"]),
    "both": (
        [solve(a, few), apply(Slogdet(), a)[1]],
        ["system_factors", "system_solve", "system_slogdet"],
    ),
    "the adjoint system": (
        [solve(a, few), solve(a, few, adjoint=True)],
        ["system_factors", "system_solve", "system_solve"],
    ),
    "a stack": (
        [solve(matrix("m", lead=(2,)), value("n", shape=(2, N, 2)))],
        ["system_factors", "system_solve"],
    ),
    "a Cholesky factor behind": (
        [solve(a, few), apply(Cholesky(), a)],
        ["cholesky", "system_factors", "system_solve"],
    ),
    "a Cholesky factor before": (
        [apply(Cholesky(), a), apply(Slogdet(), a)[0]],
        ["cholesky", "system_factors", "system_slogdet"],
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_one_factorization(name):
    """Results that need the same factorization share it"""
    outputs, found = ONE[name]
    assert names(*outputs) == found


def factors_and_systems():
    """Somebody reads the factors themselves."""
    factors, _, permutation = apply(Lu(), a)
    return [apply(LinearSolve(), a, factors, permutation, few), factors]


def pivots_and_systems():
    factors, pivots, permutation = apply(Lu(), a)
    return [apply(LinearSolve(), a, factors, permutation, few), pivots]


def factors_as_a_right_hand_side():
    factors, _, permutation = apply(Lu(), a)
    return [apply(LinearSolve(), a, factors, permutation, factors)]


def factors_and_determinant():
    return [apply(Lu(), a)[0], apply(Slogdet(), a)[1]]


def another_permutation():
    factors, _, _ = apply(Lu(), a)
    return [apply(LinearSolve(), a, factors, apply(Lu(), matrix("c"))[2], few)]


STAYS = {
    "factors": factors_and_systems,
    "pivots": pivots_and_systems,
    "factors, as a right-hand side": factors_as_a_right_hand_side,
    "factors, beside a determinant": factors_and_determinant,
    "another permutation": another_permutation,
    "small": lambda: [solve(matrix("m", 63), value("n", shape=(63, 2)))],
    "a stack of 33 rows": lambda: [solve(matrix("m", 33, lead=(9,)), value("n", shape=(9, 33, 2)))],
}


@pytest.mark.parametrize("name", STAYS)
def test_other_factorizations_stay(name):
    assert not any(["system_" in found for found in names(*STAYS[name]())])


def test_a_backend_without_them():
    assert names(solve(a, few), can=without(SystemFactors)) == ["lu", "linear_solve"]


def padded(n=N, low=0, step=N, one=1.0):
    """An identity matrix as ones between zeros, or something like it."""
    ones, zero = apply(Constant(one, "f64", (n,))), apply(Constant(0.0, "f64", ()))
    high = N * N - low - (n - 1) * (step + 1) - 1
    return apply(Reshape((N, N)), apply(Pad((low,), (high,), (step,)), ones, zero))


PRODUCTS = {
    "padded ones": (times(solve(a, padded()), y, 1, 0), "linear_solve[adjoint=False]"),
    "a⁻¹ y": (times(inverse, y, 1, 0), "linear_solve[adjoint=False]"),
    "y a⁻¹": (times(y, inverse, 0, 0), "linear_solve[adjoint=True]"),
    "a⁻¹ b": (times(inverse, few, 1, 0), "linear_solve[adjoint=False]"),
    "bᵀ a⁻¹": (times(few, inverse, 0, 0), "linear_solve[adjoint=True]"),
    "a⁻ᴴ y": (times(solve(a, identity(), True), y, 1, 0), "linear_solve[adjoint=True]"),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_an_inverse_that_multiplies_is_not_formed(name):
    output, found = PRODUCTS[name]
    graph = optimized(graph_of(output), ["systems"], without(SystemFactors))[0]
    assert found in str(graph)
    assert "iota" not in str(graph)
    assert graph.avals[graph.outputs[0]] == output.aval


complex_ = solve(matrix("z", dtype="c128"), identity(dtype="c128"))
FORMED = {
    "is a result": (inverse, times(inverse, y, 1, 0)),
    "is read by others": (times(inverse, y, 1, 0), times(inverse, inverse, 1, 0)),
    "multiplies many": (times(inverse, value("w", shape=(N, 17)), 1, 0),),
    "multiplies a stack": (times(inverse, value("w", shape=(N, 2, 2)), 1, 0),),
    "of a complex transpose": (times(complex_, value("w", "c128", (N,)), 0, 0),),
    "reads twos": (times(solve(a, padded(one=2.0)), y, 1, 0),),
    "reads ones elsewhere": (times(solve(a, padded(N - 1, 1)), y, 1, 0),),
    "is no inverse": (times(solve(a, identity(dimensions=(0, 0))), y, 1, 0),),
}


@pytest.mark.parametrize("name", FORMED)
def test_other_inverses_are_formed(name):
    graph = optimized(graph_of(*FORMED[name]), ["systems"], without(SystemFactors))[0]
    assert "iota" in str(graph) or "pad" in str(graph)


def small(columns=32, dtype="f64"):
    return value("m", dtype, (9, 32, columns))


def inverses(a, n=32, dimensions=(1, 2), adjoint=False):
    """Systems whose right-hand sides repeat an identity matrix: inverses, as it is by default."""
    ones = apply(BroadcastInDim(a.aval.shape, dimensions), identity(n, a.aval.dtype))
    return solve(a, ones, adjoint)


def systems_of(*outputs):
    """Whether the systems of a graph are solved or products, in order."""
    graph = optimized(graph_of(*outputs), ["systems", "cse"])[0]
    names = {SystemSolve: "solve", DotGeneral: "product"}
    return [names[type(node[0])] for node in graph.nodes if type(node[0]) in names]


m, other, z = small(), small(), small(dtype="c128")
cube = value("m", shape=(32, 32, 32))
KNOWN = {
    "before a system": ([inverses(m), solve(m, other)], ["solve", "product"]),
    "behind a system": ([solve(m, other), inverses(m)], ["solve", "product"]),
    "behind the adjoint system": ([solve(m, other, True), inverses(m)], ["solve", "product"]),
    "of another stack": ([inverses(other), solve(m, other)], ["solve", "solve"]),
    "beside few columns": ([inverses(m), solve(m, small(31))], ["solve", "solve"]),
    "of the adjoint matrices": ([inverses(m, adjoint=True), solve(m, other)], ["solve", "solve"]),
    "with ones everywhere": ([inverses(m, n=1), solve(m, other)], ["solve", "solve"]),
    "with ones along another axis": (
        [inverses(cube, dimensions=(0, 1)), solve(cube, cube)],
        ["solve", "solve"],
    ),
    "of complex matrices": ([inverses(z), solve(z, z, True)], ["solve", "solve"]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_inverses_of_a_stack_multiply(name):
    outputs, wanted = KNOWN[name]
    assert systems_of(*outputs) == wanted


def test_an_inverse_is_written_once():
    graph = optimized(graph_of(inverses(m), solve(m, other), solve(m, m)), ["systems"])[0]
    assert [type(node[0]) for node in graph.nodes].count(SystemSolve) == 1


def test_known_inverses_multiply_in_the_adjoint_system_by_their_rows():
    graph = optimized(graph_of(inverses(m), solve(m, other, True)), ["systems"])[0]
    (product,) = [node[0] for node in graph.nodes if type(node[0]) is DotGeneral]
    assert (product.lhs_contract, product.rhs_contract) == ((1,), (1,))
