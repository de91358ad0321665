"""Flow through what a rule recorded on fresh tangents: checked to be linear in these.

Read next: ``jvp.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array
from tenferro.tidu import NotLinearError, RuleBuilder, Value, linear_map
from tenferro.transforms.custom_rules.checks import is_constant_zero, is_known_zero

Tangents = Sequence[Value | None]


def sent(
    operation: Any,
    rule: RuleBuilder,
    found: Sequence[Array | None],
    pins: Sequence[Array],
    tangents: Tangents,
    not_linear: Callable[[str, Any], NotLinearError],
) -> list[Value | None]:
    """Send tangents through ``found``, which was recorded on ``pins``; one result per output.

    ``not_linear(why, active)`` makes the error about a rule that is not linear in the pins.

    Raises NotLinearError.
    """
    chosen = [i for i, y in enumerate(found) if y is not None]
    keys = [y.key for y in found if y is not None]
    try:
        linear = linear_map(
            keys,
            [x.key for x in pins],
            space=rule.space,
            operation=operation,
            context=rule.context,
            is_zero=is_constant_zero,
        )
    except NotLinearError as error:
        why = str(error).partition("\n")[0]
        raise not_linear(why, error.fields["active"]) from error
    for i, is_reached in zip(chosen, linear.reached, strict=True):
        value = found[i]
        if not is_reached and value is not None and not is_known_zero(value):
            raise not_linear("a tangent that does not depend on tangents", ())
    results: list[Value | None] = [None] * operation.output_count
    for i, tangent in zip(chosen, linear.apply(tangents), strict=True):
        results[i] = tangent
    return results
