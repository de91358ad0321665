"""Cache keys of recorded programs: equal keys mean equal graphs, and no graph is built.

Transforms look up finished programs by this key before they flatten anything. Read next:
``_cache.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph._keys import ValueKey, inputs_of


def signature(
    declared: Sequence[ValueKey], outputs: Sequence[ValueKey]
) -> tuple[tuple[Any, ...] | None, list[ValueKey]]:
    """Return a cache key of what ``flatten`` of whole histories would find, and its inputs.

    Equal keys mean equal graphs. The key is ``None`` if a volatile operation makes that untrue for
    derivatives. No graph is built, so this is cheaper than flattening. The key is finer than
    ``Structure``, which also unifies values that evaluate alike.
    """
    inputs = list(declared)
    number = {key: -1 - i for i, key in enumerate(inputs)}
    items: list[Any] = [len(inputs), len(outputs)]
    volatile = False
    equations: dict[tuple[Any, ...], int] = {}  # those with several outputs
    applied: dict[ValueKey, int] = {}
    stack: list[ValueKey] = [*outputs]
    stack.reverse()
    while stack:
        key = stack.pop()
        seen = number.get(key)
        if seen is None:
            definition = key.definition
            if definition is not None:
                operation, slot = definition[0], definition[2]
                volatile = volatile or operation.volatile  # or the body of a loop is
                if operation.transparent:
                    stack.append(inputs_of(definition)[slot])
                else:  # written out here, its inputs behind it; a number from now on
                    number[key] = len(items)
                    if operation.output_count != 1:
                        application = definition[3]
                        there = applied.get(application)
                        if there is None:
                            equation = (operation, application.inputs)
                            there = equations.setdefault(equation, len(items))
                            applied[application] = there
                        if there != len(items):  # another output of it is written out already
                            items += _ANOTHER_OUTPUT, there, slot
                            continue
                        items += operation, slot, 3 + len(application.inputs)
                        stack += reversed(application.inputs)
                        continue
                    items += operation, len(definition)
                    stack += definition[:2:-1]
                continue
            inputs.append(key)
            number[key] = seen = -len(inputs)
        items.append(seen)
    return None if volatile else tuple(items), inputs


_ANOTHER_OUTPUT = object()
