"""The algebras of the example obey the laws of a semiring; a wrong algebra is named by its law."""

import pytest

np = pytest.importorskip("numpy")
algebra = pytest.importorskip("tenferro_conformance.algebra")
from tropical.algebras import Fractions, Intervals, LongDouble, MaxPlus, Truth  # noqa: E402

MATRICES = np.random.default_rng(0).integers(-3, 4, (3, 3, 3)).astype(float)
LAWS = [law.name for law in (*algebra.ELEMENTWISE, *algebra.CONTRACTIONS, *algebra.DERIVATIVES)]


@pytest.mark.parametrize(
    "kind", [Fractions, LongDouble, MaxPlus, Truth], ids=lambda kind: kind.__name__
)
def test_every_law_holds(kind):
    assert algebra.check_algebra(kind(), *MATRICES) == tuple(LAWS)


def test_sums_of_intervals_commute_and_do_not_associate():
    """Each rounding widens the result, so two orders of a sum are two enclosures of it"""
    with pytest.raises(algebra.BrokenLawsError) as caught:
        algebra.check_algebra(Intervals(), *MATRICES)
    assert "add associates" in caught.value.laws
    assert "add commutes" not in caught.value.laws


@pytest.mark.parametrize(
    "method, wrong, law",
    [
        ("add", lambda self, x, y: x, "add commutes"),
        ("mul", lambda self, x, y: x - y, "mul commutes"),
        ("mul", lambda self, x, y: 2 * x + y, "mul associates"),
        ("mul", lambda self, x, y: np.maximum(x, y), "multiplying by one"),
        ("transpose", lambda self, x, *, permutation: x, "dot_general is a sum of products"),
        ("reduce_sum", lambda self, x, *, axes: x.sum(axes), "a sum of two"),
    ],
)
def test_a_wrong_method_breaks_its_law(method, wrong, law):
    bad = type("Bad", (MaxPlus,), {method: wrong})()
    with pytest.raises(algebra.BrokenLawsError) as caught:
        algebra.check_algebra(bad, *MATRICES)
    assert law in caught.value.laws


def test_laws_of_operations_that_are_missing_are_left_out():
    bare = type("Bare", (MaxPlus,), {"dot_general": None})()
    assert "products associate" not in algebra.check_algebra(bare, *MATRICES)
