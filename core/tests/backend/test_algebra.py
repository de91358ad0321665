"""Backends made of one object: max-plus numbers, and what an algebra lacks."""

from fractions import Fraction
from itertools import product
from math import inf

import pytest

from tenferro.backend import (
    AlgebraBackend,
    MissingLoweringError,
    PluginHost,
    UnsupportedError,
    lowerings_of,
    select_backend,
    use,
)
from tenferro.backend.algebra import operations_of
from tenferro.primitives import (
    Aval,
    TensorPrimitive,
    argmax,
    dot_general,
    exp,
    maximum,
    reduce_max,
    reduce_sum,
)
from tenferro.tidu import pullback


class Grid:
    """An array of numbers in nested positions: a shape and a dict."""

    dtype = "float64"

    def __init__(self, shape, values):
        self.shape = tuple(shape)
        places = list(product(*map(range, self.shape)))
        self.values = (
            dict(zip(places, values, strict=True))
            if not callable(values)
            else {place: values(place) for place in places}
        )

    def copy(self):
        return Grid(self.shape, self.values.values())

    def __eq__(self, other):
        return (self.shape, self.values) == (other.shape, other.values)


def fold(values):
    """The max-plus sum."""
    return max(values, default=-inf)


class MaxPlus:
    """x ⊕ y = max(x, y), x ⊗ y = x + y; there is no −x."""

    def add(self, x, y):
        return Grid(x.shape, lambda place: max(x.values[place], y.values[place]))

    def mul(self, x, y):
        return Grid(x.shape, lambda place: x.values[place] + y.values[place])

    def conj(self, x):
        return x

    def transpose(self, x, *, permutation):
        shape = [x.shape[axis] for axis in permutation]
        back = [permutation.index(axis) for axis in range(len(permutation))]
        return Grid(shape, lambda place: x.values[tuple(place[i] for i in back)])

    def reduce_sum(self, x, *, axes):
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        return Grid(
            [x.shape[axis] for axis in kept],
            lambda place: fold(
                v for p, v in x.values.items() if tuple(p[axis] for axis in kept) == place
            ),
        )

    def dot_general(self, lhs, rhs, *, lhs_contract, rhs_contract, lhs_batch, rhs_batch, preferred):
        assert (lhs_batch, rhs_batch) == ((), ())
        left = [a for a in range(len(lhs.shape)) if a not in lhs_contract]
        right = [a for a in range(len(rhs.shape)) if a not in rhs_contract]
        shape = [lhs.shape[a] for a in left] + [rhs.shape[a] for a in right]

        def at(place):
            ours, theirs = place[: len(left)], place[len(left) :]
            return fold(
                a + b
                for p, a in lhs.values.items()
                for q, b in rhs.values.items()
                if tuple(p[i] for i in left) == ours
                and tuple(q[i] for i in right) == theirs
                and [p[i] for i in lhs_contract] == [q[i] for i in rhs_contract]
            )

        return Grid(shape, at)


@pytest.fixture
def backend():
    return AlgebraBackend(MaxPlus())


A = Grid((2, 2), [1.0, 5.0, 2.0, -inf])
B = Grid((2, 2), [0.0, 3.0, 4.0, 1.0])


def test_the_backend_is_named_after_the_algebra_and_lists_what_it_has(backend):
    assert backend.name == "maxplus"
    assert list(backend.lowerings) == [
        "std::add",
        "std::conj",
        "std::dot_general",
        "std::mul",
        "std::reduce_sum",
        "std::transpose",
    ]


def test_a_contraction_runs_over_max_plus(backend, variable, program):
    a, b = variable("a", (2, 2)), variable("b", (2, 2))
    run = backend.compile(program([a, b], [dot_general(a, b, (1,), (0,))]), ())
    assert run(A, B) == (Grid((2, 2), [9.0, 6.0, 2.0, 5.0]),)


def test_a_program_of_several_operations(backend, variable, program):
    a, b = variable("a", (2, 2)), variable("b", (2, 2))
    run = backend.compile(
        program([a, b], [reduce_sum(dot_general(a, b, (1,), (0,)) + b, (0,))]), ()
    )
    assert run(A, B) == (Grid((2,), [9.0, 6.0]),)


def test_the_derivative_of_a_contraction_runs_over_max_plus(backend, variable, program):
    """ct_a = ct ⊗ bᵀ"""
    a, b, ct = (variable(name, (2, 2)) for name in ("a", "b", "ct"))
    out = dot_general(a, b, (1,), (0,))
    (ct_a,) = pullback([out.key], [a.key], [ct], space=TensorPrimitive.space)
    run = backend.compile(program([b, ct], [ct_a]), ())
    transposed = Grid((2, 2), [0.0, 4.0, 3.0, 1.0])
    assert run(B, A) == (
        MaxPlus().dot_general(
            A,
            transposed,
            lhs_contract=(1,),
            rhs_contract=(0,),
            lhs_batch=(),
            rhs_batch=(),
            preferred=None,
        ),
    )


def test_what_the_algebra_lacks_is_missing_by_name(backend, variable, program):
    a = variable("a", (2, 2))
    with pytest.raises(MissingLoweringError) as caught:
        backend.compile(program([a], [-a, exp(a)]), ())
    assert {gap.primitive for gap in caught.value.gaps} == {"std::neg", "std::exp"}
    assert caught.value.backend == "maxplus"


def test_results_are_the_algebras_operands_and_fresh(backend, variable, program):
    a = variable("a", (2, 2))
    (result,) = backend.compile(program([a], [a]), ())(A)
    assert result == A
    assert result is not A


def test_operands_are_described_and_taken_as_they_are(backend):
    assert backend.aval_of(A) is Aval((2, 2), "float64")
    assert backend.asoperand(A, backend.aval_of(A)) is A
    assert backend.owns(A) is False
    with pytest.raises(UnsupportedError, match="define `to_numpy"):
        backend.to_numpy(A)


def test_an_algebra_may_say_more(variable, program):
    class Modular:
        """Integers modulo 7."""

        add = staticmethod(lambda x, y: (x + y) % 7)
        constant = staticmethod(lambda *, value, dtype, shape: int(value) % 7)
        asoperand = staticmethod(lambda value, aval: int(value) % 7)
        to_numpy = staticmethod(lambda operand: operand)
        aval_of = staticmethod(lambda operand: Aval((), "int64"))
        owns = staticmethod(lambda value: isinstance(value, int))

    x = variable("x", (), "int64")
    backend = AlgebraBackend(Modular(), name="mod7")
    run = backend.compile(program([x], [x + 9]), ())
    assert run(backend.asoperand(13, None)) == (1,)
    assert (backend.to_numpy(3), backend.owns(3), repr(backend)) == (
        3,
        True,
        "<AlgebraBackend 'mod7'>",
    )


def _rows(x, axis):
    """The values along an axis, by the place in the other one."""
    return lambda place: [x.values[(k, *place) if axis == 0 else (*place, k)] for k in (0, 1)]


class Semiring(MaxPlus):
    """Numbers under two functions of two of them, in order; contraction is one of matrices."""

    def __init__(self, plus, times):
        self.plus, self.times = plus, times

    def dot_general(self, lhs, rhs, *, lhs_contract, rhs_contract, **_):
        assert (lhs_contract, rhs_contract) == ((1,), (0,))
        rows, columns = _rows(lhs, 1), _rows(rhs, 0)

        def at(place):
            pairs = zip(rows(place[:1]), columns(place[1:]), strict=True)
            return self.plus(*[self.times(a, b) for a, b in pairs])

        return Grid((2, 2), at)

    def maximum(self, x, y):
        return Grid(x.shape, lambda place: max(x.values[place], y.values[place]))

    def reduce_max(self, x, *, axes):
        return Grid((2,), lambda place: max(_rows(x, *axes)(place)))

    def argmax(self, x, *, axis, dtype):
        def at(place):
            values = _rows(x, axis)(place)
            return values.index(max(values))

        return Grid((2,), at)


# plus, times, a matrix, its square
SEMIRINGS = {
    "reachability": (
        lambda a, b: a or b, lambda a, b: a and b, [False, True, True, False],
        [True, False, False, True],
    ),
    "shortest paths": (min, lambda a, b: a + b, [0.0, 5.0, 2.0, 0.0], [0.0, 5.0, 2.0, 0.0]),
    "fractions": (
        lambda a, b: a + b, lambda a, b: a * b, [Fraction(1, n) for n in (2, 3, 4, 5)],
        [Fraction(1, 3), Fraction(7, 30), Fraction(7, 40), Fraction(37, 300)],
    ),
    "intervals": (
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        lambda a, b: (min(p := [x * y for x in a for y in b]), max(p)),
        [(1, 2), (-1, 1), (0, 3), (2, 2)],
        [(-2, 7), (-4, 4), (0, 12), (1, 7)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEMIRINGS)
def test_other_algebras_contract_and_compare(variable, program, name):
    plus, times, values, square = SEMIRINGS[name]
    backend = AlgebraBackend(Semiring(plus, times))
    a = variable("a", (2, 2))
    outputs = [dot_general(a, a, (1,), (0,)), maximum(a, a), reduce_max(a, (1,)), argmax(a, 1)]
    product_, same, best, at = backend.compile(program([a], outputs), ())(Grid((2, 2), values))
    assert list(product_.values.values()) == square
    assert list(same.values.values()) == values
    rows = [values[:2], values[2:]]
    assert list(best.values.values()) == [max(row) for row in rows]
    assert list(at.values.values()) == [row.index(max(row)) for row in rows]


def test_an_algebra_is_chosen_as_an_object(backend):
    assert select_backend(backend) is backend
    with use(backend):
        assert select_backend() is backend


class Shouting:
    """Text under a primitive that no contraction needs."""

    def exp(self, x):
        return f"e^{x}"

    def helper(self, x):
        raise AssertionError("is not a primitive")

    bind = None

    def aval_of(self, operand):
        return Aval((), "float64")


def test_any_primitive_of_the_standard_set_may_be_a_method(variable, program):
    backend = AlgebraBackend(Shouting())
    assert [record.primitive for record in lowerings_of(Shouting())] == ["std::exp"]
    x = variable("x")
    run = backend.compile(program([x], [exp(exp(x))]), ())
    assert run("x") == ("e^e^x",)


def test_every_key_of_the_standard_set_is_known_by_the_name_of_its_class():
    keys = PluginHost(autoload=False).primitives()
    named = type("Named", (), {key.removeprefix("std::"): len for key in keys})
    assert set(operations_of(named())) == {key.removeprefix("std::") for key in keys}
