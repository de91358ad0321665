"""Check derivatives against differences: ``check_grads``.

Directional derivatives are compared with the five-point difference
f′ ≈ (f(x−2h) − 8 f(x−h) + 8 f(x+h) − f(x+2h)) / 12h (Fornberg, Math. Comp. 51 (1988) 699, Table 1),
pullbacks with the adjoint identity ⟨w, J v⟩ = ⟨Jᵀ w, v⟩. Higher orders repeat both on derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tenferro.array import Array, as_array, asarray, real, sin, vdot
from tenferro.primitives import complex as make_complex
from tenferro.primitives import convert, iota
from tenferro.primitives._aval import Aval
from tenferro.transforms import _tree
from tenferro.transforms._errors import GradientCheckError, check_function
from tenferro.transforms._gauge import warn_of_gauge
from tenferro.transforms._jvp import as_tuple, jvp, vjp

MODES = ("fwd", "rev")
_STEP = {"float64": 1e-3, "float32": 3e-2}
_TOLERANCE = {"float64": 1e-7, "float32": 5e-3}


def check_grads(
    function: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = MODES,
    *,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of a function at a point, real or complex, up to an order.

    ``args`` are floats, arrays or pytrees of them. ``eps`` is the step of the difference; the
    tolerances default to what the difference can show in the dtype.

    A function that depends on the gauge of svd, eigh, eig or qr, on phases of vectors or on the
    choice of vectors where values are equal, has no derivative there, even where differences
    agree: a ``GaugeWarning`` names the factorization and the line that called it.

    Raises GradientCheckError: naming the mode, the order and both numbers.

    >>> import tenferro as tn
    >>> tn.check_grads(lambda x: x, (), order=0)
    """
    check_function(function, "check_grads")
    args = as_tuple(args, "args")
    is_told = False
    for level in range(1, order + 1):
        is_told = is_told or warn_of_gauge(function, args, _directions(args, 2), level)
        for mode in modes:
            if mode not in MODES:
                raise ValueError(f"modes are {MODES}, not {mode!r}")
            _check(function, args, mode, level, atol, rtol, eps)
        inner = function
        function = lambda *xs, _f=inner: _along(_f, xs)  # noqa: E731


def _along(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The derivative in a fixed direction: what the next order checks."""
    return jvp(function, tuple(args), _directions(args, 1))[1]


def _check(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    mode: str,
    order: int,
    atol: float | None,
    rtol: float | None,
    eps: float | None,
) -> None:
    v = _directions(args, 2)
    name = _real_name(args)
    step = eps or _STEP.get(name, 1e-3)
    difference = _difference(function, args, v, step)
    w = _directions((difference,), 3)[0]
    need = _inner(w, difference)
    if mode == "fwd":
        got = _inner(w, jvp(function, args, v)[1])
    else:
        _, pull = vjp(function, *args)
        got = _inner(pull(w), v)
    scale = max(abs(need), _norm(w) * _norm(difference) * 1e-2)
    bound = (atol or _TOLERANCE.get(name, 1e-7)) + (rtol or _TOLERANCE.get(name, 1e-7)) * scale
    if not abs(got - need) <= bound:
        raise GradientCheckError(
            f"the derivative of order {order} disagrees with differences in mode {mode!r}\n"
            f"  got        {got!r}\n"
            f"  need       {need!r} ± {bound:.2g} (five-point difference, step {step:g})",
            mode=mode,
            order=order,
            got=got,
            need=need,
        )


def _difference(
    function: Callable[..., Any], args: tuple[Any, ...], v: tuple[Any, ...], h: float
) -> Any:
    """The five-point difference of the function in direction v."""
    values = [_leaves(function(*_shift(args, v, k * h))) for k in (-2, -1, 1, 2)]
    parts = [(a - d - 8 * (b - c)) / (12 * h) for a, b, c, d in zip(*values, strict=True)]
    spec = _tree.flatten(function(*args))[1]
    return _tree.unflatten(spec, parts)


def _shift(args: tuple[Any, ...], v: tuple[Any, ...], h: float) -> tuple[Any, ...]:
    leaves, spec = _tree.flatten(args)
    moved = [as_array(x) + (d * h) for x, d in zip(leaves, _leaves(v), strict=True)]
    return tuple(_tree.unflatten(spec, moved))


def _leaves(tree: Any) -> list[Array]:
    return [as_array(leaf) for leaf in _tree.flatten(tree)[0]]


def _directions(tree: Sequence[Any], seed: int) -> tuple[Any, ...]:
    """Fixed, irregular directions of the structure of the arguments."""
    leaves, spec = _tree.flatten(tuple(tree))
    found = [_direction(asarray(x).aval, seed + 7 * i) for i, x in enumerate(leaves)]
    return tuple(_tree.unflatten(spec, found))


def _direction(aval: Aval, seed: int) -> Array:
    if aval.dtype.is_complex:
        kind = aval.dtype.real_dtype
        parts = [_direction(Aval(aval.shape, kind), seed + k) for k in (0, 100)]
        return make_complex(*parts)
    count = Array(iota((aval.size,), 0, "int64").key)
    wave = sin(count * 2.399963 + 0.7 * seed) + 0.3
    return convert(wave.reshape(aval.shape), aval.dtype)


def _inner(a: Any, b: Any) -> float:
    """Re Σ conj(a) b."""
    pairs = zip(_leaves(a), _leaves(b), strict=True)
    return sum(float(real(vdot(x, y))) for x, y in pairs)


def _norm(a: Any) -> float:
    return math.sqrt(_inner(a, a))


def _real_name(args: Sequence[Any]) -> str:
    names = [leaf.dtype.real_dtype.name for leaf in _leaves(args) if leaf.dtype.is_inexact]
    return min(names, key=lambda name: int(name.removeprefix("float"))) if names else "float64"
