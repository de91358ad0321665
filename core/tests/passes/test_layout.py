"""``layout``: arrays are combined in the order of axes that costs least."""

from graphs import after, apply, graph_of, value

from tenferro.computegraph import MaterializedGraph
from tenferro.computegraph._roles import Linearized
from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul, Square, Sub
from tenferro.primitives.constants import Constant
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.reduction import ReduceMax, ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Transpose

N, M = 40, 60
PAIRS = (N, M, 3)


def differences(shape=PAIRS):
    """All differences of two sets of points, and the points."""
    n, m, k = shape
    x, y = value("x", shape=(n, k)), value("y", shape=(m, k))
    wide = apply(BroadcastInDim(shape, (0, 2)), x), apply(BroadcastInDim(shape, (1, 2)), y)
    return apply(Sub(), *wide), (x, y)


def layout(*outputs, inputs):
    return after(["layout"], *outputs, inputs=inputs)


def test_distances_of_points():
    d, points = differences()
    assert layout(apply(ReduceSum((2,)), apply(Square(), d)), inputs=points) == (
        "%2 = transpose[permutation=(1, 0)] %0; "
        "%3 = broadcast_in_dim[shape=(3, 40, 60), dimensions=(0, 1)] %2; "
        "%4 = transpose[permutation=(1, 0)] %1; "
        "%5 = broadcast_in_dim[shape=(3, 40, 60), dimensions=(0, 2)] %4; "
        "%6 = sub %3 %5; %7 = square %6; %8 = reduce_sum[axes=(0,)] %7; return %8"
    )


def test_a_sum_along_a_long_axis_is_turned_back():
    d, points = differences()
    text = layout(apply(ReduceSum((0,)), apply(Exp(), d)), inputs=points)
    assert "reduce_sum[axes=(1,)]" in text
    assert text.endswith("transpose[permutation=(1, 0)] %8; return %9")


def test_what_is_alike_along_the_short_axis():
    """Weights of pairs multiply vectors: the reader of the weights is the slow one."""
    w, d = value("w", shape=(N, M)), value("d", shape=PAIRS)
    wide = apply(BroadcastInDim(PAIRS, (0, 1)), w)
    moved = apply(Mul(), apply(Exp(), apply(Mul(), wide, d)), wide)
    text = layout(apply(ReduceMax((2,)), moved), inputs=(w, d))
    assert "broadcast_in_dim[shape=(3, 40, 60), dimensions=(1, 2)] %0" in text
    assert "transpose[permutation=(2, 0, 1)] %1" in text
    assert "reduce_max[axes=(0,)]" in text


def test_constants_are_written_in_the_new_shape():
    d, points = differences()
    two = apply(Constant(2, "float64", PAIRS))
    text = layout(apply(ReduceSum((2,)), apply(Mul(), d, two)), inputs=points)
    assert "shape=(3, 40, 60)" in text.partition("constant")[2].partition(";")[0]


def unchanged(output, inputs):
    return layout(output, inputs=inputs) == after("none", output, inputs=inputs)


def test_sums_of_large_arrays_keep_their_order():
    """Σ d² is made of the large d, and read with it: elements between them follow its order."""
    given = value("d", shape=(3, 40, 40))
    d = apply(Exp(), apply(Transpose((2, 1, 0)), given))
    weights = apply(Exp(), apply(ReduceSum((2,)), apply(Square(), d)))
    forces = apply(Mul(), d, apply(BroadcastInDim((40, 40, 3), (0, 1)), weights))
    assert layout(apply(ReduceSum((1,)), forces), inputs=[given]) == (
        "%1 = exp %0; %2 = square %1; %3 = reduce_sum[axes=(0,)] %2; %4 = exp %3; "
        "%5 = broadcast_in_dim[shape=(3, 40, 40), dimensions=(1, 2)] %4; %6 = mul %1 %5; "
        "%7 = reduce_sum[axes=(1,)] %6; %8 = transpose[permutation=(1, 0)] %7; return %8"
    )


def test_small_arrays_and_long_axes_stay():
    for shape in ((10, 10, 3), (40, 60, 40), (4, 2000, 1), (2000, 2, 3)):
        d, points = differences(shape)
        assert unchanged(apply(ReduceSum((2,)), d), points), shape


def test_nothing_moves_that_only_enters_and_leaves():
    x, y = value("x", shape=PAIRS), value("y", shape=PAIRS)
    assert unchanged(apply(Add(), apply(Exp(), x), y), (x, y))


def test_nothing_moves_where_transpositions_cost_more():
    """One slow reader, but four arrays of all pairs to transpose."""
    others = [value(f"x{i}", shape=PAIRS) for i in range(3)]
    y = value("y", shape=(N, 3))
    total = apply(BroadcastInDim(PAIRS, (0, 2)), y)
    for x in others:
        total = apply(Add(), total, x)
    assert unchanged(total, (*others, y))


def test_a_value_that_leaves_is_transposed_once():
    d, points = differences()
    squares = apply(Square(), d)
    out = apply(Transpose((1, 0, 2)), squares)
    text = layout(apply(ReduceSum((2,)), squares), squares, out, inputs=points)
    assert text.count("transpose[permutation=(1, 2, 0)]") == 1


def test_layout_after_layout_changes_nothing():
    d, points = differences()
    output = apply(ReduceSum((2,)), apply(Square(), d))
    once = layout(output, inputs=points)
    assert after(["layout"], output, inputs=points) == once


def test_a_product_is_read_in_the_order_in_which_it_comes():
    """Samples in rows of all matrices: [n, k, i] of what the product gives as [k, i, n]."""
    w, x = value("w", shape=(5, 4, 4)), value("x", shape=(1000, 5, 4))
    y = apply(DotGeneral((2,), (2,), (0,), (1,)), w, x)
    rows = apply(Transpose((2, 0, 1)), y)
    text = layout(apply(ReduceSum((2,)), apply(Exp(), rows)), inputs=(w, x))
    assert text == (
        "%2 = dot_general[lhs_contract=(2,), rhs_contract=(2,), lhs_batch=(0,), rhs_batch=(1,), "
        "preferred=None] %0 %1; "
        "%3 = exp %2; %4 = reduce_sum[axes=(1,)] %3; %5 = transpose[permutation=(1, 0)] %4; "
        "return %5"
    )


def test_a_product_may_come_in_another_order():
    """Where only reordered equations read a product, its operands change places."""
    x, w, m = value("x", shape=(2000, 7)), value("w", shape=(7, 3)), value("m", shape=(3,))
    y = apply(DotGeneral((1,), (0,), (), ()), x, w)
    wide = apply(BroadcastInDim((2000, 3), (1,)), m)
    text = layout(apply(ReduceMax((1,)), apply(Sub(), y, wide)), inputs=(x, w, m))
    assert text.startswith(
        "%3 = dot_general[lhs_contract=(0,), rhs_contract=(1,), lhs_batch=(), rhs_batch=(), "
        "preferred=None] %1 %0; %4 = broadcast_in_dim[shape=(3, 2000), dimensions=(0,)] %2; "
    )


def test_products_name_the_axes_of_what_they_read():
    d, points = differences()
    z = value("z", shape=(N, M, 5))
    found = apply(DotGeneral((0, 1), (0, 1), (), ()), apply(Exp(), d), z)
    text = layout(found, inputs=(*points, z))
    assert "dot_general[lhs_contract=(1, 2), rhs_contract=(0, 1)" in text
    assert (
        "preferred=None] %8 %2; return %9" in text
    )  # free axes keep their order: no transposition
    by_point = apply(DotGeneral((1,), (1,), (0,), (0,)), apply(Exp(), d), z)
    assert "lhs_contract=(2,), rhs_contract=(1,), lhs_batch=(0,)" in layout(
        by_point, inputs=(*points, z)
    )


def test_the_axes_of_a_batch_come_first():
    """Differences [n, k, i] that a product reads as [k, n, i]: made as [k, i, n]."""
    x, m, w = (
        value("x", shape=(1000, 10)),
        value("m", shape=(25, 10)),
        value("w", shape=(25, 10, 4)),
    )
    shape = (1000, 25, 10)
    d = apply(
        Sub(), apply(BroadcastInDim(shape, (0, 2)), x), apply(BroadcastInDim(shape, (1, 2)), m)
    )
    text = layout(apply(DotGeneral((2,), (1,), (1,), (0,)), d, w), inputs=(x, m, w))
    assert "shape=(25, 10, 1000)" in text
    assert "lhs_contract=(1,), rhs_contract=(1,), lhs_batch=(0,), rhs_batch=(0,)" in text


def product_turned():
    """A product [k, n, j] that is read as [n, k, j], and what it is made of."""
    w, x = value("w", shape=(25, 10, 10)), value("x", shape=(1000, 25, 10))
    product = apply(DotGeneral((2,), (1,), (1,), (0,)), x, w)
    return apply(Transpose((1, 0, 2)), product), (x, w)


def test_operands_change_places_behind_a_transposition():
    """The largest of each 10 neighbours: [k, j, n], without a transposition."""
    y, given = product_turned()
    text = layout(apply(ReduceMax((2,)), apply(Exp(), y)), inputs=given)
    assert text.startswith("%2 = dot_general[lhs_contract=(1,), rhs_contract=(2,)")
    assert "%3 = exp %2; %4 = reduce_max[axes=(1,)] %3" in text


def test_operands_change_places_where_a_contraction_reads_the_product_too():
    """[k, j, n] for the largest; the contraction reads any order, so it names other axes."""
    y, (x, w) = product_turned()
    (product,) = y.inputs
    weights = value("c", shape=(25, 1000))
    mean = apply(DotGeneral((1,), (1,), (0,), (0,)), product, weights)
    text = layout(apply(ReduceMax((2,)), apply(Exp(), y)), mean, inputs=(x, w, weights))
    assert text.startswith("%3 = dot_general[lhs_contract=(1,), rhs_contract=(2,)")
    assert "%4 = exp %3; %5 = reduce_max[axes=(1,)] %4" in text
    assert "dot_general[lhs_contract=(2,), rhs_contract=(1,), lhs_batch=(0,)" in text


def test_readers_of_one_product_agree_on_its_order():
    y, given = product_turned()
    text = layout(apply(ReduceMax((2,)), apply(Exp(), y)), apply(Square(), y), inputs=given)
    assert text.count("dot_general") == 1
    reads = [part.split()[-1] for part in text.split("; ") if " = exp" in part or "square" in part]
    assert len(set(reads)) == 1


def test_one_side_of_a_transposition_changes_its_order():
    """Each side would like the other's order; if both changed, they would differ again."""
    x, w, m = value("x", shape=(2000, 7)), value("w", shape=(7, 25, 12)), value("m", shape=(25, 12))
    shape = (2000, 25, 12)
    y = apply(DotGeneral((1,), (0,), (), ()), x, w)
    moved = apply(Sub(), y, apply(BroadcastInDim(shape, (1, 2)), m))
    turned = apply(Transpose((1, 2, 0)), moved)
    s = value("s", shape=(25, 2000))
    scaled = apply(Mul(), turned, apply(BroadcastInDim((25, 12, 2000), (0, 2)), s))
    text = layout(apply(ReduceSum((1,)), scaled), inputs=(x, w, m, s))
    assert "transpose" not in text


def test_equations_that_are_added_print():
    """A transpose of one operand of a product carries no derivative."""
    d, points = differences()
    q = value("q", shape=PAIRS)
    total = apply(ReduceSum((2,)), apply(Mul(), apply(Square(), d), q))
    graph = graph_of(total, inputs=[*points, q])
    nodes = [node._replace(role=Linearized((True,) * len(node.inputs))) for node in graph.nodes]
    active = MaterializedGraph(graph.inputs, nodes, graph.outputs, graph.avals)
    assert "mul *%" in str(optimized(active, ["layout"])[0])
