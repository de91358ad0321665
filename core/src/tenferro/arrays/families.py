"""Table of the file that defines each function, so that a family loads at its first use.

The names are those of the table of covered functions, see ``registry.py``. Read next: that.
"""

from __future__ import annotations

# generated: families
FAMILIES = {
    "applying": "apply_along_axis apply_over_axes",
    "arithmetic": (
        "__power__ abs absolute add astype cbrt clip divide fabs float_power maximum minimum "
        "multiply negative positive pow power reciprocal sign sqrt square subtract true_divide"
    ),
    "assignment": "__at_combine__ __at_factor__ __at_get__ __at_set__ __inplace__ __setitem__",
    "bessel": "i0 i0e i1 i1e iv ive j0 j1 jn jv k0 k0e k1 k1e kn kv kve y0 y1 yn yv",
    "bitwise": (
        "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or "
        "bitwise_right_shift bitwise_xor gcd invert lcm left_shift right_shift"
    ),
    "broadcasting": "atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to",
    "calculus": "diff ediff1d gradient interp trapezoid trapz",
    "closeness": "allclose array_equal array_equiv isclose piecewise real_if_close select",
    "comparison": (
        "equal greater greater_equal isfinite isinf isnan less less_equal logical_and logical_not "
        "logical_or logical_xor not_equal where"
    ),
    "complex": "conj conjugate imag real",
    "contraction": (
        "dot inner kron linalg.diagonal linalg.matmul linalg.outer linalg.tensordot linalg.trace "
        "linalg.vecdot matmul matvec outer tensordot trace vdot vecdot vecmat"
    ),
    "creation": (
        "array asarray_chkfinite copy empty empty_like fromfunction full full_like ndim ones "
        "ones_like shape size zeros zeros_like"
    ),
    "cumulative": "cumprod cumsum cumulative_prod cumulative_sum",
    "data_types": "can_cast result_type",
    "editing": "delete insert resize trim_zeros",
    "einsum": "einsum einsum_path",
    "elementwise": "erf exp exp2 expit expm1 log log10 log1p log2 logaddexp logaddexp2 logistic",
    "exchange": "__device__ __dlpack__ __dlpack_device__ __to_device__ from_dlpack",
    "faddeeva": "dawsn erfi voigt_profile wofz",
    "fft": (
        "fft.fft fft.fft2 fft.fftfreq fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn "
        "fft.ifftshift fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftfreq "
        "fft.rfftn"
    ),
    "filtering": "convolve correlate cross linalg.cross",
    "floating": (
        "copysign fmax fmin frexp heaviside iscomplex iscomplexobj isneginf isposinf isreal "
        "isrealobj ldexp nan_to_num nextafter signbit spacing"
    ),
    "histogram": "bincount histogram histogram2d histogram_bin_edges histogramdd",
    "hyperbolic": "acosh arccosh arcsinh arctanh asinh atanh cosh sinh tanh",
    "indexing": "getitem take",
    "integrals": "ellipe ellipk ellipkm1 exp1 expi expn",
    "joining": "append block column_stack dstack hstack vstack",
    "linalg.decomposing": "linalg.qr linalg.svd linalg.svdvals",
    "linalg.determinants": "linalg.det linalg.slogdet",
    "linalg.eigenproblems": "linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh",
    "linalg.least_squares": "linalg.cond linalg.lstsq linalg.matrix_rank linalg.pinv",
    "linalg.multi_dot": "linalg.multi_dot",
    "linalg.norms": "linalg.matrix_norm linalg.norm linalg.vector_norm",
    "linalg.powers": "linalg.matrix_power linalg.matrix_transpose",
    "linalg.solving": "linalg.inv linalg.solve linalg.tensorinv linalg.tensorsolve",
    "linalg.triangular": "linalg.cholesky",
    "logsumexp": "log_softmax logsumexp softmax",
    "looking": "__html__",
    "methods": (
        "__set_flat__ _astype _compress _conj _conjugate _fill _partition _put _set_imag _set_real "
        "_sort"
    ),
    "moments": "average corrcoef cov mean std var",
    "nan_functions": (
        "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile "
        "nanprod nanquantile nanstd nansum nanvar"
    ),
    "padding": "pad",
    "polynomial": "polyadd polyder polydiv polyint polymul polysub polyval",
    "power_transforms": "boxcox boxcox1p inv_boxcox inv_boxcox1p",
    "printing": "array2string array_repr array_str may_share_memory shares_memory",
    "probabilities": "chdtr chdtrc fdtr fdtrc gdtr gdtrc pdtr pdtrc",
    "quantiles": "median percentile quantile",
    "ranges": "arange geomspace indices linspace logspace meshgrid",
    "rearranging": "flip fliplr flipud repeat roll rot90 tile",
    "reduction": "all amax amin any argmax argmin count_nonzero max min prod ptp sum",
    "rounding": (
        "around ceil divmod fix floor floor_divide fmod mod modf remainder rint round trunc"
    ),
    "searching": "argwhere digitize flatnonzero nonzero searchsorted",
    "sets": (
        "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts "
        "unique_inverse unique_values"
    ),
    "sorting": "argpartition argsort lexsort partition sort sort_complex",
    "special": (
        "_riemann_zeta _zeta beta betainc betaincc betaln cosm1 digamma entr erfc erfcinv erfcx "
        "erfinv exp10 exprel gamma gammainc gammaincc gammaln gammasgn huber kl_div log_expit "
        "log_ndtr loggamma logit multigammaln ndtr ndtri polygamma pseudo_huber psi rel_entr "
        "rgamma softplus xlog1py xlogy zeta"
    ),
    "splitting": "array_split dsplit hsplit split unstack vsplit",
    "structural": (
        "concat concatenate expand_dims flatten matrix_transpose moveaxis permute_dims ravel "
        "reshape rollaxis squeeze stack swapaxes transpose"
    ),
    "student": "stdtr",
    "taking": (
        "choose compress diagonal extract ix_ ravel_multi_index take_along_axis unravel_index"
    ),
    "triangles": (
        "diag diag_indices diag_indices_from diagflat eye identity mask_indices tri tril "
        "tril_indices tril_indices_from triu triu_indices triu_indices_from vander"
    ),
    "trigonometric": (
        "acos angle arccos arcsin arctan arctan2 asin atan atan2 cos deg2rad degrees hypot rad2deg "
        "radians sin sinc tan unwrap"
    ),
    "windows": "sliding_window_view stride_tricks.sliding_window_view",
    "writing": "copyto fill_diagonal place put put_along_axis putmask",
}
# end generated
