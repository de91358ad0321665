"""Programs with decompositions compute the same when they compute fewer of them."""

import numpy as np
import pytest

import tenferro as tn

A = np.array([[3.0, 1.0, 0.5], [1.0, -2.0, 0.25], [0.5, 0.25, 1.0]])

FUNCTIONS = {
    "singular values": lambda a: tn.sum(tn.linalg.svdvals(a) ** 3),
    "singular values of a decomposition": lambda a: tn.linalg.svd(a)[1],
    "eigenvalues": lambda a: tn.sum(tn.linalg.eigvalsh(a) ** 3),
    "the nuclear norm": lambda a: tn.linalg.norm(a, "nuc"),
    "a determinant": lambda a: tn.linalg.slogdet(a)[1],
    "what is sorted": lambda a: tn.sum(tn.sort(a, axis=0) * a),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transform", [lambda f: f, tn.jacobian], ids=["value", "derivative"])
def test_fewer_decompositions_give_the_same(name, transform):
    function = FUNCTIONS[name]

    def both(a):
        return function(a), transform(function)(a)

    found, wanted = (tn.jit(both, options={"passes": p})(A) for p in ("all", "none"))
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def test_a_value_and_its_gradient_decompose_once():
    """The values are those of the decomposition."""
    function = tn.jit(tn.value_and_grad(FUNCTIONS["singular values"]))
    function(A)
    assert "outputs: 1 rewritten; 10 equations before, 9 after" in function.explain()


def test_decompositions_that_only_derivatives_tell_apart_are_one():
    function = tn.jit(lambda a: tn.linalg.svd(a)[0] + tn.linalg.svd(a, projectors_only=True)[2])
    function(A)
    assert "outputs: 1 rewritten; 3 equations before, 2 after" in function.explain()
