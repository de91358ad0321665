"""Rows of reductions, moments, quantiles, cumulative sums, histograms, with NaN and without."""

import numpy as np
from numpy_rows import ALL, FLOATS, INEXACT, NUMERIC, ORDERED, REAL, SIGNED, X, row, rows
from table_operands import FEW, HOLED, MASK, M, T, V, fixed, refused, smooth

REDUCTIONS = [
    *rows("sum prod any all count_nonzero", T, grad=False),
    *[row(name, M, axis, keepdims=True, dtypes=FEW)
      for name in ("count_nonzero",) for axis in (None, (0, -1))],
    *[row(name, M, axis=axis, keepdims=keep, dtypes=FEW)
      for name in ("any", "all") for axis, keep in [(0, True), ((1, 0), False), ((), False)]],
    *rows("any all", M, where=MASK, dtypes=FEW),
    *[row(name, M, 1, dtype, keepdims=True, dtypes=ALL, grad=True)
      for name in ("sum", "prod") for dtype in (None,)],
    *rows("sum prod", M, axis=(0, 1), dtype="complex64", dtypes=FEW),
    *rows("sum prod", X(3, 0), axis=1, dtypes=FEW),
    *rows("sum prod", M, axis=0, initial=2, where=MASK, dtypes=NUMERIC, grad=True),
    *rows("max min amax amin", T, dtypes=ORDERED, grad="real"),
    *rows("max min amax amin", M, axis=1, keepdims=True, dtypes=ORDERED, grad="real"),
    *rows("max min amax amin", M, axis=(0, 1), initial=1, where=MASK, dtypes=ORDERED, grad="real"),
    *rows("max min amax amin", X(3, 0), axis=1, initial=-1, dtypes=REAL),
    *refused("max min", X(3, 0)),
    *refused("max min", M, where=MASK),
    *rows("max min", X(values=[[1, np.nan], [2, 3]]), axis=0, dtypes=FLOATS),
    row("ptp", M, dtypes=ORDERED, grad="real"),
    row("ptp", M, axis=1, keepdims=True, dtypes=REAL, grad="real"),
    *rows("argmax argmin", M, dtypes=ORDERED),
    *rows("argmax argmin", M, axis=-1, keepdims=True, dtypes=ORDERED),
    *refused("argmax argmin", X(0)),
]  # fmt: skip

MOMENTS = [
    *rows("mean var std", T, grad=True),
    *rows("mean var std", M, axis=(1,), keepdims=True, grad=True),
    *rows("mean var std", M, axis=0, dtype="float64", dtypes=FEW),
    *rows("var std nanvar nanstd", M, axis=0, dtype="complex64", dtypes=FEW),
    *rows("mean var std", M, axis=1, where=X(2, 3, dtype="bool", seed=1), dtypes=FEW, grad=True),
    *rows("mean var std", X(0), dtypes=REAL),
    *rows("var std", M, axis=1, ddof=1, grad=True),
    *rows("var std", M, axis=1, correction=1.5, dtypes=FEW),
    *rows("var std", M, axis=1, ddof=3, dtypes=FEW, after=fixed),
    *rows("var std", M, axis=1, mean=X(2, 1, seed=2), dtypes=INEXACT, grad=True),
    *refused("var std", M, ddof=1, correction=1),
    row("average", M, grad=True),
    row("average", M, axis=1, weights=X(3, low=1, high=2, dtype="float64"), grad=True),
    row("average", M, weights=X(2, 3, low=1, high=2), returned=True, dtypes=NUMERIC, grad=True),
    row("average", T, axis=(2, 0), weights=X(3, 2, low=1, high=2), keepdims=True, dtypes=REAL,
        grad="real"),
    row("average", M, None, None, True, dtypes=FEW),
    *refused("average", M, weights=X(3)),
    *rows("cov corrcoef", X(3, 4), dtypes=NUMERIC, grad=True),
    *rows("cov corrcoef", X(3, 4), X(4, seed=1), dtypes=FEW),
    *rows("cov corrcoef", X(3, 4), y=X(3, 4, seed=1), rowvar=False, dtypes=REAL, grad="real"),
    *rows("cov corrcoef", X(3, 4), dtype="float32", dtypes=REAL),
    *rows("cov corrcoef", V, dtypes=REAL),
    *rows("cov", X(3, 4), bias=True, dtypes=REAL),
    row("cov", X(3, 4), ddof=2, fweights=X(values=[1, 2, 0, 3], dtype="int64"), dtypes=REAL),
    row("cov", X(3, 4), aweights=X(4, low=1, high=2), dtypes=REAL, grad="real"),
    row("cov", X(3, 4), fweights=[1, 2, 0, 3], aweights=X(4, low=1, high=2), dtypes=REAL),
]  # fmt: skip

METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen "
    "weibull linear median_unbiased normal_unbiased lower higher midpoint nearest"
).split()

QUANTILES = [
    row("median", V, grad=True),
    row("median", X(4, 6), grad="real", dtypes=NUMERIC),
    row("median", X(4, 6), axis=1, keepdims=True, overwrite_input=True, dtypes=NUMERIC,
        grad="real"),
    row("median", X(2, 3, 4), axis=(0, 2), dtypes=REAL, grad="real"),
    row("median", HOLED, axis=1, dtypes=FLOATS),
    row("median", X(0), dtypes=REAL),
    row("quantile", M, 0.3, dtypes=ORDERED, grad="real"),
    row("percentile", M, 30, dtypes=ORDERED, grad="real"),
    row("quantile", X(4, 6), [0.1, 0.9, 1.0], axis=1, dtypes=REAL, grad="real"),
    row("quantile", X(4, 6), X(2, 2, low=0.1, high=0.9), axis=(0, 1), keepdims=True, dtypes=REAL,
        grad="real"),
    row("percentile", X(4, 6), (0, 50, 77.7), axis=0, overwrite_input=True, keepdims=True,
        dtypes=REAL, grad="real"),
    row("quantile", V, 0.25, axis=0, overwrite_input=True, dtypes=REAL),
    *[row("quantile", X(7), [0, 0.2, 0.25, 0.5, 1.0], method=m, dtypes=("int32", *REAL))
      for m in METHODS],
    *[row("percentile", X(8), [0, 12.5, 25, 62.5, 100], method=m, dtypes=("int32", *REAL))
      for m in METHODS],
    *rows("quantile percentile", X(6), 0.4, method="inverted_cdf",
          weights=X(6, low=0.5, high=2), dtypes=REAL),
    *rows("quantile percentile", X(4, 3), [0.0, 0.4, 1.0], method="inverted_cdf", axis=0,
          weights=X(values=[0, 1, 2, 1]), dtypes=REAL),
    *rows("quantile percentile", HOLED, [0.25, 0.5], axis=1, dtypes=FLOATS),
    *rows("nanmedian nansum nanmean", X(0, 3), axis=0, dtypes=REAL, after=fixed),
    *rows("nanquantile", X(0, 3), 0.1, axis=0, dtypes=REAL, after=fixed),
    *rows("quantile nanquantile", M, [0, 1], axis=1, dtypes=ORDERED, after=fixed),
    *rows("quantile nanquantile", M, 1, dtypes=ORDERED, after=fixed),
    *rows("quantile nanquantile", X(values=[np.inf, 1.0, -np.inf]), 1, dtypes=FLOATS, after=fixed),
    *refused("quantile", X(0), 0.5),
    *[
        part
        for weights in ([1.0, -1.0, 2.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0])
        for part in refused("quantile nanpercentile", X(3), 0.5, method="inverted_cdf",
                            weights=weights)
    ],
    *refused("quantile", V, 1.5),
    *refused("quantile", V, 0.5, method="none"),
]  # fmt: skip

CUMULATIVE = [
    *rows("cumsum cumprod", M, grad=True),
    *rows("cumsum cumprod", M, axis=1, dtype="complex64", dtypes=FEW),
    *rows("cumsum cumprod", X(), dtypes=FEW),
    *rows("cumulative_sum cumulative_prod", V, grad=True),
    *rows("cumulative_sum cumulative_prod", X(), include_initial=True, dtypes=FEW),
    *rows(
        "cumulative_sum cumulative_prod", M, axis=-1, include_initial=True, dtypes=FEW, grad=True
    ),
    *rows("cumulative_sum cumulative_prod", M, axis=0, dtype="float64", dtypes=FEW),
    *refused("cumulative_sum cumulative_prod", M),
]

NAN = X(values=[[1.5, np.nan, -2, 3, 0.25], [0, np.nan, 4, 1, -1]])

WITHOUT_NAN = [
    *rows("nansum nanprod nanmean nanvar nanstd", M),
    *rows("nansum nanprod nanmean nanvar nanstd", NAN, 1, keepdims=True, dtypes=INEXACT, grad=True),
    *rows("nansum nanprod nanmean nanvar nanstd", NAN, axis=(0, 1), dtype="float64", dtypes=REAL),
    *rows("nansum nanprod", NAN, axis=0, initial=2, dtypes=INEXACT, grad=True),
    *rows("nansum nanprod nanmean nanvar nanstd", HOLED, axis=0, dtypes=REAL),
    *rows("nansum nanprod nanmean nanvar nanstd", NAN, axis=1,
          where=X(2, 5, dtype="bool", seed=1), dtypes=INEXACT, grad=True),
    *rows("nanmax nanmin", M, dtypes=ORDERED, grad="real"),
    *rows("nanmax nanmin", HOLED, axis=0, keepdims=True, dtypes=FLOATS),
    *rows("nanmax nanmin", NAN, axis=1, initial=1.2, where=X(2, 5, dtype="bool", seed=1),
          dtypes=FLOATS, grad="real"),
    *rows("nanvar nanstd", HOLED, axis=0, ddof=1, dtypes=FLOATS),
    *rows("nanvar nanstd", NAN, axis=1, correction=1, dtypes=INEXACT, grad=True),
    *rows("nanvar nanstd", NAN, axis=1, mean=X(2, 1), dtypes=INEXACT, grad=True),
    *rows("nanargmax nanargmin", NAN, dtypes=FLOATS),
    *rows("nanargmax nanargmin", NAN, axis=1, keepdims=True, dtypes=FLOATS),
    *rows("nanargmax nanargmin", M, axis=0, dtypes=ORDERED),
    *rows("nanargmax nanargmin", HOLED, axis=0, dtypes=REAL, after=list),
    *rows("nancumsum nancumprod", NAN, dtypes=INEXACT, grad=True),
    *rows("nancumsum nancumprod", M, axis=1, dtype="complex64"),
    row("nanmedian", NAN, dtypes=FLOATS, grad="real"),
    row("nanmedian", HOLED, axis=1, overwrite_input=True, keepdims=True, dtypes=REAL),
    row("nanmedian", X(values=[[np.nan, 2], [np.nan, 1]]), axis=0, dtypes=REAL),
    row("nanmedian", M, axis=(0, 1), dtypes=SIGNED),
    row("nanquantile", NAN, 0.3, dtypes=FLOATS, grad="real"),
    *rows("nanquantile nanpercentile", NAN, X(values=[0.25, 0.9]), axis=1, overwrite_input=True,
          keepdims=True, dtypes=REAL, grad="real"),
    row("nanpercentile", HOLED, [25, 50], axis=0, dtypes=REAL),
    *[row("nanquantile", NAN, [0, 0.2, 0.25, 0.5, 1.0], axis=1, method=m, dtypes=REAL)
      for m in METHODS],
    *rows("nanquantile nanpercentile", NAN, 0.4, axis=1, method="inverted_cdf",
          weights=X(2, 5, low=0.5, high=2), dtypes=REAL),
]  # fmt: skip

POINTS = X(9, low=-1, high=3)

COUNTS = [
    *[row("bincount", X(values=[1, 3, 1, 0], dtype=d), dtypes=(d,)) for d in ("int8", "uint8")],
    row("bincount", X(values=[1, 3, 1, 0], dtype="int64"), weights=X(4), minlength=6, dtypes=REAL,
        grad="real"),
    *refused("bincount", X(values=[1, -3])),
    row("histogram", POINTS, dtypes=("int64", *REAL), after=lambda y: y[0]),
    row("histogram", POINTS, dtypes=("int64", *REAL), after=lambda y: y[1], grad="real"),
    row("histogram", POINTS, bins=[-1, 0, 1, 3], dtypes=REAL, after=lambda y: y[0]),
    row("histogram", POINTS, 4, (-1, 2), density=True, dtypes=REAL, after=lambda y: y[1]),
    row("histogram", POINTS, 4, (-1, 2), density=True, dtypes=REAL, after=lambda y: y[0]),
    row("histogram", X(values=[-1, 0, 2, 3, 3], dtype="int64"), bins=4, range=(-1, 3),
        weights=X(5, dtype="float64"), dtypes=REAL, after=lambda y: y[0], grad="real"),
    row("histogram", POINTS, bins="sturges", dtypes=REAL),
    row("histogram", X(values=[2, 2]), dtypes=REAL, after=lambda y: y[0]),
    row("histogram", POINTS, bins=[1.0], weights=POINTS, dtypes=REAL, after=lambda y: y[0]),
    *refused("histogram", POINTS, bins=[1, 0]),
    *refused("histogram", POINTS, range=(1, 0)),
    row("histogram_bin_edges", POINTS, dtypes=("int64", *REAL), grad="real"),
    row("histogram_bin_edges", POINTS, bins="fd", range=(0, 2), weights=None, dtypes=REAL),
    row("histogram_bin_edges", X(0), bins=2, dtypes=REAL),
    row("histogram2d", POINTS, X(9, seed=2), dtypes=REAL, after=lambda y: y[0]),
    row("histogram2d", POINTS, X(9, seed=2), bins=(3, [0, 1, 2]), range=[(0, 2), None],
        density=True, weights=X(9, low=1, high=2), dtypes=REAL, after=lambda y: y[0], grad="real"),
    row("histogram2d", POINTS, X(9, seed=2), bins=[0, 1, 2, 3], dtypes=REAL, after=lambda y: y[2]),
    row("histogramdd", X(9, 3), bins=3, dtypes=REAL, after=lambda y: y[0]),
    row("histogramdd", X(9, 3), bins=3, dtypes=("int64", *REAL), after=lambda y: y[1], grad="real"),
    row("histogramdd", X(9, 2), range=[(0, 1.5), None], dtypes=REAL, after=lambda y: y[1][:1]),
    row("histogramdd", (POINTS, POINTS), bins=(2, 3), range=[(0, 2), (0, 1)], density=True,
        weights=X(9, low=1, high=2), dtypes=REAL, after=lambda y: y[0], grad="real"),
]  # fmt: skip

REAL_SMOOTH = [*REDUCTIONS, *MOMENTS, *QUANTILES, *WITHOUT_NAN, *COUNTS]
ROWS = [*smooth(CUMULATIVE), *smooth(REAL_SMOOTH, "real")]
