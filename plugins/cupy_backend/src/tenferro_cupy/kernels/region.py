"""A region ready to run: its kernel, shape and constants; a call launches one kernel.

How threads go over the elements depends on the strides of the operands, so it is chosen at the
first call with each combination of strides. Nothing waits for the device. Read next:
``modules.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import DType
from tenferro_cupy.kernels.kernel import Kernel
from tenferro_cupy.kernels.layout import BLOCK, Layout, Sizes, layout_of
from tenferro_cupy.kernels.modules import Modules

__all__ = ["Region"]

#: bytes of the part of one element, where they are not those of the dtype
_WIDENED = {"float16": 4, "bfloat16": 4}
_EXTREMES = ("largest", "smallest")
_ALIGNMENT = 16


class _Launch(NamedTuple):
    function: Any
    grid: tuple[int, int]
    integers: tuple[Any, ...]
    parts: tuple[int, ...]  # bytes of the partial results of each fold; none if one block does it


class Region:
    """One kernel over arrays of one shape.

    shape       of every operand and output
    axes        that all reductions run over; None without reductions
    constants   NumPy scalars that are passed by value
    """

    def __init__(
        self,
        modules: Modules,
        kernel: Kernel,
        shape: tuple[int, ...],
        axes: tuple[int, ...] | None,
        constants: Sequence[Any],
    ) -> None:
        self.modules = modules
        self.kernel = kernel
        self.shape = shape
        self.axes = axes
        self.constants = tuple(constants)
        self.kept = tuple([n for i, n in enumerate(shape) if axes is None or i not in axes])
        self._widest = max(DType.of(kernel.dtype(v)).itemsize for v in self._moved())
        self._launches: dict[tuple[Any, ...], _Launch] = {}

    def _moved(self) -> list[int]:
        """Return the values that are read from memory or written to it; one, if there is none."""
        return [*range(len(self.kernel.operands)), *self.kernel.outputs] or [
            self.kernel.folds[0].value
        ]

    def __call__(self, *operands: Any) -> list[Any]:
        """Launch on the current stream; return the outputs, then the results of reductions."""
        cupy = self.modules.cupy
        operands = tuple([self._walkable(x) for x in operands])
        outputs = [cupy.empty(self.shape, self.kernel.dtype(v)) for v in self.kernel.outputs]
        results = [cupy.empty(self.kept, self.kernel.dtype(f.value)) for f in self.kernel.folds]
        if prod(self.kept) == 0 or (self.axes is None and prod(self.shape) == 0):
            return [*outputs, *results]
        launch = self._launch(operands)
        arguments = [*operands, *self.constants, *outputs, *results]
        if self.kernel.folds:
            arguments += self._partial_results(launch)
        launch.function(launch.grid, (BLOCK,), (*arguments, *launch.integers))
        return [*outputs, *results]

    def _walkable(self, x: Any) -> Any:
        """Return an array whose strides are whole elements."""
        return x if all(s % x.itemsize == 0 for s in x.strides) else x.copy()

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
        layout, sizes = self.layout(
            [tuple([s // x.itemsize for s in x.strides]) for x in operands], is_aligned
        )
        function = self.modules.function(self.kernel, layout)
        integers = self.modules.integers(sizes.arguments, layout.integer)
        return _Launch(function, sizes.grid, integers, self._bytes_of_parts(sizes))

    def layout(
        self, strides: Sequence[tuple[int, ...]], is_aligned: bool = True
    ) -> tuple[Layout, Sizes]:
        """Return how threads go over operands with these strides."""
        outputs = len(self.kernel.outputs)
        return layout_of(self.shape, self.axes, strides, self._widest, is_aligned, outputs)

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
        kept = [DType.of(self.kernel.dtype(f.value)).itemsize for f in self.kernel.folds]
        return sum(whole) * prod(self.shape) + sum(kept) * prod(self.kept)
