"""Laws about what is refused or absent: error cases, gaps of a program, primitives without cases.
Helpers of `suite/`.

Errors are matched by class and fields, never by words. Read `samples/errors.py` for the cases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tenferro.backend import MissingLoweringError, UnsupportedError, host
from tenferro.computegraph import TenferroError
from tenferro.primitives import Elementwise, bind, bind_all, variable
from tenferro_conformance.cases.case import Case, ErrorCase
from tenferro_conformance.errors import LawViolationError
from tenferro_conformance.running.operations import make_operation
from tenferro_conformance.running.session import Outcome, Session

if TYPE_CHECKING:
    from tenferro_conformance.running.selection import Kit, Selection

__all__ = [
    "missing_on",
    "require_all_gaps",
    "require_error",
    "require_error_of_data",
    "require_refusal",
    "without_cases",
]


class NowhereOne(Elementwise):
    """An operation without a lowering."""

    key = "conformance::nowhere_one"

    def abstract_eval(self, x: Any) -> Any:
        """Return the aval of x."""
        return x


class NowhereTwo(Elementwise):
    """Another operation without a lowering."""

    key = "conformance::nowhere_two"

    def abstract_eval(self, x: Any) -> Any:
        """Return the aval of x."""
        return x


def require_error(case: ErrorCase) -> None:
    """Check that the case raises its error with its fields."""
    handles = [variable(("error", i), shape, dtype) for i, (shape, dtype) in enumerate(case.avals)]
    with pytest.raises(case.error) as caught:
        bind_all(make_operation(case.primitive, case.params), *handles)
    require_fields(caught.value, case)


def require_error_of_data(session: Session, case: ErrorCase) -> None:
    """Check that running the case raises its error, one of tenferro's own, with its fields."""
    inputs = {
        variable(("error", i), x.shape, x.dtype): x.array() for i, x in enumerate(case.inputs or ())
    }
    outputs = list(bind_all(make_operation(case.primitive, case.params), *inputs))
    with pytest.raises(case.error) as caught:
        session.evaluate(inputs, outputs)
    if not isinstance(caught.value, TenferroError):
        raise LawViolationError(f"{case.id}: {type(caught.value).__name__} is not a TenferroError")
    require_fields(caught.value, case)


def require_fields(error: Exception, case: ErrorCase) -> None:
    """Check that every field exists and has the value that the case states (`...`: any)."""
    if case.inputs is None and type(error) is not case.error:
        raise LawViolationError(
            f"{case.id}: raised {type(error).__name__}, a subclass of {case.error.__name__}"
        )
    for name, want in case.fields.items():
        got = getattr(error, name, LawViolationError)
        if got is LawViolationError or (want is not ... and got != want):
            raise LawViolationError(f"{case.id}: field {name} is {got!r}, not {want!r}")


def require_all_gaps(session: Session) -> None:
    """Check that one error lists both operations."""
    x = variable("x", (2,), "float64")
    y = bind(NowhereTwo(), bind(NowhereOne(), x))
    with pytest.raises(MissingLoweringError) as caught:
        session.evaluate({x: np.ones(2)}, [y])
    found = {gap.primitive for gap in caught.value.gaps}  # type: ignore[attr-defined]
    assert found == {NowhereOne.key, NowhereTwo.key}, found


def require_refusal(run: Callable[[], Outcome], selection: Selection, case: Case) -> None:
    """Check that the case raises cleanly, and that the claim does not cover it.

    A special function that decomposes may run on a backend without the feature `special`.
    """
    reason, by_feature = selection.why_unsupported(case)
    claimed = selection.profile.level is not None and case.level <= selection.profile.level
    if claimed and not by_feature:
        raise LawViolationError(
            f"{case.id}: level {selection.profile.level} is claimed, "
            f"and this case is not supported ({reason})"
        )
    try:
        out = run()
    except (MissingLoweringError, UnsupportedError):
        return
    if selection.may_run(case):
        return
    shown = {name: out.operand(name) for name in out.places}
    raise LawViolationError(
        f"{case.id}: declared unsupported ({reason}), yet it gave {shown}; "
        "claim what it needs, or leave out the lowering"
    )


def without_cases(kit: Kit) -> list[str]:
    """Return registered primitives without cases."""
    have = {case.primitive for case in kit.cases}
    return sorted(key for key in host().primitives() if key not in have)


def missing_on(session: Session, kit: Kit) -> list[str]:
    """Return primitives of the claimed level that the backend can neither lower nor decompose."""
    selection = kit.selections[session.name]
    wanted = {
        case.primitive
        for case in kit.selected(session.name, grad=False)
        if case.level <= selection.level
    }
    return sorted(key for key in wanted if session.backend.lowerings.status(key) == "missing")
