"""Series of np.polynomial: NumPy's values where its operators suffice, else an error."""

import numpy as np
import pytest

import tenferro as tn

FAMILIES = {
    "polynomial": "polyval", "chebyshev": "chebval", "legendre": "legval", "laguerre": "lagval",
    "hermite": "hermval", "hermite_e": "hermeval",
}  # fmt: skip
SERIES = [getattr(getattr(np.polynomial, part), name) for part, name in FAMILIES.items()]
of_each = pytest.mark.parametrize("series", SERIES, ids=lambda series: series.__name__)
X = np.array([0.5, -0.25, 1.5])
C = np.array([[1.0, 2.0, -1.0], [0.5, 0.25, 3.0], [2.0, -2.0, 1.0], [0.1, 0.2, 0.3]])


@of_each
@pytest.mark.parametrize("length", [1, 2, 4])
def test_coefficients_of_rank_1(series, length):
    """values are NumPy's, and there are derivatives"""
    c = C[:length, 0]
    np.testing.assert_allclose(series(tn.asarray(X), c), series(X, c), rtol=1e-14)
    tn.check_grads(lambda x: series(x, c), (X,), order=2)


@of_each
@pytest.mark.parametrize("length", [1, 2, 4])
def test_coefficients_of_rank_2_are_refused_where_numpy_appends_axes(series, length):
    """with tensor=True, for as many columns as points too; what the error names has its values"""
    c = C[:length]
    for call in (
        lambda: series(tn.asarray(X), c),
        lambda: tn.jit(lambda x: series(x, c))(X),
        lambda: tn.jvp(lambda x: series(x, c), (X,), (X,)),
    ):
        with pytest.raises(tn.UnsupportedFunctionError, match="tensor=False") as caught:
            call()
        assert caught.value.function.endswith(f".{series.__name__}")
        assert "test_polynomial_series.py" in str(caught.value)
    found = series(tn.asarray(X), c.reshape(c.shape + (1,) * X.ndim), tensor=False)
    np.testing.assert_allclose(found, series(X, c), rtol=1e-14)
    np.testing.assert_allclose(
        series(tn.asarray(X), c, tensor=False), series(X, c, tensor=False), rtol=1e-14
    )
    np.testing.assert_allclose(series(tn.asarray(0.5), c), series(0.5, c), rtol=1e-14)


def test_a_polynomial_by_its_roots():
    """refused for points of rank 1; what the error names has NumPy's values"""
    series, r = np.polynomial.polynomial.polyvalfromroots, C[0]
    with pytest.raises(tn.UnsupportedFunctionError, match=r"np\.prod\(x - r\.reshape"):
        tn.jit(lambda x: series(x, r))(X)
    found = np.prod(tn.asarray(X) - r.reshape(r.shape + (1,) * X.ndim), axis=0)
    np.testing.assert_allclose(found, series(X, r), rtol=1e-14)
    np.testing.assert_allclose(series(tn.asarray(0.5), r), series(0.5, r), rtol=1e-14)
    np.testing.assert_allclose(
        series(tn.asarray(X), C, tensor=False), series(X, C, tensor=False), rtol=1e-14
    )


def test_a_grid_of_points_is_refused():
    """polygrid2d evaluates one series of coefficients of rank 2 after another"""
    with pytest.raises(tn.UnsupportedFunctionError, match="chebval"):
        tn.grad(lambda x: np.sum(np.polynomial.chebyshev.chebgrid2d(x, X, C)))(X)
