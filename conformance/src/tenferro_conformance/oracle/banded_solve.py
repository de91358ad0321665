"""The oracle for banded systems: the matrix is written out and solved."""

from __future__ import annotations

from collections.abc import Mapping

from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, mp
from tenferro_conformance.oracle.svd import matrices

__all__ = ["REFERENCES"]


def _banded_solve(params: Params, ab: Tensor, b: Tensor) -> Tensor:
    if 0 in b.shape:
        return b
    above, found = params["above"], []
    for band, right in zip(matrices(ab), matrices(b), strict=True):
        matrix = mp.matrix(right.rows, right.rows)
        for i in range(right.rows):
            for j in range(right.rows):
                if 0 <= above + i - j < band.rows:
                    matrix[i, j] = band[above + i - j, j]
        columns = [mp.lu_solve(matrix, right[:, k]) for k in range(right.cols)]
        found += [columns[k][i] for i in range(right.rows) for k in range(right.cols)]
    return Tensor(b.shape, tuple(found))


REFERENCES: Mapping[str, Reference] = {"banded_solve": _banded_solve}
