"""Is what a rule emits linear in its flow? Asked at every emission; linearity is not trusted.

Legal flow: the active inputs lie in one group, and the other members of that group are structural
zeros. So ``dx + 1``, ``dx + x``, ``dx·dx``, ``exp(dx)`` and ``x/dx`` are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.computegraph import Linearized, Operation
from tenferro.tidu._errors import NotLinearError
from tenferro.tidu._value import Mask, Sweep, Value


def linear_role(
    operation: Operation, mask: Mask, values: Sequence[Value], sweep: Sweep
) -> Linearized:
    """Return the role of an operation with these active inputs.

    Raises NotLinearError: unless the operation is linear in the active inputs.
    """
    memo = operation.__dict__.get("_linear_uses")
    if memo is None:
        memo = operation.__dict__.setdefault("_linear_uses", {})
    found = memo.get(mask)
    if found is None:
        roles = Linearized(mask), Linearized(mask, True)
        found = memo[mask] = _fixed_members(operation, mask), roles
    fixed, roles = found
    if fixed is _ILLEGAL:
        raise _not_linear(operation, mask, sweep, "is not jointly linear in these inputs")
    for i in fixed:
        if not sweep.space.is_zero(values[i].key):
            raise _not_linear(operation, mask, sweep, f"adds the fixed value of input {i}")
    role: Linearized = roles[sweep.transposed]
    return role


_ILLEGAL = (-1,)


def _fixed_members(operation: Operation, mask: Mask) -> tuple[int, ...]:
    """Return the inactive members of the group that holds all active inputs."""
    active = {i for i, is_active in enumerate(mask) if is_active}
    groups = getattr(operation, "groups", None)
    for group in () if groups is None else groups(len(mask)):
        if active.issubset(group):
            return tuple(i for i in group if not mask[i])
    return _ILLEGAL


def _not_linear(operation: Operation, mask: Mask, flow: Sweep, why: str) -> NotLinearError:
    active = tuple(i for i, is_active in enumerate(mask) if is_active)
    emitted = getattr(operation, "key", "") or operation.name
    by = flow.operation
    owner = "a transform" if by is None else f"{getattr(by, 'key', '') or by.name}.{flow.rule}"
    return NotLinearError(
        f"{emitted}: {why}\n"
        f"  got        active inputs {active}, emitted by {owner}\n"
        f"  need       active inputs within one linearity group, its other members zero",
        primitive=emitted,
        rule=owner,
        active=active,
    )
