"""NVIDIA's runtime compiler, which needs no device: `pip install nvidia-cuda-nvrtc`."""

import ctypes
import functools
import importlib.util
from pathlib import Path

from tenferro_cupy.kernels.modules import OPTIONS


@functools.cache
def library():
    """The compiler of the newest CUDA that is installed as a wheel; None without one."""
    found = importlib.util.find_spec("nvidia")
    places = [] if found is None else found.submodule_search_locations
    files = [file for place in places for file in Path(place).glob("*/lib/libnvrtc.so.1*")]
    return ctypes.CDLL(str(sorted(files)[-1])) if files else None


def cubin(source, architecture):
    """The code of a program for one architecture, such as sm_90."""
    nvrtc, program = library(), ctypes.c_void_p()
    options = [f"--gpu-architecture={architecture}".encode(), *[o.encode() for o in OPTIONS]]
    _ok(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None))
    try:
        given = (ctypes.c_char_p * len(options))(*options)
        result = nvrtc.nvrtcCompileProgram(program, len(options), given)
        assert result == 0, _text(program, "ProgramLog").decode()[:4000]
        return _text(program, "CUBIN")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(program, what):
    size = ctypes.c_size_t()
    _ok(getattr(library(), f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    made = ctypes.create_string_buffer(size.value)
    _ok(getattr(library(), f"nvrtcGet{what}")(program, made))
    return made.raw


def _ok(result):
    assert result == 0, f"nvrtcResult {result}"
