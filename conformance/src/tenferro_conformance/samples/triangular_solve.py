"""Samples of `triangular_solve`: every operator from both sides, what is not read, batches.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from tenferro_conformance.samples.matrices import dominant
from tenferro_conformance.samples.table import COMPLEX, F64, Grid, Row, cgrid, grid, table

__all__ = ["TABLES"]

nan = float("nan")
_A, _B = dominant(3), grid(-2, 2, 3, 2)
_AC, _BC = dominant(3, is_complex=True), cgrid(2, 3, 2)


def _params(**given: bool) -> dict[str, Any]:
    known = {"left": True, "lower": True, "transposed": False, "conjugated": False}
    return {**known, "unit_diagonal": False, **given}


def _row(edge: str, a: Grid, b: Grid, **more: Any) -> Row:
    params = _params(**more.pop("params", {}))
    known = {"wrt": (0, 1), "order": 2, "size": a.shape[-1], **more}
    return Row(edge=edge, inputs=(a, b), params=params, **known)


def _word(left: bool, lower: bool, transposed: bool, conjugated: bool, unit: bool) -> str:
    words = ("left" if left else "right", "lower" if lower else "upper")
    letter = {(0, 0): "n", (1, 0): "t", (0, 1): "conj", (1, 1): "h"}[transposed, conjugated]
    return "_".join((*words, letter, *(["unit"] if unit else [])))


def _operator(left: bool, lower: bool, transposed: bool, conjugated: bool, unit: bool) -> Row:
    params = {
        "left": left, "lower": lower, "transposed": transposed, "conjugated": conjugated,
        "unit_diagonal": unit,
    }  # fmt: skip
    b = _BC if left else Grid((2, 3), _BC.flat)
    word = _word(left, lower, transposed, conjugated, unit)
    return _row(word, _AC, b, params=params, dtypes=("complex128",), order=1)


_UNREAD = "the other triangle is not read"
TABLES = (
    table(
        "std::triangular_solve",
        *(_operator(*given) for given in product((False, True), repeat=5)),
        _row("wide", _A, grid(-2, 2, 3, 5)),
        _row("vector", _A, grid(-2, 2, 3, 1)),
        _row("right", _A, grid(-2, 2, 2, 3), params={"left": False}),
        _row("complex", _AC, _BC, dtypes=COMPLEX),
        _row("complex_right_adjoint", _AC, Grid((2, 3), _BC.flat), dtypes=COMPLEX,
             params={"left": False, "transposed": True, "conjugated": True}),
        _row("batch", dominant(2, 2, 2), grid(-2, 2, 2, 2, 2, 3), dtypes=F64),
        _row("batch_of_one", dominant(2, 1), grid(-2, 2, 1, 2, 3), dtypes=F64, order=1),
        _row("non_contiguous", _A, _B, dtypes=F64, layout="strided", order=1),
        _row("transposed_memory", _A, _B, dtypes=F64, layout="transposed", order=1),
        _row("size1", dominant(1), grid(-2, 2, 1, 1), dtypes=F64),
        _row("empty", Grid((0, 0), ()), Grid((0, 2), ()), dtypes=F64, order=1),
        _row("no_columns", _A, Grid((3, 0), ()), dtypes=F64, order=1),
        _row("no_batch", Grid((0, 2, 2), ()), Grid((0, 2, 1), ()), dtypes=F64, order=1),
        _row("large", dominant(40, shift=12.0), grid(-2, 2, 40, 3), order=1),
        Row(edge="unread_triangle", inputs=([[2.0, nan], [1.0, 4.0]], [[2.0], [9.0]]),
            params=_params(), expected=[[1.0], [2.0]], note=_UNREAD),
        Row(edge="unread_diagonal", inputs=([[nan, nan], [1.0, nan]], [[2.0], [9.0]]),
            params=_params(unit_diagonal=True), expected=[[2.0], [7.0]], note=_UNREAD),
        Row(edge="unread_tangent", inputs=([[2.0, 5.0], [1.0, 4.0]], [[2.0], [9.0]]),
            params=_params(), expected=[[1.0], [2.0]], wrt=(0, 1), order=1,
            tangents=([[0.0, nan], [4.0, 0.0]], [[0.0], [0.0]]), derivative=[[0.0], [-1.0]],
            smooth=False, note="nor is the tangent there"),
        level=3,
        tol="factorization",
    ),
)  # fmt: skip
