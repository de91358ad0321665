"""np.save, np.savetxt, np.savez and np.savez_compressed of Arrays: NumPy reads the values back."""

from io import BytesIO

import numpy as np
import pytest

import tenferro as tn

VALUES = [np.arange(6.0).reshape(2, 3), np.float32(2.5), np.ones((0, 2), complex), np.array([True])]


@pytest.mark.parametrize("x", VALUES, ids=lambda x: f"{x.dtype}{x.shape}")
def test_an_array_comes_back(x):
    """value, shape and dtype"""
    one = BytesIO()
    np.save(one, tn.asarray(x))
    one.seek(0)
    found = np.load(one)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, x)
    for write in (np.savez, np.savez_compressed):
        several = BytesIO()
        write(several, tn.asarray(x), twice=tn.asarray(x))
        several.seek(0)
        read = np.load(several)
        np.testing.assert_array_equal(read["arr_0"], x)
        np.testing.assert_array_equal(read["twice"], x)


def test_a_text_comes_back():
    file = BytesIO()
    np.savetxt(file, tn.asarray(VALUES[0]))
    np.testing.assert_array_equal(np.loadtxt(BytesIO(file.getvalue())), VALUES[0])


@pytest.mark.parametrize("transform", [tn.grad, tn.jit])
def test_a_file_inside_of_a_transform_is_refused(transform):
    def f(x):
        np.save(BytesIO(), x)
        return np.sum(x)

    with pytest.raises(tn.TracedConversionError, match=r"np\.save"):
        transform(f)(np.ones(3))
