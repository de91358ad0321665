"""The oracle: what each standard primitive means, in exact integers and in mpmath numbers of 150
digits.

Written from the definitions as index formulas over nested indices; it calls no array library, so it
shares no code with any backend. An elementwise primitive with a short definition has it in its
table (`meaning`), which `golden.py` hands to `define`. Families with long definitions have files of
their own here, each with a table `REFERENCES`; an observation of a primitive is under
`"svd@values"`. `reference` evaluates a primitive, `directional` differentiates it along a direction
by central differences with a step of 1e-20, whose error is below 1e-40. Needs the extra `oracle`
(mpmath); only `golden.py` imports it, and no test run does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from tenferro_conformance.oracle.numbers import (
    DIGITS,
    Index,
    Params,
    Reference,
    Tensor,
    all_indices,
    elementwise,
    mp,
)

__all__ = ["DIGITS", "Tensor", "define", "directional", "mp", "reference", "scale_of", "term_scale"]

_STEP = mp.mpf(10) ** -20


# --- scalar functions ---------------------------------------------------------------------------


def _div(x: Any, y: Any) -> Any:
    if isinstance(x, int):
        quotient = abs(x) // abs(y)
        return quotient if (x < 0) == (y < 0) else -quotient
    return x / y


def _sign(x: Any) -> Any:
    if isinstance(x, int):
        return (x > 0) - (x < 0)
    if isinstance(x, mp.mpc):
        return x / abs(x) if x else mp.mpc(0)
    return mp.sign(x)


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, int):
        return x**y
    return mp.exp(y * mp.log(x)) if x else mp.mpf(y == 0)


def _integer_power(params: Params, x: Tensor) -> Tensor:
    return x.map(lambda e: e ** params["exponent"])


def _logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _rem(x: Any, y: Any) -> Any:
    if isinstance(x, int):
        return abs(x) % abs(y) * (-1 if x < 0 else 1)
    quotient = x / y
    return x - y * (mp.floor(quotient) if quotient > 0 else mp.ceil(quotient))


def _polygamma(params: Params, x: Tensor) -> Tensor:
    return x.map(lambda e: mp.polygamma(params["order"], e))


def _real(z: Any) -> Any:
    return z.real if isinstance(z, mp.mpc | complex) else z


# --- structural ---------------------------------------------------------------------------------


def _reshape(params: Params, x: Tensor) -> Tensor:
    return Tensor(tuple(params["shape"]), x.flat)


def _transpose(params: Params, x: Tensor) -> Tensor:
    order = params["permutation"]
    shape = [x.shape[axis] for axis in order]

    def source(index: Index) -> Any:
        place = [0] * len(order)
        for position, axis in zip(index, order, strict=True):
            place[axis] = position
        return x[place]

    return Tensor.make(shape, source)


def _broadcast_in_dim(params: Params, x: Tensor) -> Tensor:
    dimensions = params["dimensions"]

    def source(index: Index) -> Any:
        return x[[0 if x.shape[i] == 1 else index[d] for i, d in enumerate(dimensions)]]

    return Tensor.make(params["shape"], source)


def _slice(params: Params, x: Tensor) -> Tensor:
    start, limit = params["start"], params["limit"]
    strides = params["strides"] or (1,) * len(start)
    shape = [
        -(-(high - low) // step) for low, high, step in zip(start, limit, strides, strict=True)
    ]
    return Tensor.make(
        shape, lambda i: x[[low + k * step for low, k, step in zip(start, i, strides, strict=True)]]
    )


def _pad(params: Params, x: Tensor, value: Tensor) -> Tensor:
    low, high, interior = params["low"], params["high"], params["interior"]
    shape = [
        lo + n + max(n - 1, 0) * gap + hi
        for n, lo, hi, gap in zip(x.shape, low, high, interior, strict=True)
    ]

    def source(index: Index) -> Any:
        place = []
        for i, lo, gap, extent in zip(index, low, interior, x.shape, strict=True):
            quotient, rest = divmod(i - lo, gap + 1)
            if rest or not 0 <= quotient < extent:
                return value.flat[0]
            place.append(quotient)
        return x[place]

    return Tensor.make(shape, source)


def _concatenate(params: Params, *xs: Tensor) -> Tensor:
    axis = params["dimension"]
    shape = list(xs[0].shape)
    shape[axis] = sum(x.shape[axis] for x in xs)

    def source(index: Index) -> Any:
        position = index[axis]
        for x in xs:
            if position < x.shape[axis]:
                return x[(*index[:axis], position, *index[axis + 1 :])]
            position -= x.shape[axis]
        raise IndexError(index)

    return Tensor.make(shape, source)


def _reverse(params: Params, x: Tensor) -> Tensor:
    flipped = params["dimensions"]
    return Tensor.make(
        x.shape, lambda i: x[[x.shape[d] - 1 - k if d in flipped else k for d, k in enumerate(i)]]
    )


def _convert(params: Params, x: Tensor) -> Tensor:
    return x.map(_CONVERSIONS[_kind(params["dtype"])])


def _kind(dtype: str) -> str:
    return dtype.rstrip("0123456789_")


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda e: bool(e != 0),
    "int": lambda e: int(_real(e)),
    "float": lambda e: mp.mpf(_real(e)),
    "complex": lambda e: mp.mpc(e),
}


def _constant(params: Params) -> Tensor:
    value = params["value"]
    return Tensor.make(params["shape"], lambda _: _CONVERSIONS[_kind(params["dtype"])](value))


def _iota(params: Params) -> Tensor:
    return Tensor.make(
        params["shape"], lambda i: _CONVERSIONS[_kind(params["dtype"])](i[params["dimension"]])
    )


# --- reductions ---------------------------------------------------------------------------------


def _reduced(x: Tensor, axes: Sequence[int], fold: Callable[[list[Any]], Any]) -> Tensor:
    kept = [d for d in range(len(x.shape)) if d not in axes]
    inner = [x.shape[d] for d in axes]

    def entry(index: Index) -> Any:
        place = [0] * len(x.shape)
        for d, k in zip(kept, index, strict=True):
            place[d] = k
        found = []
        for at in all_indices(inner):
            for d, k in zip(axes, at, strict=True):
                place[d] = k
            found.append(x[place])
        return fold(found)

    return Tensor.make([x.shape[d] for d in kept], entry)


def _reduction(fold: Callable[[list[Any]], Any]) -> Callable[..., Tensor]:
    return lambda params, x: _reduced(x, params["axes"], fold)


def _arg_reduction(pick: Callable[[list[Any]], Any]) -> Callable[..., Tensor]:
    return lambda params, x: _reduced(x, (params["axis"],), lambda found: found.index(pick(found)))


def _product(found: list[Any]) -> Any:
    total = 1
    for entry in found:
        total = total * entry
    return total


def _cumulative(fold: Callable[[list[Any]], Any]) -> Callable[..., Tensor]:
    def apply(params: Params, x: Tensor) -> Tensor:
        axis = params["axis"]

        def entry(index: Index) -> Any:
            at = index[axis]
            reach = range(at, x.shape[axis]) if params["reverse"] else range(at + 1)
            return fold([x[(*index[:axis], k, *index[axis + 1 :])] for k in reach])

        return Tensor.make(x.shape, entry)

    return apply


# --- sorting ------------------------------------------------------------------------------------


def _sort(params: Params, x: Tensor) -> Tensor:
    """Sort one operand without nan."""
    axis = params["dimension"]

    def entry(index: Index) -> Any:
        line = [x[(*index[:axis], k, *index[axis + 1 :])] for k in range(x.shape[axis])]
        return sorted(line, key=lambda e: (e.real, e.imag))[index[axis]]

    return Tensor.make(x.shape, entry)


def _searchsorted(params: Params, rows: Tensor, values: Tensor) -> Tensor:
    batch = len(rows.shape) - 1

    def entry(index: Index) -> int:
        row = [rows[(*index[:batch], k)] for k in range(rows.shape[-1])]
        value, is_left = values[index], params["side"] == "left"
        return sum(1 for a in row if a < value or (a == value and not is_left))

    return Tensor.make(values.shape, entry)


# --- contraction and indexing -------------------------------------------------------------------


def _dot_general(params: Params, a: Tensor, b: Tensor) -> Tensor:
    ca, cb, ba, bb = (
        tuple(params[name]) for name in ("lhs_contract", "rhs_contract", "lhs_batch", "rhs_batch")
    )
    fa = [d for d in range(len(a.shape)) if d not in ca + ba]
    fb = [d for d in range(len(b.shape)) if d not in cb + bb]
    summed = [a.shape[d] for d in ca]
    shape = [a.shape[d] for d in ba] + [a.shape[d] for d in fa] + [b.shape[d] for d in fb]

    def entry(index: Index) -> Any:
        batch, left, right = (
            index[: len(ba)],
            index[len(ba) : len(ba) + len(fa)],
            index[len(ba) + len(fa) :],
        )
        total = 0
        for k in all_indices(summed):
            at_a, at_b = [0] * len(a.shape), [0] * len(b.shape)
            for places, at in (
                (zip(ba, batch, strict=True), at_a),
                (zip(fa, left, strict=True), at_a),
                (zip(ca, k, strict=True), at_a),
                (zip(bb, batch, strict=True), at_b),
                (zip(fb, right, strict=True), at_b),
                (zip(cb, k, strict=True), at_b),
            ):
                for d, position in places:
                    at[d] = position
            total = total + a[at_a] * b[at_b]
        return total

    return Tensor.make(shape, entry)


def _gather(params: Params, x: Tensor, indices: Tensor) -> Tensor:
    offset, collapsed = params["offset_dims"], params["collapsed_slice_dims"]
    starts, sizes, mode = params["start_index_map"], params["slice_sizes"], params["mode"]
    batch_shape = indices.shape[:-1]
    window = [size for d, size in enumerate(sizes) if d not in collapsed]
    rank = len(batch_shape) + len(window)
    batch_dims = [d for d in range(rank) if d not in offset]
    shape = [0] * rank
    for d, extent in zip([*batch_dims, *offset], [*batch_shape, *window], strict=True):
        shape[d] = extent

    def entry(index: Index) -> Any:
        corner = _corner(indices, [index[d] for d in batch_dims], starts, len(x.shape))
        if mode == "clip":
            corner = [min(max(c, 0), n - s) for c, n, s in zip(corner, x.shape, sizes, strict=True)]
        elif any(c < 0 or c + s > n for c, n, s in zip(corner, x.shape, sizes, strict=True)):
            return x.flat[0] * 0
        offsets = iter([index[d] for d in offset])
        return x[[c + (0 if d in collapsed else next(offsets)) for d, c in enumerate(corner)]]

    return Tensor.make(shape, entry)


def _corner(indices: Tensor, batch: Sequence[int], mapped: Sequence[int], rank: int) -> list[int]:
    corner = [0] * rank
    for k, d in enumerate(mapped):
        corner[d] = int(indices[(*batch, k)])
    return corner


def _scatter(combine: Callable[[Any, Any], Any]) -> Callable[..., Tensor]:
    """Apply updates in the order of their positions, each combined with the value there."""

    def apply(params: Params, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        window_dims, inserted = params["update_window_dims"], params["inserted_window_dims"]
        mapped, mode = params["scatter_dims_to_operand_dims"], params["mode"]
        rank = len(x.shape)
        kept = [d for d in range(rank) if d not in inserted]
        sizes = [1] * rank
        for d, axis in zip(kept, window_dims, strict=True):
            sizes[d] = updates.shape[axis]
        out = {index: x[index] for index in all_indices(x.shape)}
        batch_dims = [d for d in range(len(updates.shape)) if d not in window_dims]
        in_turn = sorted(all_indices(updates.shape), key=lambda at: [at[d] for d in batch_dims])
        for at in in_turn:
            corner = _corner(indices, [at[d] for d in batch_dims], mapped, rank)
            reach = list(zip(corner, x.shape, sizes, strict=True))
            if mode == "clip":
                corner = [min(max(c, 0), n - s) for c, n, s in reach]
            elif any(c < 0 or c + s > n for c, n, s in reach):
                continue
            place = list(corner)
            for d, axis in zip(kept, window_dims, strict=True):
                place[d] += at[axis]
            out[tuple(place)] = combine(out[tuple(place)], updates[at])
        return Tensor.make(x.shape, lambda index: out[index])

    return apply


def _clamped(starts: Sequence[Tensor], shape: Sequence[int], sizes: Sequence[int]) -> list[int]:
    return [
        min(max(int(s.flat[0]), 0), n - k) for s, n, k in zip(starts, shape, sizes, strict=True)
    ]


def _dynamic_slice(params: Params, x: Tensor, *starts: Tensor) -> Tensor:
    corner = _clamped(starts, x.shape, params["sizes"])
    return Tensor.make(
        params["sizes"], lambda i: x[[c + k for c, k in zip(corner, i, strict=True)]]
    )


def _dynamic_update_slice(params: Params, x: Tensor, update: Tensor, *starts: Tensor) -> Tensor:
    corner = _clamped(starts, x.shape, update.shape)

    def entry(index: Index) -> Any:
        inside = [k - c for k, c in zip(index, corner, strict=True)]
        if all(0 <= k < n for k, n in zip(inside, update.shape, strict=True)):
            return update[inside]
        return x[index]

    return Tensor.make(x.shape, entry)


_REFERENCES: dict[str, Reference] = {
    "div": elementwise(_div),
    "sign": elementwise(_sign),
    "pow": elementwise(_power),
    "integer_pow": _integer_power,
    "logistic": elementwise(_logistic),
    "polygamma": _polygamma,
    "rem": elementwise(_rem),
    "constant": _constant,
    "iota": _iota,
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_in_dim": _broadcast_in_dim,
    "slice": _slice,
    "pad": _pad,
    "concatenate": _concatenate,
    "reverse": _reverse,
    "convert": _convert,
    "reduce_sum": _reduction(sum),
    "reduce_prod": _reduction(_product),
    "reduce_max": _reduction(max),
    "reduce_min": _reduction(min),
    "reduce_and": _reduction(all),
    "reduce_or": _reduction(any),
    "cumsum": _cumulative(sum),
    "cumprod": _cumulative(_product),
    "cummax": _cumulative(max),
    "cummin": _cumulative(min),
    "cumlogsumexp": _cumulative(lambda found: mp.log(sum(map(mp.exp, found)))),
    "sort": _sort,
    "searchsorted": _searchsorted,
    "argmax": _arg_reduction(max),
    "argmin": _arg_reduction(min),
    "dot_general": _dot_general,
    "gather": _gather,
    "scatter": _scatter(lambda old, new: new),
    "scatter_add": _scatter(lambda old, new: old + new),
    "scatter_mul": _scatter(lambda old, new: old * new),
    "scatter_max": _scatter(max),
    "scatter_min": _scatter(min),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
}


def define(primitive: str, meaning: Callable[..., Any]) -> None:
    """Define an elementwise primitive by a function of mpmath and the entries of the operands."""
    _defined[primitive.removeprefix("std::")] = elementwise(partial(meaning, mp))


_defined: dict[str, Reference] = {}


@cache
def _references() -> Mapping[str, Reference]:
    """Return every definition: those of this file, and those of the other files of the folder."""
    found = dict(_REFERENCES)
    for module in iter_modules(__path__):
        if module.name != "numbers":
            found |= import_module(f"{__name__}.{module.name}").REFERENCES
    return found


def reference(primitive: str, params: Params, inputs: Sequence[Tensor]) -> Tensor:
    """Compute the value of a standard primitive, or of an observation of one."""
    name = primitive.removeprefix("std::")
    found = _defined.get(name) or _references()[name]
    return found(params, *inputs)


def scale_of(primitive: str, params: Params, inputs: Sequence[Tensor]) -> Tensor:
    """Apply the primitive to absolute values: the scale of rounding errors, such as Σ|x|."""
    return reference(primitive, params, [x if _is_integral(x) else x.map(abs) for x in inputs])


def _is_integral(x: Tensor) -> bool:
    return all(isinstance(entry, int) for entry in x.flat)


def _moved(inputs: Sequence[Tensor], tangents: Mapping[int, Tensor], t: Any) -> list[Tensor]:
    moved = list(inputs)
    for place, tangent in tangents.items():
        pairs = zip(inputs[place].flat, tangent.flat, strict=True)
        moved[place] = Tensor(inputs[place].shape, tuple(x + t * v for x, v in pairs))
    return moved


#: order → (multiple of the step, weight): central differences of second order
_STENCILS = {
    1: ((1, "0.5"), (-1, "-0.5")),
    2: ((1, "1"), (0, "-2"), (-1, "1")),
    3: ((2, "0.5"), (1, "-1"), (-1, "1"), (-2, "-0.5")),
}


def directional(
    primitive: str,
    params: Params,
    inputs: Sequence[Tensor],
    tangents: Mapping[int, Tensor],
    order: int,
) -> Tensor:
    """d^n/dt^n f(x + t·v) at t = 0, at full precision."""
    terms = [
        (mp.mpf(weight), reference(primitive, params, _moved(inputs, tangents, k * _STEP)))
        for k, weight in _STENCILS[order]
    ]
    flat = tuple(
        sum(weight * value.flat[i] for weight, value in terms) / _STEP**order
        for i in range(len(terms[0][1].flat))
    )
    return Tensor(terms[0][1].shape, flat)


def term_scale(
    primitive: str, params: Params, inputs: Sequence[Tensor], tangents: Mapping[int, Tensor]
) -> Tensor:
    """Σᵢ |∂f/∂xᵢ·vᵢ| over every single entry: what the rounding errors of a derivative are relative
    to.
    """
    total: list[Any] | None = None
    shape: tuple[int, ...] = ()
    for place, tangent in tangents.items():
        for i, entry in enumerate(tangent.flat):
            only = Tensor(
                tangent.shape,
                tuple(entry if k == i else 0 * entry for k in range(len(tangent.flat))),
            )
            part = directional(primitive, params, inputs, {place: only}, 1)
            shape = part.shape
            terms = [abs(e) for e in part.flat]
            total = terms if total is None else [a + b for a, b in zip(total, terms, strict=True)]
    if total is None:
        return directional(primitive, params, inputs, tangents, 1)
    return Tensor(shape, tuple(total))
