"""Operations of cases: the registered class of a primitive key, made with the parameters of a case.

Read `recorder.py` next.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from tenferro.backend import host as default_host
from tenferro.computegraph import TenferroError
from tenferro.primitives import DType, TensorPrimitive
from tenferro_conformance.cases.case import Case
from tenferro_conformance.errors import ProfileError

__all__ = [
    "check_case",
    "class_or_none",
    "is_decomposed",
    "make_operation",
    "operation_of",
    "primitive_of",
]


@cache
def _registry() -> Mapping[str, Any]:
    return dict(default_host().primitives())


def primitive_of(key: str) -> type[TensorPrimitive]:
    """Return the registered class of a primitive key."""
    cls: type[TensorPrimitive] = _registry()[key]
    return cls


def class_or_none(key: str) -> type[TensorPrimitive] | None:
    """Return the registered class of a primitive key, if there is one."""
    return _registry().get(key)


def is_decomposed(case: Case) -> bool:
    """Return True if the primitive of a case has a decomposition."""
    cls = class_or_none(case.primitive)
    return cls is not None and cls.decompose is not None


def check_case(case: Case) -> None:
    """Raise ProfileError if parameters, inputs or results of a case do not fit its primitive."""
    if case.operation is not None or class_or_none(case.primitive) is None:
        return
    try:
        operation = operation_of(case)
    except (TypeError, TenferroError) as error:
        raise ProfileError(
            f"{case.id}: the row does not fit the primitive\n"
            f"  got        params={dict(case.params)!r}\n"
            f"  because    {error}"
        ) from error
    needed = operation.input_count
    if needed not in (None, len(case.inputs)):
        raise ProfileError(
            f"{case.id}: the primitive takes {needed} inputs, the row gives {len(case.inputs)}\n"
            f"  need       inputs=({'[…], ' * (needed or 0)}) in each row, one entry for each input"
        )
    count = operation.output_count
    if case.expected is not None and case.observe is None and len(case.expected) != count:
        raise ProfileError(
            f"{case.id}: the row states {len(case.expected)} of {count} results\n"
            f"  need       out=({'None, ' * count}) and {count} entries in `expected`, one for each"
        )


def make_operation(key: str, params: Mapping[str, Any]) -> TensorPrimitive:
    """Make the operation of a key and parameters; dtype names become dtypes."""
    typed = {
        k: DType.of(v) if k in ("dtype", "preferred") and isinstance(v, str) else v
        for k, v in params.items()
    }
    operation: TensorPrimitive = primitive_of(key)(**typed)
    return operation


def operation_of(case: Case) -> TensorPrimitive:
    """Return the operation of a case."""
    if case.operation is not None:
        given: TensorPrimitive = case.operation
        return given
    return make_operation(case.primitive, case.params)
