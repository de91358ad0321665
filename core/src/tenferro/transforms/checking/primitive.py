"""Check a primitive by every law of the conformance kit, at some operands: ``check_primitive``.

The laws live in the kit, which is a distribution of its own and is imported when this is called.
Read next: ``conformance/src/tenferro_conformance/one_primitive.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.convert import asarray
from tenferro.backend import Backend, select_backend
from tenferro.primitives import ArgumentTypeError, RefusalError
from tenferro.primitives._primitive import TensorPrimitive
from tenferro.transforms.errors import KitNotInstalledError, PrimitiveCheckError

_KIT = "tenferro_conformance.one_primitive"


class LawResult(NamedTuple):
    """One law that was asked: what it states, and what broke it (empty if it holds)."""

    law: str
    statement: str
    problem: str
    suspect: str


class PrimitiveCheck(NamedTuple):
    """Result of ``check_primitive``: a row for each law that applies; prints as a table."""

    primitive: str
    backend: str
    laws: tuple[LawResult, ...]

    def __str__(self) -> str:
        width = max(len(row.law) for row in self.laws)
        rows = [
            f"  {row.law:<{width}}  {(row.problem and 'BROKEN') or 'holds ':<6}  {row.statement}"
            for row in self.laws
        ]
        return "\n".join([f"{self.primitive} on {self.backend}", *rows])


def check_primitive(
    primitive: TensorPrimitive | type[TensorPrimitive],
    *args: Any,
    wrt: Sequence[int] | None = None,
    order: int = 2,
    backend: str | Backend | None = None,
) -> PrimitiveCheck:
    """Check a primitive by every law of the conformance kit that applies at these operands.

    No table of cases is needed, and the primitive need not be registered.

    Parameters
    ----------
    primitive : TensorPrimitive
        The operation, or its class if it has no parameters.
    *args : array_like
        Operands, in double precision for the comparison with differences.
    wrt : sequence of int, optional
        Operands to differentiate. By default all floating and complex ones.
    order : int, default 2
        Highest order of derivative.
    backend : str or Backend, optional
        Where it runs. By default the one that would run anything else.

    Returns
    -------
    PrimitiveCheck
        Each law that was asked. Print it to read it.

    Raises
    ------
    PrimitiveCheckError
        If a law is broken; the message names each, and the rule that is the suspect.
    ArgumentTypeError
        If ``primitive`` is neither an operation nor a class of operations, or takes another
        number of operands. What ``abstract_eval`` refuses raises its own error.
    KitNotInstalledError
        If ``tenferro-conformance`` is not installed.

    Examples
    --------
    >>> import tenferro as tn
    >>> from tenferro.primitives import Mul
    >>> checked = tn.check_primitive(Mul(), [1.0, 2.0], [3.0, 4.0])
    >>> [row.law for row in checked.laws][:3]
    ['adjoint', 'aval', 'batching']
    """
    operation = _operation(primitive)
    try:
        kit = import_module(_KIT)
    except ImportError as error:
        raise at_user_line(
            KitNotInstalledError(
                f"check_primitive: the laws are in tenferro-conformance, which cannot be imported: "
                f"{error}\n  hint       pip install tenferro-conformance",
                distribution="tenferro-conformance",
            )
        ) from error
    chosen = select_backend(backend)
    _check_operands(operation, args)
    rows = kit.ask_every_law(operation, args, wrt=wrt, order=order, backend=chosen)
    found = PrimitiveCheck(operation.key, chosen.name, tuple([LawResult(*row) for row in rows]))
    broken = tuple([row for row in found.laws if row.problem])
    if broken:
        raise at_user_line(
            PrimitiveCheckError(_message(found, broken), primitive=operation.key, broken=broken)
        )
    return found


def _operation(primitive: object) -> TensorPrimitive:
    """Return the operation, or the one of a class without parameters."""
    if isinstance(primitive, TensorPrimitive):
        return primitive
    if isinstance(primitive, type) and issubclass(primitive, TensorPrimitive):
        made: TensorPrimitive = primitive()
        return made
    raise at_user_line(
        ArgumentTypeError(
            "check_primitive takes an operation and its operands\n"
            f"  got        {primitive!r:.60}\n"
            "  need       an operation, such as `Mul()`, or its class if it has no parameters",
            function="check_primitive",
        )
    )


def _check_operands(operation: TensorPrimitive, operands: Sequence[Any]) -> None:
    """Raise the error of operands that the operation refuses: no law is broken by them."""
    avals = [asarray(value).aval for value in operands]
    try:
        import_module("inspect").signature(operation.abstract_eval).bind(*avals)
    except TypeError as error:
        raise at_user_line(
            ArgumentTypeError(
                f"check_primitive: {operation.key} does not take so many operands\n"
                f"  got        {len(operands)} operands: {error}",
                function="check_primitive",
            )
        ) from None
    try:
        operation.abstract_eval(*avals)
    except RefusalError as error:
        raise at_user_line(error) from None
    except Exception:
        pass  # a fault of `abstract_eval`, which laws report


def _message(found: PrimitiveCheck, broken: Sequence[LawResult]) -> str:
    suspects = dict.fromkeys(row.suspect for row in broken)
    lines = [
        f"{found.primitive} breaks {len(broken)} of {len(found.laws)} laws on {found.backend}",
        *(f"  suspect    {suspect}" for suspect in suspects),
    ]
    for row in broken:
        lines += [f"  law        {row.law}: {row.statement}", f"  got        {row.problem}"]
    return "\n".join(lines)
