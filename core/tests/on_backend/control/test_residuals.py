"""The values that a loop stacks for its derivative in reverse mode."""

import numpy as np

import tenferro as tn

LENGTH = 64
WHOLE = {"fission": False, "product_fission": False}  # every step keeps its equations


def loops(function, *xs):
    """Return the loops of a gradient: over the primals, and backward."""
    graph = tn.passes.optimized(tn.jit(tn.grad(function)).lower(*xs), WHOLE)[0]
    scans = [node.operation for node in graph.nodes if node.operation.name == "scan"]
    forward, backward = sorted(scans, key=lambda loop: loop.reverse)
    return forward, backward


def stacked(function, *xs):
    """Return the avals of the rows that the loop over the primals stacks."""
    forward, _ = loops(function, *xs)
    return [str(forward.body.output_avals[i]) for i in forward.outputs if i >= forward.carried]


def names(loop):
    return [operation.name for operation, _ in loop.body.equations]


def looped(body, length=LENGTH):
    return lambda x, *w: np.sum(tn.scan(lambda c, _: (body(c, *w), None), x, None, length)[0])


def heat(u):
    return u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u**3 + np.sin(u)


def test_the_carry_alone_is_stacked_where_all_follows_from_it():
    assert stacked(looped(heat), np.ones(10_000)) == ["f64[10000]"]


def test_functions_are_not_repeated_where_all_steps_take_little_memory():
    """Of 3 u² and cos u the square is made again from u, the cosine is not"""
    assert stacked(looped(heat), np.ones(100)) == ["f64[100]", "f64[100]"]


def test_a_smaller_value_is_stacked_in_place_of_the_carry():
    """d(c + sin(mean c)) reads cos(mean c), one number"""
    assert stacked(looped(lambda c: c + np.sin(np.mean(c))), np.ones(100)) == ["f64[]"]


def test_two_small_values_are_stacked_in_place_of_a_large_carry():
    body = lambda c: c + np.sin(c[0]) * np.cos(c[1])  # noqa: E731
    assert set(stacked(looped(body), np.ones(100))) == {"f64[]"}


def test_a_linear_loop_stacks_nothing():
    function = looped(lambda c: 2.0 * c + np.roll(c, 1))
    graph = tn.passes.optimized(tn.jit(tn.grad(function)).lower(np.ones(5)))[0]
    assert [n.operation.reverse for n in graph.nodes if n.operation.name == "scan"] == [True]


def test_rows_of_operands_are_not_stacked_again():
    xs = np.ones((LENGTH, 5))
    function = lambda x: np.sum(tn.scan(lambda c, r: (c * np.sin(r), None), x, xs)[0])  # noqa: E731
    graph = tn.passes.optimized(tn.jit(tn.grad(function)).lower(np.ones(5)))[0]
    assert [n.operation.reverse for n in graph.nodes if n.operation.name == "scan"] == [True]


def test_invariants_are_computed_once():
    """exp(w) of d(sin(c) exp(w)) is in neither loop over and over"""
    function = looped(lambda c, w: np.sin(c) * np.exp(w))
    assert "exp" not in names(loops(function, np.ones(5), 0.5)[1])
    assert stacked(function, np.ones(5), 0.5) == ["f64[5]"]


def test_products_are_not_repeated_for_little_memory():
    """d tanh(A c) reads tanh(A c): as large as c, from which a product would give it"""
    a = np.eye(5)
    _, backward = loops(looped(lambda c: np.tanh(a @ c)), np.ones(5))
    assert names(backward).count("dot_general") == 1


def test_products_are_repeated_for_much_memory():
    """tanh(A c) is 9 times as large as c: 9 MB of all steps are stacked, 74 MB are not"""
    a, b = np.ones((9000, 1000)), np.ones((1000, 9000))
    body = lambda c: b @ np.tanh(a @ c)  # noqa: E731
    for steps, size, products in ((128, "f64[9000]", 2), (1024, "f64[1000]", 3)):
        forward, backward = loops(looped(body, steps), np.ones(1000))
        assert [str(forward.body.output_avals[i]) for i in forward.outputs if i] == [size]
        assert names(backward).count("dot_general") == products


def test_short_products_are_repeated():
    """A sum of 8 terms costs no more than to read it: c is stacked, not (A c)² as well"""
    a = np.ones((8, 8))
    body = lambda c: np.sin(np.square(c @ a) * c)  # noqa: E731
    assert stacked(looped(body), np.ones((10_000, 8))) == ["f64[10000,8]"]


def test_a_branch_keeps_no_operand_that_its_derivative_does_not_read():
    """The sum goes through the branch; of its 3 rows nothing is read"""

    def function(x):
        def branch(y, total):
            return np.sin(y), total + np.arange(3.0)[:, None] * y

        def step(carry, k):
            return tn.cond(k < 5, branch, lambda *same: same, *carry), None

        return np.sum(tn.scan(step, (x, np.zeros((3, 100))), np.arange(LENGTH))[0][1])

    assert "f64[100]" in stacked(function, np.ones(100))
    assert "f64[3,100]" not in stacked(function, np.ones(100))
