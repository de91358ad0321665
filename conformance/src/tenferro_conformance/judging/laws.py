"""Judgement of laws: inner products, comparisons of modes, node-by-node evaluation.

Each function takes an `Outcome` and raises `LawViolationError` or `ToleranceError`. The statements
of the laws stand in the docstrings of the tests; the programs in `running/programs.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tenferro.computegraph import evaluate
from tenferro.primitives import Aval
from tenferro_conformance.cases.case import Case, Stored
from tenferro_conformance.cases.tolerances import is_inexact, same_bits, sum_of_products
from tenferro_conformance.errors import LawViolationError
from tenferro_conformance.running.programs import EXAMPLES, FACTORS, linear_groups
from tenferro_conformance.running.session import Outcome, Session

__all__ = [
    "node_by_node", "require_adjoint", "require_aval", "require_batching", "require_decomposition",
    "require_derivatives", "require_double_transpose",
    "require_fidelity", "require_linearity", "require_modes_agree", "require_purity",
    "require_round_trip",
    "require_same_node_by_node", "require_second_adjoint", "require_value",
]  # fmt: skip

Array = npt.NDArray[Any]


def require_value(out: Outcome) -> None:
    """Check that every output is within its tolerance class."""
    scales = out.case.scale or (None,) * len(out.case.expected or ())
    for i, (want, scale) in enumerate(zip(out.case.expected or (), scales, strict=True)):
        out.require(f"y{i}", want, scale=scale)


def require_aval(out: Outcome) -> None:
    """Check the shape and dtype of every output against abstract evaluation, by two accounts."""
    for name, key in out.recorder.outputs.items():
        assert key is not None
        said, array = out.session.backend.aval_of(out.operand(name)), out[name]
        found = Aval(array.shape, str(array.dtype))
        if not said == found == key.aval:
            raise LawViolationError(
                f"{out.case.id} {name}: abstract_eval says {key.aval}, the backend {said}, "
                f"the numbers {found}"
            )


def require_fidelity(out: Outcome) -> None:
    """Check that results are the backend's own arrays, in full double precision."""
    backend = out.session.backend
    own = type(backend.asoperand(np.zeros((2,)), Aval((2,), "float64")))
    for i, want in enumerate(out.case.expected or ()):
        operand = out.operand(f"y{i}")
        if not backend.owns(operand) or not isinstance(operand, own):
            raise LawViolationError(
                f"{out.case.id} y{i}: the result is a {type(operand).__name__}, "
                f"not the backend's {own.__name__}"
            )
        if _is_narrow(out[f"y{i}"]) and not _is_narrow(want.array()):
            raise LawViolationError(
                f"{out.case.id} y{i}: every number fits in single precision; "
                "the computation was narrowed"
            )


def _is_narrow(array: Array) -> bool:
    """Do all numbers survive a round trip through single precision?"""
    narrow = {"float64": "float32", "complex128": "complex64"}.get(str(array.dtype))
    if narrow is None or not array.size:
        return False
    with np.errstate(all="ignore"):
        return same_bits(array.astype(narrow).astype(array.dtype), np.asarray(array))


def require_purity(out: Outcome) -> None:
    """Check purity: operands unchanged; results writeable, without aliases, and reproducible."""
    to_numpy = out.session.backend.to_numpy
    operands = out.input_operands()
    for array, operand in zip(out.recorder.fed.values(), operands, strict=True):
        if not same_bits(np.asarray(to_numpy(operand)), np.asarray(array)):
            raise LawViolationError(f"{out.case.id}: an operand was changed by the run")
    results = [out.operand(name) for name in out.places]
    _require_no_alias(out, [*results], operands)
    for name, again in zip(out.places, out.rerun(), strict=True):
        if not same_bits(out[name], to_numpy(again)):
            raise LawViolationError(f"{out.case.id} {name}: two runs on the same operands differ")


def _require_no_alias(out: Outcome, results: Sequence[Any], operands: Sequence[Any]) -> None:
    """NumPy results must be writeable; no two arrays may share memory, as far as NumPy
    can see it.
    """
    to_numpy = out.session.backend.to_numpy
    views = [np.asarray(to_numpy(x)) for x in [*results, *operands]]
    for i, result in enumerate(results):
        if isinstance(result, np.ndarray) and not result.flags.writeable:
            raise LawViolationError(f"{out.case.id}: result {i} is read-only")
        if any(
            np.may_share_memory(views[i], other)
            for j, other in enumerate(views)
            if j != i and views[i].size
        ):
            raise LawViolationError(
                f"{out.case.id}: result {i} aliases an operand or another result"
            )


def require_linearity(out: Outcome) -> None:
    """f(ax + bz) = a f(x) + b f(z), a and b real, in every linear input."""
    a, b = FACTORS
    for number, _ in enumerate(linear_groups(out.case)):
        fx, fz, fc = (out.all(f"{name}{number}_") for name in ("fx", "fz", "fc"))
        for x, z, c in zip(fx, fz, fc, strict=True):
            assert x is not None
            assert z is not None
            assert c is not None
            want = a * x.astype("complex128") + b * z.astype("complex128")
            scale = _largest(a * x) + _largest(b * z) + _largest(*out.recorder.fed.values())
            out.require_close(c, want, f"group {number}", scale=scale)


def _largest(*arrays: Array) -> float:
    """Return the largest finite magnitude."""
    sizes = [np.abs(x) for x in arrays if is_inexact(x)]
    return max((float(np.max(x[np.isfinite(x)], initial=0.0)) for x in sizes), default=0.0)


def require_adjoint(out: Outcome) -> None:
    """⟨w, J v⟩ = ⟨Jᵀ w, v⟩ with ⟨a, b⟩ = Re(conj(a)·b)."""
    left, left_scale = _pairing(out.fed("w"), out.all("jv"))
    right, right_scale = _pairing(out.fed("v"), out.all("jtw"))
    dtype = _working_dtype(out)
    out.require_small(abs(left - right), f"{out.case.id}: ⟨w, Jv⟩ = {left}, ⟨Jᵀw, v⟩ = {right}",
        dtype=dtype,
                      scale=left_scale + right_scale)  # fmt: skip


def _pairing(a: Sequence[Array], b: Sequence[Array | None]) -> tuple[float, float]:
    """⟨a, b⟩, where nothing stands for zero."""
    flowing = [(x, y) for x, y in zip(a, b, strict=False) if y is not None]
    return sum_of_products([x for x, _ in flowing], [y for _, y in flowing])


def _working_dtype(out: Outcome) -> str:
    """Return the least precise floating dtype that a case touches."""
    outputs = [key.aval.dtype.name for key in out.recorder.outputs.values() if key is not None]
    dtypes = [*outputs, *(x.dtype for x in out.case.inputs)]
    narrow = {"complex64": "float32"}
    touched = {narrow.get(dtype, dtype) for dtype in dtypes}
    return next((d for d in ("bfloat16", "float16", "float32") if d in touched), "float64")


def require_double_transpose(out: Outcome) -> None:
    """Check that transposing twice gives the original linear map."""
    scale = _largest(*out.fed("v"), *(x for x in out.all("jv") if x is not None))
    for i, (once, twice) in enumerate(zip(out.all("jv"), out.all("ttv"), strict=True)):
        if (once is None) != (twice is None):
            raise LawViolationError(f"{out.case.id}: output {i} flows in one of J and (Jᵀ)ᵀ only")
        if once is not None and twice is not None:
            out.require_close(twice, once, f"output {i}", scale=scale)


def require_derivatives(out: Outcome, orders: Sequence[int]) -> None:
    """Check the derivatives of these orders along the stored tangents against the oracle."""
    plan = out.case.grad
    assert plan is not None
    for order in orders:
        scales = plan.scale or (None,) * len(plan.derivatives[order - 1])
        for i, (want, scale) in enumerate(zip(plan.derivatives[order - 1], scales, strict=True)):
            name = f"order{order}_{i}"
            if name not in out.places:  # the order below was a structural zero
                out.places = {**out.places, name: None}
            out.require(name, want, order=order, scale=scale)


def require_modes_agree(out: Outcome) -> None:
    """Check that all four combinations of forward and reverse mode agree."""
    weights, seeds, us = (_known(out.all(name)) for name in ("weight", "seed", "direction"))
    found = {
        "forward over forward": _pairing(weights, out.all("fof")),
        "reverse over forward": _pairing(us, out.all("rof")),
        "forward over reverse": _pairing(seeds, out.all("for")),
        "reverse over reverse": _pairing(us, out.all("ror")),
    }
    values = [number for number, _ in found.values()]
    scale = sum(size for _, size in found.values()) + _rounding_of_first(out)
    shown = ", ".join(f"{name} {number}" for name, (number, _) in found.items())
    out.require_small(
        max(values) - min(values),
        f"{out.case.id}: {shown}",
        dtype=_working_dtype(out),
        scale=scale,
        order=2,
    )


def _known(arrays: Sequence[Array | None]) -> list[Array]:
    return [x for x in arrays if x is not None]


def require_second_adjoint(out: Outcome) -> None:
    """⟨w, D(Jv) u⟩ = ⟨D(Jv)ᵀ w, u⟩."""
    left, left_scale = _pairing(_known(out.all("weight")), out.all("fof"))
    right, right_scale = _pairing(_known(out.all("direction")), out.all("rof"))
    out.require_small(
        abs(left - right),
        f"{out.case.id}: ⟨w, D(Jv)·u⟩ = {left}, ⟨D(Jv)ᵀ·w, u⟩ = {right}",
        dtype=_working_dtype(out),
        scale=left_scale + right_scale + _rounding_of_first(out),
        order=2,
    )


def _rounding_of_first(out: Outcome) -> float:
    """Return the size of terms that may cancel in a second derivative: |w|·|Jv|·|u| per input.

    A zero second derivative comes out as the rounding of terms that cancel. The result itself,
    being nothing but rounding, does not measure it.
    """
    _, first = _pairing(_known(out.all("weight")), out.all("first"))
    inputs = _largest(*(stored.array() for stored in out.case.inputs))
    return first * _largest(*_known(out.all("direction"))) / max(1.0, inputs)


def require_round_trip(session: Session, case: Case) -> None:
    """to_numpy(asoperand(x)) = x, bitwise."""
    for i, stored in enumerate(case.inputs):
        array = stored.array()
        operand = session.backend.asoperand(array, Aval(array.shape, stored.dtype))
        back = np.asarray(session.backend.to_numpy(operand))
        if not session.backend.owns(operand):
            raise LawViolationError(
                f"{case.id} input {i}: asoperand gave a {type(operand).__name__} "
                "that the backend does not own"
            )
        if not same_bits(back, array):
            raise LawViolationError(f"{case.id} input {i}: the round trip changed bits")


def require_same_node_by_node(out: Outcome) -> None:
    """Check that the whole program gives the results of its nodes, run one by one."""
    alone = node_by_node(out)
    scale = _largest(*alone.values(), *out.recorder.fed.values())
    for name, want in alone.items():
        if is_inexact(want):
            out.require_close(out[name], want, name, scale=scale)
        elif not same_bits(out[name], want):
            raise LawViolationError(f"{out.case.id} {name}: the whole program and its nodes differ")


def require_decomposition(out: Outcome) -> None:
    """Check that the decomposition agrees with the lowering, within the tolerance class."""
    for i, want in enumerate(out.all("y")):
        got = out.all("d")[i]
        assert got is not None
        assert want is not None
        stored = Stored(shape=want.shape, dtype=str(want.dtype), data=tuple(want.ravel().tolist()))
        out.require(
            f"d{i}",
            stored,
            order=int(out.case.tol != "exact"),
            scale=(out.case.scale or (None,))[0],
        )


def require_batching(out: Outcome) -> None:
    """Check that a batch gives the results of its examples, run one by one."""
    names = [name for name in out.places if name.startswith("whole")]
    for name in names:
        whole = out[name]
        number, place = name.removeprefix("whole").split("_")
        for k in range(EXAMPLES):
            want = out[f"alone{number}_{k}_{place}"]
            got = whole[k] if whole.ndim > want.ndim else whole
            _require_alike(out, got, want, f"subset {number}, example {k}, output {place}")
    _require_pointwise(out)


def _require_pointwise(out: Outcome) -> None:
    """Check that a primitive which declares `batch = pointwise` treats each element alone."""
    for name in [name for name in out.places if name.startswith("elements_")]:
        place = name.removeprefix("elements_")
        parts = np.concatenate([out[f"first_{place}"], out[f"others_{place}"]])
        what = f"output {place}: the primitive declares `batch = pointwise`, but an element"
        _require_alike(out, parts, out[name], f"{what} depends on others")


def _require_alike(out: Outcome, got: Array, want: Array, what: str) -> None:
    """Check equality within the tolerance class; nan and infinities must be in the same places."""
    if got.shape != want.shape or got.dtype != want.dtype:
        raise LawViolationError(
            f"{out.case.id} {what}: {got.dtype}{got.shape} for {want.dtype}{want.shape}"
        )
    if want.dtype.kind in "biu":
        if not np.array_equal(got, want):
            raise LawViolationError(f"{out.case.id} {what}: {got.tolist()} for {want.tolist()}")
        return
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        raise LawViolationError(f"{out.case.id} {what}: another nan or infinity")
    out.require_close(
        got[finite], want[finite], what, scale=_largest(*out.recorder.fed.values(), want)
    )


def node_by_node(out: Outcome) -> dict[str, Array]:
    """Run the program on the reference interpreter, each node compiled as its own program."""
    keys = {name: key for name, key in out.recorder.outputs.items() if key is not None}
    session = out.session
    program, known = session.program_of(list(out.recorder.fed), list(keys.values()))
    operands = session.operands_of(program, [*out.recorder.fed.values(), *known])
    found = evaluate(program, session.nodes, operands)
    return {name: session.backend.to_numpy(x) for name, x in zip(keys, found, strict=True)}
