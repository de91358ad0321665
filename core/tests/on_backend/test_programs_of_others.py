"""Functions that SciPy wrote for its own tests, in plain NumPy, run unchanged here.

They are imported from the installed SciPy. References: their partial derivatives by mpmath at 40
digits, where they take its numbers; five-point differences everywhere.
"""

from importlib import import_module

import numpy as np
import pytest

import tenferro as tn

pytest.importorskip("scipy")


def _from(module, path):
    """The function at a dotted path of one of SciPy's test modules."""
    found = pytest.importorskip(f"scipy.optimize.tests.{module}")
    for name in path.split("."):
        found = getattr(found() if isinstance(found, type) else found, name)
    return found


def _shgo(name):
    module = pytest.importorskip("scipy.optimize.tests.test__shgo")
    return getattr(module, name)(((-1, 1), (-1, 1)), 0).f


def _checked():
    case = import_module("scipy.optimize.tests.test_optimize").CheckOptimize()
    case.setup_method()
    return case.func


# name: (how to get it, point, whether it computes with the numbers of mpmath)
PROGRAMS = {
    "himmelblau": (lambda: _from("test_optimize", "himmelblau"), [0.3, 1.4], True),
    "Maratos": (lambda: _from("test_minimize_constrained", "Maratos.fun"), [0.3, 1.4], True),
    "HyperbolicIneq": (
        lambda: _from("test_minimize_constrained", "HyperbolicIneq.fun"), [0.3, 1.4], True,
    ),
    "SLSQP": (lambda: _from("test_slsqp", "TestSLSQP.fun"), [0.3, 1.4], True),
    "Hock and Schittkowski 45": (
        lambda: _from("test_tnc", "TestTnc.f45"), [0.3, 0.5, 0.8, 1.1, 1.4], True,
    ),
    "basin hopping": (
        lambda: _from("test__basinhopping", "func2d_nograd"), [0.3, 1.4], False,
    ),
    "SHGO 1": (lambda: _shgo("StructTest1"), [0.3, 1.4], True),
    "SHGO 3": (lambda: _shgo("StructTest3"), [0.3, 1.4], True),
    "SHGO 5, the egg holder": (lambda: _shgo("StructTest5"), [30.0, 41.0], False),
    "SHGO S": (lambda: _shgo("StructTestS"), [0.3, 1.4, 0.7, 0.9], False),
    "maximum entropy": (_checked, [0.3, -0.2, 1.4], False),
    "trivial least squares": (
        lambda: lambda x: np.sum(_from("test_least_squares", "fun_trivial")(x) ** 2),
        [0.3], False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_agree_with_differences(name):
    """Both modes, to second order"""
    make, point, _ = PROGRAMS[name]
    tn.check_grads(make(), (np.array(point),), order=2, rtol=1e-5)


@pytest.mark.parametrize("name", [name for name, row in PROGRAMS.items() if row[2]])
def test_gradient_and_hessian_agree_with_mpmath(name):
    """∂f/∂xᵢ and ∂²f/∂xᵢ∂xⱼ, by differences at 40 digits"""
    mpmath = pytest.importorskip("mpmath")
    make, point, _ = PROGRAMS[name]
    f, n = make(), len(point)
    unit = np.eye(n, dtype=int)
    with mpmath.workdps(40):
        at = tuple(mpmath.mpf(x) for x in point)
        partial = lambda orders: float(mpmath.diff(lambda *xs: f(list(xs)), at, tuple(orders)))  # noqa: E731
        gradient = [partial(unit[i]) for i in range(n)]
        hessian = [[partial(unit[i] + unit[j]) for j in range(n)] for i in range(n)]
    x = np.array(point)
    np.testing.assert_allclose(tn.grad(f)(x), gradient, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(tn.hessian(f)(x), hessian, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_jit_and_vmap_agree_with_the_plain_function(name):
    make, point, _ = PROGRAMS[name]
    f, points = make(), np.array([point, np.array(point) * 1.25])
    want = [tn.grad(f)(x) for x in points]
    np.testing.assert_allclose(tn.jit(tn.grad(f))(points[1]), want[1], rtol=1e-12)
    np.testing.assert_allclose(tn.vmap(tn.grad(f))(points), want, rtol=1e-12)
