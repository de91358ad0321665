"""Rows and columns of sparse matrices are data: what is outside of the matrix is an error."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import sparse_product, sparse_solve
from tenferro_numpy.errors import EntryOutsideError

ENTRIES, X = np.ones(2), np.ones((2, 1))


@pytest.mark.parametrize("rows, columns", [([0, 2], [0, 1]), ([0, 1], [0, 5]), ([0, -1], [0, 1])])
def test_an_entry_outside_is_refused(rows, columns):
    """Its matrix is named, by its shape."""
    given = np.array(rows), np.array(columns)
    half = tn.asarray(ENTRIES.astype("float16")), tn.asarray(X.astype("float16"))
    for function in (
        lambda r, c: sparse_product(tn.asarray(ENTRIES), r, c, tn.asarray(X), size=2),
        lambda r, c: sparse_product(half[0], r, c, half[1], size=2),
        lambda r, c: sparse_solve(tn.asarray(ENTRIES), r, c, tn.asarray(X)),
    ):
        with pytest.raises(EntryOutsideError, match="outside of the matrix") as error:
            np.asarray(tn.jit(function)(*given))
        assert error.value.shape == (2, 2)
