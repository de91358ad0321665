"""The max-plus product with its argmax, and the two linear maps of its derivative.

C_ij = max_k A_ik + B_kj is reached at K_ij. So dC_ij = dA_{i,K_ij} + dB_{K_ij,j}: ``Pick`` reads a
tangent there, and its transpose ``Send`` adds a cotangent there. Read next: ``chain.py``.
"""

from __future__ import annotations

from typing import Any

from tropical.space import POSITIONS, REAL, TROPICAL, Kind, Operation, Rows

LEFT, RIGHT = 0, 1


class MatMul(Operation):
    """(C, K) of two max-plus matrices; of equal terms the first k counts."""

    input_count, output_count = 2, 2

    def abstract_eval(self, a: Kind, b: Kind) -> tuple[Kind, Kind]:
        """[m, k] and [k, n] give [m, n], twice."""
        if a.columns != b.rows:
            raise ValueError(f"{a.rows}x{a.columns} and {b.rows}x{b.columns} have no product")
        return Kind(TROPICAL, a.rows, b.columns), Kind(POSITIONS, a.rows, b.columns)

    def run(self, a: Rows, b: Rows) -> tuple[Rows, Rows]:
        """Compute both."""
        best = [[_best(row, [r[j] for r in b]) for j in range(len(b[0]))] for row in a]
        values = tuple(tuple(value for value, _ in row) for row in best)
        return values, tuple(tuple(k for _, k in row) for row in best)

    def jvp_input(self, rule: Any, index: int, dx: Any, primals: Any, results: Any) -> Any:
        """Read the tangent where the maximum is reached."""
        return [Pick(index)(dx, results[1])[0], None]


def _best(row: tuple[Any, ...], column: list[Any]) -> tuple[Any, int]:
    sums = [x + y for x, y in zip(row, column, strict=True)]
    value = max(sums)
    return value, sums.index(value)


class Pick(Operation):
    """dC_ij = d_{i,K_ij} on the left side, d_{K_ij,j} on the right; linear in d."""

    input_count, linear = 2, ((0,),)
    side: int

    def abstract_eval(self, d: Kind, k: Kind) -> Kind:
        """As k."""
        return k._replace(space=REAL)

    def run(self, d: Rows, k: Rows) -> tuple[Rows]:
        """Compute it."""
        left = self.side == LEFT
        return (
            tuple(
                tuple(d[i][at] if left else d[at][j] for j, at in enumerate(row))
                for i, row in enumerate(k)
            ),
        )

    def transpose(self, rule: Any, cts: Any, inputs: Any) -> Any:
        """Add the cotangent where the tangent was read."""
        d, k = inputs
        return Send(self.side, d.aval.rows, d.aval.columns)(cts[0], k.value)[0], None


class Send(Operation):
    """The transpose of ``Pick``; linear in the cotangent."""

    input_count, linear = 2, ((0,),)
    side: int
    rows: int
    columns: int

    def abstract_eval(self, ct: Kind, k: Kind) -> Kind:
        """[rows, columns]"""
        return Kind(REAL, self.rows, self.columns)

    def run(self, ct: Rows, k: Rows) -> tuple[Rows]:
        """Compute it."""
        out = [[0.0] * self.columns for _ in range(self.rows)]
        for i, row in enumerate(k):
            for j, at in enumerate(row):
                place = (i, at) if self.side == LEFT else (at, j)
                out[place[0]][place[1]] += ct[i][j]
        return (tuple(map(tuple, out)),)

    def transpose(self, rule: Any, cts: Any, inputs: Any) -> Any:
        """Read the cotangent where it was added."""
        return Pick(self.side)(cts[0], inputs[1].value)[0], None
