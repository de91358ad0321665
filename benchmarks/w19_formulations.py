"""W19: the same functions in the ways that different users write them.

What W1, W2, W5, W6 and W10 differentiate, each in at least five ways: axes in any order, gathers or
masks, einsum or products, loops over parts, functions of the library or by hand. The baseline is
one version by hand that an expert of NumPy would write. The time must not depend on the words: the
figures are the worst way over the best way of the same library, and the worst over the version by
hand (for XLA: over JAX on the same way). Ways that are another algorithm are measured and left out
of these figures. Read next: `formulations/gmm.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.harness.statistics import ratio
from benchmarks.harness.workload import (
    BASELINE,
    WORST_WAY,
    Call,
    Case,
    Figure,
    Goal,
    Workload,
)

from .formulations.factorizations import EIGH, SVD
from .formulations.gaussian_process import GP
from .formulations.gmm import GMM
from .formulations.library import LIBRARIES, Formulations, caller
from .formulations.mlp import MLP
from .formulations.mps import MPS
from .formulations.rosenbrock import ROSENBROCK

PARTS: dict[str, Formulations] = {
    "gmm": GMM,
    "mlp": MLP,
    "mps": MPS,
    "svd": SVD,
    "eigh": EIGH,
    "gp": GP,
    "rosenbrock": ROSENBROCK,
}
WORST_TO_BEST, WORST_TO_JAX = "worst way ÷ best way", "worst way ÷ jax on the same"


OTHERS = {way.name for part in PARTS.values() for way in part.ways if way.other}


def inputs(given: tuple[str, int]) -> tuple[Any, ...]:
    """The part, and what its functions take."""
    part, n = given
    return part, *PARTS[part].inputs(n)


def symmetrised(case: Case, result: Any) -> Any:
    """What is compared: gradients by a symmetric matrix without their antisymmetric part."""
    if not case.name.startswith("eigh"):
        return result
    value, gradient = result
    gradient = np.asarray(gradient)
    return value, (gradient + gradient.T) / 2


W = Workload(
    "W19",
    "formulations: the functions of W1, W2, W5, W6 and W10 as different users write them",
    cases=[case for part in PARTS.values() for case in part.cases],
    quick=[case for part in PARTS.values() for case in part.quick],
    inputs=inputs,
    goals=[
        Goal(1.25, figure=WORST_TO_BEST),
        Goal(1.2, figure=WORST_WAY),
        Goal(1.0, contestant="tenferro xla", figure=WORST_TO_JAX),
    ],
    tolerance=1e-7,
    compared=symmetrised,
)


@W.contestant(BASELINE)
def by_hand(part: str, *given: Any) -> Call:
    return PARTS[part].by_hand(*given)


def without_part(make: Callable[..., Call]) -> Callable[..., Call]:
    """Leave out the first input, which names the part."""
    return lambda part, *given: make(*given)


for _part in PARTS.values():
    _names = tuple(case.name for case in (*_part.cases, *_part.quick))
    for _way in _part.ways:
        for _library, _peer in LIBRARIES.items():
            if _library not in _way.without:
                W.contestant(f"{_library}, {_way.name}", needs=_peer, cases=_names)(
                    without_part(caller(_library, _way))
                )


# ---- figures of all ways together ----------------------------------------------------------------


def summary(rows: list[dict[str, Any]]) -> Iterator[Figure]:
    """For each case and library: the worst way over the best, over the hand version, over JAX."""
    for case in dict.fromkeys(row["case"] for row in rows):
        times = {
            row["contestant"]: row["turns"]["cpu"]
            for row in rows
            if row["case"] == case and "turns" in row
        }
        for library in LIBRARIES:
            yield from of_library(case, library, times)


def of_library(case: str, library: str, times: dict[str, Sequence[float]]) -> Iterable[Figure]:
    """The figures of one library at one case."""
    own = {
        name.removeprefix(f"{library}, "): turns
        for name, turns in times.items()
        if name.startswith(f"{library}, ") and name.removeprefix(f"{library}, ") not in OTHERS
    }
    if not own:
        return
    by_hand = {name: median_ratio(turns, times[BASELINE]) for name, turns in own.items()}
    best, worst = (own[pick(by_hand, key=by_hand.__getitem__)] for pick in (min, max))
    yield Figure(case, library, WORST_TO_BEST, median_ratio(worst, best))
    yield Figure(case, library, WORST_WAY, max(by_hand.values()))
    theirs = {name: times.get(f"jax, {name}") for name in own}
    ratios = [median_ratio(own[name], turns) for name, turns in theirs.items() if turns]
    if library == "tenferro xla" and ratios:
        yield Figure(case, library, WORST_TO_JAX, max(ratios))


def median_ratio(own: Sequence[float], over: Sequence[float]) -> float:
    """The median over the turns of one time over another."""
    return ratio(own, over)["median"]


W.summary = summary
