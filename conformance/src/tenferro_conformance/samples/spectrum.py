"""Samples of what derivatives of eigenvectors are made of: spectrum and turn.

`spectrum` varies with its matrix alone, within spaces of equal values; `turn` is linear in what it
divides by gaps. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import COMPLEX, F64, FLOATS, Grid, Row, Table, grid, table

__all__ = ["TABLES"]

_IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
_EQUAL = [[2, 0, 0], [0, 2, 0], [0, 0, 5]]


def _spectrum(edge: str, a: Any, w: Any, v: Any, **more: Any) -> Row:
    known = {"dtypes": FLOATS, "params": {"is_hermitian": True, "epsilon": None}, **more}
    return Row(edge=edge, inputs=(a, w, v), **known)


SPECTRUM = table(
    "std::spectrum",
    _spectrum("distinct", [[2, 0], [0, 3]], [2, 3], [[1, 0], [0, 1]], expected=[[2, 0], [0, 3]],
              wrt=(0,), order=2, tangents=([[1, 4], [2, 3]],), derivative=[[1, 0], [0, 3]],
              smooth=False, note="the values vary, each by itself"),
    _spectrum("repeated", _EQUAL, [2, 2, 5], _IDENTITY, expected=_EQUAL, wrt=(0,), order=2,
              tangents=([[1, 4, 7], [2, 3, 7], [7, 7, 5]],),
              derivative=[[1, 2, 0], [2, 3, 0], [0, 0, 5]], smooth=False,
              note="where values are equal, a whole block varies, as its lower triangle says"),
    _spectrum("general", _EQUAL, [2, 2, 5], _IDENTITY, dtypes=COMPLEX, expected=_EQUAL, wrt=(0,),
              params={"is_hermitian": False, "epsilon": None}, order=2,
              tangents=([[1, 4j, 7], [2, 3, 7], [7, 7, 5j]],),
              derivative=[[1, 4j, 0], [2, 3, 0], [0, 0, 5j]], smooth=False),
    _spectrum("batch", [[[2]], [[3]]], [[2], [3]], [[[1]], [[1]]], expected=[[[2]], [[3]]]),
    _spectrum("empty", Grid((0, 0), ()), Grid((0,), ()), Grid((0, 0), ()), dtypes=F64,
              expected=Grid((0, 0), ())),
    level=3,
    tol="factorization",
)  # fmt: skip


def _turn(edge: str, w: Any, p: Any, **more: Any) -> Row:
    known = {
        "dtypes": FLOATS, "params": {"epsilon": None}, "wrt": (1,),
        "order": 1, "size": 3, **more,
    }  # fmt: skip
    return Row(edge=edge, inputs=(w, p), **known)


TURN = table(
    "std::turn",
    _turn("distinct", [[2, 0], [0, 4]], [[1, 3], [5, 7]], expected=[[0, 1.5], [-2.5, 0]],
          derivative=None),
    _turn("repeated", _EQUAL, [[1, 4, 6], [2, 3, 9], [3, 12, 5]],
          expected=[[0, 0, 2], [0, 0, 3], [-1, -4, 0]], derivative=None),
    _turn("complex", [[2, 0], [0, 4j]], [[1, 3], [5, 7]], dtypes=COMPLEX,
          derivative=None, expected=[[0, 3 / (4j - 2)], [5 / (2 - 4j), 0]]),
    _turn("of_the_spectrum", _EQUAL, [[1, 4, 6], [2, 3, 9], [3, 12, 5]], wrt=(0,), order=2,
          expected=[[0, 0, 2], [0, 0, 3], [-1, -4, 0]],
          tangents=([[3, 6, 0], [9, 0, 0], [0, 0, 3]],),
          derivative=[[0, 0, 6], [0, 0, 3], [-12, 2, 0]], smooth=False,
          note="W dX - dX W = X dW - dW X; dW is a block where values are equal"),
    _turn("wide_epsilon", [[2, 0], [0, 4]], [[1, 3], [5, 7]], derivative=None,
          params={"epsilon": 0.75}, expected=[[0, 0], [0, 0]]),
    _turn("batch", [[[2]], [[3]]], [[[1]], [[1]]], expected=[[[0]], [[0]]], derivative=None),
    _turn("empty", Grid((0, 0), ()), Grid((0, 0), ()), dtypes=F64, expected=Grid((0, 0), ()),
          derivative=None),
    _turn("non_contiguous", [[2, 0], [0, 4]], [[1, 3], [5, 7]], expected=[[0, 1.5], [-2.5, 0]],
          derivative=None, layout="strided"),
    _turn("large", Grid((30, 30), tuple(float(i) if i == j else 0.0
                                        for i in range(30) for j in range(30))),
          grid(-1, 1, 30, 30), expected=None, derivative=None, dtypes=F64, wrt=()),
    level=3,
    tol="factorization",
)  # fmt: skip

TABLES: tuple[Table, ...] = (SPECTRUM, TURN)
