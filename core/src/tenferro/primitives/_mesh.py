"""Meshes and specs: over which devices an array is split, and along which of its dimensions.

A mesh names the axes of a grid of devices. A spec says of each dimension of an array along which
axes it is split: None, one axis, or several. Both are plain values that know no device and no
library; a backend with the feature ``sharding`` maps them to its own. Read next: ``sharding.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._boundary import at_user_line
from tenferro.primitives._errors import ShardingError

Entry = str | tuple[str, ...] | None

#: An entry of a constraint that leaves a dimension to the compiler. No axis can be called this.
OPEN = "?"


class Mesh:
    """A grid of devices with named axes, as ``tenferro.mesh`` makes it.

    >>> import tenferro as tn
    >>> tn.Mesh({"data": 4, "model": 2})
    Mesh(data=4, model=2)
    """

    __slots__ = ("axes",)
    axes: tuple[tuple[str, int], ...]

    def __init__(self, axes: Mapping[str, int] | Iterable[tuple[str, int]]) -> None:
        object.__setattr__(self, "axes", _pairs(axes))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Mesh is immutable; cannot set {name!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple([name for name, _ in self.axes])

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of devices along the axes."""
        return tuple([count for _, count in self.axes])

    @property
    def size(self) -> int:
        """The number of devices."""
        return prod(self.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self.axes == other.axes

    def __hash__(self) -> int:
        return hash((Mesh, self.axes))

    def __reduce__(self) -> tuple[Any, ...]:
        return Mesh, (self.axes,)

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name}={count}' for name, count in self.axes)})"


_NO_MAPPING = "a mesh is a mapping from names of axes to numbers of devices"
_NO_NAMES = "axes are named by words"


def _pairs(axes: object) -> tuple[tuple[str, int], ...]:
    """Return the axes with their numbers of devices, of a mapping or of pairs.

    Raises ShardingError: if they are neither, a name is not a string, or a number is not positive.
    """
    try:
        pairs = tuple([(name, count) for name, count in _items(axes)])
    except (TypeError, ValueError):
        raise _refused(axes, _NO_MAPPING) from None
    if not all([isinstance(name, str) for name, _ in pairs]):
        raise _refused(axes, _NO_NAMES)
    if len(dict(pairs)) < len(pairs):
        raise _refused(axes, "each axis has a name of its own")
    if not all([type(count) is int and count > 0 for _, count in pairs]):
        raise _refused(axes, "an axis has a number of devices, which is at least 1")
    return pairs


def _items(axes: Any) -> Iterable[Any]:
    return axes.items() if isinstance(axes, Mapping) else axes


def _refused(axes: object, fact: str) -> ShardingError:
    return at_user_line(
        ShardingError.of(
            "mesh",
            fact,
            got=repr(axes)[:80],
            need='such as {"data": 4, "model": 2}',
            mesh=axes,
            spec=None,
            dimension=None,
        )
    )


def made_mesh(axes: object) -> Mesh:
    """Return the mesh of a mapping from axes to numbers of devices.

    Raises ShardingError: if it is not such a mapping.
    """
    if not isinstance(axes, Mapping) or not axes:
        raise _refused(axes, _NO_MAPPING)
    mesh = Mesh(axes)
    if not all([name.isidentifier() for name in mesh.names]):
        raise _refused(axes, _NO_NAMES)
    return mesh


class ShardingSpec:
    """Along which axes of a mesh each dimension of an array is split.

    ``dimensions`` has None, one axis or a tuple of axes for each dimension. Without any, the whole
    array is on every device, whatever its rank.

    >>> from tenferro.primitives import ShardingSpec
    >>> ShardingSpec(("data", ("model",), None))
    ('data', 'model', None)
    """

    __slots__ = ("dimensions",)
    dimensions: tuple[Entry, ...]

    def __init__(self, dimensions: Iterable[Entry]) -> None:
        object.__setattr__(self, "dimensions", tuple([_plain(entry) for entry in dimensions]))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ShardingSpec is immutable; cannot set {name!r}")

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The axes along which each dimension is split, as tuples."""
        return tuple([axes_of(entry) for entry in self.dimensions])

    @property
    def open(self) -> tuple[bool, ...]:
        """True for each dimension that is left to the compiler."""
        return tuple([entry == OPEN for entry in self.dimensions])

    def check(self, mesh: Mesh, aval: Aval, who: str) -> None:
        """Raise ShardingError if an array cannot be split over a mesh like this."""
        check_fits(self, mesh, aval, who)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShardingSpec) and self.dimensions == other.dimensions

    def __hash__(self) -> int:
        return hash((ShardingSpec, self.dimensions))

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardingSpec, (self.dimensions,)

    def __repr__(self) -> str:
        return repr(self.dimensions)


def axes_of(entry: Entry) -> tuple[str, ...]:
    """Return the axes of one dimension as a tuple; none for one that the compiler splits."""
    if entry is None or entry == OPEN:
        return ()
    return (entry,) if isinstance(entry, str) else entry


def _plain(entry: Any) -> Entry:
    """Return one form for entries that mean the same: None for (), "x" for ("x",)."""
    if isinstance(entry, tuple) and len(entry) < 2:
        return str(entry[0]) if entry else None
    return entry  # type: ignore[no-any-return]


def is_spec(given: object) -> bool:
    """Return True for a tuple of None, names, and tuples of names."""
    if isinstance(given, ShardingSpec):
        return True
    return type(given) is tuple and all(
        [
            entry is None
            or isinstance(entry, str)
            or (type(entry) is tuple and all([isinstance(name, str) for name in entry]))
            for entry in given
        ]
    )


def made_spec(given: Any, who: str, *, may_be_open: bool = True) -> ShardingSpec:
    """Return the spec that a user wrote. It may use an axis once.

    Raises ShardingError: if it is not a spec, or leaves a dimension open where that cannot be.
    """
    if isinstance(given, ShardingSpec):
        return _closed(given, who, may_be_open)
    if not is_spec(given):
        need = 'None, an axis, or a tuple of axes for each dimension, such as ("data", None)'
        raise spec_error(who, "this is not a spec", given, got=f"{given!r:.80}", need=need)
    spec = ShardingSpec(given)
    used: set[str] = set()
    for dimension, axes in enumerate(spec.axes):
        for axis in axes:
            if axis in used:
                raise spec_error(
                    who,
                    f"the axis {axis!r} is used twice",
                    spec,
                    dimension,
                    got=str(spec),
                    need="each axis at most once: a device has one part of an array",
                )
            used.add(axis)
    return _closed(spec, who, may_be_open)


def _closed(spec: ShardingSpec, who: str, may_be_open: bool) -> ShardingSpec:
    if OPEN in spec.dimensions and not may_be_open:
        raise spec_error(
            who,
            f"{OPEN!r} leaves a dimension to the compiler, and here nothing is compiled",
            spec,
            spec.dimensions.index(OPEN),
            got=str(spec),
            need="None, an axis, or a tuple of axes for each dimension",
        )
    return spec


def check_rank(spec: ShardingSpec, aval: Aval, who: str) -> None:
    """Raise ShardingError if a spec has not one entry for each dimension; () fits every rank."""
    if spec.dimensions and len(spec.dimensions) != aval.ndim:
        raise spec_error(
            who,
            f"the spec is of rank {len(spec.dimensions)}, the array of rank {aval.ndim}",
            spec,
            got=f"{spec} for {aval}",
            need="one entry for each dimension, or () for the whole array on every device",
        )


def check_axes(spec: ShardingSpec, mesh: Mesh, aval: Aval, who: str) -> None:
    """Raise ShardingError if a spec is of another rank, or names an axis that a mesh lacks."""
    check_rank(spec, aval, who)
    for dimension, axes in enumerate(spec.axes):
        for axis in axes:
            if axis not in mesh.names:
                raise spec_error(
                    who,
                    f"the mesh has no axis {axis!r}",
                    spec,
                    dimension,
                    mesh,
                    got=f"{spec} for {aval}",
                    need=f"axes among {', '.join(mesh.names)} of {mesh}",
                )


def check_fits(spec: ShardingSpec, mesh: Mesh, aval: Aval, who: str) -> None:
    """Raise ShardingError if an array cannot be split over a mesh as a spec says."""
    check_axes(spec, mesh, aval, who)
    counts = dict(mesh.axes)
    for dimension, axes in enumerate(spec.axes):
        parts = prod([counts[axis] for axis in axes])
        if aval.shape[dimension] % parts:
            size = aval.shape[dimension]
            raise spec_error(
                who,
                f"dimension {dimension} of size {size} cannot be split into {parts} equal parts",
                spec,
                dimension,
                mesh,
                got=f"{spec} for {aval} over {mesh}",
                need=f"a size that {parts} divides",
                hint=f"pad the dimension to {-(-size // parts) * parts}, or split another one",
            )


def spec_error(
    who: str,
    fact: str,
    spec: object,
    dimension: int | None = None,
    mesh: Mesh | None = None,
    *,
    got: str,
    need: str,
    hint: str = "",
) -> ShardingError:
    """Make the error about a spec."""
    return ShardingError.of(
        who, fact, got=got, need=need, hint=hint, mesh=mesh, spec=spec, dimension=dimension
    )
