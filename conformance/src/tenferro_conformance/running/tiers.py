"""Tiers: which cases of a law `quick`, `full` and `rest` run.

Read `selection.py` next, which asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeVar

from tenferro_conformance.cases.case import Case, ErrorCase
from tenferro_conformance.profile import Profile

__all__ = ["AnyCase", "cases_of_tier"]


AnyCase = TypeVar("AnyCase", bound="Case | ErrorCase")
#: Dtypes of typical cases, and how many elements these have at most.
_TYPICAL_DTYPES = ("float64", "complex128", "int64", "bool")
_TYPICAL_SIZE = 64


def _id_of(case: Case | ErrorCase) -> str:
    return str(case.id)


#: Laws that judge ties, zeros and nan, which are cases of their own.
_LAWS_OF_CONVENTIONS = frozenset({"value", "derivative"})


def cases_of_tier(
    cases: Sequence[AnyCase], tier: str, law: str, profile: Profile | None
) -> list[AnyCase]:
    """Return those of the cases of one law that a tier runs, on the backend of a profile.

    `deep` runs all; `full` those that the profile of the backend does not call slow; `quick`
    a typical case of each primitive in each wide dtype, and edges of values and derivatives,
    unless a law of the case is slow, or this law of all cases; `rest` what `full` has and
    `quick` not.
    """
    if tier == "deep":
        return list(cases)
    full = [c for c in cases if profile is None or not profile.is_slow(_id_of(c), law)]
    if tier == "full":
        return full
    able = [c for c in full if profile is None or profile.may_be_quick(_id_of(c), law)]
    quick = {id(case) for case in _typical(able, law in _LAWS_OF_CONVENTIONS)}
    return [case for case in full if (id(case) in quick) == (tier == "quick")]


def _typical(cases: Sequence[AnyCase], with_edges: bool) -> list[AnyCase]:
    """Return one case per primitive and wide dtype: the largest of those that are not large.

    A primitive without a case in a wide dtype has the first of its cases. With edges, all cases
    in float64 are typical that are not large.
    """
    best: dict[tuple[str, str], AnyCase] = {}
    for case in cases:
        dtype = _id_of(case).rpartition("/")[2]
        kind = dtype if dtype in _TYPICAL_DTYPES else ""
        there = best.get((case.primitive, kind))
        if there is None or (kind and _richness(case) > _richness(there)):
            best[case.primitive, kind] = case
    wide = {primitive for primitive, kind in best if kind}
    found = [case for (primitive, kind), case in best.items() if kind or primitive not in wide]
    edges = [case for case in cases if with_edges and _id_of(case).endswith("/float64")]
    return [*found, *[case for case in edges if _richness(case)]]


def _richness(case: Case | ErrorCase) -> int:
    """Return how many elements the inputs of a case have; 0 of a large one."""
    size = sum(prod(x.shape) for x in case.inputs or ())
    return size if size <= _TYPICAL_SIZE else 0
