"""An operation is its class and its parameters, and equal parameters are one object."""

import copy
import gc
import pickle
import struct
import weakref
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest
from toy_graphs import Add, Const, Dup, Neg, Scale, Sum, six_threads

from tenferro.computegraph import GraphError, Operation, derive, infer, input_key


class Window(Operation):
    low: int
    high: int = 8
    note: ClassVar[str] = "not a parameter"

    def __post_init__(self):
        self._set(low=int(self.low))


class Wide(Window):
    axes: tuple = ()


class Wrong(Operation):
    output_count = 2

    def abstract_eval(self, x):
        return (x,)


def bits(pattern):
    return struct.unpack("<d", struct.pack("<Q", pattern))[0]


@pytest.mark.parametrize(
    "first, second",
    [
        (Add(), Add()),
        (Scale(2.0), Scale(by=2.0)),
        (Window(1), Window(1, 8)),
        (Window(1), Window(high=8, low=1)),
        (Window(1), Window("1")),
        (Wide(1, 8, (0, 1)), Wide(1, axes=(0, 1))),
        (Const(float("nan")), Const(float("nan"))),
        (Const((1, (2.0, "x"))), Const((1, (2.0, "x")))),
        (Const(frozenset({1, 2})), Const(frozenset({2, 1}))),
    ],
)
def test_equal_parameters_are_the_same_object(first, second):
    assert first is second
    assert hash(first) == hash(second)


class Pair(NamedTuple):
    value: object


@dataclass(frozen=True)
class Record:
    value: object


class Length(float):
    """A number of another class, as those of NumPy are."""


@pytest.mark.parametrize(
    "first, second",
    [
        (1, 1.0),
        (1, True),
        (1.0, True),
        (0, False),
        (0.0, -0.0),
        (1 + 0j, 1.0),
        (complex(0.0, -0.0), complex(0.0, 0.0)),
        (complex(-0.0, 0.0), complex(0.0, 0.0)),
        (bits(0x7FF8000000000000), bits(0x7FF8000000000001)),
        ((1,), (True,)),
        ((1, (2,)), (1, (2.0,))),
        ((0.0,), (-0.0,)),
        ("1", 1),
        (b"x", "x"),
        ((), None),
        (frozenset({1}), frozenset({1.0})),
        (frozenset({1}), (1,)),
        (Pair(1), Pair(True)),
        (Pair(0.0), Pair(-0.0)),
        (Record(1), Record(1.0)),
        (Length(0.0), Length(-0.0)),
    ],
)
def test_distinct_parameters_stay_distinct(first, second):
    assert Const(first) is not Const(second)
    assert Const(first) != Const(second)


def test_classes_without_parameters_are_distinct():
    assert Add() is not Neg()
    assert len({Add(), Neg(), Dup(), Add()}) == 3


def test_parameters_are_what_was_given():
    assert Wide(1, 2, (3,)).parameters == {"low": 1, "high": 2, "axes": (3,)}
    assert list(Wide(1).parameters) == ["low", "high", "axes"]
    assert str(Const(-0.0).value) == "-0.0"
    assert type(Const(True).value) is bool


def test_an_operation_is_frozen():
    with pytest.raises(AttributeError, match="immutable"):
        Scale(2.0).by = 3.0
    with pytest.raises(AttributeError, match="immutable"):
        del Scale(2.0).by


@pytest.mark.parametrize("operation", [Add(), Const(-0.0), Const((1, True)), Wide(1, 2, (3,))])
def test_pickles_and_copies_are_the_same_object(operation):
    assert pickle.loads(pickle.dumps(operation)) is operation
    assert copy.copy(operation) is operation
    assert copy.deepcopy(operation) is operation


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Scale(),
        lambda: Scale(1.0, 2.0),
        lambda: Scale(1.0, by=2.0),
        lambda: Scale(to=1.0),
        lambda: Add(1),
        lambda: Const([1]),
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(TypeError):
        wrong()


def test_names_are_snake_case_by_default():
    assert (Add.name, Window.name, Const.name) == ("add", "window", "const")
    assert type("ReduceSum", (Operation,), {}).name == "reduce_sum"
    assert type("DotGeneral2", (Operation,), {}).name == "dot_general2"


def test_an_operation_prints_its_parameters():
    assert repr(Wide(1, 2, (3,))) == "Wide(low=1, high=2, axes=(3,))"


def test_an_operation_goes_when_nobody_holds_it_and_many_others_were_made():
    alive = weakref.ref(Const("nobody holds this"))
    for i in range(5000):
        Const(i)
    gc.collect()
    assert alive() is None


def test_avals_are_inferred_once_per_operation_and_avals():
    seen = []
    operation = type("Seen", (Operation,), {"abstract_eval": lambda self, x: seen.append(x) or x})()
    assert [infer(operation, (a,)) for a in ("f64", "f64", "i32")] == [("f64",), ("f64",), ("i32",)]
    assert seen == ["f64", "i32"]


def test_the_default_aval_is_unknown():
    assert infer(type("Two", (Operation,), {"output_count": 2})(), ("f64",)) == (None, None)


def test_a_wrong_number_of_avals_is_an_error():
    with pytest.raises(GraphError, match="need 2, which is its output_count") as error:
        derive(Wrong(), [input_key("x", "f64")])
    assert error.value.operation is Wrong()


def test_a_variadic_operation_takes_any_number_of_inputs():
    values = [input_key(i) for i in range(5)]
    assert len(derive(Sum(), values)[0].inputs) == 5


def test_threads_agree_on_one_object(impatient_threads):
    made = six_threads(lambda _: [Scale(float(i)) for i in range(2000)])
    assert all(len({id(operation) for operation in same}) == 1 for same in zip(*made, strict=True))
