"""The programs that laws share: the primitive alone, and its derivatives of each kind.

Each function writes one program for one case into a `Recorder` (`recorder.py`); laws that judge the
same program share its results, so it is compiled once. Nothing here judges. Names: x inputs, y
outputs, v and u tangents, w cotangents.
"""

from __future__ import annotations

from math import prod

import numpy as np

from tenferro.computegraph import TenferroError
from tenferro.primitives import Handle, bind_all, pointwise
from tenferro.transforms import batch
from tenferro_conformance.cases.case import Case
from tenferro_conformance.cases.tolerances import is_inexact
from tenferro_conformance.errors import LawViolationError
from tenferro_conformance.running.derivatives import double_transpose, jvp, vjp
from tenferro_conformance.running.operations import operation_of
from tenferro_conformance.running.recorder import Recorder

__all__ = [
    "adjoint", "batched_adjoint", "batched_value", "decomposed", "derivatives", "linearity",
    "modes", "transposed_twice", "value",
]  # fmt: skip


def value(r: Recorder) -> None:
    """y = f(x), and what is behind it where the case looks at something else"""
    xs = r.inputs()
    ys = bind_all(r.operation, *xs)
    r.output_all("y", r.observed(xs, ys))
    if r.case.observe is not None:
        r.output_all("raw", ys)


def derivatives(r: Recorder) -> None:
    """Record derivatives of order 1 to n along the stored tangents: jvp of jvp of …"""
    xs = r.inputs()
    wrt, current = r.wrt(xs), r.apply(xs)
    vs = r.stored_tangents() or r.tangents("v", wrt)
    assert r.case.grad is not None
    for order in range(1, r.case.grad.order + 1):
        found = jvp(current, wrt, vs) if current else []
        r.output_all(f"order{order}_", found)
        current = [t for t in found if t is not None]


def adjoint(r: Recorder) -> None:
    """J·v and Jᵀ·w"""
    xs = r.inputs()
    wrt, ys = r.wrt(xs), r.apply(xs)
    vs, ws = r.tangents("v", wrt), r.tangents("w", ys)
    r.output_all("jv", jvp(ys, wrt, vs))
    r.output_all("jtw", vjp(ys, wrt, ws))


def transposed_twice(r: Recorder) -> None:
    """J·v, and the linear map of J transposed twice, on the same v"""
    xs = r.inputs()
    wrt, ys = r.wrt(xs), r.apply(xs)
    vs = r.tangents("v", wrt)
    r.output_all("jv", jvp(ys, wrt, vs))
    twice = double_transpose(ys, wrt)
    for v, seed in zip(vs, twice.inputs, strict=True):
        if seed is not None:
            r.feed_to(seed, r.fed[v.key])
    r.output_all("ttv", twice.outputs)


def modes(r: Recorder) -> None:
    """Record second derivatives of ⟨w, f(x)⟩ along v and u, in all four combinations of modes"""
    xs = r.inputs()
    wrt, ys = r.wrt(xs), r.apply(xs)
    vs, us, ws = r.tangents("v", wrt), r.tangents("u", wrt), r.tangents("w", ys)
    forward, reverse = jvp(ys, wrt, vs), vjp(ys, wrt, ws)
    flowing = [(t, w) for t, w in zip(forward, ws, strict=True) if t is not None]
    active = [(ct, v) for ct, v in zip(reverse, vs, strict=True) if ct is not None]
    tangents, weights = [t for t, _ in flowing], [w for _, w in flowing]
    cotangents, seeds = [ct for ct, _ in active], [v for _, v in active]
    r.output_all("fof", jvp(tangents, wrt, us) if tangents else [])
    r.output_all("rof", vjp(tangents, wrt, weights) if tangents else [])
    r.output_all("for", jvp(cotangents, wrt, us) if cotangents else [])
    r.output_all("ror", vjp(cotangents, wrt, seeds) if cotangents else [])
    r.output_all("first", tangents)
    r.output_all("weight", weights)
    r.output_all("seed", seeds)
    r.output_all("direction", us)


#: a and b of f(ax + bz) = a f(x) + b f(z): exact in every dtype
FACTORS = (2, -3)


def linearity(r: Recorder) -> None:
    """f(x), f(z) and f(ax + bz) for every linearity group of the primitive"""
    a, b = FACTORS
    for number, group in enumerate(linear_groups(r.case)):
        xs, zs, combined = r.inputs(), r.inputs(), r.inputs()
        for i in group:
            stored = r.case.inputs[i]
            xs[i] = r.tangents(f"x{number}_{i}_", [xs[i]])[0]
            zs[i] = r.tangents(f"z{number}_{i}_", [zs[i]])[0]
            total = a * r.fed[xs[i].key] + b * r.fed[zs[i].key]
            combined[i] = r.feed(f"c{number}_{i}", total.astype(stored.dtype))
        for name, inputs in (("fx", xs), ("fz", zs), ("fc", combined)):
            r.output_all(f"{name}{number}_", r.apply(inputs))


def linear_groups(case: Case) -> list[tuple[int, ...]]:
    """Return the groups of differentiable inputs in which a primitive is jointly linear."""
    groups = operation_of(case).groups(len(case.inputs))
    inexact = {i for i, x in enumerate(case.inputs) if x.dtype.startswith(("float", "complex"))}
    return [group for group in groups if group and set(group) <= inexact]


def decomposed(r: Recorder) -> None:
    """Record the primitive, and its decomposition"""
    xs = r.inputs()
    r.output_all("y", r.apply(xs))
    found = r.operation.decompose(*xs)
    r.output_all("d", r.observed(xs, found if isinstance(found, tuple) else (found,)))


#: number of examples in a batch
EXAMPLES = 2


def batched_value(r: Recorder) -> None:
    """f of a batch, and of each example alone: all inputs batched together, then one at a time

    For a primitive that declares `batch = pointwise`, f of a part of the elements, too.
    """
    subsets = [range(len(r.case.inputs))]
    if len(r.case.inputs) > 1:
        subsets += [range(i, i + 1) for i in range(len(r.case.inputs))]
    for number, subset in enumerate(subsets):
        examples = [_examples(r, f"b{number}_{i}", i) for i in subset]
        template = r.inputs()
        leaves = {template[i].key: whole for i, (whole, _) in zip(subset, examples, strict=True)}
        ys = r.apply(template)
        found = batch([y.key for y in ys], leaves, EXAMPLES)
        r.output_all(
            f"whole{number}_", [y if b is None else b for y, b in zip(ys, found, strict=True)]
        )
        for k in range(EXAMPLES):
            alone = list(template)
            for i, (_, single) in zip(subset, examples, strict=True):
                alone[i] = single[k]
            r.output_all(f"alone{number}_{k}_", r.apply(alone))

    if is_pointwise(r):
        _record_parts(r)


def is_pointwise(r: Recorder) -> bool:
    """Return True if the primitive declares `batch = pointwise` and this case can deny it."""
    shapes = {x.shape for x in r.case.inputs}
    return (
        getattr(type(r.operation), "batch", None) is pointwise
        and r.case.observe is None
        and len(shapes) == 1
        and prod(*shapes) > 1
    )


def _record_parts(r: Recorder) -> None:
    """Record f of all elements in a column, of the first element alone, and of the others."""
    arrays = [x.array() for x in r.case.inputs]
    columns = [x.reshape(-1, *(1,) * (x.ndim - 1)) for x in arrays]
    for name, part in (("elements", slice(None)), ("first", slice(1)), ("others", slice(1, None))):
        xs = [r.feed(f"{name}{i}", x[part]) for i, x in enumerate(columns)]
        try:
            ys = bind_all(r.operation, *xs)
        except TenferroError as error:
            refused = ", ".join(str(x.aval) for x in xs)
            raise LawViolationError(
                f"{r.case.id}: the primitive declares `batch = pointwise`, but refuses a part of "
                f"the elements, {refused}: {error}"
            ) from error
        r.output_all(f"{name}_", ys)


def _examples(r: Recorder, name: str, i: int) -> tuple[Handle, list[Handle]]:
    """Return input i for a batch of two: the stored numbers and the same reversed; each alone, too.

    Square matrices are reversed in both axes, which leaves them Hermitian and positive.
    """
    first = r.case.inputs[i].array()
    is_square = first.ndim > 1 and first.shape[-1] == first.shape[-2] and is_inexact(first)
    both = [first, np.flip(first, (-2, -1) if is_square else 0) if first.ndim else first]
    whole = r.feed(f"{name}_whole", np.stack(both))
    return whole, [r.feed(f"{name}_alone{k}", array) for k, array in enumerate(both)]


def batched_adjoint(r: Recorder) -> None:
    """J·v and Jᵀ·w of a batch, and of each example alone"""
    count = len(r.case.inputs)
    examples = [_examples(r, f"b{i}", i) for i in range(count)]
    template = r.inputs()
    wrt, ys = r.wrt(template), r.apply(template)
    vs, ws = r.tangents("v", wrt), r.tangents("w", ys)
    found = [*jvp(ys, wrt, vs), *vjp(ys, wrt, ws)]
    flowing = [x for x in found if x is not None]
    leaves = {x.key: whole for x, (whole, _) in zip(template, examples, strict=True)}
    values = batch([x.key for x in flowing], leaves, EXAMPLES)
    r.output_all("whole0_", [x if b is None else b for x, b in zip(flowing, values, strict=True)])
    for k in range(EXAMPLES):
        xs = [single[k] for _, single in examples]
        at, out = r.wrt(xs), r.apply(xs)
        alone = [*jvp(out, at, vs), *vjp(out, at, ws)]
        r.output_all(f"alone0_{k}_", [x for x in alone if x is not None])


def is_of_widest(case: Case) -> bool:
    """Return True for one dtype per kind of number: batching rules look at no dtype."""
    return case.dtype in ("bool", "int64", "float64", "complex128")


_TYPICAL = (
    *("/wide/float64", "/wide/complex128", "/complex/complex128"),
    *("/even/float64", "/even/complex128"),  # of the Fourier transforms
    "m_square/float64",  # of expm, sqrtm and logm
)


def is_typical(case: Case) -> bool:
    """Return True for one case per primitive and kind, whose programs always run whole."""
    return case.id.endswith(_TYPICAL)


def has_finite_jacobian(case: Case) -> bool:
    """Return True if every stored first derivative is finite; inner products need that."""
    stored = case.grad.derivatives[:1] if case.grad else ()
    return all(abs(x) < float("inf") for found in stored for d in found for x in d.data)
