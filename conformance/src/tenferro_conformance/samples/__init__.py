"""One table per family; together they are the cases of the standard set.

`tables()` lists the rows, `load_cases()` joins them with the stored numbers of `golden/`.
Third-party primitives publish their own cases under the entry-point group `tenferro.conformance`.
Read `table.py`, then `arithmetic.py`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from tenferro_conformance.cases.case import Case, ErrorCase
from tenferro_conformance.samples.table import Table

__all__ = ["FAMILIES", "closed_features", "load_cases", "load_error_cases", "tables"]

FAMILIES = (
    "arithmetic", "banded_solve", "bessel", "bitwise", "callback", "cholesky", "comparison",
    "complex", "constants", "contraction", "control", "cumulative", "cylinder", "determinant",
    "eig", "eigh",
    "elementwise", "exponential_sums", "faddeeva", "fft", "gammas", "hyperbolic", "incomplete",
    "indexing", "integrals",
    "linear_solve", "logarithms", "lu", "matrix_function", "normal", "pfaffian", "pinv",
    "pivoted_qr", "polar", "qr",
    "random", "random_gamma",
    "reduction", "rounding", "scattering", "schur", "slogdet", "sorting", "sparse_product",
    "sparse_solve", "special", "spectrum",
    "splitting", "structural", "svd", "sylvester", "triangular_solve", "vectors_used",
    "trigonometric",
)  # fmt: skip


def tables(family: str) -> tuple[Table, ...]:
    """Return the tables of one family."""
    module = import_module(f"tenferro_conformance.samples.{family}")
    found: tuple[Table, ...] = module.TABLES
    return found


def closed_features() -> frozenset[str]:
    """Return the features of cases that this environment cannot make: bfloat16 without its
    library.
    """
    return frozenset() if find_spec("ml_dtypes") else frozenset({"bf16"})


@cache
def load_cases(primitives: tuple[str, ...] = ()) -> tuple[Case, ...]:
    """Load every case of the standard set, sorted by id; bfloat16 only if ml_dtypes is
    installed.

    `primitives`: keys, or patterns of keys; only their cases are made, and only the stored
    numbers of their families read.
    """
    from tenferro_conformance.cases.golden_data import load

    closed = closed_features()
    found = [
        case
        for family in FAMILIES
        for table in tables(family)
        if not primitives or any(fnmatchcase(table.primitive, key) for key in primitives)
        for case in table.cases(load(family))
        if not case.features & closed
    ]
    return tuple(sorted(found, key=lambda case: case.id))


@cache
def load_error_cases() -> tuple[ErrorCase, ...]:
    """Load every refusal of the standard set, sorted by id."""
    from tenferro_conformance.samples.errors import ERROR_CASES, elementwise_refusals

    all_tables = (table for family in FAMILIES for table in tables(family))
    stated = (case for table in all_tables for case in elementwise_refusals(table))
    return tuple(sorted((*ERROR_CASES, *stated), key=lambda case: case.id))
