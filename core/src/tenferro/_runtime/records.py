"""Named tuples as ``typing.NamedTuple`` makes them, in a tenth of its time.

``typing.NamedTuple`` compiles source for each class, which for sixty classes is a quarter of the
time of ``import tenferro``. Here source is compiled once for each number of fields, and a class
gets that constructor with the names of its fields. The fields are read by the descriptors of
``collections``. Type checkers see ``typing.NamedTuple``.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # in C where there is one
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any


@cache
def _constructor_code(count: int) -> CodeType:
    """Return the code of a constructor of this many fields."""
    fields = "".join([f"_{i}, " for i in range(count)])
    made: FunctionType = eval(f"lambda _cls, {fields}: _new(_cls, ({fields}))")
    return made.__code__


def _constructor(name: str, fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
    """Return the constructor of a class; ``defaults`` are those of its last fields."""
    code = _constructor_code(len(fields)).replace(co_name="__new__", co_varnames=("_cls", *fields))
    made = FunctionType(code, {"_new": tuple.__new__}, "__new__", defaults)
    made.__qualname__ = f"{name}.__new__"
    return made


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _Fields(type):
        """Makes annotated names the fields of a tuple."""

        def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if any([getattr(base, "_fields", ()) for base in bases]):
                return super().__new__(mcs, name, bases, namespace)  # it inherits the fields
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace[field] for field in fields if field in namespace}
            for place, field in enumerate(fields):
                namespace[field] = _tuplegetter(place, "")
            namespace["_fields"] = namespace["__match_args__"] = fields
            namespace["_field_defaults"] = defaults
            namespace["__new__"] = _constructor(name, fields, tuple(defaults.values()))
            namespace.setdefault("__slots__", ())
            return super().__new__(mcs, name, bases, namespace)

    class NamedTuple(tuple, metaclass=_Fields):
        """Base of tuples with named fields."""

        @classmethod
        def _make(cls, values: Any) -> Any:
            """Make the tuple of these values."""
            return cls(*values)

        def _replace(self, **changes: Any) -> Any:
            """Return a copy with other values in some fields."""
            values = [*map(changes.pop, self._fields, self)]
            return type(self)(*values, **changes)  # raises the error about a name that is left

        def _asdict(self) -> dict[str, Any]:
            """Return the values by the names of their fields."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            inside = ", ".join([f"{name}={value!r}" for name, value in self._asdict().items()])
            return f"{type(self).__name__}({inside})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)
