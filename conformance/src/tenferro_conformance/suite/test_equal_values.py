"""Derivatives of functions of singular values and eigenvalues, equal or nearly equal."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import MissingLoweringError
from tenferro_conformance.cases.equal_values import FORMS, GAPS

pytestmark = pytest.mark.tenferro_law("equal values")
DTYPES = {"float32": 0, "float64": 1, "complex64": 0, "complex128": 1}
ROWS = [
    (name, dtype) for name in FORMS for dtype in DTYPES if "gate" not in name or "float" in dtype
]


@pytest.mark.parametrize("name, dtype", ROWS)
def test_equal_values(tenferro_backend, tenferro_kit, name, dtype):
    """∇f(A) = the closed form, and Df(A) E = Re⟨∇f(A), E⟩, for gaps from 0 on, eager and jitted.

    Factorizations are at level 3, whatever else is run.
    """
    claimed = tenferro_kit.selections[tenferro_backend].profile.level
    if claimed is None or claimed < 3:
        pytest.skip("level 3 is not claimed")
    form = FORMS[name]
    bound = form.bounds[DTYPES[dtype]]

    def derivatives(a, e):
        return tn.grad(form.loss)(a), tn.jvp(form.loss, (a,), (e,))[1]

    compiled = tn.jit(derivatives)
    for gap in GAPS:
        for a, gradient in form.points(dtype, gap):
            e = gradient[::-1].astype(dtype)
            tangent = np.sum(np.conj(gradient) * e).real
            try:
                found = [compiled(a, e), derivatives(a, e)] if gap == 0 else [compiled(a, e)]
            except MissingLoweringError as error:
                pytest.skip(str(error).partition("\n")[0])
            for slope, push in [[np.asarray(tn.asarray(x)) for x in pair] for pair in found]:
                limit = bound * max(1, abs(gradient).max())
                np.testing.assert_allclose(slope, gradient, rtol=0, atol=limit)
                assert abs(push - tangent) <= 9 * limit * abs(gradient).max()
