"""Times and errors of one row in one dtype: the plugin's lowering, and JAX's function beside it.

Both are compiled by ``jax.jit`` in 64-bit mode, in one program with the sum of their results, so
that neither writes them to memory. They run by turns on one core. The definition comes from the
conformance kit's oracle, in mpmath. Read next: ``page.py``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np

import tenferro as tn
from benchmarks.xla_primitives.rows import Interval, Row
from tenferro.primitives import Aval, DType
from tenferro_conformance.cases.tolerances import measure
from tenferro_conformance.oracle import Tensor, define, reference
from tenferro_conformance.oracle import mp as exact
from tenferro_conformance.samples import FAMILIES, load_cases, tables

Arrays = tuple[Any, ...]
COUNT = 2**16
DIGITS = 50
SAMPLES, SECONDS_OF_SAMPLE, FEWEST, BUDGET = 25, 0.004, 5, 1.5
POINTS = 96
#: Sizes of arrays for errors, which mpmath can walk through, by those for times.
REDUCED = {512: 8, 256: 6, 2**18: 40, 64: 4, 1: 1, 8: 1}


def measured(row: Row, dtype: str) -> dict[str, Any]:
    """Return the figures of a row: seconds per element, and the largest errors."""
    found: dict[str, Any] = {"primitive": row.title, "jax": row.beside, "dtype": dtype}
    arguments = drawn(row, dtype, row.shapes or ((COUNT,),) * len(row.over))
    size = max(x.size for x in arguments)
    functions = {"ours": lowering(row, arguments), "jax": row.function}
    programs = [compiled(f, arguments, summed=not row.shapes) for f in functions.values()]
    found["same"] = same = text_of(programs[0]) == text_of(programs[1])
    times = by_turns([call(one, arguments) for one in programs[: 1 if same else 2]])
    for name, seconds in zip(functions, times * 2, strict=False):
        found[f"{name} seconds"] = seconds / size
    if row.errors:
        found |= errors(row, dtype)
    if not same:
        found["jax fails"] = (
            loses_nan(row, arguments) if row.shapes else len(failed_cases(row, dtype))
        )
    return found


def lowering(row: Row, arguments: Arrays) -> Callable[..., Any]:
    """Return the plugin's lowering of the primitive for these arguments."""
    shapes = tuple(x.shape for x in arguments)
    params = {
        name: DType.of(value) if name == "dtype" else value
        for name, value in row.params_for(shapes).items()
    }
    host = tn.host()
    primitive: Any = host.primitive(row.key)
    operation = primitive(**params)
    avals = [Aval(x.shape, x.dtype.name) for x in arguments]
    function = host.table("xla").lookup(operation, avals)
    return lambda *operands: function(operation, *operands)


def failed_cases(row: Row, dtype: str) -> list[str]:
    """Return the cases of the conformance kit that JAX's function fails: edges above all."""
    failed = []
    for case in load_cases():
        if case.primitive != row.key or case.expected is None or case.observe:
            continue
        if case.inputs[0].dtype != dtype or dict(case.params) != dict(row.params) or row.kinds:
            continue
        with jax.enable_x64(True):
            got = np.asarray(jax.jit(row.function)(*(x.array() for x in case.inputs)))
        (want,) = case.expected
        if not measure(got, want, tol=case.tol, size=case.size, condition=case.condition).is_within:
            failed.append(case.id)
    return failed


def loses_nan(row: Row, arguments: Arrays) -> int:
    """Return 1 if JAX's function drops a nan that the lowering keeps, else 0."""
    x = arguments[0].copy()
    if x.dtype.kind in "biu" or not row.errors:
        return 0
    x[tuple(n // 3 for n in x.shape)] = np.nan
    with jax.enable_x64(True):
        ours, jaxs = (
            np.isnan(np.asarray(jax.jit(f)(x, *arguments[1:])))
            for f in (lowering(row, arguments), row.function)
        )
    return int(np.sum(ours) > np.sum(jaxs))


# ---- arguments -----------------------------------------------------------------------------------


def drawn(row: Row, dtype: str, shapes: Sequence[tuple[int, ...]]) -> Arrays:
    """Return random arguments of these shapes."""
    rng = np.random.default_rng(0)
    kinds = [kind or dtype for kind in row.kinds or ("",) * len(row.over)]
    found = [
        uniform(rng, over, shape, kind)
        for over, shape, kind in zip(row.over, shapes, kinds, strict=True)
    ]
    if row.key in ("std::cholesky", "std::eigh", "std::eigvalsh"):
        x = found[0]
        found[0] = (x + x.mT.conj() + 2 * x.shape[-1] * np.eye(x.shape[-1])).astype(x.dtype)
    return tuple(found)


def uniform(rng: Any, over: Interval, shape: tuple[int, ...], kind: str) -> Any:
    """Draw numbers of a dtype; the imaginary part of a complex one is within ±3."""
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if kind.startswith("int"):
        low, high = map(int, over)
        return rng.integers(low, max(high, low + 1), shape).astype(kind)
    values = rng.uniform(*over, shape)
    if kind.startswith("complex"):
        values = values + 1j * rng.uniform(-3, 3, shape)
    return np.asarray(values).astype(jnp.dtype(kind))


def swept(row: Row, dtype: str) -> Arrays:
    """Return arguments for errors: drawn ones, and with one argument those near ends and zero."""
    count = len(row.over)
    found = drawn(row, dtype, ((POINTS,),) * count)
    if count > 1 or dtype[:3] in ("int", "boo"):
        return found
    low, high = row.over[0]
    steps = 2.0 ** -np.arange(1, 50, 3)
    near = [low + (high - low) / 2 * steps, high - (high - low) / 2 * steps]
    near += [steps] * (high > 0) + [-steps] * (low < 0) + [np.array(row.also)]
    with np.errstate(over="ignore"):
        return (np.concatenate([found[0], np.concatenate(near).astype(found[0].dtype)]),)


# ---- times ---------------------------------------------------------------------------------------


def compiled(function: Callable[..., Any], arguments: Arrays, summed: bool) -> Any:
    """Compile a function, with sums of its results."""

    def program(*operands: Any) -> Any:
        result = function(*operands)
        return jax.tree.map(jnp.sum, result) if summed else result

    with jax.enable_x64(True):
        return jax.jit(program).lower(*arguments).compile()


def text_of(program: Any) -> str:
    """Return the optimized program, with instructions numbered in their order.

    Programs of equal text are the same machine code; their times could only show noise.
    """
    text = program.as_text()
    start = re.search(r"^(%|ENTRY)", text, re.M)  # after the tables of source lines
    text = text[start.start() if start else 0 :]
    text = re.sub(r", (metadata|frontend_attributes|origin)=\{[^}]*\}|[\w.-]+: ", "", text)
    numbers: dict[str, str] = {}
    return re.sub(r"%[\w.-]+", lambda m: numbers.setdefault(m[0], f"%{len(numbers)}"), text)


def call(program: Any, arguments: Arrays) -> Callable[[], Any]:
    """Return a call that waits for the result."""
    with jax.enable_x64(True):
        on_device = tuple(map(jnp.asarray, arguments))
    return lambda: jax.block_until_ready(program(*on_device))


def by_turns(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Return the shortest CPU time of each call, taken by turns."""
    counts = []
    for call in calls:
        call()
        counts.append(max(1, round(SECONDS_OF_SAMPLE / max(sample(call, 1), 1e-6))))
    best = [float("inf")] * len(calls)
    end = time.perf_counter() + BUDGET
    for turn in range(SAMPLES):
        if turn >= FEWEST and time.perf_counter() > end:
            break
        for i, call in enumerate(calls):
            best[i] = min(best[i], sample(call, counts[i]))
    return best


def sample(call: Callable[[], Any], count: int) -> float:
    """Return the CPU time of one call, the mean over some."""
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


# ---- errors --------------------------------------------------------------------------------------


def errors(row: Row, dtype: str) -> dict[str, float]:
    """Return the largest error of both, in units of the last place."""
    _meanings()
    if row.shapes:
        shapes = tuple(tuple(REDUCED[n] for n in shape) for shape in row.shapes)
        arguments = _inside(drawn(row, dtype, shapes), row)
    else:
        arguments = swept(row, dtype)
    shapes = tuple(x.shape for x in arguments)
    want = [*_wanted(row, row.params_for(shapes), arguments)]
    found = {}
    for name, function in (("ours", lowering(row, arguments)), ("jax", row.function)):
        with jax.enable_x64(True):
            got = jax.jit(function)(*map(jnp.asarray, arguments))
            got = np.asarray(got)
        error = _largest(np.ravel(got), want, whole=bool(row.shapes))
        found[f"{name} ulp"] = error
    return found


def _inside(arguments: Arrays, row: Row) -> Arrays:
    """Bring positions into the reduced arrays."""
    kinds = row.kinds or ("",) * len(arguments)
    return tuple(x % 8 if kind == "int32" else x for x, kind in zip(arguments, kinds, strict=True))


def _meanings() -> None:
    """Give the oracle the definitions that stand in tables of samples; fewer digits suffice."""
    exact.dps = DIGITS
    for family in FAMILIES:
        for table in tables(family):
            if table.meaning is not None:
                define(table.primitive, table.meaning)


def _wanted(row: Row, params: dict[str, Any], arguments: Arrays) -> Iterator[Any]:
    """Yield the exact results, element by element; None where there is none."""
    if row.shapes:
        tensors = [Tensor(x.shape, tuple(map(_number, x.ravel()))) for x in arguments]
        yield from reference(row.key, params, tensors).flat
        return
    for entries in zip(*arguments, strict=True):
        tensors = [Tensor((), (_number(entry),)) for entry in entries]
        try:
            yield reference(row.key, params, tensors).flat[0]
        except (ValueError, ArithmeticError, mpmath.libmp.NoConvergence):
            yield None


def _number(x: Any) -> Any:
    """Return an entry of an array as a number of the oracle."""
    if x.dtype.kind == "b":
        return bool(x)
    if x.dtype.kind in "iu":
        return int(x)
    if x.dtype.kind == "c":
        return exact.mpc(float(x.real), float(x.imag))
    return exact.mpf(float(x))


def _largest(got: Any, want: Sequence[Any], whole: bool) -> float:
    """Return the largest error of all elements.

    Of an elementwise primitive each error is in ulp of its exact result, of a complex one in ulp of
    the modulus; of others in ulp of the largest result.
    """
    if got.dtype.kind in "biu":
        pairs = zip(got.tolist(), want, strict=True)
        return float(max((abs(int(g) - int(w)) for g, w in pairs if w is not None), default=0))
    info = jnp.finfo(got.dtype)
    scale = max((abs(w) for w in want if w is not None), default=1) if whole else None
    worst = 0.0
    for g, w in zip(got, want, strict=True):
        if w is None or not exact.isfinite(w):
            continue
        if isinstance(w, exact.mpc) and got.dtype.kind != "c":
            continue  # outside of the real domain
        size = abs(w) if scale is None else scale
        if size != 0 and not float(info.tiny) < size < float(info.max) / 2:
            continue  # XLA flushes subnormal results
        if not np.isfinite(g):
            return float("inf")
        unit = exact.mpf(2) ** (exact.floor(exact.log(size, 2)) - info.nmant) if size else info.tiny
        value = exact.mpc(complex(g)) if got.dtype.kind == "c" else exact.mpf(float(g))
        worst = max(worst, float(abs(value - w) / unit))
    return worst
