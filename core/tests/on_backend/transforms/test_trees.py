"""Containers of arrays go through every transform, and come back as what they were."""

import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tenferro as tn

X = np.array([1.0, 2.0, 3.0])
Pair = namedtuple("Pair", "first second")


@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any
    name: str = field(default="dense", metadata={"static": True})

    def __call__(self, x):
        return self.weight * x + self.bias


@dataclass
class Model:
    layers: list
    scale: Any = 1.0
    extra: Any = None

    def __post_init__(self):
        assert isinstance(self.layers, list)
        assert all(isinstance(layer.bias, float) for layer in self.layers), "runs once, on numbers"

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.scale * x


@dataclass(slots=True)
class Slotted:
    a: Any
    b: Any


def model():
    return Model([Layer(X, 0.5), Layer(2.0, 1.5, "last")], 3.0)


TREES = {
    "dict": {"b": X, "a": 2.0},
    "nested": [(X, {"k": 2.0}), 3.0],
    "namedtuple": Pair(X, 2.0),
    "None": [X, None, (None, 2.0)],
    "dataclass": Layer(X, 2.0),
    "dataclasses in a list in one": model(),
    "dataclass in a dict": {"m": Slotted(X, Layer(1.0, X))},
}


def leaves(tree):
    return tn.transforms._tree.flatten(tree)[0]


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("transform", [tn.jit, lambda f: f], ids=["jit", "plain"])
def test_a_tree_comes_back_as_what_it_was(transform, name):
    double = transform(lambda tree: tn.transforms._tree.map_leaves(lambda x: x * 2, tree))
    tree = TREES[name]
    for _ in range(2):
        found = double(tree)
        assert type(found) is type(tree)
        assert repr(tn.transforms._tree.flatten(found)[1]) == repr(
            tn.transforms._tree.flatten(tree)[1]
        )
        for got, given in zip(leaves(found), leaves(tree), strict=True):
            np.testing.assert_array_equal(got, given * 2)


def loss(model, x):
    return np.sum(model(x) ** 2)


@pytest.mark.parametrize("transform", [lambda g: g, tn.jit], ids=["grad", "jit of grad"])
def test_a_gradient_has_the_structure_of_its_argument(transform):
    """The derivative with respect to a field is in that field."""
    found = transform(tn.grad(loss))(model(), X)
    assert [type(layer) for layer in found.layers] == [Layer, Layer]
    assert ([layer.name for layer in found.layers], found.extra) == (["dense", "last"], None)

    def changed(step):
        return loss(Model([Layer(X, 0.5 + step), Layer(2.0, 1.5, "last")], 3.0), X)

    np.testing.assert_allclose(found.layers[0].bias, (changed(1e-5) - changed(-1e-5)) / 2e-5)
    np.testing.assert_allclose(found.scale, 2 * loss(model(), X) / 3)


def test_fields_are_leaves_in_their_order():
    assert leaves(Slotted(Slotted(1.0, 2.0), [3.0, Layer(4.0, 5.0)])) == [1, 2, 3, 4, 5]


def test_a_static_field_belongs_to_the_structure():
    """1, 1.0 and True are different structures; the values of other fields are data."""
    jitted = tn.jit(lambda layer: layer.weight * len(repr(layer.name)))
    for name in ("a", "long", 1, 1.0, True):
        for weight in (2.0, 3.0):
            assert jitted(Layer(weight, 0.0, name)) == weight * len(repr(name))
    assert jitted.cache_info().misses == 5


def test_inputs_are_named_by_their_place():
    graph = tn.trace(lambda model, pair: model(pair.first), model(), Pair(X, {"k": X}))
    text = str(graph).split("{")[0]
    for name in ("model.layers[0].weight", "model.scale", "pair.first", "pair.second['k']"):
        assert name in text


PLAIN = [  # (positional, keyword) arguments of the same leaves in other containers
    (([X, X], 2.0), {}),
    (([X], [X], 2.0), {}),
    (([[X], X], 2.0), {}),
    (([X, [X]], 2.0), {}),
    (([[X, X]], 2.0), {}),
    (((X, X), 2.0), {}),
    (([X, X], [2.0]), {}),
    (([X, None, X], 2.0), {}),
    (([X, X], None, 2.0), {}),
    (({"a": X, "b": X}, 2.0), {}),
    (({"a": X, "c": X}, 2.0), {}),
    (({"a": X}, {"b": X}, 2.0), {}),
    (({"b": X, "a": X}, 2.0), {}),
    (([], X, X, 2.0), {}),
    ((X, X, 2.0, []), {}),
    ((X, X), {"a": 2.0}),
    ((X, X), {"b": 2.0}),
    ((X, X), {"a": [2.0]}),
    ((X,), {"b": X, "a": 2.0}),
    ((X, X, {"a": 2.0}), {}),
]
ALIKE = [
    *PLAIN,
    (({0: X, 1: X}, 2.0), {}),
    ((Pair(X, X), 2.0), {}),
    ((Slotted(X, X), 2.0), {}),
]


def test_containers_that_look_alike_have_programs_of_their_own():
    seen, specs = [], set()

    @tn.jit
    def f(*args, **kwargs):
        seen.append((args, kwargs))
        return tn.transforms._tree.map_leaves(lambda x: x + 1, (args, kwargs))

    for turn in range(3):
        for args, kwargs in ALIKE:
            given = [i + 10 * turn + leaf for i, leaf in enumerate(leaves((args, kwargs)))]
            spec = tn.transforms._tree.flatten((args, kwargs))[1]
            specs.add(spec)
            args, kwargs = spec.unflatten(given)
            found, structure = tn.transforms._tree.flatten(f(*args, **kwargs))
            assert structure == spec
            for got, leaf in zip(found, given, strict=True):
                np.testing.assert_array_equal(got, leaf + 1)
            assert len(seen) == len(specs)


@pytest.mark.parametrize("args, kwargs", PLAIN)
def test_leaves_of_plain_containers_come_in_the_order_of_all(args, kwargs):
    numbers = iter(range(10))
    args, kwargs = tn.transforms._tree.map_leaves(lambda _: next(numbers), (args, kwargs))
    assert tn.transforms._tree.flatten_plain(args, kwargs)[0] == leaves((args, kwargs))


FIRST_CALLS = """
import threading
import numpy as np
import tenferro as tn

f = tn.jit(lambda x, y: (x - y, x * 2.0))
barrier, failed = threading.Barrier(6), []

def work():
    try:
        barrier.wait()
        f(np.ones(10), np.ones(10))
    except Exception as error:
        failed.append(repr(error))

threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed
"""


def test_the_first_calls_with_containers_may_come_from_several_threads():
    """Each waits for what is imported at the first."""
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
