"""A region ready to run: its kernel, shape and constants; a call launches one kernel.

How threads go over the elements depends on the strides of the operands, so it is chosen at the
first call with each combination of strides. Nothing waits for the device. Read next:
``modules.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import DType
from tenferro_cupy.kernels.kernel import Kernel
from tenferro_cupy.kernels.layout import BLOCK, Layout, Sizes, layout_of
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.reads.table import SizedRead

__all__ = ["Link", "Region", "walkable"]

#: bytes of the part of one element, where they are not those of the dtype
_WIDENED = {"float16": 4, "bfloat16": 4}
_EXTREMES = ("largest", "smallest")
_ALIGNMENT = 16
_NOTHING: Mapping[int, Any] = MappingProxyType({})


class _Launch(NamedTuple):
    function: Any
    grid: tuple[int, int]
    integers: tuple[Any, ...]
    parts: tuple[int, ...]  # bytes of the partial results of each fold; none if one block does it


class Link(NamedTuple):
    """A region in a chain: its text follows from kernel and layout; integers are its arguments."""

    kernel: Kernel
    layout: Layout
    integers: tuple[Any, ...]


class Region:
    """One kernel over arrays of one shape.

    shape       of every output, and of every operand except the arrays of reads, which come last
    axes        that all reductions run over; None without reductions
    constants   NumPy scalars that are passed by value
    reads       those of the kernel, with the integers that depend on shapes
    """

    def __init__(
        self,
        modules: Modules,
        kernel: Kernel,
        shape: tuple[int, ...],
        axes: tuple[int, ...] | None,
        constants: Sequence[Any],
        reads: Sequence[SizedRead] = (),
    ) -> None:
        self.modules = modules
        self.kernel = kernel
        self.shape = shape
        self.axes = axes
        self.constants = tuple(constants)
        self.reads = tuple(reads)
        self.kept = tuple([n for i, n in enumerate(shape) if axes is None or i not in axes])
        self._widest = max(DType.of(kernel.dtype(v)).itemsize for v in self._moved())
        self._launches: dict[tuple[Any, ...], _Launch] = {}
        self._links: dict[tuple[Any, ...], Link] = {}

    def _moved(self) -> list[int]:
        """Return the values that are read from memory or written to it; one, if there is none."""
        return [*range(len(self.kernel.operands)), *self.kernel.outputs] or [
            self.kernel.folds[0].value
        ]

    def __call__(self, *operands: Any, into: Mapping[int, Any] | None = None) -> list[Any]:
        """Launch on the current stream; return the outputs, then the results of reductions.

        ``into`` has memory for some of the outputs.
        """
        operands = walkable(operands)
        results = self.allocated(into or {})
        if self.is_empty:
            return results
        launch = self._launch(operands)
        arguments = [*operands, *self.constants, *results]
        if self.kernel.folds:
            arguments += self._partial_results(launch)
        launch.function(launch.grid, (BLOCK,), (*arguments, *launch.integers))
        return results

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to compute."""
        return prod(self.kept) == 0 or (self.axes is None and prod(self.shape) == 0)

    def allocated(self, into: Mapping[int, Any] = _NOTHING) -> list[Any]:
        """Return memory for the outputs and for the results of reductions."""
        cupy, kernel = self.modules.cupy, self.kernel
        outputs = [
            into[i] if i in into else cupy.empty(self.shape, kernel.dtype(v))
            for i, v in enumerate(kernel.outputs)
        ]
        return [*outputs, *[cupy.empty(self.kept, kernel.dtype(f.value)) for f in kernel.folds]]

    def link(self, operands: Sequence[Any]) -> Link:
        """Return the region as a part of a chain, which one block of threads computes."""
        key = tuple([x.strides for x in operands])
        found = self._links.get(key)
        if found is None:
            layout, sizes = self.layout_for(operands, is_aligned=False)
            integers = self.modules.integers(sizes.arguments, layout.integer)
            found = self._links[key] = Link(self.kernel, layout, integers)
        return found

    def _partial_results(self, launch: _Launch) -> list[Any]:
        if not launch.parts:
            return [self.modules.null] * (len(self.kernel.folds) + 1)
        parts = [self.modules.cupy.empty((size,), "uint8") for size in launch.parts]
        return [*parts, self.modules.counters()]

    def _launch(self, operands: Sequence[Any]) -> _Launch:
        is_aligned = all(x.data.ptr % _ALIGNMENT == 0 for x in operands)
        key = (*[x.strides for x in operands], is_aligned)
        found = self._launches.get(key)
        if found is None:
            found = self._launches[key] = self._prepare(operands, is_aligned)
        return found

    def _prepare(self, operands: Sequence[Any], is_aligned: bool) -> _Launch:
        layout, sizes = self.layout_for(operands, is_aligned)
        function = self.modules.function(self.kernel, layout)
        integers = self.modules.integers(sizes.arguments, layout.integer)
        return _Launch(function, sizes.grid, integers, self._bytes_of_parts(sizes))

    def layout_for(self, operands: Sequence[Any], is_aligned: bool = True) -> tuple[Layout, Sizes]:
        """Return how threads go over these operands, and all integers that they need."""
        strides = [tuple([s // x.itemsize for s in x.strides]) for x in operands]
        walked = len(self.kernel.operands)
        if not self.reads:
            return self.layout(strides, is_aligned)
        farthest = max([_reach(x.shape, s) for x, s in zip(operands, strides, strict=True)])
        layout, sizes = self.layout(strides[:walked], is_aligned, farthest)
        integers, position = [*sizes.arguments], walked
        for read in self.reads:
            end = position + len(read.read.arrays)
            integers += [*read.numbers, *[n for s in strides[position:end] for n in s]]
            position = end
        return layout, sizes._replace(arguments=tuple(integers))

    def layout(
        self,
        strides: Sequence[tuple[int, ...]],
        is_aligned: bool = True,
        farthest: int | None = None,
    ) -> tuple[Layout, Sizes]:
        """Return how threads go over operands of the region's shape with these strides."""
        outputs = len(self.kernel.outputs)
        return layout_of(
            self.shape, self.axes, strides, self._widest, is_aligned, outputs, farthest
        )

    def _bytes_of_parts(self, sizes: Sizes) -> tuple[int, ...]:
        if not self.kernel.folds or sizes.parts == 1:
            return ()
        count = sizes.parts * prod(self.kept)
        return tuple([count * self._bytes_of_part(i) for i in range(len(self.kernel.folds))])

    def _bytes_of_part(self, i: int) -> int:
        fold = self.kernel.folds[i]
        dtype = self.kernel.dtype(fold.value)
        size = DType.of(dtype).itemsize
        return 2 * size if fold.function in _EXTREMES else _WIDENED.get(dtype, size)

    def bytes_moved(self) -> int:
        """Return bytes that are read and written, if every operand is as large as the region."""
        whole = [DType.of(self.kernel.dtype(v)).itemsize for v in self._moved()]
        whole += [DType.of(read.dtype).itemsize for read in self.kernel.reads]
        kept = [DType.of(self.kernel.dtype(f.value)).itemsize for f in self.kernel.folds]
        return sum(whole) * prod(self.shape) + sum(kept) * prod(self.kept)


def walkable(operands: Sequence[Any]) -> tuple[Any, ...]:
    """Return arrays whose strides are whole elements."""
    return tuple([x if all(s % x.itemsize == 0 for s in x.strides) else x.copy() for x in operands])


def _reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return a bound of all offsets in an array, of either sign."""
    return sum([abs(s) * max(n - 1, 0) for n, s in zip(shape, strides, strict=True)])
