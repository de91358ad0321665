"""The oracle: what each standard primitive means, in exact integers and in mpmath numbers of 150
digits.

Written from the definitions as index formulas over nested indices; it calls no array library, so it
shares no code with any backend. An elementwise primitive with a short definition has it in its
table of samples (`meaning`). Every other family of definitions is a file with a table
`REFERENCES`; an observation of a primitive is under `"svd@values"`. Needs the extra `oracle`
(mpmath); no test run of the suite imports it. Read `reference.py`, then `golden.py`, which stores
the numbers.
"""

from __future__ import annotations

from tenferro_conformance.oracle.numbers import DIGITS, Tensor, mp
from tenferro_conformance.oracle.reference import (
    define,
    directional,
    reference,
    scale_of,
    term_scale,
)

__all__ = ["DIGITS", "Tensor", "define", "directional", "mp", "reference", "scale_of", "term_scale"]
