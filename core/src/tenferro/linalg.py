"""Linear algebra: the functions of ``np.linalg``, and those of ``scipy.linalg`` that are here.

``np.linalg`` itself takes Arrays and finds the same functions, so NumPy code needs no other name.
What ``scipy.linalg`` alone has is reached here: SciPy converts what it is given, and refuses
Arrays. Where both have a name, the function is NumPy's. The namespace holds the extension
``linalg`` of the Array API standard (data-apis.org/array-api/2024.12).
"""

from __future__ import annotations

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.linalg.lu_factors import lu, lu_factor, lu_solve
from tenferro.arrays.functions.linalg.lyapunov import (
    solve_continuous_lyapunov,
    solve_discrete_lyapunov,
)
from tenferro.arrays.functions.linalg.matrix_functions import (
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
from tenferro.arrays.functions.linalg.pfaffians import pfaffian
from tenferro.arrays.functions.linalg.qr_updates import qr_delete, qr_insert, qr_update
from tenferro.arrays.functions.linalg.schur_form import schur
from tenferro.arrays.functions.linalg.special_matrices import (
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
from tenferro.arrays.functions.linalg.structured import (
    solve_banded,
    solve_sylvester,
    solveh_banded,
)
from tenferro.arrays.functions.linalg.subspaces import null_space, orth
from tenferro.arrays.functions.linalg.triangular import (
    cho_factor,
    cho_solve,
    cholesky_solve,
    solve_triangular,
)
from tenferro.arrays.sparse.matrix import sparse_array
from tenferro.arrays.sparse.solving import spsolve
from tenferro.primitives._boundary import publish as _publish
from tenferro.transforms.matrix_functions.banded_cholesky import (
    cho_solve_banded,
    cholesky_banded,
)
from tenferro.transforms.matrix_functions.low_rank import low_rank, low_rank_factors
from tenferro.transforms.matrix_functions.polar import orthogonal_procrustes, polar
from tenferro.transforms.matrix_functions.riccati import solve_continuous_are, solve_discrete_are
from tenferro.transforms.matrix_functions.spectral import spectral_function

# fmt: off
# isort: off
# generated: functions
from tenferro.arrays.functions.contraction import (
    linalg_diagonal as diagonal, linalg_outer as outer, linalg_tensordot as tensordot,
    linalg_trace as trace, matmul, vecdot,
)
from tenferro.arrays.functions.filtering import linalg_cross as cross
from tenferro.arrays.functions.linalg.decomposing import qr, svd, svdvals
from tenferro.arrays.functions.linalg.determinants import det, slogdet
from tenferro.arrays.functions.linalg.eigenproblems import eig, eigh, eigvals, eigvalsh
from tenferro.arrays.functions.linalg.least_squares import cond, lstsq, matrix_rank, pinv
from tenferro.arrays.functions.linalg.multi_dot import multi_dot
from tenferro.arrays.functions.linalg.norms import matrix_norm, norm, vector_norm
from tenferro.arrays.functions.linalg.powers import matrix_power
from tenferro.arrays.functions.linalg.solving import inv, solve, tensorinv, tensorsolve
from tenferro.arrays.functions.linalg.triangular import cholesky
from tenferro.arrays.functions.structural import matrix_transpose
# end generated
# fmt: on
# isort: on

# fmt: off
# generated: public names
__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cho_solve_banded", "cholesky", "cholesky_banded",
    "cholesky_solve", "circulant", "companion", "cond", "convolution_matrix", "coshm", "cosm",
    "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "expm", "fiedler",
    "fractional_matrix_power", "hankel", "inv", "khatri_rao", "leslie", "logm", "low_rank",
    "low_rank_factors", "lstsq", "lu", "lu_factor", "lu_solve", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "null_space", "orth",
    "orthogonal_procrustes", "outer", "pfaffian", "pinv", "polar", "qr", "qr_delete", "qr_insert",
    "qr_update", "schur", "sinhm", "sinm", "slogdet", "solve", "solve_banded",
    "solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_are",
    "solve_discrete_lyapunov", "solve_sylvester", "solve_triangular", "solveh_banded",
    "sparse_array", "spectral_function", "spsolve", "sqrtm", "svd", "svdvals", "tanhm", "tanm",
    "tensordot", "tensorinv", "tensorsolve", "toeplitz", "trace", "vecdot", "vector_norm",
]
# end generated
# fmt: on

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
