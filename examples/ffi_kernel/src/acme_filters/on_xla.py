"""The lowering for XLA: a call of the kernel. Imported when a program is compiled that needs it."""

from __future__ import annotations

import ctypes

import jax

from acme_filters.build import LIBRARY
from acme_filters.recursion import Recursion

TARGETS = {"float32": "RecursionF32", "float64": "RecursionF64"}

if not LIBRARY.exists():
    raise ImportError(f"{LIBRARY} is missing: run `python -m acme_filters.build`")
_library = ctypes.CDLL(str(LIBRARY))
for _name in TARGETS.values():
    jax.ffi.register_ffi_target(_name, jax.ffi.pycapsule(getattr(_library, _name)), platform="cpu")


def recursion(op: Recursion, a: jax.Array, x: jax.Array) -> jax.Array:
    """Call the kernel; XLA sees one operation of known shape."""
    call = jax.ffi.ffi_call(TARGETS[x.dtype.name], jax.ShapeDtypeStruct(x.shape, x.dtype))
    return call(a, x, reverse=op.reverse)
