"""Which steps become chains: few launches, the same numbers, and arguments that fit a launch."""

import numpy as np
import pytest

import tenferro as tn
from tenferro_cupy.kernels.chain import Chain
from tenferro_cupy.plan import chains

X = np.linspace(-1.0, 1.0, 60).reshape(6, 10)


def launches(function, backend, *arrays):
    """The names of launches of the second call, and the results."""
    jitted = tn.jit(function, backend=backend)
    jitted(*arrays)
    del backend.cupy.launches[:]
    results = jitted(*arrays)
    names = [name for name, _ in backend.cupy.launches]
    results = results if isinstance(results, tuple) else (results,)
    return names, [np.asarray(r) for r in results]


def softmax(x):
    shifted = np.exp(x - np.max(x, axis=1, keepdims=True))
    return shifted / np.sum(shifted, axis=1, keepdims=True)


def many(x):
    """Sums over one axis and the other, each of another number."""
    for k in range(40):
        x = np.sin(x * (np.sum(x, axis=k % 2, keepdims=True) + k))
    return x


PROGRAMS = {
    "a softmax": (softmax, ["kernel"]),
    "one operation": (np.exp, ["exp"]),
    "one operation that kernels compute more accurately": (tn.special.gammaln, ["kernel"]),
    "a function of doubles that they do": (tn.special.erfc, ["kernel"]),
    "a power of complex numbers": (lambda x: (x + 1j) ** (2 + x), ["kernel"]),
    "a power between": (lambda x: np.exp((x + 1j) ** (2 + np.sin(x))) * x, ["kernel"]),
    "one reduction": (lambda x: np.sum(x, axis=0), ["sum"]),
    "independent reductions": (lambda x: (np.sum(x, axis=0), np.max(x, axis=1)), ["kernel"]),
    "a product between": (lambda x: np.exp(np.exp(x).sum(0) * x @ np.sin(x).T).sum(1), None),
    "a reshape of a transposed value": (
        lambda x: np.sum(np.sin(np.exp(x).T.reshape(12, 5)), axis=0), None,
    ),
    "a reshape of a value": (
        lambda x: np.sum(np.sin(np.exp(x).reshape(12, 5)), axis=0), ["kernel"],
    ),
    "a view is a result": (lambda x: (np.exp(x).T[1:], np.sum(x)), ["kernel", "copy"]),
    "an operand is a result": (lambda x: (x, np.sum(np.exp(x), axis=0) + 1), None),
    "a scatter and a gather": (
        lambda x: np.sum(np.exp(x)[np.array([1, 1, -1])], axis=0), ["kernel"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_launches_and_numbers(name, make_backend):
    function, expected = PROGRAMS[name]
    names, got = launches(function, make_backend(), X)
    if expected is not None:
        assert names == expected
    want = function(X)
    for a, b in zip(got, want if isinstance(want, tuple) else (want,), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_large_regions_stay_alone(make_backend):
    """One block of threads would be slow: each reduction of a large array is a launch"""
    x = np.linspace(-1.0, 1.0, 6000).reshape(60, 100)
    names, (got,) = launches(softmax, make_backend(), x)
    assert len(names) == 3
    np.testing.assert_allclose(got, softmax(x))


def chains_of(function, backend, monkeypatch):
    made = []

    class Noted(chains.Chain):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(chains, "Chain", Noted)
    return made, launches(function, backend, X)


def test_arguments_fit_a_launch(make_backend, monkeypatch):
    """A long program becomes several chains"""
    made, (names, (got,)) = chains_of(many, make_backend(), monkeypatch)
    assert 1 < len(names) < 20
    np.testing.assert_allclose(got, many(X), rtol=1e-10)
    for chain in made:
        size = sum(chains.bytes_of_arguments(region) for region in chain.regions)
        assert size <= 4000
        assert len(chain.regions) <= 32


def test_the_bound_of_the_arguments_holds(make_backend, monkeypatch):
    """Pointers and integers of 8 bytes take no more than was assumed"""
    made, _ = chains_of(lambda x: many(x.T[::-1]), make_backend(), monkeypatch)
    for chain in made:
        for region in chain.regions:
            arrays = [np.zeros(region.shape, order="F") for _ in region.kernel.operands]
            link = region.link(arrays)
            pointers = len(arrays) + len(region.kernel.outputs) + len(region.kernel.folds)
            size = 8 * (pointers + len(link.integers)) + 16 * len(region.constants)
            assert size <= chains.bytes_of_arguments(region)


def test_a_plan_says_what_a_chain_computes(make_backend):
    text = str(tn.jit(softmax, backend=make_backend()).explain(X))
    assert "kernel over [6, 10], [6, 10], [6, 10], at most" in text
    assert "    %1 = reduce_max[axes=(1,)] %0" in text


def test_an_error_in_a_chain_names_an_equation(make_backend):
    backend = make_backend()
    function = tn.jit(softmax, backend=backend)
    backend.cupy.bytes_left = 50
    with pytest.raises(MemoryError) as caught:
        function(X)
    assert any("kernel     of" in note for note in caught.value.__notes__)


def test_the_real_chain_is_replaced_by_one_on_numpy():
    assert issubclass(chains.Chain, Chain)
