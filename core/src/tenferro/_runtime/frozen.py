"""Frozen records of annotated fields, without generated code.

What ``dataclass(frozen=True)`` gives, by one constructor for all classes: it compiles source for
each of them, which costs more than the first run of a program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar, dataclass_transform


class _Made:
    """A default that is made anew for each record."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def made(*, default_factory: Callable[[], Any]) -> Any:
    """Declare a field whose default is made anew for each record."""
    return _Made(default_factory)


_MISSING = object()  # in place of a default


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(made,))
class Frozen:
    """Base of frozen records; ``kw_only=False`` lets values be given by position."""

    __defaults: ClassVar[dict[str, Any]] = {}  # of all fields, in their order
    __unset: ClassVar[tuple[str, ...]] = ()  # fields whose default is missing, or made anew
    __positional: ClassVar[bool] = False

    def __init_subclass__(cls, *, kw_only: bool = True, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__
        fields = (*cls.__defaults, *own.get("__annotations__", {}))
        cls.__defaults = {name: getattr(cls, name, _MISSING) for name in fields}
        cls.__unset = tuple(
            [n for n, x in cls.__defaults.items() if x is _MISSING or isinstance(x, _Made)]
        )
        cls.__positional = not kw_only

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.__dict__
        fields.update(self.__defaults)
        fields.update(named)
        if len(fields) > len(self.__defaults):
            unknown = next(name for name in named if name not in self.__defaults)
            raise TypeError(f"{type(self).__name__} has no field {unknown!r}")
        if values:
            self.__take(values, named)
        for name in self.__unset:
            value = fields[name]
            if value is _MISSING:
                raise TypeError(f"{type(self).__name__} lacks the field {name!r}")
            if type(value) is _Made:
                fields[name] = value.factory()
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check and normalise the values."""

    def __take(self, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Set the first fields to values that are given by position."""
        known = self.__defaults
        if not self.__positional or len(values) > len(known):
            text = f"takes {len(known)} fields, by name; got {len(values)} values"
            raise TypeError(f"{type(self).__name__} {text}")
        fields = self.__dict__
        for name, value in zip(known, values, strict=False):
            if name in named:
                raise TypeError(f"{type(self).__name__}: the field {name!r} is given twice")
            fields[name] = value

    def __values(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __replace__(self, **changes: Any) -> Any:
        if not changes.keys() <= self.__defaults.keys():
            return type(self)(**changes)  # raises, for it has no such field
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__.update(changes)
        made.__post_init__()
        return made

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.__values() == other.__values()

    def __hash__(self) -> int:
        return hash(tuple(self.__values().values()))

    def __repr__(self) -> str:
        inside = ", ".join([f"{name}={value!r}" for name, value in self.__values().items()])
        return f"{type(self).__qualname__}({inside})"


_F = TypeVar("_F", bound=Frozen)


def replace(record: _F, **changes: Any) -> _F:
    """Return the record with other values in some fields."""
    return record.__replace__(**changes)  # type: ignore[no-any-return]
