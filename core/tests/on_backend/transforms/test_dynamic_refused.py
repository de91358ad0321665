"""`jit(dynamic=True)` on a backend that compiles whole programs, such as XLA."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import select_backend

X = np.array([0.3, -1.2, 2.5])
IS_WHOLE = select_backend(None, [X]).info.whole_program


@pytest.mark.skipif(not IS_WHOLE, reason="the backend finds sizes")
def test_padding_is_named():
    f = tn.jit(lambda x: x[x > 0], dynamic=True)
    with pytest.raises(tn.UnsupportedError, match="pad to a size that is fixed") as caught:
        f(X)
    assert caught.value.backend == select_backend(None, [X]).name
    with tn.debug.unrolled():
        np.testing.assert_array_equal(f(X), X[X > 0])
