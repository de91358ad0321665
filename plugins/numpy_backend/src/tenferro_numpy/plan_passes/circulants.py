"""Filters of short signals are products with circulant matrices.

irfft(c·rfft(x)) is a circular convolution of x with a kernel that c alone decides: a product with
a matrix whose columns are the kernel, each shifted by one more place (Davis (1979), Circulant
Matrices, §3.2). For up to 64 numbers the product takes a fourth of the time of two transforms. So
the matrix is made where several filters have c in common, as in a wave equation that is solved by
Fourier transforms, and before a loop where c stays. Results agree to rounding.
Read next: `planner.py`; the transforms are those of `tenferro.primitives.fourier`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval, DType
from tenferro.primitives.arithmetic import Add, Mul
from tenferro.primitives.fourier import Irfft, Rfft
from tenferro_numpy.ir.expression import CIRCULANT, Expression, Function, simple
from tenferro_numpy.ir.liveness import without_unread
from tenferro_numpy.ir.step import Step
from tenferro_numpy.lowerings.fft import EXPRESSIONS

__all__ = ["multiply_by_circulants"]

_MAX_LENGTH = 64  # numbers of a signal
_MIN_USES = 4  # of a matrix, which takes 6 µs to make and saves 2 µs per use
_MAX_TERMS = 4  # of a sum of spectra
_FLOAT = DType.of("float64")
_SCALES = {"sum": 0.0, "ortho": -0.5, "mean": -1.0}  # powers of the length
_PRODUCT = Expression("{0}.dot({1})", onto="{0}.dot({1}, {out})", strict_out=True)


class _Filter(NamedTuple):
    """Filter by the factors in a slot: length of the signal, and scale of both transforms."""

    factors: int
    length: int
    scale: float

    def step(self, target: int) -> Step:
        """Return the step that makes the matrix."""
        line = Expression(CIRCULANT, (_circulant, self.length, self.scale), shares=True)
        return Step(line, (self.factors,), (target,), ())  # no instruction has this result


#: filters, each with the slot of its signal
_Terms = list[tuple[_Filter, int]]


def multiply_by_circulants(
    steps: list[Step],
    avals: list[Aval],
    operations: Sequence[Any],
    outputs: Collection[int],
    staying: Collection[int],
) -> list[Step]:
    """Return the steps with products instead of transforms; expressions are replaced in place.

    `operations` are those of the program by position. Matrices of `staying` slots are made before
    a loop, and read in each of its steps.
    """
    spectra = _Spectra(steps, avals, operations, outputs)
    found = {step: spectra.terms_of(step) for step in steps}
    uses = Counter([one for terms in found.values() for one, _ in terms])
    pays = {one for one, n in uses.items() if n >= _MIN_USES or one.factors in staying}
    chosen = {
        step: terms
        for step, terms in found.items()
        if terms and all([one in pays for one, _ in terms])
    }
    if not chosen:
        return steps
    made: dict[_Filter, int] = {}
    new: list[Step] = []
    for step in steps:
        if step in chosen:
            new += _products(step, chosen[step], avals, made)
        new.append(step)
    return without_unread(new, spectra.read, outputs)


def _products(
    step: Step, terms: _Terms, avals: list[Aval], made: dict[_Filter, int]
) -> Iterable[Step]:
    """Let a step give the sum of products; return what it needs before."""
    before = []
    for one, _ in terms:
        if one not in made:
            made[one] = len(avals)
            avals.append(Aval((one.length, one.length), _FLOAT))
            before.append(one.step(made[one]))
    operands = [(made[one], signal) for one, signal in terms]
    if len(operands) == 1:
        step.expression, step.operands = _PRODUCT, operands[0]
        return before
    aval = avals[step.targets[0]]
    parts = []
    for pair in operands:
        parts.append(_new_slot(avals, aval))
        before.append(Step(_PRODUCT, pair, (parts[-1],), ()))
    add = simple(np.add, 2)
    while len(parts) > 2:
        x, y, *parts = parts
        parts = [_new_slot(avals, aval), *parts]
        before.append(Step(add, (x, y), (parts[0],), ()))
    step.expression, step.operands = add, (parts[0], parts[1])
    return before


def _new_slot(avals: list[Aval], aval: Aval) -> int:
    avals.append(aval)
    return len(avals) - 1


class _Spectra:
    """The steps of a program that make spectra, and those that only filters may read."""

    def __init__(
        self,
        steps: Sequence[Step],
        avals: Sequence[Aval],
        operations: Sequence[Any],
        outputs: Collection[int],
    ) -> None:
        self.avals, self.operations = avals, operations
        self.makers = {step.targets[0]: step for step in steps if len(step.targets) == 1}
        self.reads = Counter([*outputs, *[slot for step in steps for slot in step.operands]])
        self.read: set[Step] = set()  # steps whose results may have no reader any more

    def terms_of(self, step: Step) -> _Terms:
        """Return the filters whose sum a step gives; none if it gives something else."""
        op = step.operation_of(self.operations)
        if type(op) is not Irfft or not self._is_short(step.targets[0], op):
            return []
        terms: _Terms = []
        makers: list[Step] = []
        pending = [step.operands[0]]
        while pending and len(terms) < _MAX_TERMS:
            maker = self.makers.get(slot := pending.pop())
            if maker is None or self.reads[slot] != 1:
                return []
            makers.append(maker)
            kind = type(maker.operation_of(self.operations))
            if kind is Add:
                pending += reversed(maker.operands)
                continue
            term = self._filter(op, maker.operands, makers) if kind is Mul else None
            if term is None:
                return []
            terms.append(term)
        if pending:
            return []
        self.read.update(makers)
        return terms

    def _is_short(self, slot: int, op: Irfft) -> bool:
        """Return True for a vector of few numbers that is the inverse of half a spectrum."""
        aval = self.avals[slot]
        return aval.ndim == 1 and aval.dtype is _FLOAT and 1 < op.length <= _MAX_LENGTH

    def _filter(
        self, op: Irfft, operands: tuple[int, ...], makers: list[Step]
    ) -> tuple[_Filter, int] | None:
        """Return the filter of a product of factors and a spectrum, and the signal."""
        for spectrum, factors in (operands, operands[::-1]):
            maker = self.makers.get(spectrum)
            of = None if maker is None else maker.operation_of(self.operations)
            if maker is None or type(of) is not Rfft or of.twice is op.twice:
                continue  # columns must count twice in one of the transforms
            (signal,) = maker.operands
            same = self.avals[signal].shape == (op.length,)
            if same and self.avals[factors].shape == self.avals[spectrum].shape:
                makers.append(maker)
                scale = op.length ** (1.0 + _SCALES[of.norm] + _SCALES[op.norm])
                return _Filter(factors, op.length, scale), signal
        return None


def _circulant(factors: Any, length: int, scale: float) -> Any:
    """Return the matrix that filters a signal of this length."""
    kernel = _inverse_transform(length)(factors)
    if scale != 1.0:
        kernel *= scale
    return kernel.take(_differences(length))


@lru_cache(maxsize=16)
def _inverse_transform(length: int) -> Function:
    """Return the transform from half a spectrum, without the Python code of `numpy.fft`."""
    op, half = Irfft((0,), length, "mean"), Aval((length // 2 + 1,), DType.of("complex128"))

    def of_numpy(op: Irfft, x: Any) -> Any:
        return np.fft.irfft(x, op.length)

    return EXPRESSIONS[Irfft](op, (half,), Aval((length,), _FLOAT), of_numpy).function()


@lru_cache(maxsize=16)
def _differences(length: int) -> Any:
    """Return the place in a kernel of each element of its circulant matrix."""
    places = np.arange(length)
    return (places[:, None] - places) % length
