"""Golden functions, row by row: value, forward mode, reverse mode, and the inner
products of both.
"""

import numpy as np
import pytest

from tenferro_conformance.cases import golden_functions as rows
from tenferro_conformance.running.doors import close

pytestmark = pytest.mark.tenferro_golden

TABLES = {
    "scalar": rows.SCALAR,
    "vector": rows.VECTOR,
    "complex": rows.COMPLEX,
    "robustness": rows.ROBUSTNESS,
    "edges": rows.EDGES,
}


def _rows(*fields):
    """Return the rows that state all of these fields, with readable names."""
    found = [(f"{name}: {row}", row) for name, table in TABLES.items() for row in table]
    stated = [
        (name, row) for name, row in found if all(getattr(row, f) is not None for f in fields)
    ]
    return pytest.mark.parametrize(
        "row", [row for _, row in stated], ids=[name for name, _ in stated]
    )


def _at(door, row):
    return [door.x(x) for x in row.at]


@_rows("y")
def test_value(tenferro_door, row):
    """f(x) = y."""
    close(tenferro_door.numbers(row.f(*_at(tenferro_door, row))), row.y)


@_rows("dx")
def test_forward(tenferro_door, row):
    """J dx = dy."""
    close(
        tenferro_door.numbers(*tenferro_door.push(row.f, _at(tenferro_door, row), row.dx)), row.dy
    )


@_rows("w")
def test_reverse(tenferro_door, row):
    """Jᵀ w = ct."""
    close(tenferro_door.numbers(*tenferro_door.pull(row.f, _at(tenferro_door, row), row.w)), row.ct)


@_rows("dx", "w")
def test_inner_products(tenferro_door, row):
    """⟨w, J dx⟩ = ⟨Jᵀ w, dx⟩ with ⟨a, b⟩ = Re Σ conj(a)·b."""
    dy = tenferro_door.numbers(*tenferro_door.push(row.f, _at(tenferro_door, row), row.dx))
    ct = tenferro_door.numbers(*tenferro_door.pull(row.f, _at(tenferro_door, row), row.w))
    close([_inner(row.w, dy)], [_inner(ct, row.dx)])


@_rows("dx")
def test_transposed_twice(tenferro_door, row):
    """(Jᵀ)ᵀ dx = dy."""
    found = tenferro_door.twice_transposed(row.f, _at(tenferro_door, row), row.dx)
    close(tenferro_door.numbers(*found), row.dy)


def _inner(a, b):
    return sum(np.sum(np.conj(x) * np.asarray(y)).real for x, y in zip(a, b, strict=True))
