"""``spectra``: between real numbers and real numbers, half a spectrum is computed.

Re F⁻¹(c·F x) of real x is that of half a spectrum: ``irfft(H(c)·rfft(x))``, with the Hermitian part
H(c) = (cₖ + conj c₋ₖ)/2 on the columns 0 … n//2 of the last axis. Sums, differences, products and
quotients on the way act on halves as well; so do the derivatives of all this, which are of the same
kind. A spectrum that something else reads is computed whole, and the half is a slice of it.

It is done where it saves more than the Hermitian parts of the factors cost, in sum. Results agree
to rounding, where nothing overflows: a half is transformed by another routine, and the two
coefficients of a frequency are added before they are multiplied. A nan in x or c makes all results
nan before and after.
Read next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.computegraph import MaterializedGraph, Operation
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.computegraph._roles import PRIMARY
from tenferro.passes._rewriter import needed
from tenferro.passes._spectra import Factor, Spectra, sorted_
from tenferro.passes._sums import Rewritten
from tenferro.primitives.arithmetic import Add, Div, Mul
from tenferro.primitives.complex import Conj, Real
from tenferro.primitives.constants import Constant
from tenferro.primitives.fourier import Fft, Irfft, Rfft
from tenferro.primitives.structural import BroadcastInDim, Concatenate, Convert, Reverse, Slice

_NEEDED = (Add, BroadcastInDim, Concatenate, Conj, Convert, Irfft, Mul, Real, Reverse, Rfft, Slice)


def with_half_spectra(
    graph: MaterializedGraph, can: Callable[[type], bool]
) -> tuple[MaterializedGraph, int]:
    """Compute half spectra between real numbers; also count the transforms that became real."""
    spectra = Spectra(graph)
    if not spectra.roots or not all(map(can, _NEEDED)):
        return graph, 0
    halves = _Halves(spectra)
    if halves.saved <= 0:
        return graph, 0
    new = _Written(spectra, halves)
    for node in graph.nodes:
        new.write(node)
    outputs = [new.number[i] for i in graph.outputs]
    return needed(graph, new.nodes, outputs, new.avals), halves.count


class _Halves:
    """Spectra that are needed by halves, values that are needed whole, and the time saved.

    ``senses`` are those of the halves of a value: True for itself, False for its conjugate.
    """

    def __init__(self, spectra: Spectra) -> None:
        self.spectra = spectra
        self.senses: dict[int, set[bool]] = {}
        self.alive = bytearray(len(spectra.graph.avals))
        self.saved, self.count = 0.0, 0
        self._factors: set[Factor] = set()
        for i in spectra.graph.outputs:
            self.alive[i] = 1
        for node in reversed(spectra.graph.nodes):
            self._look_at(node)

    def _look_at(self, node: MaterializedNode) -> None:
        value = node[2][0]
        root = self.spectra.roots.get(node[1][0]) if node[1] else None
        if any([self.alive[i] for i in node[2]]):
            if root is None:
                for i in node[1]:
                    self.alive[i] = 1
            else:
                self._need_root(root)
        if value in self.senses and value in self.spectra.found:
            self._need_halves(value)

    def _need_root(self, root: MaterializedNode) -> None:
        operation: Any = root[0]
        (source,) = root[1]
        senses = self.senses.setdefault(root[2][0], set())
        if senses:
            return
        senses.add(operation.inverse)  # only a mark: no half of a root is needed
        axes = sorted_(operation.axes)
        self.saved += self.spectra.gain(self.spectra.graph.avals[source], axes)
        self.count += 1
        if source in self.spectra.found:
            self.senses.setdefault(source, set()).add(operation.inverse)
        else:
            self._need_weight(source, axes)

    def _need_halves(self, value: int) -> None:
        """Note what the halves of a spectrum read; all that reads them was looked at before."""
        spectra, spectrum = self.spectra, self.spectra.found[value]
        node, aval = spectra.makers[value], spectra.graph.avals[value]
        for sense in self.senses[value]:
            for i, of_sense in spectra.steps(value, sense):
                self.senses.setdefault(i, set()).add(of_sense)
        for i in spectra.weights(value):
            self._need_weight(i, spectrum.axes)
        if type(node[0]) is not Fft:
            self.saved -= spectra.cost_beside(aval) if self.alive[value] else 0.0
        elif not self.alive[value]:
            source = spectra.real_source(node[1][0])
            assert source is not None  # as `Spectra` found it
            self.alive[source] = 1
            self.saved += spectra.gain_of_real(aval, spectrum.axes)

    def _need_weight(self, value: int, axes: tuple[int, ...]) -> None:
        self.alive[value] = 1
        factor = self.spectra.factor(value, axes)
        if factor not in self._factors:
            self._factors.add(factor)
            self.saved -= self.spectra.cost(factor)


class _Written(Rewritten):
    """The graph with halves of spectra."""

    def __init__(self, spectra: Spectra, halves: _Halves) -> None:
        super().__init__(spectra.graph, 0)
        self.spectra, self.halves = spectra, halves
        self._half: dict[tuple[int, bool], int] = {}
        self._real: dict[int, int] = {}  # the real result of a root
        self._weights: dict[tuple[Any, ...], int] = {}

    def write(self, node: MaterializedNode) -> None:
        """Write an equation, and the halves of it that are needed."""
        self._like = node
        value = node[2][0]
        if value in self.spectra.roots and self.halves.senses.get(value):
            self._real[value] = self._real_of(node)
        elif node[1] and node[1][0] in self._real:
            real = self._real[node[1][0]]
            wanted, found = self.avals[value].dtype, self.avals[real].dtype
            self.number[value] = real if wanted is found else self._emit(Convert(wanted), real)
        else:
            self.copy(node)
        if value in self.spectra.found:
            for sense in sorted(self.halves.senses.get(value, ())):
                self._half[value, sense] = self._half_of(node, sense)

    def _emit(self, operation: Operation, *operands: int) -> int:
        return self.emit(operation, operands, self._like, PRIMARY)

    def _real_of(self, node: MaterializedNode) -> int:
        operation: Any = node[0]
        (source,) = node[1]
        axes, sense = sorted_(operation.axes), operation.inverse
        half = self._half.get((source, sense))
        if half is None:
            half = self._weight(source, axes, axes[-1], sense)
        length = self.avals[source].shape[axes[-1]]
        return self._emit(Irfft(axes, length, operation.norm), half)

    # ---- halves of spectra -----------------------------------------------------------------------

    def _half_of(self, node: MaterializedNode, sense: bool) -> int:
        """Return half of a spectrum, or of its conjugate, from the halves that it follows from."""
        value = node[2][0]
        spectrum = self.spectra.found[value]
        axes = spectrum.axes
        operation: Any = node[0]
        if spectrum.factors:
            factor = self._product(spectrum.factors, axes, sense)
            return self._emit(Mul(), self._half[spectrum.base, sense], factor)
        if type(operation) is Fft:
            return self._half_of_transform(node, axes, sense)
        if type(operation) is Conj:
            return self._half[node[1][0], not sense]
        given = [
            self._half[i, sense]
            if i in self.spectra.found
            else self._weight(i, axes, axes[-1], sense)
            for i in node[1]
        ]
        if type(operation) is BroadcastInDim:
            shape = self._halved(self.avals[value].shape, axes[-1])
            operation = BroadcastInDim(shape, operation.dimensions)
        return self._emit(operation, *given)

    def _half_of_transform(self, node: MaterializedNode, axes: tuple[int, ...], sense: bool) -> int:
        operation: Any = node[0]
        if self.halves.alive[node[2][0]]:
            half = self._columns(self.number[node[2][0]], axes[-1])
            return half if sense else self._emit(Conj(), half)
        source = self.spectra.real_source(node[1][0])
        assert source is not None  # as `Spectra` found it
        dtype = self.avals[node[2][0]].dtype.real_dtype
        x = self.number[source]
        if self.avals[x].dtype is not dtype:
            x = self._emit(Convert(dtype), x)
        half = self._emit(Rfft(axes, operation.norm), x)
        return half if sense != operation.inverse else self._emit(Conj(), half)

    # ---- Hermitian parts of factors --------------------------------------------------------------

    def _product(
        self, factors: tuple[tuple[int, bool], ...], axes: tuple[int, ...], sense: bool
    ) -> int:
        """Return the Hermitian part of a product of factors and reciprocals, or its conjugate."""
        if len(factors) == 1 and not factors[0][1]:
            return self._weight(factors[0][0], axes, axes[-1], sense)
        key = (factors, axes)
        if key not in self._weights:
            self._weights[key] = self._new_product(factors, axes)
        found = self._weights[key]
        return found if sense else self._emit(Conj(), found)

    def _new_product(self, factors: tuple[tuple[int, bool], ...], axes: tuple[int, ...]) -> int:
        dtype = self.avals[factors[0][0]].dtype
        sources = [self.spectra.real_source(i) for i, _ in factors]
        are_real = all([i is not None and self.avals[i].dtype is dtype.real_dtype for i in sources])
        product = None
        for (i, divides), source in zip(factors, sources, strict=True):
            part = self.number[source if are_real and source is not None else i]
            if divides:
                one = Constant(1, self.avals[part].dtype, self.avals[part].shape)
                part = self._emit(Div(), self._emit(one), part)
            product = part if product is None else self._emit(Mul(), product, part)
        assert product is not None  # there are factors
        found = self._part(product, axes, axes[-1])
        return self._emit(Convert(dtype), found) if are_real else found

    def _weight(self, value: int, axes: tuple[int, ...], halved: int | None, sense: bool) -> int:
        """Return the Hermitian part of a value on half of one of its axes, or its conjugate."""
        sense = sense or not self.avals[self.spectra.factor(value, axes).value].dtype.is_complex
        key = (value, axes, halved, sense)
        found = self._weights.get(key)
        if found is None:
            found = self._weights[key] = self._new_weight(value, axes, halved, sense)
        return found

    def _new_weight(
        self, value: int, axes: tuple[int, ...], halved: int | None, sense: bool
    ) -> int:
        node, inner = self.spectra.makers.get(value), self.spectra.inner(value, axes)
        if node is not None and type(node[0]) is Constant:
            real = complex(node[0].value).real
            shape = self._halved(node[0].shape, halved)
            return self._emit(Constant(real, node[0].dtype, shape))
        if node is None or inner is None:
            if sense:
                return self._part(self.number[value], axes, halved)
            return self._emit(Conj(), self._weight(value, axes, halved, True))
        operation: Any = node[0]
        if type(operation) is Conj:
            return self._weight(inner.value, axes, halved, not sense)
        if type(operation) is Convert:
            return self._emit(operation, self._weight(inner.value, axes, halved, True))
        own = [i for i in inner.axes if operation.dimensions[i] == halved]
        source = self._weight(inner.value, inner.axes, own[0] if own else None, sense)
        shape = self._halved(operation.shape, halved)
        return self._emit(BroadcastInDim(shape, operation.dimensions), source)

    def _part(self, x: int, axes: tuple[int, ...], halved: int | None) -> int:
        """Return (xₖ + conj x₋ₖ)/2 of a value of the new graph, on half of one of its axes."""
        dtype = self.avals[x].dtype
        if not axes:
            return self._emit(Convert(dtype), self._emit(Real(), x)) if dtype.is_complex else x
        first, other = x, x
        if halved is not None:
            first = self._columns(x, halved)
        for axis in axes:
            other = self._mirrored(other, axis, self.avals[first].shape[axis])
        if dtype.is_complex:
            other = self._emit(Conj(), other)
        total = self._emit(Add(), first, other)
        half = self._emit(Constant(0.5, dtype, self.avals[total].shape))
        return self._emit(Mul(), total, half)

    def _mirrored(self, x: int, axis: int, count: int) -> int:
        """Return the elements 0, -1, …, 1 - count along an axis."""
        n = self.avals[x].shape[axis]
        zero = self._cut(x, axis, 0, 1)
        if count == 1:
            return zero
        rest = self._emit(Reverse((axis,)), self._cut(x, axis, n - count + 1, n))
        return self._emit(Concatenate(axis), zero, rest)

    def _columns(self, x: int, axis: int) -> int:
        """Return the elements 0 … n//2 along an axis."""
        return self._cut(x, axis, 0, self.avals[x].shape[axis] // 2 + 1)

    def _cut(self, x: int, axis: int, begin: int, end: int) -> int:
        shape = self.avals[x].shape
        start, limit = [0] * len(shape), list(shape)
        start[axis], limit[axis] = begin, end
        return self._emit(Slice(tuple(start), tuple(limit), (1,) * len(shape)), x)

    def _halved(self, shape: tuple[int, ...], axis: int | None) -> tuple[int, ...]:
        return tuple([n // 2 + 1 if i == axis else n for i, n in enumerate(shape)])
