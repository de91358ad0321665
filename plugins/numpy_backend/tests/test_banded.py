"""Banded systems of one unknown, which SciPy treats apart."""

import numpy as np
import pytest

import tenferro as tn
from tenferro_numpy.errors import SingularMatrixError


@pytest.mark.parametrize("widths", [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2), (2, 1)])
def test_one_unknown_is_a_quotient_by_the_diagonal(widths):
    below, above = widths
    band = np.arange(1.0, below + above + 2)[:, None]
    assert tn.linalg.solve_banded(widths, band, [6.0]) == 6.0 / band[above, 0]


def test_one_unknown_without_a_diagonal_is_refused():
    with pytest.raises(SingularMatrixError):
        tn.linalg.solve_banded((1, 1), np.zeros((3, 1)), [1.0])
