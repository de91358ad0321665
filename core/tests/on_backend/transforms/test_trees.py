"""Containers of arrays go through every transform, and come back as what they were."""

import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import optree
import pytest

import tenferro as tn
from tenferro.transforms.recording import tree as pytrees
from tenferro.transforms.recording.plain_trees import PlainSpec

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
    return pytrees.flatten(tree)[0]


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("transform", [tn.jit, lambda f: f], ids=["jit", "plain"])
def test_a_tree_comes_back_as_what_it_was(transform, name):
    double = transform(lambda tree: pytrees.map_leaves(lambda x: x * 2, tree))
    tree = TREES[name]
    for _ in range(2):
        found = double(tree)
        assert type(found) is type(tree)
        assert repr(pytrees.flatten(found)[1]) == repr(pytrees.flatten(tree)[1])
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


@pytest.mark.parametrize("static", ["dense", 1, 1.0, ["no", "hash"]])
def test_leaves_have_the_same_names_at_every_call(static):
    """Names are kept by structure and argument, also where a static field has no hash."""
    layer = Layer(X, 2.0, static)
    for base in ("a", "b", "a"):
        spec = pytrees.flatten([layer, {"k": 1.0}])[1]
        names = [f"{base}[0].weight", f"{base}[0].bias", f"{base}[1]['k']"]
        assert list(pytrees.paths_in(spec, base)) == names
        assert pytrees.paths([layer, {"k": 1.0}], base) == names
    assert list(pytrees.paths_in(pytrees.flatten(X)[1], "x")) == ["x"]


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
        return pytrees.map_leaves(lambda x: x + 1, (args, kwargs))

    for turn in range(3):
        for args, kwargs in ALIKE:
            given = [i + 10 * turn + leaf for i, leaf in enumerate(leaves((args, kwargs)))]
            spec = pytrees.flatten((args, kwargs))[1]
            specs.add(spec)
            args, kwargs = spec.unflatten(given)
            found, structure = pytrees.flatten(f(*args, **kwargs))
            assert structure == spec
            for got, leaf in zip(found, given, strict=True):
                np.testing.assert_array_equal(got, leaf + 1)
            assert len(seen) == len(specs)


@pytest.mark.parametrize("args, kwargs", PLAIN)
def test_leaves_of_plain_containers_come_in_the_order_of_all(args, kwargs):
    numbers = iter(range(10))
    args, kwargs = pytrees.map_leaves(lambda _: next(numbers), (args, kwargs))
    assert pytrees.flatten_plain(args, kwargs)[0] == leaves((args, kwargs))


def nested(levels):
    """A leaf in so many lists."""
    tree = 1.0
    for _ in range(levels):
        tree = [tree]
    return tree


PLAIN = {
    "list": [X, 2.0, 1j, True],
    "tuple": (X,),
    "empty": [[], (), {}, None],
    "dict": {"b": X, "a": 2.0, "c'": 3},
    "dicts": [{"z": X, "a": {"y": 1.0, "b": [2.0, None]}}, {"k": ()}],
    "None": None,
    "deep": ((((X,),), [2.0]), [[[3.0]], {"x": {"x": {"x": X}}}]),
    "nested far": nested(100),
    "long": {"x": [*range(200)], "a": [X]},
    "odd names": {"\\'\n\ud800": [X], "{0}": [X, 1.0]},
    "scalars of NumPy": [np.float32(1.0), np.int8(2), {"a": np.array(3.0)}],
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_trees_are_split_as_optree_does(name):
    """The same leaves, names, order of keys, equality and subtrees, without optree."""
    tree = PLAIN[name]
    found, spec = pytrees.flatten(tree)
    want, theirs = optree.tree_flatten(tree, namespace="tenferro")
    assert type(spec) is PlainSpec
    assert [id(x) for x in found] == [id(x) for x in want]
    assert spec.num_leaves == theirs.num_leaves
    assert pytrees.paths_in(spec, "w") == tuple([a.codify("w") for a in theirs.accessors()])
    numbers = [*range(len(found))]
    for leaves_of_any_kind in (numbers, map(str, numbers), [None, []] * len(found)):
        given = [*leaves_of_any_kind][: len(found)]
        assert repr(spec.unflatten(iter(given))) == repr(theirs.unflatten(given))
        assert repr(spec.maker()(given)) == repr(theirs.unflatten(given))
    row = spec.row()
    assert row is (type(tree) if name in ("list", "tuple") else None)
    assert spec == theirs
    assert theirs == spec.of_optree()
    assert pytrees.flatten_up_to(spec, tree) == theirs.flatten_up_to(tree)
    with pytest.raises(ValueError, match="leaves, got"):
        spec.unflatten([0] * (len(found) + 1))


def test_plain_structures_are_equal_as_those_of_optree():
    """spec(a) = spec(b)  ⟺  optree's are equal; equal ones have one hash."""
    trees = [
        *PLAIN.values(),
        {"c'": 1, "a": X, "b": X},
        [X, X],
        [X, [X]],
        [[X], X],
        (X, X),
        [X] * 4,
    ]
    for a in trees:
        for b in trees:
            ours, others = pytrees.flatten(a)[1], pytrees.flatten(b)[1]
            want = optree.tree_structure(a) == optree.tree_structure(b)
            assert (ours == others) is want
            assert pytrees.same_structure(ours, optree.tree_structure(b)) is want
            assert not want or hash(ours) == hash(others)


@pytest.mark.parametrize("name", ["namedtuple", "dataclass", "dataclass in a dict"])
def test_a_tree_with_anything_else_in_it_is_split_by_optree(name):
    assert type(pytrees.flatten([X, TREES[name]])[1]) is optree.PyTreeSpec
    assert type(pytrees.flatten({1: X})[1]) is optree.PyTreeSpec


FIRST_CALLS = """
import sys, threading
from collections import namedtuple
import numpy as np
import tenferro as tn

loss = lambda p: np.sum(p["w"][0] * p["b"])
for gradient in (tn.grad(loss), tn.jit(tn.value_and_grad(loss))):
    gradient({"w": [np.ones(3)], "b": 2.0})
assert "optree" not in sys.modules

Pair = namedtuple("Pair", "a b")
f = tn.jit(lambda x, y: Pair(x - y, x * 2.0))
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
    """Each waits for what is imported at the first, which containers of other classes need."""
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- integers in what is differentiated ----------------------------------------------------------


def weighted(p):
    """Σ w² · n where the mask is set, plus a number."""
    return np.sum(np.where(p["mask"], p["w"] ** 2 * p["n"], 0.0)) + p["more"][1]


MIXED = {
    "w": np.array([1.0, 2.0]),
    "n": np.array([3, 5]),
    "mask": np.array([True, False]),
    "more": (4, 1.5),
}


@pytest.mark.parametrize("modify", [lambda f: f, tn.jit, lambda f: tn.jit(tn.jit(f))])
def test_with_allow_int_what_cannot_vary_has_the_gradient_none(modify):
    """∂/∂w = 2 w n m; integers and bools keep their place in the structure."""
    for found in (
        modify(tn.grad(weighted, allow_int=True))(MIXED),
        modify(tn.value_and_grad(weighted, allow_int=True))(MIXED)[1],
    ):
        assert found["w"].tolist() == [6, 0]
        assert (found["n"], found["mask"], found["more"][0]) == (None, None, None)
        assert found["more"][1] == 1


def test_with_allow_int_gradients_nest_and_batch():
    inner = lambda p: np.sum(tn.grad(weighted, allow_int=True)(p)["w"])  # noqa: E731
    assert tn.grad(inner, allow_int=True)(MIXED)["w"].tolist() == [6, 0]
    of_n = lambda n: tn.grad(weighted, allow_int=True)({**MIXED, "n": n})["w"]  # noqa: E731
    assert tn.vmap(of_n)(np.array([[1, 2], [3, 4]])).tolist() == [[2, 0], [6, 0]]


def test_with_allow_int_a_whole_argument_may_be_exact():
    power = lambda x, n: x**n  # noqa: E731
    assert tn.grad(power, (0, 1), allow_int=True)(2.0, 3) == (12, None)
    assert tn.grad(power, 1, allow_int=True)(2.0, 3) is None
    assert tn.value_and_grad(power, 1, allow_int=True)(2.0, 3) == (8, None)
    of_z, of_n = tn.grad(lambda z, n: z**n, (0, 1), allow_int=True, holomorphic=True)(2j, 2)
    np.testing.assert_allclose(of_z, 4j, atol=1e-14)
    assert of_n is None


def test_with_allow_int_the_same_function_serves_other_dtypes():
    """A leaf that holds floats in the next call varies there."""
    gradient = tn.grad(lambda p: p["a"] * p["b"], allow_int=True)
    assert gradient({"a": 2.0, "b": 3}) == {"a": 3, "b": None}
    assert gradient({"a": 2, "b": 3.0}) == {"a": None, "b": 2}
    assert gradient({"a": 2.0, "b": 3.0}) == {"a": 3, "b": 2}


def test_without_allow_int_the_error_names_the_leaf_and_the_option():
    with pytest.raises(tn.DifferentiationInputError, match="allow_int=True"):
        tn.grad(weighted)(MIXED)


def endless(container):
    """A list or dictionary that contains itself, in a tree with an array."""
    if container is list:
        container = []
        container.append(container)
    else:
        container = {}
        container["a"] = container
    return (X, {"x": [container]})


@pytest.mark.parametrize("transform", [tn.grad, tn.jit], ids=["grad", "jit"])
@pytest.mark.parametrize("container", [list, dict])
def test_a_container_that_contains_itself_is_refused(container, transform):
    with pytest.raises(tn.ArgumentValueError, match="contains itself"):
        transform(lambda tree: np.sum(tree[0]))(endless(container))


@pytest.mark.parametrize("container", [lambda x: [x], lambda x: {"a": x}], ids=["list", "dict"])
def test_a_tree_too_deep_is_refused_and_a_long_one_is_not(container):
    deep = X
    for _ in range(5000):
        deep = container(deep)
    for transform in (tn.grad, tn.jit):
        with pytest.raises(tn.ArgumentValueError, match="nested too deeply"):
            transform(lambda tree: 1.0)(deep)
    many = {str(i): [float(i)] for i in range(4000)}
    assert float(tn.jit(lambda tree: tree["3999"][0] * 2)(many)) == 7998.0


KEYS = [1, True, 1.0, 1 + 0j, np.float32(1)]  # equal, and with one hash
CALLS = {
    "jit": lambda f: tn.jit(f),
    "vmap": lambda f: tn.jit(tn.vmap(f)),
    "custom_jvp": lambda f: _with_rule(tn.custom_jvp(f)),
    "checkpoint": lambda f: tn.jit(tn.checkpoint(f)),
}


def _with_rule(f):
    f.defjvp(lambda primals, tangents: (f(*primals), f(*tangents)))
    return f


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("tree", [lambda k, x: {k: x}, lambda k, x: {"a": {k: None}, "b": [x]}])
def test_keys_that_are_equal_and_differ_have_programs_of_their_own(call, tree):
    """A function that reads a key k computes with this k, and not with an equal one before it"""

    def by_key(d):
        ((key, _),) = d.items() if "b" not in d else d["a"].items()
        x = d[key] if "b" not in d else d["b"][0]
        return x * key

    f, x = CALLS[call](by_key), np.arange(3)
    for key in KEYS:
        got, want = np.asarray(f(tree(key, x))), np.asarray(tn.asarray(x) * key)
        assert got.dtype == want.dtype, key
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("key", KEYS)
def test_a_dictionary_comes_back_with_its_own_keys(key):
    f = tn.jit(lambda d: d)
    f({1: X})
    ((got, _),) = f({key: X}).items()
    assert type(got) is type(key)


@pytest.mark.parametrize("key", KEYS)
def test_a_tangent_may_have_an_equal_key(key):
    y, dy = tn.jvp(lambda d: d[1] * 2, ({1: X},), ({key: X},))
    np.testing.assert_array_equal(dy, y)
