"""Intervals of values, as far as equations tell them."""

from math import inf

import pytest

import tenferro as tn
from tenferro.passes.fission.bounds import ANY, intervals

X = tn.Aval((3,), "f64")
C = tn.Aval((3,), "c128")
ONE = lambda x: tn.ones_like(x)  # noqa: E731
RESULTS = {
    "unknown": (lambda x: x * tn.cos(x), ANY),
    "cos": (tn.cos, (-1.0, 1.0)),
    "cos of a complex number": (lambda z: tn.cos(z), ANY),
    "derivative of tanh": (lambda x: ONE(x) - tn.tanh(x) * tn.tanh(x), (0.0, 1.0)),
    "quotient by one or more": (lambda x: tn.sin(x) / (ONE(x) + x * x), (-1.0, 1.0)),
    "quotient by zero": (lambda x: tn.sin(x) / tn.cos(x), ANY),
    "difference": (lambda x: tn.sin(x) - tn.tanh(x), (-2.0, 2.0)),
    "negated": (lambda x: -tn.exp(x), (-inf, 0.0)),
    "modulus": (lambda x: tn.abs(tn.sin(x)), (0.0, 1.0)),
    "select": (lambda x: tn.where(x > 0, ONE(x), tn.sin(x)), (-1.0, 1.0)),
    "mask": (lambda x: (x > 0) * tn.sin(x), (-1.0, 1.0)),
    "moved": (lambda x: tn.sin(x).reshape(3, 1)[::-1], (-1.0, 1.0)),
    "complex product": (lambda z: z * tn.zeros_like(z), (0.0, 0.0)),
    "integers wrap around": (lambda x: (x > 0).astype("i8") * 100 * 100, ANY),
    "rows of a loop": (
        lambda x: tn.scan(lambda c, _: (c * 2.0, tn.sin(c)), x, None, 5)[1],
        (-1.0, 1.0),
    ),
    "last carry of a loop": (lambda x: tn.scan(lambda c, _: (tn.sin(c), None), x, None, 5)[0], ANY),
}


@pytest.mark.parametrize("function, need", RESULTS.values(), ids=RESULTS)
def test_an_interval_holds_all_values(function, need, request):
    aval = C if "complex" in request.node.callspec.id else X
    graph = tn.jit(function).lower(aval)
    found = intervals(graph)
    assert len(found) == len(graph.avals)
    assert found[graph.outputs[0]] == need
