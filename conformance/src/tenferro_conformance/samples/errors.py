"""Refusals: bad shapes, bad dtypes, bad parameters, each with the class and the fields of its
error.

A field whose value is `...` must exist,
whatever it holds. What an elementwise primitive refuses stands in its table, by words.
Refusals that depend on data have `inputs` and need the feature `checks`.
Read `tenferro.primitives` for the classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenferro.primitives import (
    AxisError,
    DTypeMismatchError,
    InvalidParameterError,
    ShapeMismatchError,
    ShardingError,
    UnknownDTypeError,
)
from tenferro_conformance.cases.case import ErrorCase, Stored
from tenferro_conformance.samples.rows import Table

__all__ = ["ERROR_CASES", "REFUSED_DTYPES", "elementwise_refusals"]

_SHAPES: Mapping[str, Any] = {"got": ..., "need": ..., "shapes": ...}
_DTYPES: Mapping[str, Any] = {"got": ..., "need": ..., "dtypes": ...}


def _refused(
    name: str, edge: str, avals: list[tuple[tuple[int, ...], str]], error: type[Exception],
    fields: Mapping[str, Any],
    **params: Any,
) -> ErrorCase:  # fmt: skip
    return ErrorCase(
        id=f"std::{name}/{edge}",
        primitive=f"std::{name}",
        params=params,
        avals=tuple(avals),
        error=error,
        fields={"operation": name, **fields},
        level=0 if name in ("constant", "iota", "convert") else 1,
    )


def elementwise_refusals(table: Table) -> Iterator[ErrorCase]:
    """Yield the refusals of an elementwise primitive that its table lists by words."""
    name = table.primitive.removeprefix("std::")
    for word in table.refuses.split():
        if word == "shapes":
            shapes = {**_SHAPES, "shapes": ((2, 3), (3, 2))}
            yield _refused(name, "bad_shape", [_F23, _F32], ShapeMismatchError, shapes)
            yield _refused(name, "no_broadcast", [_F23, _SCALAR], ShapeMismatchError, _SHAPES)
            yield _refused(name, "no_promotion", [_F23, _S23], DTypeMismatchError, _DTYPES)
        else:
            aval = ((2, 3), REFUSED_DTYPES[word])
            avals: list[tuple[tuple[int, ...], str]] = [aval for _ in table.rows[0].inputs]
            yield _refused(name, word, avals, DTypeMismatchError, _DTYPES)


def _parameter(name: str) -> dict[str, Any]:
    return {"got": ..., "need": ..., "parameter": name, "value": ...}


_F23, _F32, _F3 = ((2, 3), "float64"), ((3, 2), "float64"), ((3,), "float64")
_S23, _I23, _C23, _B23 = (
    ((2, 3), "float32"),
    ((2, 3), "int64"),
    ((2, 3), "complex128"),
    ((2, 3), "bool"),
)
_SCALAR, _INDEX = ((), "float64"), ((2, 1), "int64")
_KEY, _WORDS = ((2,), "uint32"), ((3,), "uint32")
#: The dtype that a word of `Table.refuses` names; all operands have it.
REFUSED_DTYPES = {
    "no_bool": "bool", "bool_only": "int64", "no_integers": "int64", "no_floats": "float64",
    "no_order": "complex128", "no_complex": "complex128",
}  # fmt: skip
_REDUCTIONS = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min")
_CUMULATIVE = ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
_SCATTERS = ("scatter", "scatter_mul", "scatter_max", "scatter_min")
_MATMUL = {
    "lhs_contract": (1,),
    "rhs_contract": (0,),
    "lhs_batch": (),
    "rhs_batch": (),
    "preferred": None,
}
_ROWS = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
    "slice_sizes": (1, 3),
    "mode": "clip",
}
_INTO = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "mode": "drop",
}


def _refused_data(
    name: str, edge: str, error: type[Exception], *inputs: list[int]
) -> tuple[ErrorCase, ...]:
    """Make a refusal that depends on the numbers, for both integer dtypes."""
    return tuple(
        ErrorCase(
            id=f"std::{name}/{edge}/{dtype}",
            primitive=f"std::{name}",
            inputs=tuple(Stored(shape=(len(x),), dtype=dtype, data=tuple(x)) for x in inputs),
            error=error,
            fields={"primitive": f"std::{name}"},
            level=1,
            features=frozenset({"checks"} | ({"int64"} if dtype == "int64" else set())),
            note="convention 10: a typed error where the dtype has no value",
        )
        for dtype in ("int32", "int64")
    )


def _refused_matrix(
    name: str, edge: str, *matrices: list[list[float]], batch: tuple[int, ...] = (), **params: Any
) -> ErrorCase:
    """Make a refusal that depends on a matrix's entries, with its place in the batch."""
    lead = (1,) * len(batch)
    inputs = (
        Stored(
            shape=(*lead, len(x), len(x[0])),
            dtype="float64",
            data=tuple(e for row in x for e in row),
        )
        for x in matrices
    )
    return ErrorCase(
        id=f"std::{name}/{edge}",
        primitive=f"std::{name}",
        params=params,
        inputs=tuple(inputs),
        error=ValueError,  # LinAlgError is one
        fields={"primitive": f"std::{name}", "batch": batch},
        level=3,
        features=frozenset({"checks", "f64"}),
        note="a matrix without factors or without an inverse",
    )


_SQUARE, _STACK, _HALF = ((3, 3), "float64"), ((2, 3, 3), "float64"), ((3, 3), "float16")
_TRIANGULAR: Mapping[str, Any] = {
    "left": True, "lower": True, "transposed": False, "conjugated": False, "unit_diagonal": False,
}  # fmt: skip
_EQUATION: Mapping[str, Any] = {"adjoint": False, "below": False}
_ORDER, _SOLVE = ((3,), "int32"), {"adjoint": False}
_FACTORED = ("cholesky", "det", "adjugate", "slogdet")

ERROR_CASES: tuple[ErrorCase, ...] = (
    *_refused_data("div", "integer_by_zero", ZeroDivisionError, [1, 2], [0, 1]),
    *_refused_data("rem", "integer_by_zero", ZeroDivisionError, [1, 2], [0, 1]),
    *_refused_data("pow", "negative_integer_power", ValueError, [2, 3], [-1, 2]),
    *(_refused(n, "bad_axis", [_F23], AxisError, {**_parameter("axes"), "value": (2,)},
        axes=(2,)) for n in _REDUCTIONS),
    *(_refused(n, "axis_twice", [_F23], AxisError, _parameter("axes"), axes=(0,
        0)) for n in _REDUCTIONS),
    *(_refused(n, "of_nothing", [((0, 3), "float64")], InvalidParameterError, _parameter("axes"),
        axes=(0,))
      for n in ("reduce_max", "reduce_min")),
    *(_refused(n, "of_nothing", [((0, 3), "float64")], InvalidParameterError, _parameter("axis"),
        axis=0, dtype="int64")
      for n in ("argmax", "argmin")),
    *(_refused(n, "float_positions", [_F23], DTypeMismatchError, _DTYPES, axis=0,
        dtype="float64") for n in ("argmax", "argmin")),
    *(_refused(n, "bad_axis", [_F23], AxisError, {**_parameter("axis"), "value": (2,)}, axis=2,
        reverse=False) for n in _CUMULATIVE),
    *(_refused(n, "no_bool", [_B23], DTypeMismatchError, _DTYPES, axis=0, reverse=False)
      for n in ("cumsum", "cumprod", "cumlogsumexp")),
    *(_refused(n, "no_order", [_C23], DTypeMismatchError, _DTYPES, axis=0, reverse=True)
      for n in ("cummax", "cummin", "cumlogsumexp")),
    *(_refused(n, "bool_only", [_I23], DTypeMismatchError, _DTYPES, axes=(0,))
      for n in ("reduce_and", "reduce_or")),
    *(_refused(n, "bad_updates", [_F23, _INDEX, _F32], ShapeMismatchError, _SHAPES, **_INTO)
      for n in _SCATTERS),
    *(_refused(n, "bad_mode", [_F23, _INDEX, _F23], InvalidParameterError, {**_parameter("mode"),
        "value": "fill"}, **{**_INTO, "mode": "fill"}) for n in _SCATTERS),
    *(_refused(n, "no_promotion", [_F23, _INDEX, _S23], DTypeMismatchError, _DTYPES, **_INTO)
      for n in _SCATTERS),
    *(_refused(n, "no_order", [_C23, _INDEX, _C23], DTypeMismatchError, _DTYPES, **_INTO)
      for n in ("scatter_max", "scatter_min")),
    _refused("scatter_mul", "no_bool", [_B23, _INDEX, _B23], DTypeMismatchError, _DTYPES, **_INTO),
    _refused("sort", "bad_axis", [_F23], AxisError, _parameter("dimension"), dimension=2,
        num_keys=1, count=1),
    _refused("sort", "no_keys", [_F23], InvalidParameterError, _parameter("num_keys"), dimension=0,
        num_keys=0, count=1),
    _refused("sort", "bad_shape", [_F23, _F32], ShapeMismatchError, _SHAPES, dimension=0,
        num_keys=1, count=2),
    _refused("top_k", "too_many", [_F23], InvalidParameterError, {**_parameter("k"), "value": 4},
        k=4, axis=1, dtype="int64"),
    _refused("top_k", "no_order", [_C23], DTypeMismatchError, _DTYPES, k=1, axis=0, dtype="int64"),
    _refused("searchsorted", "bad_side", [_F3, _F3], InvalidParameterError, {**_parameter("side"),
        "value": "middle"}, side="middle", dtype="int64"),
    _refused("searchsorted", "other_rows", [_F32, _F23], ShapeMismatchError, _SHAPES, side="left",
        dtype="int64"),
    _refused("searchsorted", "no_promotion", [_F3, _S23], DTypeMismatchError, _DTYPES, side="left",
        dtype="int64"),
    _refused("polygamma", "bad_order", [_F23], InvalidParameterError, {**_parameter("order"),
        "value": 0}, order=0),
    _refused("polygamma", "no_complex", [_C23], DTypeMismatchError, _DTYPES, order=1),
    _refused("bitcast", "bad_width", [_F23], DTypeMismatchError, _DTYPES, dtype="int32"),
    _refused("bitcast", "no_complex", [_C23], DTypeMismatchError, _DTYPES, dtype="complex128"),
    _refused("optimization_barrier", "miscounted", [_F23], InvalidParameterError,
        {**_parameter("count"), "value": 2}, count=2),
    _refused("optimization_barrier", "nothing", [], InvalidParameterError, _parameter("count"),
        count=0),
    _refused("sharding_constraint", "bad_rank", [_F23], ShardingError,
        {"dimension": None}, spec=("data",)),
    _refused("sharding_constraint", "axis_twice", [_F23], ShardingError,
        {"dimension": 1}, spec=("data", "data")),
    _refused("clamp", "bad_shape", [_SCALAR, _F23, _SCALAR], ShapeMismatchError, _SHAPES),
    _refused("integer_pow", "negative", [_I23], InvalidParameterError, {**_parameter("exponent"),
        "value": -1}, exponent=-1),
    _refused("complex", "real_only", [_C23, _C23], DTypeMismatchError, _DTYPES),
    _refused("select", "predicate", [_F23, _F23, _F23], DTypeMismatchError, _DTYPES),
    _refused("select", "bad_shape", [((2,), "bool"), _F23, _F23], ShapeMismatchError, _SHAPES),
    _refused("constant", "out_of_range", [], InvalidParameterError, {**_parameter("value"),
        "value": 300},
             value=300, dtype="int8", shape=()),
    _refused("constant", "no_such_dtype", [], UnknownDTypeError, {"operation": "dtype",
        "value": "float63"},
             value=1, dtype="float63", shape=()),
    _refused("iota", "bad_dimension", [], InvalidParameterError, {**_parameter("dimension"),
        "value": 2},
             shape=(2, 3), dimension=2, dtype="int32"),
    _refused("convert", "no_such_dtype", [_F23], UnknownDTypeError, {"operation": "dtype"},
        dtype="quad"),
    _refused("threefry2x32", "no_promotion", [_WORDS, _WORDS, _WORDS, ((3,), "uint64")],
        DTypeMismatchError, _DTYPES),
    _refused("threefry2x32", "words_only", [_F3] * 4, DTypeMismatchError, _DTYPES),
    _refused("threefry2x32", "other_words", [((3,), "int32")] * 4, DTypeMismatchError, _DTYPES),
    _refused("threefry2x32", "bad_shape", [_WORDS, _WORDS, _WORDS, _KEY], ShapeMismatchError,
        _SHAPES),
    _refused("random_bits", "no_key", [_WORDS], ShapeMismatchError, _SHAPES, shape=(2,),
        dtype="uint32"),
    _refused("random_bits", "no_words", [((2,), "int64")], DTypeMismatchError, _DTYPES, shape=(2,),
        dtype="uint32"),
    _refused("random_bits", "bad_dtype", [_KEY], InvalidParameterError, _parameter("dtype"),
        shape=(2,), dtype="uint8"),
    _refused("random_bits", "negative", [_KEY], InvalidParameterError, _parameter("shape"),
        shape=(-1,), dtype="uint32"),
    _refused("random_bits", "too_many", [_KEY], InvalidParameterError, _parameter("shape"),
        shape=(2**33,), dtype="uint64"),
    _refused("random_log_gamma", "no_integers", [_KEY, _I23], DTypeMismatchError, _DTYPES),
    _refused("random_log_gamma", "other_batch", [((3, 2), "uint32"), _F23], ShapeMismatchError,
        _SHAPES),
    _refused("gamma_moment", "bad_order", [_F23, _F23], InvalidParameterError, {
        **_parameter("order"), "value": -1}, order=-1),
    _refused("gamma_moment", "no_complex", [_C23, _C23], DTypeMismatchError, _DTYPES, order=0),
    _refused("reshape", "bad_size", [_F23], ShapeMismatchError, {**_SHAPES, "shapes": ((2, 3), (4,
        2))}, shape=(4, 2)),
    _refused("reshape", "negative", [_F23], InvalidParameterError, _parameter("shape"), shape=(-1,
        6)),
    _refused("transpose", "no_permutation", [_F23], AxisError, _parameter("permutation"),
        permutation=(0, 0)),
    _refused("transpose", "too_short", [_F23], InvalidParameterError, _parameter("permutation"),
        permutation=(0,)),
    _refused("broadcast_in_dim", "cannot_stretch", [_F3], ShapeMismatchError, _SHAPES, shape=(2, 4),
        dimensions=(1,)),
    _refused("broadcast_in_dim", "decreasing", [_F23], InvalidParameterError,
        _parameter("dimensions"), shape=(3, 2),
             dimensions=(1, 0)),
    _refused("slice", "beyond", [_F3], InvalidParameterError, _parameter("limit"), start=(0,),
        limit=(4,), strides=(1,)),
    _refused("slice", "no_stride", [_F3], InvalidParameterError, _parameter("strides"), start=(0,),
        limit=(3,), strides=(0,)),
    _refused("pad", "too_much", [_F3, _SCALAR], InvalidParameterError, _parameter("low"), low=(-2,),
        high=(-2,), interior=(0,)),
    _refused("pad", "value_rank", [_F3, _F3], ShapeMismatchError, _SHAPES, low=(0,), high=(1,),
        interior=(0,)),
    _refused("pad", "value_dtype", [_F3, ((), "float32")], DTypeMismatchError, _DTYPES, low=(0,),
        high=(1,), interior=(0,)),
    _refused("concatenate", "bad_shape", [_F23, _F32], ShapeMismatchError, _SHAPES, dimension=0),
    _refused("concatenate", "nothing", [], InvalidParameterError, {"parameter": "xs"}, dimension=0),
    _refused("concatenate", "bad_axis", [_F3, _F3], AxisError, _parameter("dimension"),
        dimension=1),
    _refused("reverse", "bad_axis", [_F3], AxisError, _parameter("dimensions"), dimensions=(1,)),
    _refused("dot_general", "bad_sizes", [_F23, _F23], ShapeMismatchError, _SHAPES, **_MATMUL),
    _refused("dot_general", "bad_axis", [_F3, _F3], AxisError, {"got": ..., "need": ...},
        **_MATMUL),
    *(_refused(n, "not_square", [_F23], ShapeMismatchError, _SHAPES) for n in _FACTORED),
    *(_refused(n, "no_matrix", [_F3], ShapeMismatchError, _SHAPES) for n in (*_FACTORED, "lu")),
    *(_refused(n, "no_integers", [((3, 3), "int64")], DTypeMismatchError, _DTYPES)
      for n in (*_FACTORED, "lu")),
    *(_refused(n, "no_half", [_HALF], DTypeMismatchError, _DTYPES) for n in (*_FACTORED, "lu")),
    _refused("cholesky_tangent", "not_square", [_F23, _F23], ShapeMismatchError, _SHAPES, **_SOLVE),
    _refused("cholesky_tangent", "bad_shape", [_SQUARE, _STACK], ShapeMismatchError, _SHAPES,
        **_SOLVE),
    _refused("cholesky_tangent", "no_integers", [((3, 3), "int64")] * 2, DTypeMismatchError,
        _DTYPES, **_SOLVE),
    _refused("adjugate", "bad_direction", [_SQUARE, _F32], ShapeMismatchError, _SHAPES),
    _refused("triangular_solve", "not_square", [_F23, _F23], ShapeMismatchError, _SHAPES,
        **_TRIANGULAR),
    _refused("triangular_solve", "bad_shape", [_SQUARE, _F23], ShapeMismatchError, _SHAPES,
        **_TRIANGULAR),
    _refused("triangular_solve", "bad_shape_right", [_SQUARE, _F32], ShapeMismatchError, _SHAPES,
        **{**_TRIANGULAR, "left": False}),
    _refused("triangular_solve", "no_broadcast", [_SQUARE, _STACK], ShapeMismatchError, _SHAPES,
        **_TRIANGULAR),
    _refused("triangular_solve", "no_promotion", [_SQUARE, ((3, 3), "float32")],
        DTypeMismatchError, _DTYPES, **_TRIANGULAR),
    _refused("linear_solve", "bad_shape", [_SQUARE, _SQUARE, _ORDER, _F23], ShapeMismatchError,
        _SHAPES, **_SOLVE),
    _refused("linear_solve", "bad_factors", [_SQUARE, _STACK, _ORDER, _F32], ShapeMismatchError,
        _SHAPES, **_SOLVE),
    _refused("linear_solve", "float_permutation", [_SQUARE, _SQUARE, _F3, _F32],
        DTypeMismatchError, _DTYPES, **_SOLVE),
    _refused("lu_permutation", "too_many", [_ORDER], ShapeMismatchError, _SHAPES, size=2),
    _refused("lu_permutation", "float_pivots", [_F3], DTypeMismatchError, _DTYPES, size=3),
    _refused_matrix("triangular_solve", "singular", [[1.0, 0.0], [2.0, 0.0]], [[1.0], [1.0]],
        **_TRIANGULAR),
    _refused_matrix("triangular_solve", "singular_in_a_batch", [[0.0]], [[1.0]], batch=(0,),
        **_TRIANGULAR),
    *(_refused(n, edge, [aval], error, fields, **more)
      for n, more in (("svd", {}), ("svdvals", {}), ("qr", {}), ("pivoted_qr", {}),
                      ("pinv", {"rcond": 1e-15}))
      for edge, aval, error, fields in (
          ("no_matrix", _F3, ShapeMismatchError, _SHAPES),
          ("no_integers", ((3, 3), "int64"), DTypeMismatchError, _DTYPES),
          ("no_half", _HALF, DTypeMismatchError, _DTYPES))),
    *(_refused("svd", edge, [_SQUARE], InvalidParameterError,
               {**_parameter(name), "value": value}, **{name: value})
      for edge, name, value in (("bad_gauge", "gauge", "none"), ("bad_gap", "epsilon", -1.0))),
    _refused("svd", "full_gauge", [_SQUARE], InvalidParameterError, _parameter("gauge"), full=True,
        gauge="canonical"),
    _refused("pinv", "bad_fraction", [_SQUARE], InvalidParameterError,
        {**_parameter("rcond"), "value": -1.0}, rcond=-1.0),
    _refused("banded_solve", "bad_shape", [_F23, _F23], ShapeMismatchError, _SHAPES, below=1,
        above=0),
    _refused("banded_solve", "no_count", [_F23, _F32], InvalidParameterError,
        {**_parameter("below"), "value": -1}, below=-1, above=2),
    _refused_matrix("banded_solve", "singular", [[0.0, 1.0]], [[1.0], [1.0]], below=0, above=0),
    *(_refused(n, "not_square", [_F23], ShapeMismatchError, _SHAPES)
      for n in ("pfaffian", "pfaffian_adjugate")),
    _refused("pfaffian_slope", "bad_shape", [_SQUARE, _F23], ShapeMismatchError, _SHAPES),
    _refused("polar_isometry", "no_half", [_HALF], DTypeMismatchError, _DTYPES),
    _refused("positive_sylvester", "bad_values", [_SQUARE, ((2,), "float64"), _SQUARE, _SQUARE],
        ShapeMismatchError, _SHAPES),
    *(_refused("schur", edge, [aval], error, fields, real=False)
      for edge, aval, error, fields in (
          ("not_square", _F23, ShapeMismatchError, _SHAPES),
          ("no_half", _HALF, DTypeMismatchError, _DTYPES))),
    _refused("schur", "real_of_complex", [((3, 3), "complex128")], InvalidParameterError,
        _parameter("real"), real=True),
    _refused("triangular_sylvester", "bad_shape", [_SQUARE, _SQUARE, _F23], ShapeMismatchError,
        _SHAPES, **_EQUATION),
    _refused("triangular_sylvester", "no_broadcast", [_SQUARE, _STACK, _SQUARE],
        ShapeMismatchError, _SHAPES, **_EQUATION),
    _refused_matrix("triangular_sylvester", "singular", [[1.0]], [[-1.0]], [[2.0]], **_EQUATION),
    _refused("sylvester_solve", "bad_factors", [*[_SQUARE] * 6, _F23], ShapeMismatchError,
        _SHAPES, adjoint=False),
    _refused("sylvester_solve", "real_factors", [_SQUARE] * 7, DTypeMismatchError, _DTYPES,
        adjoint=False),
    _refused_matrix("cholesky", "indefinite", [[1.0, 2.0], [2.0, 1.0]]),
    _refused_matrix("cholesky", "indefinite_in_a_batch", [[-1.0]], batch=(0, 0)),
    *(_refused(n, "bad_axis", [_C23], AxisError, {**_parameter("axes"), "value": (2,)}, **more)
      for n, more in (("fft", {"axes": (2,)}), ("irfft", {"axes": (2,), "length": 4}))),
    *(_refused(n, "axis_twice", [aval], AxisError, _parameter("axes"), axes=(0, 0))
      for n, aval in (("fft", _C23), ("rfft", _F23))),
    _refused("fft", "complex_only", [_F23], DTypeMismatchError, _DTYPES, axes=(0,)),
    _refused("fft", "of_nothing", [((0, 3), "complex128")], InvalidParameterError,
        _parameter("axes"), axes=(0,)),
    _refused("fft", "bad_norm", [_C23], InvalidParameterError, {**_parameter("norm"),
        "value": "max"}, axes=(0,), norm="max"),
    _refused("rfft", "float_only", [_C23], DTypeMismatchError, _DTYPES, axes=(0,)),
    _refused("rfft", "no_half", [((3,), "float16")], DTypeMismatchError, _DTYPES, axes=(0,)),
    _refused("rfft", "no_axis", [_F23], InvalidParameterError, {**_parameter("axes"), "value": ()},
        axes=()),
    _refused("irfft", "complex_only", [_F23], DTypeMismatchError, _DTYPES, axes=(1,), length=4),
    _refused("irfft", "bad_shape", [_C23], ShapeMismatchError, _SHAPES, axes=(1,), length=6),
    _refused("irfft", "of_nothing", [_C23], InvalidParameterError, {**_parameter("length"),
        "value": 0}, axes=(1,), length=0),
    _refused("gather", "bad_mode", [_F23, _INDEX], InvalidParameterError, {**_parameter("mode"),
        "value": "wrap"},
             **{**_ROWS, "mode": "wrap"}),
    _refused("gather", "float_indices", [_F23, ((2, 1), "float64")], DTypeMismatchError, _DTYPES,
        **_ROWS),
    _refused("scatter_add", "bad_updates", [_F23, _INDEX, _F32], ShapeMismatchError, _SHAPES,
        **_INTO),
    _refused("dynamic_slice", "too_large", [_F3, ((), "int64")], InvalidParameterError,
        _parameter("sizes"), sizes=(4,)),
    _refused("dynamic_update_slice", "too_large", [_F3, ((4,), "float64"), ((), "int64")],
        ShapeMismatchError, _SHAPES),
)  # fmt: skip
