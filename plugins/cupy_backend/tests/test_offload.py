"""A loop whose derivative stores rows in a file is refused: the rows lie on the device."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import UnsupportedError


def looped(x):
    step = lambda c, _: (np.sin(c), None)  # noqa: E731
    return tn.scan(step, x, None, 5, checkpoint=tn.offload())[0]


def test_the_refusal_names_another_store(make_backend):
    """The value needs no rows; the gradient does"""
    backend = make_backend()
    value = tn.jit(looped, backend=backend)(0.5)
    np.testing.assert_allclose(np.array(value), np.sin(np.sin(np.sin(np.sin(np.sin(0.5))))))
    with pytest.raises(UnsupportedError, match="cannot store its rows") as caught:
        np.array(tn.jit(tn.grad(looped), backend=backend)(0.5))
    assert caught.value.feature == "offload"
    assert caught.value.instead == 'checkpoint="sqrt"'
