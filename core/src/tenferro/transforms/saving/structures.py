"""The nesting of arguments and results as JSON: lists, tuples, dictionaries, ``None`` and leaves.

A leaf is its number. Containers of other classes have no meaning in a file that is read where those
classes may be missing, so that they are refused. Read next: ``save.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import SerializationError
from tenferro.transforms.recording import tree as _tree


def to_item(spec: Any, function: str) -> Any:
    """Return a structure as JSON; errors name the public function that saves.

    Raises SerializationError: for a container other than a list, tuple or dictionary.
    """
    return _item(_tree.unflatten(spec, list(range(spec.num_leaves))), function)


def from_item(item: Any, function: str) -> tuple[Any, int]:
    """Return a structure that JSON describes, and how many leaves it has.

    Raises SerializationError: if it describes none; it names the public function that loads.
    """
    whole = _nested(item, function)
    leaves, spec = _tree.flatten(whole)
    if leaves != list(range(len(leaves))):
        raise _malformed(item, function)
    return spec, len(leaves)


def _item(x: Any, function: str) -> Any:
    kind = type(x)
    if x is None or kind is int:
        return x
    if kind in (list, tuple):
        return {kind.__name__: [_item(part, function) for part in x]}
    if kind is dict and all([type(name) is str for name in x]):
        return {"dict": [[name, _item(part, function)] for name, part in x.items()]}
    raise SerializationError(
        f"{function}: a container of class {kind.__qualname__} cannot be saved\n"
        "  need       lists, tuples, and dictionaries with names as keys\n"
        "  hint       give its fields as a dictionary, and make it again where it is loaded",
        container=kind.__qualname__,
    )


def _nested(item: Any, function: str) -> Any:
    if item is None or type(item) is int:
        return item
    if type(item) is not dict or len(item) != 1:
        raise _malformed(item, function)
    ((kind, parts),) = item.items()
    if kind in ("list", "tuple") and type(parts) is list:
        found = [_nested(part, function) for part in parts]
        return found if kind == "list" else tuple(found)
    if kind == "dict" and _are_named(parts):
        return {name: _nested(part, function) for name, part in parts}
    raise _malformed(item, function)


def _are_named(parts: Any) -> bool:
    if type(parts) is not list:
        return False
    pairs: Sequence[Any] = parts
    return all([type(p) is list and len(p) == 2 and type(p[0]) is str for p in pairs])


def _malformed(item: Any, function: str) -> SerializationError:
    return SerializationError(f"{function}: {item!r:.80} does not describe arguments")
