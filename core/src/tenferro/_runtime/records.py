"""Named tuples without generated code: what ``typing.NamedTuple`` is, made in a tenth of its time.

``typing.NamedTuple`` compiles source for each class, which for sixty classes is a quarter of the
time of ``import tenferro``. Here the fields are read by the descriptors of ``collections``, and
one constructor serves all classes. Type checkers see ``typing.NamedTuple``.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # in C where there is one
from typing import TYPE_CHECKING, Any


def _last_defaults(fields: tuple[str, ...], defaults: dict[str, Any]) -> tuple[Any, ...]:
    """Return the defaults of the last fields, as far as each of them has one."""
    found: list[Any] = []
    for field in reversed(fields):
        if field not in defaults:
            break
        found.append(defaults[field])
    return tuple(reversed(found))


if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple as NamedTuple
else:

    class _Fields(type):
        """Makes annotated names the fields of a tuple."""

        def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if any([getattr(base, "_fields", ()) for base in bases]):
                return super().__new__(mcs, name, bases, namespace)  # it inherits the fields
            fields = tuple(namespace.get("__annotations__", ()))
            namespace["_field_defaults"] = {f: namespace[f] for f in fields if f in namespace}
            for place, field in enumerate(fields):
                namespace[field] = _tuplegetter(place, "")
            namespace["_fields"] = namespace["__match_args__"] = fields
            namespace["_places"] = {field: place for place, field in enumerate(fields)}
            namespace["_last_defaults"] = _last_defaults(fields, namespace["_field_defaults"])
            namespace.setdefault("__slots__", ())
            return super().__new__(mcs, name, bases, namespace)

    class NamedTuple(tuple, metaclass=_Fields):
        """Base of tuples with named fields."""

        def __new__(cls, *values: Any, **named: Any) -> Any:
            missing = len(cls._fields) - len(values)
            if missing or named:
                values = _completed(cls, values, named, missing)
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values: Any) -> Any:
            """Make the tuple of these values."""
            return cls(*values)

        def _replace(self, **changes: Any) -> Any:
            """Return a copy with other values in some fields."""
            values, places = [*self], self._places
            for name, value in changes.items():
                if name not in places:
                    return type(self)(*self, **changes)  # raises the error about this name
                values[places[name]] = value
            return type(self)(*values)

        def _asdict(self) -> dict[str, Any]:
            """Return the values by the names of their fields."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            inside = ", ".join([f"{name}={value!r}" for name, value in self._asdict().items()])
            return f"{type(self).__name__}({inside})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)


def _completed(
    cls: Any, values: tuple[Any, ...], named: dict[str, Any], missing: int
) -> Sequence[Any]:
    """Return the values of all fields, in order; ``missing`` of them are not given by place."""
    defaults, places = cls._last_defaults, cls._places
    if 0 < missing <= len(defaults):
        found = [*values, *defaults[-missing:]]
        for name, value in named.items():
            if places.get(name, -1) < len(values):
                break
            found[places[name]] = value
        else:
            return found
    return _completed_by_name(cls, values, named)


def _completed_by_name(cls: Any, values: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """Return the values of all fields, where one without a default is named, or something is
    wrong.
    """
    fields: tuple[str, ...] = cls._fields
    rest = fields[len(values) :]
    if len(values) > len(fields) or not named.keys() <= set(rest):
        unknown = [name for name in named if name not in rest]
        what = f"has no field {unknown[0]!r} left" if unknown else f"has {len(fields)} fields"
        raise TypeError(f"{cls.__name__} {what}; got {len(values)} values and {[*named]}")
    found = {**cls._field_defaults, **named}
    try:
        return [*values, *map(found.__getitem__, rest)]
    except KeyError:
        missing = ", ".join([name for name in rest if name not in found])
        raise TypeError(f"{cls.__name__} lacks the fields {missing}") from None
