"""What a workload is: cases, contestants and goals; and where the workloads are found.

A contestant is a function that takes the inputs of a case and gives a call without arguments, which
returns value and gradients. What is done outside the call (imports, copies to the contestant's own
arrays) is not timed. Most workloads need no more. One that measures something else than calls gives
`figures` instead. Read next: `measure.py`.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

BASELINE = "numpy"
OURS = "tenferro"
PEERS = ("jax", "torch", "autograd", "xla")
PACKAGES = {"xla": "tenferro_xla"}
WORST_WAY = "worst way ÷ by hand"  # the figure of workloads that are written in many ways
MEDIAN, LEAST, MOST = SPREAD = ("median of all", "least of all", "most of all")  # cases

Call = Callable[[], Any]


class Case(NamedTuple):
    """One size of a workload; `size` is what the slope is drawn over, where there is one.

    A case whose numbers are less exact than those of the others has a tolerance of its own.
    """

    name: str
    given: Any
    size: float | None = None
    tolerance: float | None = None


class Goal(NamedTuple):
    """What a contestant's figure must not exceed.

    The figure `time` is CPU time at one thread and wall time at more, `memory` peak memory, both
    divided by the baseline's; `plus` is added in absolute terms. Every other figure is absolute.
    """

    limit: float
    case: str | None = None
    contestant: str = OURS
    figure: str = "time"
    over: str = BASELINE
    threads: int = 1
    plus: float = 0.0


class Contestant(NamedTuple):
    """A way to compute a workload, and the library that it needs beside NumPy."""

    name: str
    peer: str
    make: Callable[..., Call]
    cases: tuple[str, ...] | None
    limit: float | None  # seconds: it is tried in a process of its own, and may not return


class Figure(NamedTuple):
    """Something else than the time of a call that a workload found."""

    case: str
    contestant: str
    figure: str
    value: float
    unit: str = ""
    size: float | None = None


@dataclass
class Workload:
    """A function to differentiate, at some sizes, written for each contestant."""

    id: str
    title: str
    cases: Sequence[Case]
    quick: Sequence[Case]
    inputs: Callable[[Any], tuple[Any, ...]] = lambda given: (given,)
    goals: Sequence[Goal] = ()
    tolerance: float = 1e-9
    large: bool = False  # big enough for the kind of its pages to count
    memory: bool = False  # peak memory is a figure of it
    compared: Callable[[Case, Any], Any] = lambda case, result: result
    contestants: list[Contestant] = field(default_factory=list)
    figures: Callable[[Options], Iterable[Figure]] | None = None
    summary: Callable[[list[dict[str, Any]]], Iterable[Figure]] | None = None  # of the rows

    def contestant(
        self,
        name: str,
        needs: str = "",
        cases: tuple[str, ...] | None = None,
        limit: float | None = None,
    ) -> Callable[[Callable[..., Call]], Callable[..., Call]]:
        """Enter a contestant; `needs` names the peer without which it cannot run."""

        def enter(make: Callable[..., Call]) -> Callable[..., Call]:
            self.contestants.append(Contestant(name, needs, make, cases, limit))
            return make

        return enter

    def case(self, name: str) -> Case:
        """The case of a name, in full or quick size."""
        return next(case for case in (*self.cases, *self.quick) if case.name == name)


@dataclass(frozen=True)
class Options:
    """What a run was asked for."""

    peers: tuple[str, ...] = PEERS[:3]
    quick: bool = False
    budget: float = 20.0
    threads: int = 1
    huge_pages: bool = False


def with_spread(figures: Iterable[Figure]) -> Iterator[Figure]:
    """Yield the figures, and how each of them spreads over the cases."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    for figure in figures:
        yield figure
        groups.setdefault((figure.contestant, figure.figure, figure.unit), []).append(figure.value)
    for (contestant, name, unit), values in groups.items():
        for case, value in zip(SPREAD, (median(values), min(values), max(values)), strict=True):
            yield Figure(case, contestant, name, value, unit)


def installed(peer: str) -> bool:
    """Whether the library of a peer is there."""
    return not peer or importlib.util.find_spec(PACKAGES.get(peer, peer)) is not None


def names() -> dict[str, str]:
    """The workloads and their modules, in order."""
    import benchmarks

    found = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.ispkg)
    numbered = {f"W{int(name[1:3])}": name for name in found if name[1:3].isdigit()}
    others = {name: name for name in found if name[0] != "_" and name not in numbered.values()}
    return numbered | others


def load(identity: str) -> Workload:
    """The workload of a name such as W3."""
    module = importlib.import_module(f"benchmarks.{names()[identity]}")
    found: Workload = module.W
    return found
