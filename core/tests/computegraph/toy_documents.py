"""Graphs to write and read again, types of upper layers, and their codecs."""

import struct
from enum import Enum

from toy_graphs import (
    OPERATIONS,
    Alias,
    Const,
    Mul,
    Scale,
    add,
    chain,
    derive_one,
    dup,
    exp,
    flat,
    input_key,
    mul,
    names,
    program,
)

from tenferro.computegraph import Graph, Linearized, Operation
from tenferro.storage import Codec, from_json, to_json


class Kind(Enum):
    SINGLE = 4
    DOUBLE = 8


class Shaped:
    """A stand-in for the aval of an upper layer."""

    def __init__(self, shape, kind):
        self.shape, self.kind = shape, kind

    def __eq__(self, other):
        return (self.shape, self.kind) == (other.shape, other.kind)

    def __hash__(self):
        return hash((self.shape, self.kind))


class Cast(Operation):
    key = "toy::cast"
    version = 3
    to: Kind

    def abstract_eval(self, x):
        return Shaped(x.shape, self.to)


class Body(Operation):
    body: object


class Opaque:
    def __init__(self, inside):
        self.inside = inside


CODECS = {
    "kind": Codec(Kind, lambda kind: kind.name, lambda name: Kind[name]),
    "aval": Codec(Shaped, lambda a: (a.shape, a.kind), lambda parts: Shaped(*parts)),
}


DEEP = {"opaque": Codec(Opaque, lambda value: value.inside, Opaque)}


FORMS = {
    "graph": lambda inputs, outputs: Graph.of(inputs, outputs),
    "materialized": lambda inputs, outputs: flat(outputs, inputs),
    "program": lambda inputs, outputs: program(outputs, inputs),
}


def nan(pattern):
    return struct.unpack("<d", struct.pack("<Q", pattern))[0]


def nested(depth):
    value = ()
    for _ in range(depth):
        value = (value,)
    return value


def samples():
    x, y = names("x", "y")
    first, second = dup(exp(x))
    linear = derive_one(Mul(), (x, y), Linearized((False, True), transposed=True))
    return {
        "chain": ([x], [exp(chain(x, 3))]),
        "sharing": ([y, x], [add(exp(x), mul(exp(x), y)), x]),
        "slots": ([x, y], [mul(first, y), second, second]),
        "roles": ([x, y], [linear, mul(x, y)]),
        "parameters": ([x], [derive_one(Scale(-0.0), (x,)), derive_one(Const((1, 1.0)), ())]),
        "names": ([input_key(("x", 1)), input_key(("x", True)), input_key(2.5)], []),
        "pin": ([x], [derive_one(Alias(3), (x,))]),
        "empty": ([], []),
    }


def reread(graph, **options):
    return from_json(to_json(graph, **options), operations=OPERATIONS, **options)
