"""Spectra among the values of a graph: which of them half a spectrum stands for, and the gain.

The spectrum of real numbers is Hermitian, z₋ₖ = conj zₖ, and so are sums and products of such
spectra. Of any other z, Re F⁻¹ z reads the Hermitian part H z = (zₖ + conj z₋ₖ)/2 alone. H is
linear, and H(c·z) = H(c)·z for a Hermitian z. So where real numbers become real numbers by way of
a spectrum, columns 0 … n//2 of the last axis say all.
Read next: ``rewrites/spectra.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2, prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.primitives._aval import Aval
from tenferro.primitives.arithmetic import Add, Div, Mul, Neg, Sub
from tenferro.primitives.complex import Complex, Conj, Real
from tenferro.primitives.constants import Constant
from tenferro.primitives.fourier import Fft
from tenferro.primitives.structural import BroadcastInDim, Convert

# What NumPy takes on one core, in nanoseconds; only ratios between them matter.
_NS_PER_TRANSFORMED = 0.45  # element and doubling of the length, that half a spectrum saves
_NS_PER_CONVERSION = 300.0  # of real numbers to complex ones, which half a spectrum needs not
_NS_PER_HERMITIAN_PART = 3000.0
_NS_PER_MIRRORED_AXIS = 1500.0  # each but the last
_NS_PER_PART_ELEMENT = 2.4
_NS_PER_OPERATION = 400.0
_MAX_LAYERS = 8  # of conversions and broadcasts around a factor


class Spectrum(NamedTuple):
    """A value that follows from Hermitian spectra along these axes, which are in rising order.

    ``factors`` are no spectra; of each comes whether it divides. With them the value is their
    product with ``base``. Otherwise its operation on the halves of its operands gives its half.
    """

    axes: tuple[int, ...]
    is_hermitian: bool
    factors: tuple[tuple[int, bool], ...] = ()
    base: int = -1


class Factor(NamedTuple):
    """A value without the conversions and broadcasts around it, and its transformed axes."""

    value: int
    axes: tuple[int, ...]


class Spectra:
    """The spectra of a graph, and the transforms that are read for their real parts alone."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self.graph = graph
        self.makers: dict[int, MaterializedNode] = {node[2][0]: node for node in graph.nodes}
        self.found: dict[int, Spectrum] = {}
        for value, node in self.makers.items():
            spectrum = self._spectrum(node)
            if spectrum is not None:
                self.found[value] = spectrum
        self.roots = self._roots()

    # ---- which values are spectra ----------------------------------------------------------------

    def _spectrum(self, node: MaterializedNode) -> Spectrum | None:
        """Return how the value of a node follows from half a spectrum; None if it does not.

        The transform of real numbers is Hermitian. Negation, conjugation, broadcasts, sums and
        products keep that where all operands are spectra along the same axes, or real and constant
        along these.
        """
        operation: Any = node[0]
        cls = type(operation)
        if cls is Fft:
            is_real = bool(operation.axes) and self.real_source(node[1][0]) is not None
            return Spectrum(tuple(sorted(operation.axes)), True) if is_real else None
        known = [self.found.get(i) for i in node[1]]
        first = next((spectrum for spectrum in known if spectrum is not None), None)
        if first is None:
            return None
        if cls is Neg or cls is Conj:
            return Spectrum(first.axes, first.is_hermitian)
        if cls is BroadcastInDim:
            axes = tuple([operation.dimensions[axis] for axis in first.axes])
            return Spectrum(axes, first.is_hermitian)
        if any([spectrum is not None and spectrum.axes != first.axes for spectrum in known]):
            return None
        hermitian = [
            self.is_real_along(i, first.axes) if spectrum is None else spectrum.is_hermitian
            for i, spectrum in zip(node[1], known, strict=True)
        ]
        if cls is Add or cls is Sub:
            return Spectrum(first.axes, all(hermitian))
        return self._product(node, known, hermitian) if cls is Mul or cls is Div else None

    def _product(
        self, node: MaterializedNode, known: Sequence[Spectrum | None], hermitian: Sequence[bool]
    ) -> Spectrum | None:
        """Return the spectrum that a product or a quotient is; None where halves say too little."""
        is_quotient = type(node[0]) is Div
        for k in (0,) if is_quotient else (0, 1):
            spectrum = known[k]
            if spectrum is None:
                continue
            if hermitian[1 - k]:
                return Spectrum(spectrum.axes, hermitian[k])
            if known[1 - k] is None and (spectrum.is_hermitian or spectrum.factors):
                base = spectrum.base if spectrum.factors else node[1][k]
                factors = (*spectrum.factors, (node[1][1 - k], is_quotient))
                return Spectrum(spectrum.axes, False, factors, base)
        return None

    def real_source(self, value: int) -> int | None:
        """Return the real numbers that a complex value holds, if it is made of such."""
        node = self.makers.get(value)
        if node is None:
            return None
        if type(node[0]) is Convert:
            return None if self.graph.avals[node[1][0]].dtype.is_complex else node[1][0]
        if type(node[0]) is Complex and self._constant(node[1][1]) == 0:
            return node[1][0]
        return None

    def _constant(self, value: int) -> Any:
        node = self.makers.get(value)
        return node[0].value if node is not None and type(node[0]) is Constant else None

    def is_real_along(self, value: int, axes: tuple[int, ...]) -> bool:
        """Return True for real numbers that do not vary along axes."""
        factor = self.factor(value, axes)
        constant = self._constant(factor.value)
        if constant is not None:
            return not complex(constant).imag
        return not factor.axes and not self.graph.avals[factor.value].dtype.is_complex

    def factor(self, value: int, axes: tuple[int, ...]) -> Factor:
        """Return what a value repeats, converts or conjugates."""
        for _ in range(_MAX_LAYERS):
            inner = self.inner(value, axes)
            if inner is None:
                break
            value, axes = inner
        return Factor(value, axes)

    def inner(self, value: int, axes: tuple[int, ...]) -> Factor | None:
        """Return the operand of a conversion of real numbers, a broadcast or a conjugation."""
        node = self.makers.get(value)
        if node is None or type(node[0]) not in (BroadcastInDim, Conj, Convert):
            return None
        (source,) = node[1]
        aval = self.graph.avals[source]
        if type(node[0]) is BroadcastInDim:
            dimensions = node[0].dimensions
            own = [i for i, k in enumerate(dimensions) if k in axes and aval.shape[i] != 1]
            return Factor(source, tuple(own))
        if type(node[0]) is Convert and aval.dtype.is_complex:
            return None
        return Factor(source, axes)

    # ---- which transforms give real numbers alone ------------------------------------------------

    def _roots(self) -> dict[int, MaterializedNode]:
        """Return the transforms, by their results, that are read for their real parts alone."""
        found = {
            value: node
            for value, node in self.makers.items()
            if type(node[0]) is Fft and node[0].axes and self.graph.avals[value].size
        }
        for i in self.graph.outputs:
            found.pop(i, None)
        for node in self.graph.nodes:
            for i in node[1]:
                if i in found and not self._takes_real_part(node):
                    del found[i]
        return {value: node for value, node in found.items() if self._may_be_worthwhile(node)}

    def _takes_real_part(self, node: MaterializedNode) -> bool:
        dtype = self.graph.avals[node[2][0]].dtype
        return type(node[0]) is Real or (type(node[0]) is Convert and bool(dtype.is_float))

    def _may_be_worthwhile(self, node: MaterializedNode) -> bool:
        """Return False if no factor is shared, and the Hermitian part costs more than it saves."""
        (source,) = node[1]
        if source in self.found:
            return self.found[source].axes == sorted_(node[0].axes)  # type: ignore[attr-defined]
        axes = sorted_(node[0].axes)  # type: ignore[attr-defined]
        aval = self.graph.avals[source]
        return self.gain(aval, axes) > self.cost(self.factor(source, axes))

    # ---- what halves need, and whether they save time --------------------------------------------

    def steps(self, value: int, sense: bool) -> Iterator[tuple[int, bool]]:
        """Return the spectra from whose halves that of a spectrum follows.

        ``sense`` is False where the half of the conjugate is meant.
        """
        spectrum, node = self.found[value], self.makers[value]
        if spectrum.factors:
            yield spectrum.base, sense
        elif type(node[0]) is not Fft:
            for i in node[1]:
                if i in self.found:
                    yield i, sense != (type(node[0]) is Conj)

    def weights(self, value: int) -> list[int]:
        """Return the values whose Hermitian part the half of a spectrum reads."""
        spectrum, node = self.found[value], self.makers[value]
        if spectrum.factors:
            return [i for i, _ in spectrum.factors]
        return [] if type(node[0]) is Fft else [i for i in node[1] if i not in self.found]

    def gain(self, aval: Aval, axes: Sequence[int]) -> float:
        """Return the time that half a spectrum saves in a transform."""
        length = prod([aval.shape[axis] for axis in axes])
        return _NS_PER_TRANSFORMED * aval.size * log2(length)

    def gain_of_real(self, aval: Aval, axes: Sequence[int]) -> float:
        """Return the time that half a spectrum saves in a transform of real numbers."""
        return self.gain(aval, axes) + _NS_PER_CONVERSION

    def cost(self, factor: Factor) -> float:
        """Return the time that the Hermitian part of a factor takes."""
        if not factor.axes or self._constant(factor.value) is not None:
            return 0.0
        others = _NS_PER_MIRRORED_AXIS * (len(factor.axes) - 1)
        elements: int = self.graph.avals[factor.value].size
        return _NS_PER_HERMITIAN_PART + others + _NS_PER_PART_ELEMENT * elements

    def cost_beside(self, aval: Aval) -> float:
        """Return the time that half of an operation takes where the whole is needed, too."""
        return _NS_PER_OPERATION + aval.size / 2


def sorted_(axes: Sequence[int]) -> tuple[int, ...]:
    """Return axes in rising order; the last of them is halved."""
    return tuple(sorted(axes))
