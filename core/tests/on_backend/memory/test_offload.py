"""A loop that stores its rows in a file is the same function, and leaves nothing behind.

T(scan(…, checkpoint=offload(d))) = T(scan(…))      for transforms T of order 0 to 3
"""

import numpy as np
import pytest
from memory.test_checkpoint import TRANSFORMS, W, X, agree
from memory.test_scan_stores import looped

import tenferro as tn
from tenferro.primitives.control import Scan

LENGTH = 7


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("reverse", [False, True])
def test_a_file_changes_no_value(tmp_path, transform, reverse):
    """T(f with a file) = T(f in memory)"""
    store = tn.offload(tmp_path)
    agree(
        transform(looped(LENGTH, reverse, store)), transform(looped(LENGTH, reverse, "auto")), W, X
    )


def tree(store, dtype):
    rows = {"a": np.linspace(0.1, 0.4, 5).astype(dtype), "odd": np.arange(5) % 2 == 1}

    def function(x):
        def body(carry, row):
            c, count = carry
            c = np.where(row["odd"], np.sin(c) * row["a"], np.cos(c))
            return (c, count + 1), (c * c, count, row["odd"])

        (c, count), (squares, counts, odd) = tn.scan(body, (x, np.int32(0)), rows, checkpoint=store)
        kept = np.where(odd, np.sum(squares, 1), 0.0)
        return np.sum(np.real(np.sum(c) + np.sum(kept))) * count + np.sum(counts)

    return function


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_trees_dtypes_and_batches(dtype):
    """vmap(grad(f with a file)) = vmap(grad(f in memory)), with integers and bools beside"""
    xs = (np.arange(6.0).reshape(2, 3) / 7).astype(dtype)
    for outer in (tn.vmap, lambda f: tn.jit(tn.vmap(f))):
        found = outer(tn.grad(tree(tn.offload(), dtype)))(xs)
        expected = outer(tn.grad(tree("auto", dtype)))(xs)
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-5)


def nested(inner, outer):
    def function(x):
        def step(c, _):
            return tn.scan(lambda c, _: (np.sin(c) + 0.1 * c, None), c, None, 3, checkpoint=inner)

        return np.sum(tn.scan(step, x, None, 4, checkpoint=outer)[0] ** 2)

    return function


def slope(function):
    return lambda x: np.sum(tn.grad(function)(x) ** 2)


@pytest.mark.parametrize("stores", ["io", "i", "o"])
@pytest.mark.parametrize("order", [1, 2])
def test_nested_loops(stores, order):
    """∂ⁿ f is that with all rows in memory, where the inner, the outer or both loops use files"""
    inner, outer = [tn.offload() if name in stores else "auto" for name in "io"]
    f, g = nested(inner, outer), nested("auto", "auto")
    if order == 2:
        f, g = slope(f), slope(g)
    for transform in (tn.grad, lambda h: tn.jit(tn.grad(h))):
        np.testing.assert_allclose(transform(f)(X), transform(g)(X), rtol=1e-12)


def loops(graph):
    waiting = [node.operation for node in graph.nodes]
    while waiting:
        operation = waiting.pop()
        if type(operation) is Scan:
            yield operation
        for _, body in getattr(operation, "bodies", ()):
            waiting += [inner for inner, _ in body.equations]


def graph_of(transform, store):
    function = lambda x: np.sum(looped(LENGTH, False, store)(W, x))  # noqa: E731
    whole = {"fission": False}  # loops that store in files are not split
    return tn.passes.optimized(tn.jit(transform(function)).lower(X), whole)[0]


@pytest.mark.parametrize("transform", [tn.grad, lambda f: tn.grad(lambda x: np.sum(tn.grad(f)(x)))])
def test_what_derivatives_store_is_in_the_file_and_what_they_return_is_not(tmp_path, transform):
    """a loop that runs forward and is not linear stacks in the file; results of users are not"""
    found = [loop for loop in loops(graph_of(transform, tn.offload(tmp_path))) if loop.offloaded]
    assert found
    assert {loop.offload for loop in found} == {str(tmp_path)}
    plain = loops(graph_of(lambda f: f, tn.offload(tmp_path)))
    assert not [loop for loop in plain if loop.offloaded]


def test_primal_loops_are_joined_as_without(tmp_path):
    """equations of ∇f with a file = equations of ∇f in memory"""
    assert len(graph_of(tn.value_and_grad, tn.offload(tmp_path))) == len(
        graph_of(tn.value_and_grad, "auto")
    )


@pytest.mark.parametrize("steps", [1, 2, 3, 40])
@pytest.mark.parametrize("unroll", [1, 3])
def test_lengths_and_unrolled_steps(steps, unroll):
    def function(x, store):
        body = lambda c, _: (np.sin(c) + 0.1 * c, c * c)  # noqa: E731
        c, ys = tn.scan(body, x, None, steps, unroll=unroll, checkpoint=store)
        return np.sum(c) + np.sum(ys)

    expected = tn.grad(lambda x: function(x, "auto"))(X)
    np.testing.assert_allclose(tn.grad(lambda x: function(x, tn.offload()))(X), expected)


@pytest.mark.parametrize("directory", [3, b"there", ["a"]])
def test_what_is_no_path_is_refused(directory):
    with pytest.raises(TypeError, match="the directory is a path"):
        tn.offload(directory)


def test_a_loop_that_stores_in_a_file_prints_the_directory(tmp_path):
    """the directory, or '' for that of temporary files; nothing without a file"""
    text = {
        store: str(tn.trace(lambda u, store=store: looped(LENGTH, False, store)(W, u), X))
        for store in (tn.offload(tmp_path), tn.offload(), "auto")
    }
    assert [value.count("offload=") for value in text.values()] == [1, 1, 0]
    assert "offload=''" in text[tn.offload()]
    assert "offload=''" not in text[tn.offload(tmp_path)]
