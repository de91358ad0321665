"""Rows that many primitives share: shapes, dtypes and special values of elementwise primitives.

Read `elementwise.py` for how a family uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro_conformance.cases.case import Domain
from tenferro_conformance.samples.numbers import (
    COMPLEX,
    F64,
    FLOATS,
    HALF,
    SIGNED,
    UNSIGNED,
    Grid,
    coarse,
    fine,
    inf,
    nan,
)
from tenferro_conformance.samples.rows import Row

__all__ = ["branch_cuts", "elementwise_rows", "factorization_row", "halved", "special_values"]


def halved(*makers: Callable[..., Grid], wrt: tuple[int, ...] | None = None, **more: Any) -> Row:
    """Make the row of half-precision floats: inputs that both formats hold exactly."""
    axes = tuple(range(len(makers))) if wrt is None else wrt
    inputs = tuple(coarse(make(2, 3)) for make in makers)
    return Row(edge="half", inputs=inputs, dtypes=HALF, wrt=axes, **{"order": 2, **more})


def elementwise_rows(
    *inputs: Callable[..., Grid],
    complex_inputs: Sequence[Callable[..., Grid]] = (),
    integer_inputs: Sequence[Callable[..., Grid]] = (),
    wrt: tuple[int, ...] | None = None,
    domain: Domain | None = None,
    unsigned: bool = True,
    **common: Any,
) -> tuple[Row, ...]:
    """Return the shape edges of an elementwise primitive; each input maps a shape to numbers."""
    where = tuple(range(len(inputs))) if wrt is None else wrt
    common["domain"] = domain

    def row(
        edge: str,
        shape: tuple[int, ...],
        makers: Sequence[Callable[..., Grid]],
        dtypes: tuple[str, ...],
        axes: tuple[int, ...],
        **more: Any,
    ) -> Row:
        return Row(edge=edge, inputs=tuple(make(*shape) for make in makers), dtypes=dtypes,
            wrt=axes,
                   **{**common, **more})  # fmt: skip

    rows = [
        row("scalar", (), inputs, FLOATS, where),
        row("empty", (0, 3), inputs, F64, where, order=1),
        row("size1_axis", (1, 3), inputs, F64, where),
        row("wide", (2, 4), inputs, FLOATS, where),
        row("tall", (4, 2), inputs, F64, where, order=1),
        row("non_contiguous", (3, 2), inputs, F64, where, order=1, layout="strided"),
        row("transposed", (3, 2), inputs, F64, (), layout="transposed"),
        row("full_precision", (2, 3), [_finely(make) for make in inputs], F64, where, order=1),
    ]
    if complex_inputs:
        rows.append(row("complex", (2, 3), complex_inputs, COMPLEX, where))
        rows.append(row("complex_scalar", (), complex_inputs, ("complex128",), where))
        finely = [_finely(make) for make in complex_inputs]
        rows.append(row("complex_full_precision", (3,), finely, ("complex128",), ()))
    if integer_inputs:
        rows.append(row("integers", (2, 3), integer_inputs, SIGNED, ()))
        if unsigned:
            rows.append(row("unsigned", (2, 3), _made_positive(integer_inputs), UNSIGNED, ()))
    rows.append(halved(*inputs, wrt=where, **common))
    return tuple(rows)


def _finely(make: Callable[..., Grid]) -> Callable[..., Grid]:
    return lambda *shape: fine(make(*shape))


def _made_positive(makers: Sequence[Callable[..., Grid]]) -> list[Callable[..., Grid]]:
    """Make small positive integers; their squares and differences fit in uint8."""

    def moved(make: Callable[..., Grid], place: int) -> Callable[..., Grid]:
        def shifted(*shape: int) -> Grid:
            numbers = make(*shape).flat
            return Grid(shape, tuple(x % 3 + 1 if place else abs(x) + 3 for x in numbers))

        return shifted

    return [moved(make, place) for place, make in enumerate(makers)]


def special_values(*, infs: Any, zeros: Any = None) -> tuple[Row, ...]:
    """NaN stays NaN; stated results at (inf, −inf) and at (−0, 0)."""
    rows = [
        Row(edge="nan", inputs=([nan, nan],), expected=[nan, nan]),
        Row(edge="inf", inputs=([inf, -inf],), expected=infs),
    ]
    if zeros is not None:
        rows.append(Row(edge="negative_zero", inputs=([-0.0, 0.0],), expected=zeros))
    return tuple(rows)


def branch_cuts(inputs: list[complex], values: list[complex], slopes: list[complex]) -> Row:
    """Make a row of stated values and derivatives at points of the branch cuts."""
    return Row(edge="branch_cuts", inputs=(inputs,), dtypes=COMPLEX, expected=values, wrt=(0,),
               order=1, smooth=False, tangents=([1 + 0j] * len(inputs),), derivative=slopes,
               note="the sign of a zero says on which side of the cut a number lies, in "
                    "derivatives too")  # fmt: skip


def factorization_row(edge: str, a: Any, observe: str | None = None, **more: Any) -> Row:
    """Make a row of a matrix, by default differentiated twice, in double precision."""
    known = {"dtypes": F64, "wrt": (0,), "order": 2, "size": 4, "condition": 4.0, **more}
    return Row(edge=edge, inputs=(a,), observe=observe, **known)
