"""Table of the file that defines each function, so that a family loads at its first use.

The names are those of the table of covered functions, see ``registry.py``. Read next: that.
"""

from __future__ import annotations

FAMILIES = {
    "applying": "apply_along_axis apply_over_axes",
    "arithmetic": (
        "add subtract multiply divide true_divide power pow __power__ maximum minimum clip "
        "negative positive absolute abs fabs sign sqrt cbrt float_power square reciprocal astype"
    ),
    "assignment": "__setitem__ __at_set__ __at_combine__ __at_factor__ __at_get__ __inplace__",
    "bitwise": (
        "bitwise_and bitwise_or bitwise_xor invert bitwise_not bitwise_invert left_shift "
        "bitwise_left_shift right_shift bitwise_right_shift bitwise_count gcd lcm"
    ),
    "broadcasting": "atleast_1d atleast_2d atleast_3d broadcast_to broadcast_arrays",
    "calculus": "diff ediff1d trapezoid trapz gradient interp",
    "closeness": "isclose allclose array_equal array_equiv real_if_close select piecewise",
    "comparison": (
        "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor "
        "logical_not where isnan isinf isfinite"
    ),
    "complex": "real imag conj conjugate",
    "contraction": (
        "matmul linalg.matmul dot inner vdot outer tensordot vecdot linalg.vecdot matvec vecmat "
        "kron trace linalg.tensordot linalg.trace linalg.diagonal linalg.outer"
    ),
    "creation": (
        "zeros empty ones full zeros_like empty_like ones_like full_like copy array "
        "asarray_chkfinite fromfunction shape ndim size"
    ),
    "cumulative": "cumsum cumprod cumulative_sum cumulative_prod",
    "data_types": "result_type can_cast",
    "editing": "delete insert resize trim_zeros",
    "einsum": "einsum einsum_path",
    "elementwise": "exp log exp2 log2 log10 expm1 log1p logaddexp logaddexp2 expit logistic erf",
    "exchange": "__dlpack__ __dlpack_device__ from_dlpack __device__ __to_device__",
    "fft": (
        "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fftn fft.ifftn fft.rfftn "
        "fft.irfftn fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.fftshift fft.ifftshift fft.fftfreq "
        "fft.rfftfreq"
    ),
    "filtering": "convolve correlate cross linalg.cross",
    "floating": (
        "copysign nextafter signbit spacing heaviside fmax fmin ldexp frexp isposinf isneginf "
        "nan_to_num isreal iscomplex isrealobj iscomplexobj"
    ),
    "histogram": "bincount histogram_bin_edges histogram histogramdd histogram2d",
    "hyperbolic": "sinh cosh tanh arcsinh asinh arccosh acosh arctanh atanh",
    "indexing": "getitem take",
    "joining": "vstack hstack dstack column_stack append block",
    "linalg.decomposing": "linalg.svd linalg.svdvals linalg.qr",
    "linalg.determinants": "linalg.det linalg.slogdet",
    "linalg.eigenproblems": "linalg.eigh linalg.eigvalsh linalg.eig linalg.eigvals",
    "linalg.least_squares": "linalg.pinv linalg.lstsq linalg.matrix_rank linalg.cond",
    "linalg.multi_dot": "linalg.multi_dot",
    "linalg.norms": "linalg.norm linalg.vector_norm linalg.matrix_norm",
    "linalg.powers": "linalg.matrix_transpose linalg.matrix_power",
    "linalg.solving": "linalg.solve linalg.inv linalg.tensorsolve linalg.tensorinv",
    "linalg.triangular": "linalg.cholesky",
    "logsumexp": "logsumexp softmax log_softmax",
    "looking": "__html__",
    "methods": "_astype _sort _partition _fill _put _compress _set_real _set_imag __set_flat__",
    "moments": "mean var std average cov corrcoef",
    "nan_functions": (
        "nansum nanprod nanmax nanmin nanmean nanvar nanstd nancumsum nancumprod nanargmax "
        "nanargmin nanmedian nanpercentile nanquantile"
    ),
    "padding": "pad",
    "polynomial": "polyval polyadd polysub polymul polyder polyint polydiv",
    "printing": "array_repr array_str array2string may_share_memory shares_memory",
    "quantiles": "median percentile quantile",
    "ranges": "arange linspace logspace geomspace meshgrid indices",
    "rearranging": "flip flipud fliplr rot90 roll tile repeat",
    "reduction": "sum prod max amax min amin ptp any all count_nonzero argmax argmin",
    "rounding": (
        "floor ceil trunc fix rint round around floor_divide remainder mod divmod fmod modf"
    ),
    "searching": "nonzero flatnonzero argwhere searchsorted digitize",
    "sets": (
        "unique unique_all unique_counts unique_inverse unique_values intersect1d union1d "
        "setdiff1d setxor1d isin"
    ),
    "sorting": "sort argsort partition argpartition lexsort sort_complex",
    "special": (
        "erfc erfcx erfinv erfcinv gammaln gamma betaln gammainc gammaincc betainc betaincc ndtr "
        "log_ndtr ndtri xlogy xlog1py logit exprel i0e i1e i1 i0 psi digamma log_expit exp10 "
        "loggamma gammasgn beta entr rel_entr kl_div huber pseudo_huber polygamma iv ive "
        "multigammaln _zeta _riemann_zeta zeta"
    ),
    "splitting": "array_split split vsplit hsplit dsplit unstack",
    "structural": (
        "reshape ravel flatten transpose permute_dims swapaxes matrix_transpose rollaxis moveaxis "
        "expand_dims squeeze concatenate concat stack"
    ),
    "taking": (
        "take_along_axis choose compress extract diagonal ix_ unravel_index ravel_multi_index"
    ),
    "triangles": (
        "eye identity tri tril triu diag diagflat tril_indices_from triu_indices_from "
        "diag_indices_from tril_indices triu_indices diag_indices mask_indices vander"
    ),
    "trigonometric": (
        "sin cos tan arcsin asin arccos acos arctan atan arctan2 atan2 hypot degrees rad2deg "
        "radians deg2rad angle sinc unwrap"
    ),
    "writing": "copyto putmask place put put_along_axis fill_diagonal",
}
