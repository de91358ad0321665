"""A lowering, and the collection that a backend's package fills.

Read next: ``table.py``, which chooses among the lowerings of one primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from tenferro._runtime.frozen import Frozen, replace
from tenferro.backend._errors import PluginBrokenError
from tenferro.backend.lowering.promised import Family, Promised
from tenferro.tidu import Primitive

__all__ = ["Implementation", "Lowering", "Lowerings", "load_target", "takes_table", "with_provider"]

Implementation = Callable[..., Any]  # (operation, *operands) -> operand | tuple of operands


class Lowering(Frozen, kw_only=False):
    """One backend's implementation of one primitive.

    ``target`` is a function ``(operation, *operands)`` or ``"package.module:function"``, which is
    imported at first use. ``dtypes`` (names) must contain the dtype of every input, or, without
    inputs, of every output; ``None`` fits all. ``priority`` ranks the lowerings of one
    distribution. ``for_version`` is the version of the primitive that it was written for. The host
    fills in ``provider``.

    >>> from tenferro.backend import Lowering
    >>> Lowering("acme::voigt", "tenferro_acme.numpy_rules:voigt").for_version
    1
    """

    primitive: str
    target: str | Implementation
    dtypes: frozenset[str] | None = None
    priority: int = 0
    for_version: int = 1
    provider: str = ""

    def __post_init__(self) -> None:
        if "::" not in self.primitive:
            raise ValueError(f"{self.primitive!r} is not a primitive key such as 'std::sin'")
        if self.dtypes is not None:
            object.__setattr__(self, "dtypes", _names(self.dtypes))


class Lowerings:
    """Collect lowerings inside a backend's own package; iterating yields the records.

    >>> from tenferro.backend import Lowerings
    >>> from tenferro.primitives import Sin
    >>> lowerings = Lowerings()
    >>> @lowerings.register(Sin)
    ... def sin(operation, x):
    ...     return "sine of " + x
    >>> [record.primitive for record in lowerings]
    ['std::sin']
    """

    def __init__(self, records: Iterable[Lowering] = ()) -> None:
        self._records = list(records)

    def register(
        self,
        primitive: type[Primitive] | str,
        *,
        dtypes: Iterable[object] | None = None,
        priority: int = 0,
        for_version: int | None = None,
    ) -> Callable[[Implementation], Implementation]:
        """Decorate ``(operation, *operands) -> operand | tuple`` as a lowering of a primitive."""
        key = primitive if isinstance(primitive, str) else primitive.key
        version = 1 if isinstance(primitive, str) else primitive.version

        def add(function: Implementation) -> Implementation:
            self._records.append(
                Lowering(key, function, _names(dtypes), priority, for_version or version)
            )
            return function

        return add

    def later(
        self,
        primitives: Iterable[str],
        register: Callable[[Lowerings], object],
        *,
        dtypes: Iterable[object] | None = None,
    ) -> None:
        """Promise lowerings of these keys; ``register`` collects them when one is used first."""

        def collect() -> dict[str, Any]:
            found = _Targets()
            register(found)
            return {**found.targets, **{record.primitive: record.target for record in found}}

        family, fitting = Family(collect), _names(dtypes)
        self._records += [Lowering(key, Promised(family, key), fitting) for key in primitives]

    def __iter__(self) -> Iterator[Lowering]:
        return iter(tuple(self._records))

    def __len__(self) -> int:
        return len(self._records)


class _Targets(Lowerings):
    """The functions that a family registers, by key; a promise says all else of them."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: dict[str, Implementation] = {}

    def register(
        self, primitive: type[Primitive] | str, **_: object
    ) -> Callable[[Implementation], Implementation]:
        """Decorate a function as that of a primitive."""
        key = primitive if isinstance(primitive, str) else primitive.key

        def add(function: Implementation) -> Implementation:
            self.targets[key] = function
            return function

        return add


def _names(dtypes: Iterable[object] | None) -> frozenset[str] | None:
    if isinstance(dtypes, str):
        raise TypeError(f"dtypes is a collection of names, got {dtypes!r}")
    return None if dtypes is None else frozenset(str(getattr(d, "name", d)) for d in dtypes)


def takes_table(function: Implementation) -> Implementation:
    """Mark a lowering of an operation that has closed graphs among its parameters.

    It is called as ``(table, operation, *operands)``: from the table it takes the lowerings of what
    the graphs are made of.
    """
    function.takes_table = True  # type: ignore[attr-defined]  # of a function
    return function


def with_provider(lowerings: Iterable[object], provider: str) -> list[Lowering]:
    """Return the lowerings of one plugin, checked and marked with its provider.

    Raises TypeError: if something is not a Lowering.
    """
    signed = []
    for lowering in lowerings:
        if not isinstance(lowering, Lowering):
            raise TypeError(f"tenferro_lowerings gave {lowering!r}, which is not a Lowering")
        signed.append(replace(lowering, provider=provider))
    return signed


def load_target(lowering: Lowering, backend: str) -> Implementation:
    """Return the function of a lowering, imported now if its target is a string.

    Raises PluginBrokenError: if the target cannot be imported or is not callable.
    """
    target = lowering.target
    try:
        if isinstance(target, str):
            module, _, path = target.partition(":")
            target = _walk(import_module(module), path)
        if isinstance(target, Promised):
            target = target.function()
        if not callable(target):
            raise TypeError(f"{target!r} is not callable")
    except (Exception, SystemExit) as error:
        raise PluginBrokenError(
            f"the lowering of {lowering.primitive} for {backend} cannot be used\n"
            f"  provider   {lowering.provider or 'unknown'}\n"
            f"  target     {lowering.target}\n"
            f"  because    {type(error).__name__}: {error}",
            name=backend,
            group="",
            dist=lowering.provider,
            reason=str(error),
        ) from error
    return target


def _walk(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = getattr(value, name)
    return value
