"""``systems``: outer products, numbers and triangular factors in linear systems."""

import pytest
from graphs import apply, graph_of, short, value

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.comparison import Ge, Gt, Select
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.indexing import ScatterAdd
from tenferro.primitives.linalg.cholesky import (
    Cholesky,
    CholeskyCotangent,
    CholeskyDiagonalCotangent,
    CholeskyTangent,
)
from tenferro.primitives.linalg.linear_solve import LinearSolve
from tenferro.primitives.linalg.lu import Lu
from tenferro.primitives.linalg.triangular_solve import TriangularSolve
from tenferro.primitives.structural import BroadcastInDim, Pad, Reshape, Transpose

N = 4
a, u, v, y = (
    value("a", shape=(N, N)),
    *[value(name, shape=(N,)) for name in "uvy"],
)
b, c = value("b", shape=(N, 3)), value("c", shape=())
column = value("q", shape=(N, 1))
complex_ = value("z", "c128", (N, N))


def outer(x, z, shape=(N, N)):
    return apply(
        Mul(), apply(BroadcastInDim(shape, (0,)), x), apply(BroadcastInDim(shape, (1,)), z)
    )


def times(x, key):
    return apply(Mul(), apply(BroadcastInDim(key.aval.shape, ()), x), key)


def lower(key):
    rows, columns = (apply(Iota((N, N), axis, "i32")) for axis in (0, 1))
    nothing = apply(Constant(0.0, "f64", (N, N)))
    return apply(Select(), apply(Ge(), rows, columns), key, nothing)


def solve(matrix, rhs, **how):
    return apply(TriangularSolve(**how), matrix, rhs)


def general(matrix, rhs, adjoint=False):
    factors, _, permutation = apply(Lu(), matrix)
    return apply(LinearSolve(adjoint), matrix, factors, permutation, rhs)


def alone(cls):
    """A backend that knows no cotangent of a Cholesky factor but the adjoint of the tangent."""
    return cls not in (CholeskyCotangent, CholeskyDiagonalCotangent)


def of_diagonals(cls):
    """A backend that knows the cotangent of a Cholesky factor by its diagonal."""
    return cls is not CholeskyCotangent


def names(*outputs, passes=("systems",), can=lambda cls: True):
    """The operations of the rewritten graph, in order, without attributes."""
    inputs = sorted(graph_of(*outputs).inputs, key=lambda key: key.serial)
    graph = optimized(graph_of(*outputs, inputs=inputs), list(passes), can)[0]
    return [node[0].key.removeprefix("std::") for node in graph.nodes]


factor = apply(Cholesky(), a)
z = solve(factor, column)
w = solve(factor, z, transposed=True)


def vector(key):
    return apply(Reshape((N,)), key)


def cotangent(ct, adjoint=True, matrix=factor):
    return apply(CholeskyTangent(adjoint), matrix, ct)


ONE_RIGHT_HAND_SIDE = {
    "triangular": solve(a, outer(u, v)),
    "from the right": solve(a, outer(u, v), left=False),
    "a minus": solve(a, apply(Neg(), outer(u, v))),
    "general": general(a, outer(u, v)),
    "adjoint": general(a, outer(u, v), adjoint=True),
    "the other order": solve(
        a,
        apply(
            Mul(), apply(BroadcastInDim((N, N), (1,)), u), apply(BroadcastInDim((N, N), (0,)), v)
        ),
    ),
}


@pytest.mark.parametrize("name", ONE_RIGHT_HAND_SIDE)
def test_an_outer_product_is_one_right_hand_side(name):
    found = names(ONE_RIGHT_HAND_SIDE[name])
    (place,) = [i for i, each in enumerate(found) if each.endswith("solve")]
    assert found[place - 1] == found[place + 1] == "reshape"
    assert found[-1] == "mul"


def test_a_number_goes_behind_a_solution_that_is_there():
    half = apply(Constant(0.5, "f64", ()))

    def solves(*outputs):
        return names(*outputs, passes=("systems", "cse")).count("triangular_solve")

    assert solves(solve(a, b), solve(a, times(half, b))) == 1
    assert solves(solve(a, b), solve(a, apply(Neg(), times(c, b)))) == 1
    assert solves(solve(a, b), solve(a, times(c, b), transposed=True)) == 2
    alone = graph_of(solve(a, times(c, b)))
    assert optimized(alone, ["systems", "cse"])[0] is alone


BY_FACTOR = {
    "L": (general(factor, b), "transposed=False, conjugated=False"),
    "L, adjoint": (general(factor, b, adjoint=True), "transposed=True, conjugated=False"),
    "Lᵀ": (general(apply(Transpose((1, 0)), factor), b), "transposed=True, conjugated=False"),
    "Lᵀ, adjoint": (
        general(apply(Transpose((1, 0)), factor), b, adjoint=True),
        "transposed=False, conjugated=False",
    ),
    "complex L, adjoint": (
        general(apply(Cholesky(), complex_), value("r", "c128", (N, 2)), adjoint=True),
        "transposed=True, conjugated=True",
    ),
}


@pytest.mark.parametrize("name", BY_FACTOR)
def test_a_system_with_a_cholesky_factor_is_triangular(name):
    output, how = BY_FACTOR[name]
    text = short(optimized(graph_of(output), ["systems"])[0])
    assert f"lower=True, {how}" in text
    assert " lu" not in text
    assert "linear_solve" not in text


def test_other_systems_keep_their_factors():
    turned = apply(Transpose((1, 0)), apply(Cholesky(), complex_))
    for output in (general(a, b), general(turned, value("s", "c128", (N, 2)))):
        graph = graph_of(output)
        assert optimized(graph, ["systems"])[0] is graph


# Made by each test: a mask that other tests evaluate meanwhile is no longer an equation.
SQUARES = {
    "wzᵀ": lambda: outer(vector(w), vector(z)),
    "masked, subtracted": lambda: apply(Neg(), lower(outer(vector(w), vector(z)))),
    "a multiple of w": lambda: outer(times(c, vector(w)), vector(z)),
    "a multiple inside": lambda: outer(
        vector(solve(factor, times(c, z), transposed=True)), vector(z)
    ),
    "two terms": lambda: apply(
        Sub(),
        outer(vector(w), apply(Neg(), vector(solve(factor, times(c, column))))),
        outer(vector(solve(factor, solve(factor, times(c, column)), transposed=True)), vector(z)),
    ),
}


@pytest.mark.parametrize("name", SQUARES)
def test_the_cotangent_of_a_quadratic_form_is_an_outer_product(name):
    found = names(cotangent(SQUARES[name]()))
    assert "cholesky_tangent" not in found
    assert found[-1] == "select"


def scattered(ct):
    """The cotangent of a diagonal, added into another one."""
    places, values = value("i", "i64", (N, 2)), value("d", shape=(N,))
    return apply(ScatterAdd((), (0, 1), (0, 1), "clip"), ct, places, values)


def test_what_is_scattered_into_it_is_apart():
    found = names(cotangent(scattered(SQUARES["wzᵀ"]())), can=alone)
    assert [found.count(name) for name in ("cholesky_tangent", "scatter_add")] == [1, 1]
    assert found.index("scatter_add") < found.index("cholesky_tangent")
    assert found[-1] == "add"


def flat_diagonal(interior, filling):
    """A vector in one row of numbers that are N² together."""
    number = apply(Constant(filling, "f64", ()))
    high = N * N - N - (N - 1) * interior
    return apply(Pad((0,), (high,), (interior,)), value("d", shape=(N,)), number)


def diagonal(interior, filling=0.0):
    """The row of ``flat_diagonal`` as a matrix; with interior N the vector is its diagonal."""
    return apply(Reshape((N, N)), flat_diagonal(interior, filling))


def padded(ct):
    """The cotangent of a diagonal as a slice, added to another one in one row."""
    flat = apply(Add(), flat_diagonal(N, 0.0), apply(Reshape((N * N,)), ct))
    return apply(Reshape((N, N)), flat)


def test_what_is_padded_into_it_is_apart():
    found = names(cotangent(padded(lower(SQUARES["wzᵀ"]()))), can=alone)
    assert [found.count(name) for name in ("cholesky_tangent", "pad")] == [1, 1]
    assert found.index("pad") < found.index("cholesky_tangent")
    assert found[-1] == "add"


DIAGONALS = {
    "alone": (lambda: diagonal(N), True),
    "beside a quadratic form": (lambda: padded(lower(SQUARES["wzᵀ"]())), True),
    "around other numbers": (lambda: diagonal(N, filling=1.0), False),
    "beside the diagonal": (lambda: diagonal(N - 1), False),
    "of a dense matrix": (lambda: a, False),
}


@pytest.mark.parametrize("name", DIAGONALS)
def test_the_cotangent_of_a_diagonal_is_a_vector(name):
    ct, holds = DIAGONALS[name]
    found = names(cotangent(ct()), can=of_diagonals)
    assert ("cholesky_diagonal_cotangent" in found) is holds
    assert ("cholesky_tangent" in found) is not holds
    assert "cholesky_tangent" in names(cotangent(ct(), adjoint=False), can=of_diagonals)


RESTS = {
    "padded": lambda: padded(lower(SQUARES["wzᵀ"]())),
    "scattered": lambda: scattered(SQUARES["wzᵀ"]()),
    "dense": lambda: apply(Add(), a, SQUARES["a multiple inside"]()),
    "subtracted": lambda: apply(Sub(), a, lower(SQUARES["wzᵀ"]())),
    "two": lambda: apply(Add(), apply(Add(), SQUARES["two terms"](), a), a),
}


@pytest.mark.parametrize("name", RESTS)
def test_a_backend_adds_to_the_cotangent_of_the_rest(name):
    found = names(cotangent(RESTS[name]()))
    assert found[-1] == "cholesky_cotangent"
    assert not {"cholesky_tangent", "select"} & set(found)


OTHERS = {
    "zwᵀ": outer(vector(z), vector(w)),
    "two vectors": outer(vector(w), u),
    "of another factor": outer(vector(solve(a, z, transposed=True)), vector(z)),
    "not transposed": outer(vector(solve(factor, z)), vector(z)),
    "the upper triangle": outer(vector(solve(factor, z, transposed=True, lower=False)), vector(z)),
    "a dense rest": apply(Add(), outer(vector(w), vector(z)), a),
    "the strict triangle": apply(
        Select(),
        apply(Gt(), *[apply(Iota((N, N), axis, "i32")) for axis in (0, 1)]),
        outer(vector(w), vector(z)),
        apply(Constant(0.0, "f64", (N, N))),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_cotangents_stay(name):
    assert "cholesky_tangent" in names(cotangent(OTHERS[name]), can=alone)


def test_tangents_stay():
    """A tangent of the factor stays as it is: only cotangents have a primitive of their own"""
    assert "cholesky_tangent" in names(cotangent(SQUARES["wzᵀ"](), adjoint=False))
