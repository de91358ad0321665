"""Sharding constraints in programs for one device change nothing, and say so once."""

import warnings

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.sharding.prefixes import specs_of

X = np.arange(6.0).reshape(2, 3)
DTYPES = ["float32", "float64", "complex128", "int64", "bool"]


@pytest.fixture(autouse=True)
def fresh_notice(monkeypatch):
    """The warning comes once in a process: let it come in each test."""
    import tenferro.backend.numpy_like.sharding as module

    monkeypatch.setattr(module, "_is_noted", False)


def constrained(x):
    return tn.sharding_constraint(x, ("data", None))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_values_are_those_of_the_operand(dtype):
    given = np.arange(8.0).reshape(4, 2).astype(dtype)
    with pytest.warns(tn.ShardingIgnoredWarning, match="does nothing"):
        found = np.asarray(constrained(tn.asarray(given)))
    assert found.dtype == given.dtype
    np.testing.assert_array_equal(found, given)


@pytest.mark.filterwarnings("ignore::tenferro.ShardingIgnoredWarning")
@pytest.mark.parametrize("jit", [lambda f: f, tn.jit])
def test_derivatives_are_those_without_it(jit):
    def cubes(x):
        return np.sum(constrained(x) ** 3)

    np.testing.assert_array_equal(jit(tn.grad(cubes))(X), 3 * X**2)
    np.testing.assert_array_equal(jit(tn.hvp(cubes))(X, np.ones_like(X)), 6 * X)
    np.testing.assert_array_equal(jit(tn.vmap(lambda x: tn.sharding_constraint(x, ("m",))))(X), X)


def test_the_warning_comes_once():
    """when a program is compiled, so that the shapes here are those of no other test"""
    f = tn.jit(constrained)
    with pytest.warns(tn.ShardingIgnoredWarning):
        f(np.ones((5, 3)))
    with warnings.catch_warnings(action="error"):
        f(np.ones((5, 3)))
        f(np.ones((5, 4)))


def test_a_constraint_is_linear_and_its_own_transpose():
    """The cotangent is constrained as the value is"""
    text = str(tn.trace(tn.grad(lambda x: np.sum(np.sin(constrained(x)))), X))
    assert text.count("sharding_constraint[spec=('data', None)]") == 2


def test_vmap_leaves_the_new_dimension_to_the_compiler():
    text = str(tn.trace(tn.vmap(lambda row: tn.sharding_constraint(row, ("model",))), X))
    assert "sharding_constraint[spec=('?', 'model')]" in text
    text = str(tn.trace(tn.vmap(lambda row: tn.sharding_constraint(row, ())), X))
    assert "sharding_constraint[spec=('?', None)]" in text
    twice = tn.vmap(tn.vmap(lambda x: tn.sharding_constraint(x, ())))
    assert "sharding_constraint[spec=('?', '?')]" in str(tn.trace(twice, X))


def test_a_constraint_may_leave_a_dimension_to_the_compiler():
    assert "spec=('?', 'm')" in str(tn.trace(lambda x: tn.sharding_constraint(x, ("?", "m")), X))


def test_a_pytree_has_a_spec_for_each_leaf_or_subtree():
    def f(tree):
        specs = {"a": [("data", None), None], "b": ()}
        return tn.sharding_constraint(tree, specs)

    tree = {"a": [X, X], "b": (X[0], 2.0), "c": X}
    text = str(tn.trace(f, tree))
    assert text.count("sharding_constraint[spec=('data', None)]") == 1
    assert text.count("sharding_constraint[spec=()]") == 2


def test_what_is_not_recorded_is_returned_unchanged():
    assert constrained(X) is X


PREFIXES = [
    (None, {"a": 1.0, "b": 2.0}, [None, None]),
    (("data", None), (1.0, 2.0), [("data", None)] * 2),
    ((("data",), ("model",)), (1.0, 2.0), [("data",), ("model",)]),
    ([None, ("data",)], [1.0, (2.0, 3.0)], [None, ("data",), ("data",)]),
    ({"b": ("data",)}, {"a": 1.0, "b": 2.0}, [None, ("data",)]),
    ((), [1.0, [2.0]], [(), ()]),
    ((None, None), (1.0, 2.0), [None, None]),
    ((None, None), 1.0, [(None, None)]),
]


@pytest.mark.parametrize("prefix, tree, wanted", PREFIXES)
def test_a_prefix_is_read_by_the_structure_of_the_tree(prefix, tree, wanted):
    found = specs_of(prefix, tree, "f")
    assert [None if spec is None else spec.dimensions for spec in found] == wanted


WRONG = [([None], [1.0, 2.0]), ({"c": None}, {"a": 1.0}), ([None, None], 1.0), ({"a": None}, [1.0])]


@pytest.mark.parametrize("prefix, tree", WRONG)
def test_a_prefix_of_another_structure_is_refused(prefix, tree):
    with pytest.raises(tn.ShardingError):
        specs_of(prefix, tree, "f")


def test_graphs_with_constraints_are_saved_and_loaded(tmp_path):
    path = tmp_path / "graph"
    tn.save_graph(path, constrained, tn.Aval((2, 3), "float64"))
    graph = tn.jit(tn.load_graph(path)).lower(X)
    assert "sharding_constraint[spec=('data', None)]" in str(graph)
