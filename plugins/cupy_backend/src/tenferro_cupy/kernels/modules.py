"""Compiled kernels of one process: looked up by structure, then on disk, then compiled.

Kernels compile without contraction of products and sums into one rounding, so a region rounds
where the operations alone would. Read next: ``disk.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from tenferro_cupy.kernels.disk import CubinCache
from tenferro_cupy.kernels.kernel import Kernel
from tenferro_cupy.kernels.layout import Layout
from tenferro_cupy.kernels.source import body_text, kernel_name, translation_unit

__all__ = ["OPTIONS", "Modules"]

OPTIONS = ("--std=c++17", "--fmad=false")
_MAX_BLOCKS_WITH_PARTS = 1024


class Modules:
    """Functions of kernels on the devices of one CuPy, compiled once per structure and device."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.null = np.uint64(0)
        self.disk = CubinCache.of_environment()
        self._functions: dict[tuple[Any, ...], Any] = {}
        self._counters: dict[tuple[int, int], Any] = {}
        self._lock = Lock()

    def function(self, kernel: Kernel, layout: Layout) -> Any:
        """Return the function of a kernel on the current device."""
        return self.loaded(
            (kernel, layout), lambda: (kernel_name(kernel, layout), body_text(kernel, layout))
        )

    def loaded(self, structure: Hashable, text: Callable[[], tuple[str, str]]) -> Any:
        """Return the function on the current device that a structure stands for.

        ``text`` gives its name and its text, without the headers.
        """
        key = (structure, self.cupy.cuda.Device().id)
        found = self._functions.get(key)
        if found is None:
            with self._lock:
                found = self._functions.get(key)
                if found is None:
                    found = self._functions[key] = self._load(*text())
        return found

    def _load(self, name: str, body: str) -> Any:
        source = translation_unit(body)
        path = self.disk.find(source, self._architecture(), self._compiled)
        if path is None:
            module = self.cupy.RawModule(code=source, options=OPTIONS, backend="nvrtc")
        else:
            module = self.cupy.RawModule(path=str(path))
        return module.get_function(name)

    def _architecture(self) -> str:
        return f"sm_{self.cupy.cuda.Device().compute_capability}"

    def _compiled(self, source: str, architecture: str) -> bytes:
        """Compile for one architecture, with the runtime compiler that CuPy brings."""
        nvrtc = self.cupy.cuda.nvrtc
        program = nvrtc.createProgram(source, "tenferro.cu", (), ())
        try:
            nvrtc.compileProgram(program, (f"--gpu-architecture={architecture}", *OPTIONS))
            image: bytes = nvrtc.getCUBIN(program)
            return image
        except nvrtc.NVRTCError as error:
            error.add_note(nvrtc.getProgramLog(program))
            raise
        finally:
            nvrtc.destroyProgram(program)

    def integers(self, values: Sequence[int], index: str) -> tuple[Any, ...]:
        """Return integers as arguments of a kernel whose index has this type."""
        made = np.int64 if index == "i64" else np.int32
        return tuple([made(value) for value in values])

    def counters(self) -> Any:
        """Return counters of finished blocks; each kernel leaves them zero.

        Kernels on one stream run one after the other, so a stream needs one set.
        """
        stream = self.cupy.cuda.get_current_stream()
        key = (self.cupy.cuda.Device().id, stream.ptr)
        found = self._counters.get(key)
        if found is None:
            found = self.cupy.zeros((_MAX_BLOCKS_WITH_PARTS,), "uint32")
            self._counters[key] = found
        return found
