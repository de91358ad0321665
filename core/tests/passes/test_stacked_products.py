"""``contract``: a sum of products of matrices is one product of their stacks."""

import pytest
from graphs import apply, graph_of, value

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul, Sub
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import BroadcastInDim


def spread(vector, axis, shape):
    return apply(BroadcastInDim(shape, (axis,)), vector)


def outer(k, dtype="f64"):
    u, v = value(f"u{k}", dtype, (6,)), value(f"v{k}", dtype, (5,))
    return apply(Mul(), spread(u, 0, (6, 5)), spread(v, 1, (6, 5)))


def product(k, rows=2):
    x, y = value(f"x{k}", shape=(rows, 6)), value(f"y{k}", shape=(rows, 5))
    return apply(DotGeneral((0,), (0,), (), ()), x, y)


def added(terms, operation=Add):
    total = terms[0]
    for term in terms[1:]:
        total = apply(operation(), total, term)
    return total


def names(*outputs):
    graph = optimized(graph_of(*outputs), ["contract", "cse"])[0]
    return sorted([node[0].name for node in graph.nodes])


STACKED = ["concatenate", "concatenate", "dot_general"]
RESHAPED = [*STACKED, "reshape", "reshape"]


def test_outer_products_are_one_product():
    assert names(added([outer(k) for k in range(5)])) == RESHAPED


def test_products_of_few_rows_are_one_product():
    assert names(added([product(k) for k in range(4)])) == STACKED


def test_another_term_is_added_to_the_product():
    other = value("other", shape=(6, 5))
    terms = [outer(0), outer(1), other, outer(2), outer(3)]
    assert names(added(terms)) == ["add", *RESHAPED]


def test_each_sign_has_a_product_of_its_own():
    first = added([outer(k) for k in range(4)])
    assert names(added([first, *[outer(k) for k in range(4, 8)]], Sub)) == [
        *["concatenate"] * 4, *["dot_general"] * 2, *["reshape"] * 4, "sub",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "terms",
    [
        [outer(k) for k in range(3)],
        [product(k, rows=20) for k in range(4)],
        [outer(k, "f16") for k in range(4)],
        [outer(k, "i64") for k in range(4)],
        [outer(0), outer(1), product(2), product(3)],
    ],
    ids=["three terms", "many rows", "half precision", "integers", "two kinds"],
)
def test_other_sums_stay(terms):
    assert "concatenate" not in names(added(terms))


def test_a_product_that_something_else_reads_stays():
    terms = [outer(k) for k in range(4)]
    assert "concatenate" not in names(added(terms), terms[0])
