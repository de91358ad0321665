"""Kernels on the CPU: their text, `cuda_on_cpu.h`, and the C++ compiler of the machine."""

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np

from tenferro_cupy.kernels.source import header

HERE = Path(__file__).parent
COMPILER = shutil.which("g++")
_FLAGS = ("-std=c++17", "-O1", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing", "-w")
_SIGNATURE = re.compile(
    r'extern "C" (?:__launch_bounds__\(\d+\) )?__global__ void (\w+)\((.*)\) \{'
)


@functools.cache
def folder():
    """A folder with the headers, compiled once per process."""
    path = Path(tempfile.mkdtemp(prefix="tenferro-on-cpu-"))
    text = '#include "cuda_on_cpu.h"\nnamespace tenferro {\n' + header() + "}\n"
    (path / "all.h").write_text(text)
    shutil.copy(HERE / "cuda_on_cpu.h", path)
    _compile(path, "-x", "c++-header", "all.h", "-o", "all.h.gch")
    return path


def _compile(path, *arguments):
    done = subprocess.run([COMPILER, *_FLAGS, *arguments], cwd=path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]


_KNOWN = {}  # functions by name, which follows from the text


def compiled(bodies):
    """Functions by name of kernels, compiled together; `bodies` are texts without headers."""
    found = {_SIGNATURE.search(body).group(1): body for body in bodies}
    new = [body for name, body in found.items() if name not in _KNOWN]
    if new:
        _KNOWN.update(_library("".join(new)))
    return {name: _KNOWN[name] for name in found}


def _library(text):
    path, name = folder(), sha256(text.encode()).hexdigest()[:24]
    thunks = [_thunk(*match) for match in _SIGNATURE.findall(text)]
    program = '#include "all.h"\nnamespace tenferro {\n' + text + "\n".join(thunks) + "}\n"
    (path / f"{name}.cc").write_text(program)
    _compile(path, "-shared", f"{name}.cc", "-o", f"{name}.so")
    library = ctypes.CDLL(str(path / f"{name}.so"))
    return {
        kernel: Function(getattr(library, f"{kernel}_run"), _types(parameters))
        for kernel, parameters in _SIGNATURE.findall(text)
    }


def _types(parameters):
    return [text.rpartition(" ")[0] for text in parameters.split(", ")]


def _thunk(name, parameters):
    """Two functions: one calls the kernel as a thread, the other launches all threads."""
    given = ", ".join(
        f"*({t.replace('const ', '')}*)on_cpu::arguments[{i}]"
        for i, t in enumerate(_types(parameters))
    )
    meets = "false" if "_map_" in name or "_elements_" in name else "true"
    return (
        f"static void {name}_once() {{ {name}({given}); }}\n"
        f'extern "C" void {name}_run(void** a, unsigned x, unsigned y, unsigned threads) {{\n'
        f"  on_cpu::launch({{x, y}}, {{threads}}, {meets}, {name}_once, a);\n}}\n"
    )


class Function:
    """A kernel that takes what CuPy's functions take: a grid, a block, and arguments."""

    def __init__(self, run, types):
        self._run, self._types = run, types

    def __call__(self, grid, block, arguments):
        assert len(arguments) == len(self._types), (len(arguments), self._types)
        kept = [_bytes(x, t) for x, t in zip(arguments, self._types, strict=True)]
        pointers = (ctypes.c_void_p * len(kept))(*[k.ctypes.data for k in kept])
        self._run(pointers, grid[0], (*grid, 1)[1], block[0])


def _bytes(argument, declared):
    """The bytes of an argument as CUDA takes them, after a check of its type."""
    if "*" in declared:
        null = isinstance(argument, np.generic)
        return np.array([argument if null else argument.data.ptr], "uint64")
    assert isinstance(argument, np.generic), f"{argument!r} has no width"
    widths = {"bool": 1, "c64": 8, "c128": 16, "bf16": 2, "int": 4}
    width = widths.get(declared) or int(declared[1:]) // 8
    assert argument.dtype.itemsize == width, f"{argument!r} for {declared}"
    return np.array([argument])
