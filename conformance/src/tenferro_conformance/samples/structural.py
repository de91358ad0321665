"""Samples of the structural family: reshape transpose broadcast_in_dim slice pad concatenate
reverse convert stop_gradient bitcast optimization_barrier sharding_constraint.

All but the last five move numbers and never change one, so everything is exact,
on every dtype. Read `rows.py` for what
the fields of a row mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenferro_conformance.samples.table import (
    ALL_DTYPES,
    BOOL,
    COMPLEX,
    F32,
    F64,
    FLOATS,
    HALF,
    INTS,
    ORACLE,
    RARE_DTYPES,
    Row,
    Table,
    cgrid,
    fine,
    grid,
    igrid,
    table,
)  # fmt: skip

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_SPECIAL = [nan, inf, -inf, -0.0, 0.0, 1.5]
_BITS = [[True, False, True], [False, False, True]]


def _mover(
    name: str, params: Mapping[str, Any], *extra: Row, special: Mapping[str, Any], special_out: Any
) -> Table:
    """Return the usual edges of a primitive that moves the numbers of one (2, 3) input."""
    return table(
        f"std::{name}",
        Row(edge="wide", inputs=(grid(-2, 2, 2, 3),), params=params, wrt=(0,)),
        Row(edge="full_precision", inputs=(fine(grid(-2, 2, 2, 3)),), params=params, dtypes=F64),
        Row(edge="complex", inputs=(cgrid(2, 2, 3),), params=params, dtypes=COMPLEX, wrt=(0,)),
        Row(edge="integers", inputs=(igrid(-9, 9, 2, 3),), params=params, dtypes=INTS),
        Row(edge="booleans", inputs=(_BITS,), params=params, dtypes=BOOL),
        Row(edge="other_dtypes", inputs=(igrid(0, 9, 2, 3),), params=params, dtypes=RARE_DTYPES),
        Row(edge="half", inputs=([[0.5, -1.5, 2.0], [3.0, 0.25, -4.0]],), params=params,
            dtypes=HALF, wrt=(0,), order=1),
        Row(edge="non_contiguous", inputs=(grid(-2, 2, 2, 3),), params=params, dtypes=F64, wrt=(0,),
            order=1, layout="strided"),
        Row(edge="transposed", inputs=(grid(-2, 2, 2, 3),), params=params, dtypes=F64,
            layout="transposed"),
        Row(edge="special_values", inputs=(_SPECIAL,), params=special, expected=special_out,
            note="bits are moved as they are"),
        *extra,
        level=1,
    )  # fmt: skip


RESHAPE = _mover(
    "reshape", {"shape": (3, 2)},
    Row(edge="flat", inputs=(grid(-2, 2, 2, 3),), params={"shape": (6,)}, dtypes=F64, wrt=(0,),
        order=1),
    Row(edge="scalar", inputs=(1.5,), params={"shape": ()}, wrt=(0,)),
    Row(edge="size1_axis", inputs=(1.5,), params={"shape": (1, 1)}, dtypes=F64, wrt=(0,)),
    Row(edge="to_scalar", inputs=([[2.5]],), params={"shape": ()}, dtypes=F64, wrt=(0,)),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params={"shape": (2, 0, 5)}, dtypes=F64, wrt=(0,),
        order=1),
    special={"shape": (2, 3)}, special_out=[_SPECIAL[:3], _SPECIAL[3:]],
)  # fmt: skip
TRANSPOSE = _mover(
    "transpose", {"permutation": (1, 0)},
    Row(edge="rank3", inputs=(grid(-2, 2, 2, 3, 4),), params={"permutation": (2, 0, 1)}, dtypes=F64,
        wrt=(0,)),
    Row(edge="identity", inputs=(grid(-2, 2, 2, 3),), params={"permutation": (0, 1)}, dtypes=F64,
        wrt=(0,), order=1),
    Row(edge="scalar", inputs=(1.5,), params={"permutation": ()}, wrt=(0,)),
    Row(edge="size1_axis", inputs=(grid(-1, 1, 1, 3),), params={"permutation": (1, 0)}, dtypes=F64),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params={"permutation": (1, 0)}, dtypes=F64,
        wrt=(0,), order=1),
    special={"permutation": (0,)}, special_out=_SPECIAL,
)  # fmt: skip
BROADCAST_IN_DIM = _mover(
    "broadcast_in_dim", {"shape": (4, 2, 3), "dimensions": (1, 2)},
    Row(edge="broadcast", inputs=(grid(-1, 1, 1, 3),), params={"shape": (2, 3), "dimensions": (0,
        1)}, wrt=(0,)),
    Row(edge="middle", inputs=(grid(-1, 1, 2, 3),), params={"shape": (2, 4, 3), "dimensions": (0,
        2)}, dtypes=F64, wrt=(0,)),
    Row(edge="scalar", inputs=(1.5,), params={"shape": (2, 2), "dimensions": ()}, wrt=(0,)),
    Row(edge="rank0", inputs=(1.5,), params={"shape": (), "dimensions": ()}, dtypes=F64, wrt=(0,)),
    Row(edge="size1_axis", inputs=([2.5],), params={"shape": (1, 3), "dimensions": (0,)},
        dtypes=F64, wrt=(0,)),
    Row(edge="empty", inputs=(grid(0, 1, 1, 3),), params={"shape": (0, 3), "dimensions": (0, 1)},
        dtypes=F64, wrt=(0,), order=1),
    special={"shape": (1, 6), "dimensions": (1,)}, special_out=[_SPECIAL],
)  # fmt: skip
SLICE = _mover(
    "slice", {"start": (0, 1), "limit": (2, 3), "strides": (1, 1)},
    Row(edge="strided", inputs=(grid(-1, 1, 7),), params={"start": (1,), "limit": (7,),
        "strides": (3,)}, wrt=(0,)),
    Row(edge="whole", inputs=(grid(-1, 1, 2, 2),), params={"start": (0, 0), "limit": (2, 2),
        "strides": (1, 1)}, dtypes=F64,
        wrt=(0,), order=1),
    Row(edge="scalar", inputs=(1.5,), params={"start": (), "limit": (), "strides": ()}, dtypes=F64,
        wrt=(0,), order=1),
    Row(edge="size1_axis", inputs=(grid(-1, 1, 4, 3),), params={"start": (2, 0), "limit": (3, 3),
        "strides": (1, 1)},
        dtypes=F64, wrt=(0,)),
    Row(edge="empty", inputs=(grid(-1, 1, 4),), params={"start": (2,), "limit": (2,),
        "strides": (1,)}, dtypes=F64, wrt=(0,),
        order=1),
    special={"start": (0,), "limit": (6,), "strides": (2,)}, special_out=[nan, -inf, 0.0],
)  # fmt: skip


def _edges(
    low: tuple[int, ...], high: tuple[int, ...], interior: tuple[int, ...]
) -> dict[str, Any]:
    return {"low": low, "high": high, "interior": interior}


PAD = table(
    "std::pad",
    Row(edge="wide", inputs=(grid(-2, 2, 2, 3), 0.5), params=_edges((1, 0), (0, 2), (0, 0)), wrt=(0,
        1)),
    Row(edge="full_precision", inputs=(fine(grid(-2, 2, 3)), 0.1), params=_edges((1,), (2,), (0,)),
        dtypes=F64),
    Row(edge="interior", inputs=(grid(-2, 2, 3), -1.5), params=_edges((1,), (2,), (2,)), wrt=(0,
        1)),
    Row(edge="crop", inputs=(grid(-2, 2, 2, 5), 0.5), params=_edges((0, -1), (0, -2), (0, 0)),
        wrt=(0, 1)),
    Row(edge="crop_interior", inputs=(grid(-2, 2, 4), 0.5), params=_edges((-2,), (1,), (1,)),
        dtypes=F64, wrt=(0, 1)),
    Row(edge="crop_all", inputs=(grid(-2, 2, 2), 0.5), params=_edges((-2,), (0,), (0,)), dtypes=F64,
        wrt=(0, 1), order=1),
    Row(edge="scalar", inputs=(1.5, 0.5), params=_edges((), (), ()), dtypes=F64, wrt=(0, 1),
        order=1),
    Row(edge="size1_axis", inputs=([[1.5]], 0.5), params=_edges((1, 0), (1, 0), (0, 0)), dtypes=F64,
        wrt=(0, 1), order=1),
    Row(edge="empty", inputs=(grid(0, 1, 0), 0.5), params=_edges((1,), (2,), (0,)), dtypes=F64,
        wrt=(0, 1), order=1),
    Row(edge="complex", inputs=(cgrid(2, 3), 1 + 2j), params=_edges((1,), (0,), (1,)),
        dtypes=COMPLEX, wrt=(0, 1)),
    Row(edge="integers", inputs=([1, 2, 3], 9), params=_edges((1,), (1,), (0,)), dtypes=INTS),
    Row(edge="booleans", inputs=([True, False], True), params=_edges((1,), (1,), (0,)),
        dtypes=BOOL),
    Row(edge="other_dtypes", inputs=([1, 2], 3), params=_edges((1,), (-1,), (1,)),
        dtypes=RARE_DTYPES),
    Row(edge="non_contiguous", inputs=(grid(-2, 2, 2, 3), 0.5), params=_edges((1, 0), (0, 2), (0,
        0)), dtypes=F64,
        layout="strided"),
    Row(edge="nan", inputs=([1.0, inf], nan), params=_edges((1,), (0,), (0,)), expected=[nan, 1.0,
        inf]),
    level=1,
)  # fmt: skip
_AXIS0, _AXIS1 = {"dimension": 0}, {"dimension": 1}
CONCATENATE = table(
    "std::concatenate",
    Row(edge="wide", inputs=(grid(-2, 2, 2, 3), grid(-1, 3, 2, 2)), params=_AXIS1, wrt=(0, 1)),
    Row(edge="tall", inputs=(grid(-2, 2, 2, 2), grid(-1, 3, 1, 2), grid(0, 1, 3, 2)), params=_AXIS0,
        dtypes=F64, wrt=(0, 1, 2)),
    Row(edge="full_precision", inputs=(fine(grid(-2, 2, 2)), fine(grid(-1, 3, 3))), params=_AXIS0,
        dtypes=F64),
    Row(edge="single", inputs=(grid(-2, 2, 3),), params=_AXIS0, dtypes=F64, wrt=(0,)),
    Row(edge="one_active", inputs=(grid(-2, 2, 3), grid(-1, 1, 2)), params=_AXIS0, dtypes=F64,
        wrt=(1,)),
    Row(edge="size1_axis", inputs=([1.5], [2.5]), params=_AXIS0, dtypes=F64, wrt=(0, 1)),
    Row(edge="empty", inputs=(grid(0, 1, 0, 2), grid(0, 1, 2, 2)), params=_AXIS0, dtypes=F64,
        wrt=(0, 1), order=1),
    Row(edge="complex", inputs=(cgrid(1, 2), cgrid(2, 3)), params=_AXIS0, dtypes=COMPLEX, wrt=(0,
        1)),
    Row(edge="integers", inputs=([1, 2], [3]), params=_AXIS0, dtypes=INTS),
    Row(edge="booleans", inputs=([True], [False, True]), params=_AXIS0, dtypes=BOOL),
    Row(edge="other_dtypes", inputs=([1], [2, 3]), params=_AXIS0, dtypes=RARE_DTYPES),
    Row(edge="non_contiguous", inputs=(grid(-2, 2, 2, 3), grid(-1, 3, 2, 2)), params=_AXIS1,
        dtypes=F64, layout="strided"),
    Row(edge="special_values", inputs=(_SPECIAL[:3], _SPECIAL[3:]), params=_AXIS0,
        expected=_SPECIAL),
    level=1,
)  # fmt: skip
REVERSE = _mover(
    "reverse", {"dimensions": (1,)},
    Row(edge="both", inputs=(grid(-2, 2, 2, 3),), params={"dimensions": (0, 1)}, dtypes=F64,
        wrt=(0,)),
    Row(edge="none", inputs=(grid(-2, 2, 2, 3),), params={"dimensions": ()}, dtypes=F64, wrt=(0,),
        order=1),
    Row(edge="scalar", inputs=(1.5,), params={"dimensions": ()}, dtypes=F64, wrt=(0,), order=1),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params={"dimensions": (0,)}, dtypes=F64, wrt=(0,),
        order=1),
    special={"dimensions": (0,)}, special_out=_SPECIAL[::-1],
)  # fmt: skip


def _to(target: str) -> dict[str, Any]:
    return {"dtype": target}


def _conversion(
    edge: str, value: Any, dtypes: tuple[str, ...], target: str, expected: Any = ORACLE, **more: Any
) -> Row:
    return Row(
        edge=edge,
        inputs=(value,),
        dtypes=dtypes,
        params=_to(target),
        out=target,
        expected=expected,
        **more,
    )


_C4 = "convention 4: convert between float and complex casts tangent and cotangent"
_C4_INACTIVE = "convention 4: anything through int or bool is inactive"
CONVERT = table(
    "std::convert",
    _conversion("narrowing", grid(-2, 2, 2, 3), F64, "float32", wrt=(0,), note=_C4),
    _conversion("widening", grid(-2, 2, 2, 3), F32, "float64", wrt=(0,), note=_C4),
    _conversion("to_complex", grid(-2, 2, 3), FLOATS, "complex128", wrt=(0,), note=_C4),
    _conversion("to_complex64", grid(-2, 2, 3), FLOATS, "complex64", wrt=(0,)),
    _conversion("to_real", cgrid(2, 3), COMPLEX, "float64", wrt=(0,), note=_C4),
    _conversion("complex_narrowing", cgrid(2, 3), ("complex128",), "complex64", wrt=(0,), note=_C4),
    _conversion("complex_widening", cgrid(2, 3), ("complex64",), "complex128", wrt=(0,)),
    _conversion("full_precision", fine(cgrid(2, 3)), ("complex128",), "float64"),
    _conversion("scalar", 1.5, F64, "float32", wrt=(0,)),
    _conversion("empty", grid(0, 1, 0, 3), F64, "float32", wrt=(0,), order=1),
    _conversion("non_contiguous", grid(-2, 2, 2, 3), F64, "float32", layout="strided"),
    _conversion("to_int32", [1.75, -1.75, 0.0, -0.5], FLOATS, "int32", [1, -1, 0, 0],
        note=_C4_INACTIVE),
    _conversion("to_int64", [1.75, -1.75, 0.0, -0.5], FLOATS, "int64", [1, -1, 0, 0]),
    _conversion("to_bool", [0.0, -0.0, 0.5, nan], FLOATS, "bool", [False, False, True, True],
        note=_C4_INACTIVE),
    _conversion("complex_to_bool", [0j, 1j, 1 + 0j], COMPLEX, "bool", [False, True, True]),
    _conversion("int_to_float64", [1, -2, 2**30], INTS, "float64", [1.0, -2.0, 2.0**30]),
    _conversion("int_to_float32", [1, -2, 16777217], ("int32",), "float32", [1.0, -2.0,
        16777216.0]),
    _conversion("int_to_complex", [1, -2], INTS, "complex128", [1 + 0j, -2 + 0j]),
    _conversion("int_to_bool", [0, 3, -1], INTS, "bool", [False, True, True]),
    _conversion("int_narrowing", [2**31, -1, 2**32 + 5], ("int64",), "int32", [-(2**31), -1, 5],
                note="convention 10: integers wrap in two's complement"),
    _conversion("int_widening", [-(2**31), 7], ("int32",), "int64", [-(2**31), 7]),
    _conversion("bool_to_float64", [True, False], BOOL, "float64", [1.0, 0.0]),
    _conversion("bool_to_int32", [True, False], BOOL, "int32", [1, 0]),
    _conversion("inf", [inf, -inf, nan], F64, "float32", [inf, -inf, nan]),
    _conversion("negative_zero", [-0.0, 0.0], F64, "float32", [-0.0, 0.0]),
    _conversion("rounding", [0.1, 1 + 2.0**-24, 1 + 3 * 2.0**-24], F64, "float32",
                [0.10000000149011612, 1.0, 1 + 2.0**-22]),
    *(_conversion(f"every_dtype_to_{target}", [1, 0, 1], ALL_DTYPES, target, [1, 0, 1],
                  note="convention 11: every dtype converts to every other")
      for target in ("bool", "uint8", "int64", "float16", "float32", "complex64")),
    *(_conversion(f"to_{target}", [1, 0, 3], ("int64", "float32", "complex64"), target, [1, 0, 3])
      for target in ("int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16",
                     "bfloat16")),
    _conversion("to_half", [0.1, 1 + 2.0**-11, 70000.0, nan, -0.0], F32, "float16",
                [0.0999755859375, 1.0, inf, nan, -0.0]),
    _conversion("to_brain", [0.1, 1 + 2.0**-8, 70000.0, nan, -0.0], F32, "bfloat16",
                [0.10009765625, 1.0, 70144.0, nan, -0.0]),
    _conversion("half_tangent", [0.5, -1.5], FLOATS, "float16", wrt=(0,), order=1, note=_C4),
    _conversion("unsigned_wraps", [-1, 256], ("int32",), "uint8", [255, 0],
                note="convention 10: integers wrap in two's complement"),
    level=0,
)  # fmt: skip
STOP_GRADIENT = table(
    "std::stop_gradient",
    Row(edge="wide", inputs=(grid(-2, 2, 2, 3),)),
    Row(edge="scalar", inputs=(1.5,)),
    Row(edge="complex", inputs=(cgrid(2, 2, 3),), dtypes=COMPLEX),
    Row(edge="integers", inputs=([1, 2],), dtypes=INTS),
    Row(edge="special_values", inputs=(_SPECIAL,), expected=_SPECIAL),
    Row(edge="inactive", inputs=([1.5, 2.5],), dtypes=F64, expected=[1.5, 2.5], wrt=(0,), order=1,
        smooth=False,
        tangents=([1.0, 1.0],), derivative=[0.0, 0.0], note="its derivative is a structural zero"),
    meaning=lambda mp, x: x,
    level=1,
)  # fmt: skip


def _pattern(edge: str, value: Any, dtype: str, target: str, expected: Any, **more: Any) -> Row:
    return Row(edge=edge, inputs=(value,), dtypes=(dtype,), params={"dtype": target}, out=target,
               expected=expected, **more)  # fmt: skip


BITCAST = table(
    "std::bitcast",
    _pattern("wide", [[1.0, -0.0], [-2.0, inf]], "float64", "int64",
             [[0x3FF0000000000000, -(2**63)], [-(2**62), 0x7FF0000000000000]]),
    _pattern("wide", [[1.0, -0.0], [-2.0, inf]], "float32", "int32",
             [[0x3F800000, -(2**31)], [-(2**30), 0x7F800000]]),
    _pattern("wide", [[1.0, -0.0]], "float16", "uint16", [[0x3C00, 0x8000]]),
    _pattern("wide", [[1.0, -0.0]], "bfloat16", "uint16", [[0x3F80, 0x8000]]),
    _pattern("wide", [[-1, 5]], "int8", "uint8", [[255, 5]]),
    _pattern("wide", [[-1, 5]], "int16", "uint16", [[65535, 5]]),
    _pattern("wide", [[65535, 5]], "uint16", "int16", [[-1, 5]]),
    _pattern("wide", [[255, 5]], "uint8", "int8", [[-1, 5]]),
    _pattern("to_float", [0x3FF0000000000000, 2**63], "uint64", "float64", [1.0, -0.0]),
    _pattern("to_float", [0x3F800000, 2**31], "uint32", "float32", [1.0, -0.0]),
    _pattern("to_float", [-(2**62)], "int64", "float64", [-2.0]),
    _pattern("scalar", 1.0, "float32", "uint32", 0x3F800000),
    _pattern("empty", grid(0, 1, 0, 3), "float32", "uint32", grid(0, 1, 0, 3)),
    _pattern("non_contiguous", [[1.0, 2.0]], "float32", "uint32", [[0x3F800000, 0x40000000]],
             layout="strided"),
    level=1,
)  # fmt: skip
_TWO = {"count": 2}
OPTIMIZATION_BARRIER = table(
    "std::optimization_barrier",
    Row(edge="wide", inputs=(grid(-2, 2, 2, 3),), params={"count": 1}, wrt=(0,)),
    Row(edge="scalar", inputs=(1.5,), params={"count": 1}, wrt=(0,)),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params={"count": 1}, dtypes=F64, wrt=(0,),
        order=1),
    Row(edge="complex", inputs=(cgrid(2, 2, 3),), params={"count": 1}, dtypes=COMPLEX, wrt=(0,)),
    Row(edge="integers", inputs=([1, 2],), params={"count": 1}, dtypes=INTS),
    Row(edge="other_dtypes", inputs=([1, 2],), params={"count": 1}, dtypes=RARE_DTYPES),
    Row(edge="special_values", inputs=(_SPECIAL,), params={"count": 1}, expected=_SPECIAL),
    Row(edge="non_contiguous", inputs=(grid(-2, 2, 2, 3),), params={"count": 1}, dtypes=F64,
        layout="strided"),
    Row(edge="two", inputs=([1.5, 2.5], 3.0), params=_TWO, dtypes=F64, out=(None, None),
        expected=([1.5, 2.5], 3.0), note="shapes may differ"),
    Row(edge="two_kinds", inputs=([1.5, 2.5], 3), kinds=(None, "int32"), params=_TWO, dtypes=F64,
        out=(None, "int32"), expected=([1.5, 2.5], 3), note="dtypes may differ"),
    meaning=lambda mp, x: x,
    level=1,
)  # fmt: skip

_ROWS, _BOTH = {"spec": ("data", None)}, {"spec": (("data", "model"),)}
SHARDING_CONSTRAINT = table(
    "std::sharding_constraint",
    Row(edge="wide", inputs=(grid(-2, 2, 2, 3),), params=_ROWS, wrt=(0,)),
    Row(edge="two_axes", inputs=([1.0, 2.0],), params=_BOTH, dtypes=F64, wrt=(0,), order=1),
    Row(edge="open", inputs=([1.0, 2.0],), params={"spec": ("?",)}, dtypes=F64, wrt=(0,), order=1),
    Row(edge="scalar", inputs=(1.5,), params={"spec": ()}, wrt=(0,)),
    Row(edge="whole", inputs=(grid(-2, 2, 2, 3),), params={"spec": ()}, dtypes=F64, wrt=(0,)),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params=_ROWS, dtypes=F64, wrt=(0,), order=1),
    Row(edge="complex", inputs=(cgrid(2, 2, 3),), params=_ROWS, dtypes=COMPLEX, wrt=(0,)),
    Row(edge="integers", inputs=([[1, 2]],), params=_ROWS, dtypes=INTS),
    Row(edge="other_dtypes", inputs=([[1, 2]],), params=_ROWS, dtypes=RARE_DTYPES),
    Row(edge="special_values", inputs=(_SPECIAL,), params={"spec": (None,)}, expected=_SPECIAL),
    Row(edge="non_contiguous", inputs=(grid(-2, 2, 2, 3),), params=_ROWS, dtypes=F64,
        layout="strided"),
    meaning=lambda mp, x: x,
    level=1,
)  # fmt: skip

TABLES: tuple[Table, ...] = (
    RESHAPE, TRANSPOSE, BROADCAST_IN_DIM, SLICE, PAD, CONCATENATE, REVERSE, CONVERT, STOP_GRADIENT,
    BITCAST, OPTIMIZATION_BARRIER, SHARDING_CONSTRAINT,
)  # fmt: skip
