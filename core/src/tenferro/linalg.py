"""Linear algebra: the functions of ``np.linalg``, and those of ``scipy.linalg`` that are here.

``np.linalg`` itself takes Arrays and finds the same functions, so NumPy code needs no other name.
What ``scipy.linalg`` alone has is reached here: SciPy converts what it is given, and refuses
Arrays. Where both have a name, the function is NumPy's. The namespace holds the extension
``linalg`` of the Array API standard (data-apis.org/array-api/2024.12).
"""

from __future__ import annotations

from tenferro.array.functions.contraction import linalg_diagonal as diagonal
from tenferro.array.functions.contraction import linalg_outer as outer
from tenferro.array.functions.contraction import linalg_tensordot as tensordot
from tenferro.array.functions.contraction import linalg_trace as trace
from tenferro.array.functions.contraction import matmul, vecdot
from tenferro.array.functions.filtering import linalg_cross as cross
from tenferro.array.functions.linalg.eigenproblems import eig, eigh, eigvals, eigvalsh
from tenferro.array.functions.linalg.matrix_functions import (
    coshm,
    cosm,
    expm,
    fractional_matrix_power,
    logm,
    sinhm,
    sinm,
    sqrtm,
    tanhm,
    tanm,
)
from tenferro.array.functions.linalg.norms import matrix_norm, norm, vector_norm
from tenferro.array.functions.linalg.powers import matrix_power
from tenferro.array.functions.linalg.special_matrices import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    fiedler,
    hankel,
    khatri_rao,
    leslie,
    toeplitz,
)
from tenferro.array.functions.structural import matrix_transpose

__all__ = [
    "block_diag", "circulant", "companion", "convolution_matrix", "coshm", "cosm", "cross",
    "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "expm", "fiedler", "fractional_matrix_power",
    "hankel", "khatri_rao", "leslie", "logm", "matmul", "matrix_norm", "matrix_power",
    "matrix_transpose", "norm", "outer", "sinhm", "sinm", "sqrtm", "tanhm", "tanm", "tensordot",
    "toeplitz", "trace", "vecdot", "vector_norm",
]  # fmt: skip
