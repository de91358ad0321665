"""``fission``: which equations leave a loop, which stay, and what becomes of them."""

import pytest

import tenferro as tn
from tenferro.passes import optimized

STEPS, EXAMPLES, WIDTH = 30, 4, 6
W, H, ROWS = (
    tn.Aval(shape, "f64") for shape in ((WIDTH, WIDTH), (EXAMPLES, WIDTH), (STEPS, EXAMPLES, WIDTH))
)
ALL, BY_PRODUCTS = "all", {"fission": False}
OFF = {"fission": False, "product_fission": False}


def recurrent(w, u, h, rows):
    """A recurrent network: one product of the state, one of the row."""
    step = lambda h, x: (tn.tanh(h @ w + x @ u), tn.sum(h * h))  # noqa: E731
    h, energies = tn.scan(step, h, rows)
    return tn.sum(h) + tn.sum(energies)


def split(function, *avals, passes=ALL, **more):
    """Return the names of the equations outside of loops, and the loops."""
    graph = optimized(tn.jit(function).lower(*avals), passes, **more)[0]
    operations = [node.operation for node in graph.nodes]
    loops = [operation for operation in operations if operation.name == "scan"]
    return [operation.name for operation in operations], loops


def inside(loop):
    return sorted([op.name for op, _ in loop.body.equations if not op.literal])


def test_what_reads_no_carry_is_computed_before_the_loop():
    """x @ u of all rows is one product, and h @ w stays"""
    outside, (loop,) = split(recurrent, W, W, H, ROWS)
    assert outside.count("dot_general") == 1
    assert inside(loop) == ["add", "dot_general", "tanh"]


def test_what_no_carry_follows_from_is_computed_behind_the_loop():
    """Σ h² of all steps reads the stacked h"""
    _, (loop,) = split(recurrent, W, W, H, ROWS)
    assert [str(loop.body.output_avals[i]) for i in loop.outputs] == ["f64[4,6]", "f64[4,6]"]


def test_the_gradient_of_a_weight_is_one_product():
    """Σₜ hₜᵀ dₜ is one product over steps and examples, and no loop carries it"""
    _, loops = split(tn.grad(recurrent, (0, 1)), W, W, H, ROWS)
    assert [loop.carried for loop in loops] == [1, 1]
    assert [inside(loop).count("dot_general") for loop in loops] == [1, 1]


@pytest.mark.parametrize("passes, count", [(ALL, 1), (BY_PRODUCTS, 1), (OFF, 2)])
def test_a_choice_of_passes_splits_or_leaves_a_loop(passes, count):
    _, (loop,) = split(recurrent, W, W, H, ROWS, passes=passes)
    assert inside(loop).count("dot_general") == count


def test_a_loop_that_no_product_leaves_stays_with_product_fission():
    decay = lambda x, rows: tn.scan(lambda c, r: (tn.sin(c) * tn.exp(r), c * c), x, rows)  # noqa: E731
    x, rows = tn.Aval((3,), "f64"), tn.Aval((20, 3), "f64")
    _, (loop,) = split(decay, x, rows, passes=BY_PRODUCTS)
    assert inside(loop) == ["exp", "mul", "mul", "sin"]
    _, (loop,) = split(decay, x, rows)
    assert inside(loop) == ["mul", "sin"]


def test_rows_that_are_parts_of_other_rows_are_cut_behind_the_loop():
    def step(c, _):
        c = tn.sin(c)
        part = c[1:]
        return c + tn.sum(part), (tn.exp(c), tn.exp(part))

    outside, (loop,) = split(lambda x: tn.scan(step, x, None, 20), tn.Aval((3,), "f64"))
    assert [str(loop.body.output_avals[i]) for i in loop.outputs] == ["f64[3]", "f64[3]"]
    assert outside == ["scan", "exp", "slice", "exp"]


def test_a_loop_without_carries_disappears():
    outside, loops = split(lambda rows: tn.map(lambda r: tn.exp(r) + 1.0, rows), ROWS)
    assert not loops
    assert outside.count("exp") == 1


@pytest.mark.parametrize(
    "step",
    [lambda s, r: s + tn.exp(r), lambda s, r: tn.exp(r) + s, lambda s, r: s - tn.exp(r) + r],
)
def test_a_sum_over_all_steps_needs_no_loop(step):
    total = lambda x, rows: tn.scan(lambda s, r: (step(s, r), None), x, rows)[0]  # noqa: E731
    outside, loops = split(total, H, ROWS)
    assert not loops
    assert "reduce_sum" in outside


@pytest.mark.parametrize(
    "step",
    [
        lambda s, r: (s + tn.exp(r), s),  # all partial sums are asked for
        lambda s, r: (tn.exp(r) - s, None),
        lambda s, r: (s + s * r, None),
        lambda s, r: (2.0 * s + r, None),
    ],
    ids=["partial sums", "alternating", "growing", "twice"],
)
def test_what_is_no_sum_keeps_its_loop(step):
    _, loops = split(lambda x, rows: tn.scan(step, x, rows), H, ROWS)
    assert len(loops) == 1


def test_a_carry_that_no_step_changes_is_a_constant_of_the_loop():
    def function(x, rows):
        step = lambda s, r: ((s[0], tn.sin(s[1]) * tn.exp(s[0]) + r), None)  # noqa: E731
        return tn.scan(step, (x, x), rows)[0]

    outside, (loop,) = split(function, H, ROWS)
    assert loop.carried == 1
    assert outside.count("exp") == 1


def test_large_values_stay_in_the_loop():
    """A step of 10⁵ numbers costs more to keep than to call"""
    x, rows = tn.Aval((100_000,), "f64"), tn.Aval((20,), "f64")
    function = lambda x, rows: tn.scan(lambda c, r: (tn.sin(c) * tn.exp(x * r), None), x, rows)  # noqa: E731
    _, (loop,) = split(function, x, rows)
    assert "exp" in inside(loop)


def test_little_of_each_of_very_many_steps_stays_in_the_loop():
    x, rows = tn.Aval((1000,), "f64"), tn.Aval((100_000,), "f64")
    function = lambda x, rows: tn.scan(lambda c, r: (tn.sin(c) * tn.exp(x * r), None), x, rows)  # noqa: E731
    _, (loop,) = split(function, x, rows)
    assert "exp" in inside(loop)


def test_a_large_product_that_is_summed_leaves_the_loop():
    """xᵀ y of two long rows: their sum over all steps is a product that keeps no outer product"""
    rows = tn.Aval((20, 300), "f64")
    start = tn.Aval((300, 300), "f64")
    function = lambda s, rows: tn.scan(lambda s, r: (s + r[:, None] @ r[None], None), s, rows)[0]  # noqa: E731
    outside, loops = split(function, start, rows)
    assert not loops
    assert outside.count("dot_general") == 1


def test_loops_branches_and_checkpoints_in_a_step_stay():
    def step(c, r):
        chosen = tn.cond(r > 0, lambda c: c * r, lambda c: c + tn.exp(r), c)
        inner = tn.scan(lambda s, _: (tn.sin(s) * r, None), c, None, 3)[0]
        return chosen + inner, tn.cond(r > 1.0, lambda: tn.cos(r), lambda: r)

    _, (loop,) = split(lambda x, rows: tn.scan(step, x, rows), H, tn.Aval((STEPS,), "f64"))
    assert inside(loop).count("switch") == 2


def chained(c, r):
    """Multiply a carry by three factors, and add what flows along another way."""
    return c * r / (tn.exp(r) + tn.ones_like(r)) * tn.tanh(r) - c * tn.sin(r), None


def reverse_of(step, *avals, argnums):
    """Return the equations of the reverse loop of the sum of the real part of the last carry."""

    def total(*given):
        *consts, x, rows = given
        return tn.sum(tn.real(tn.scan(lambda c, r: step(*consts, c, r), x, rows)[0]))

    _, loops = split(tn.grad(total, argnums), *avals)
    (body,) = [inside(loop) for loop in loops if loop.reverse]
    return body


def test_a_chain_of_products_is_one_product_in_the_reverse_loop():
    """ct·r/(1 + eʳ)·tanh(r) - ct·sin(r) = ct·(r/(1 + eʳ)·tanh(r) - sin(r))"""
    x, rows = tn.Aval((3,), "f64"), tn.Aval((20, 3), "f64")
    assert reverse_of(chained, x, rows, argnums=(0, 1)) == ["mul"]


def test_products_that_the_loop_needs_are_multiplied_once():
    """ct goes through a product of matrices, two factors behind it, and one beside it"""

    def step(w, c, r):
        return tn.sin(c) + w @ tn.sin(tn.cos(c) * r), None

    avals = tn.Aval((3, 3), "f64"), tn.Aval((3,), "f64"), tn.Aval((20, 3), "f64")
    assert reverse_of(step, *avals, argnums=1) == ["add", "dot_general", "mul", "mul"]


FACTORS = {
    "two rows": (lambda c, r, p: c * r * p, ["mul", "mul"]),
    "a row and a bounded one": (lambda c, r, p: c * tn.cos(p) * r * tn.tanh(r), ["mul"]),
    "a quotient of rows": (lambda c, r, p: c * r / p, ["div", "mul"]),
    "a quotient by 1 or more": (lambda c, r, p: c * r / (tn.ones(3) + tn.exp(p)), ["mul"]),
    "two quotients": (lambda c, r, p: c / r / p, ["div", "div"]),
    "a sum of rows": (lambda c, r, p: c * r + c * p, ["mul"]),
    "a sum of products": (lambda c, r, p: c * r * p + c, ["add", "mul", "mul"]),
    "large constants": (lambda c, r, p: c * (r * 2.0) * tn.full((3,), 1e200), ["mul", "mul"]),
    "masks": (lambda c, r, p: c * tn.where(r > p, tn.ones(3), tn.sin(p)) * p * (r > 0), ["mul"]),
}


@pytest.mark.parametrize("step, need", FACTORS.values(), ids=FACTORS)
def test_a_product_has_one_factor_that_nothing_bounds(step, need):
    """a·b overflows where ct·a·b does not, and a·cos(b) does not"""
    x, rows = tn.Aval((3,), "f64"), tn.Aval((20, 3), "f64")
    total = lambda x, r, p: tn.sum(tn.scan(lambda c, k: (step(c, *k), None), x, (r, p))[0])  # noqa: E731
    _, (loop,) = split(tn.grad(total), x, rows, rows, passes={"unswitch": False})
    assert inside(loop) == need


def two_rows(shape, steps):
    """Return the graph of a gradient whose steps multiply a cotangent by two rows."""
    x, rows = tn.Aval(shape, "f64"), tn.Aval((steps, *shape), "f64")
    step = lambda c, k: (c * k[0] * k[1], None)  # noqa: E731
    total = lambda x, r, p: tn.sum(tn.scan(step, x, (r, p))[0])  # noqa: E731
    return tn.jit(tn.grad(total)).lower(x, rows, rows)


def choices(graph):
    return [node.operation for node in graph.nodes if node.operation.name == "switch"]


def test_a_loop_without_selects_runs_where_products_are_finite():
    graph, report = optimized(two_rows((3,), 20))
    (choice,) = choices(graph)
    with_selects, without = [branch.equations[0][0] for branch in choice.branches]
    assert inside(with_selects) == ["mul", "mul", "mul", "select"]
    assert inside(without) == ["mul"]
    assert report.rewritten["unswitch"] == 1


@pytest.mark.parametrize(
    "shape, steps", [((3,), 15), ((), 255), ((257,), 20), ((256,), 2049), ((0,), 20)]
)
def test_no_loops_are_chosen_where_that_costs_more_than_it_saves(shape, steps):
    assert not choices(optimized(two_rows(shape, steps))[0])


def test_a_loop_that_selects_selects_once():
    """A memory budget rewrites again what was rewritten"""
    graph = optimized(two_rows((3,), 20), passes := frozenset({"std::chains", "unswitch"}))[0]
    (loop,) = [node.operation for node in graph.nodes if node.operation.name == "scan"]
    assert inside(loop).count("select") == 1
    again = optimized(graph, passes)[0]
    assert [node.operation for node in again.nodes] == [node.operation for node in graph.nodes]


def test_a_product_that_the_primal_loop_computes_is_joined():
    """(ct·c)·p with c·p in the loop over the primals"""
    x, p = tn.Aval((3,), "f64"), tn.Aval((), "f64")
    total = lambda x, p: tn.sum(tn.scan(lambda c, _: (c - c * p * c, None), x, None, 20)[0])  # noqa: E731
    _, loops = split(tn.grad(total), x, p)
    assert [inside(loop) for loop in loops if loop.reverse] == [["mul"]]


def test_chains_of_tangents_and_second_cotangents_are_joined():
    """Each of the four loops of a second derivative multiplies at most once in a step"""
    total = lambda x: tn.sum(tn.scan(lambda c, _: (c + tn.tanh(tn.sin(c)), None), x, None, 20)[0])  # noqa: E731
    second = tn.grad(lambda x: tn.sum(tn.grad(total)(x)))
    _, loops = split(second, tn.Aval((3,), "f64"))
    assert [inside(loop).count("mul") for loop in loops] == [0, 1, 1, 1]


@pytest.mark.parametrize("dtype", ["f32", "c64"])
def test_narrow_numbers_are_multiplied_in_their_order(dtype):
    """A product of two factors may underflow where that with the cotangent does not"""
    x, rows = tn.Aval((3,), dtype), tn.Aval((20, 3), dtype)
    body = reverse_of(chained, x, rows, argnums=(0, 1))
    assert body.count("mul") >= 3


def test_values_are_multiplied_in_their_order():
    x, rows = tn.Aval((3,), "f64"), tn.Aval((20, 3), "f64")
    _, (loop,) = split(lambda x, rows: tn.scan(chained, x, rows)[0], x, rows)
    assert inside(loop) == ["div", "mul", "mul", "mul", "sub"]


def test_effects_keep_their_loop():
    def step(c, r):
        tn.debug.print("{}", tn.exp(r))
        return tn.sin(c), None

    _, loops = split(lambda x, rows: tn.scan(step, x, rows)[0], H, ROWS)
    assert sum([inside(loop).count("debug_callback") for loop in loops]) == 1
    assert sum([inside(loop).count("exp") for loop in loops]) == 1


@pytest.mark.parametrize("budget, count", [(1 << 30, 1), (2500, 2)])
def test_a_loop_is_split_if_its_rows_fit_into_the_memory_budget(budget, count):
    """A row of x @ u for each of 30 steps needs 5,760 bytes"""
    _, loops = split(recurrent, W, W, H, ROWS, budget=budget)
    assert inside(loops[0]).count("dot_general") == count


def test_rows_in_files_leave_loops_whole(tmp_path):
    def function(x, rows):
        step = lambda c, r: (tn.sin(c) * tn.exp(r), None)  # noqa: E731
        return tn.sum(tn.scan(step, x, rows, checkpoint=tn.offload(tmp_path))[0])

    _, loops = split(tn.grad(function), H, ROWS)
    assert "exp" in inside(loops[0])


def test_a_primitive_that_a_backend_lacks_is_not_introduced():
    graph = tn.jit(lambda x, rows: tn.scan(lambda s, r: (s + r, None), x, rows)[0]).lower(H, ROWS)
    can = lambda cls: cls.__name__ != "ReduceSum"  # noqa: E731
    found = optimized(graph, "all", can)[0]
    assert [node.operation.name for node in found.nodes] == ["scan"]


def test_the_report_counts_loops():
    report = optimized(tn.jit(recurrent).lower(W, W, H, ROWS))[1]
    assert report.rewritten["fission"] == 1
    assert report.rewritten["product_fission"] == 0
