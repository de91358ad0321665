"""All laws of the suite on one primitive at given operands, without a table and without pytest's
run: what `tn.check_primitive` asks.

The tests of `suite/` are the laws here, too: each is called with the program that its marker names.
Laws about tables, refusals and whole backends do not apply. Read `suite/test_adjoint.py` next.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from tenferro.backend import Backend
from tenferro.primitives import TensorPrimitive
from tenferro_conformance import suite
from tenferro_conformance.cases.case import Case, GradPlan, Stored
from tenferro_conformance.profile import Profile
from tenferro_conformance.reporting.suspects import suspect_of
from tenferro_conformance.running.session import Session

__all__ = ["Law", "ask_every_law", "laws_of_cases"]

#: What a test may ask for to be about one case alone.
_FIXTURES = frozenset({"tenferro_run", "tenferro_session", "tenferro_case", "tenferro_any_case"})
#: The edge of the case: laws that run nodes one by one take the cases of this name.
_EDGE = "wide"
#: It is about the levels of tables.
_NOT_ASKED = "closure"


class Law(NamedTuple):
    """One test of the suite that is about a case: the name of its law and what it states."""

    law: str
    statement: str
    options: dict[str, Any]
    test: Callable[..., None]

    def applies_to(self, case: Case) -> bool:
        """Return True if the suite would ask this law of the case."""
        if self.options.get("grad") and case.grad is None:
            return False
        where = self.options.get("where")
        return where is None or bool(where(case))


@cache
def laws_of_cases() -> tuple[Law, ...]:
    """Return the tests of the suite that are about one case, in the order of their names."""
    names = sorted(found.name for found in pkgutil.iter_modules(suite.__path__))
    modules = [import_module(f"{suite.__name__}.{name}") for name in names]
    return tuple(law for module in modules for law in _laws_in(module))


def _laws_in(module: Any) -> Iterator[Law]:
    for name, test in vars(module).items():
        if not name.startswith("test_") or not inspect.isfunction(test):
            continue
        marks = [*getattr(test, "pytestmark", ()), *_listed(getattr(module, "pytestmark", ()))]
        mark = next((m for m in marks if m.name == "tenferro_law"), None)
        asked = set(inspect.signature(test).parameters)
        if mark is None or not asked or not asked <= _FIXTURES or "cases" in mark.kwargs:
            continue
        if asked == {"tenferro_session"}:  # about the backend
            continue
        statement = " ".join((test.__doc__ or "").split())
        yield Law(mark.args[0], statement, dict(mark.kwargs), test)


def _listed(marks: Any) -> list[Any]:
    found = list(marks) if isinstance(marks, list | tuple) else [marks]
    return [getattr(mark, "mark", mark) for mark in found]


def ask_every_law(
    operation: TensorPrimitive,
    arguments: Sequence[Any],
    *,
    wrt: Sequence[int] | None,
    order: int,
    backend: Backend,
) -> list[tuple[str, str, str, str]]:
    """Return (law, statement, problem, suspect) of each law that applies; no problem: it holds."""
    case = case_of(operation, arguments, wrt, order)
    session = Session(backend.name, backend, Profile())
    asked = [
        (law, _problem(law, session, case))
        for law in laws_of_cases()
        if law.law != _NOT_ASKED and law.applies_to(case) and not _is_unnamed(operation, law)
    ]
    broken = {law.law for law, problem in asked if problem}
    return [
        (law.law, law.statement, problem,
         suspect_of(type(operation), operation.key, law.law, broken) if problem else "")
        for law, problem in asked
    ]  # fmt: skip


def case_of(
    operation: TensorPrimitive, arguments: Sequence[Any], wrt: Sequence[int] | None, order: int
) -> Case:
    """Return a case that states nothing but the operands: laws and differences decide."""
    inputs = tuple(stored(value) for value in arguments)
    inexact = [i for i, x in enumerate(inputs) if x.dtype.startswith(("float", "complex", "bf"))]
    active = tuple(inexact if wrt is None else wrt)
    dtype = inputs[active[0]].dtype if active else (inputs[0].dtype if inputs else "float64")
    return Case(
        id=f"{operation.key}/{_EDGE}/{dtype}",
        primitive=operation.key,
        operation=operation,
        inputs=inputs,
        expected=None,
        level=3,
        tol="special",
        grad=GradPlan(wrt=active, order=order) if active else None,
    )


def stored(value: Any) -> Stored:
    """Return an operand as data."""
    array = np.asarray(value)
    return Stored(shape=array.shape, dtype=str(array.dtype), data=tuple(array.ravel().tolist()))


def _is_unnamed(operation: TensorPrimitive, law: Law) -> bool:
    """Return True if the law pickles a class that no module has under its name, as a class in a
    function.
    """
    cls = type(operation)
    return (
        "pickled" in law.statement
        and getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is not cls
    )


def _problem(law: Law, session: Session, case: Case) -> str:
    """Ask one law, and return why it does not hold; empty if it does."""

    def run() -> Any:
        return session.outcome(law.options["build"], case, [case])

    given = {
        "tenferro_run": run,
        "tenferro_session": session,
        "tenferro_case": case,
        "tenferro_any_case": case,
    }
    wanted = inspect.signature(law.test).parameters
    try:
        law.test(**{name: given[name] for name in wanted})
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""
