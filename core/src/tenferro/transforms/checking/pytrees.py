"""Pytrees as vectors: leaves, inner products, and fixed irregular directions.

Read next: ``limits.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tenferro.arrays import Array, as_array, asarray, real, sin, vdot
from tenferro.primitives import complex as make_complex
from tenferro.primitives import convert, float64, iota
from tenferro.primitives._aval import Aval
from tenferro.transforms.recording import tree as _tree


def leaves_of(tree: Any) -> list[Array]:
    """Return the leaves of a pytree as arrays."""
    return [as_array(leaf) for leaf in _tree.flatten(tree)[0]]


def with_leaves(tree: Any, leaves: list[Array]) -> Any:
    """Return a pytree of the same structure with other leaves."""
    return _tree.unflatten(_tree.flatten(tree)[1], leaves)


def array_of_floats(x: Array) -> Array:
    """Return the array itself; an array of integers or bools is converted to floats."""
    return x if x.dtype.is_inexact else convert(x, float64)


def as_complex_as(value: Any, weights: Any) -> Any:
    """Make the weights complex where the value is complex."""
    pairs = zip(leaves_of(weights), leaves_of(value), strict=True)
    return with_leaves(value, [convert(w, y.dtype) if y.dtype.is_complex else w for w, y in pairs])


def shifted(args: tuple[Any, ...], v: tuple[Any, ...], h: complex) -> tuple[Any, ...]:
    """Return x + h v."""
    leaves, spec = _tree.flatten(args)
    moved = [as_array(x) + (d * h) for x, d in zip(leaves, leaves_of(v), strict=True)]
    return tuple(_tree.unflatten(spec, moved))


def inner_product(a: Any, b: Any) -> float:
    """Return Re Σ conj(a) b."""
    pairs = zip(leaves_of(a), leaves_of(b), strict=True)
    return sum(float(real(vdot(x, y))) for x, y in pairs)


def norm(a: Any) -> float:
    """Return √Σ |a|²."""
    return math.sqrt(inner_product(a, a))


def directions_like(tree: Sequence[Any], seed: int) -> tuple[Any, ...]:
    """Return fixed, irregular directions in the structure of the arguments."""
    leaves, spec = _tree.flatten(tuple(tree))
    found = [_direction(asarray(x).aval, seed + 7 * i) for i, x in enumerate(leaves)]
    return tuple(_tree.unflatten(spec, found))


def scaled_directions(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return directions whose leaves are as large as those of the arguments, if these exceed 1."""
    leaves, spec = _tree.flatten(directions_like(args, 2))
    pairs = zip(leaves, leaves_of(args), strict=True)
    found = [v * scale if (scale := _magnitude(x)) > 1 else v for v, x in pairs]
    return tuple(_tree.unflatten(spec, found))


def _magnitude(x: Array) -> float:
    """Return the power of 2 below the root mean square of an array of floats; 1 for others."""
    if not x.dtype.is_inexact or not x.size:
        return 1.0
    mean = norm(x) / math.sqrt(x.size)
    return 2.0 ** math.floor(math.log2(mean)) if 1 < mean < math.inf else 1.0


def _direction(aval: Aval, seed: int) -> Array:
    if aval.dtype.is_complex:
        kind = aval.dtype.real_dtype
        parts = [_direction(Aval(aval.shape, kind), seed + k) for k in (0, 100)]
        return make_complex(*parts)
    count = Array(iota((aval.size,), 0, "int64").key)
    wave = sin(count * 2.399963 + 0.7 * seed) + 0.3
    return convert(wave.reshape(aval.shape), aval.dtype)
