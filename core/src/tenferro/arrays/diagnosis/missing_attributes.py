"""Attributes of NumPy's arrays that Arrays do not have, and what to write instead.

The error is an AttributeError, so that ``hasattr`` says no.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import UnsupportedAttributeError
from tenferro.primitives._source import caller, source_text

_NO_MEMORY = "an Array has no memory layout; `np.asarray(x)` is an ndarray, a copy, that has one"
_BYTES = "`np.asarray(x)` is an ndarray, a copy, whose bytes can be looked at"
_FILES = "an Array can be pickled; `np.asarray(x)` has NumPy's ways to write files"
_FUNCTIONS = ("abs", "cos", "exp", "log", "matmul", "sin", "sqrt", "tanh")  # methods in PyTorch
INSTEAD = {
    **{name: f"write `np.{name}(x)`" for name in _FUNCTIONS},
    **dict.fromkeys(("strides", "flags", "data", "ctypes", "setflags"), _NO_MEMORY),
    **dict.fromkeys(("byteswap", "newbyteorder", "getfield", "setfield"), _BYTES),
    **dict.fromkeys(("tofile", "dump", "dumps"), _FILES),
    "view": "an Array shares no memory: `x.copy()` is another handle, `x.astype(dtype)` converts",
    "itemset": "write `x[i] = value`",
    "resize": "write `x = np.resize(x, shape)`: an Array does not change its shape in place",
    "tostring": "write `x.tobytes()`",
    "numpy": "write `np.asarray(x)`",
    "to_numpy": "write `np.asarray(x)`",
    "values": "leave out `.values`: functions of NumPy take the Array itself",
    "append": "make a list, `xs.append(x)`, and then `np.stack(xs)`",
    "norm": "write `np.linalg.norm(x)`",
    "permute": "write `x.transpose(axes)`",
    "unsqueeze": "write `np.expand_dims(x, axis)`",
    "detach": "write `tenferro.stop_gradient(x)`",
    "grad": "write `tenferro.grad(f)(x)`: derivatives belong to functions, not to arrays",
    "backward": "write `tenferro.grad(f)(x)`: derivatives belong to functions, not to arrays",
    "requires_grad": "write `tenferro.grad(f)(x)`: derivatives belong to functions, not to arrays",
    "requires_grad_": "write `tenferro.grad(f)(x)`: derivatives belong to functions, not to arrays",
    "to": "write `x.astype(dtype)`, or `x.to_device(device)`",
    "cpu": "write `np.asarray(x)`",
    "cuda": 'name a backend: `with tenferro.use("cupy"):`',
    "block_until_ready": "write `x.evaluate()`",
}


class MissingAttribute:
    """An attribute that no Array has: to read it raises the error with what to write instead.

    A method ``__getattr__`` could raise it too, but with one CPython reads all attributes of the
    class four times as slowly.
    """

    __slots__ = ("_instead", "_name")

    def __init__(self, name: str, instead: str) -> None:
        self._name = name
        self._instead = instead

    def __get__(self, x: Any, cls: type) -> Any:
        raise _missing(self._name, self._instead)

    def __repr__(self) -> str:
        return f"<no attribute {self._name!r}: {self._instead}>"


def _missing(name: str, instead: str) -> AttributeError:
    """Make the error about a missing attribute."""
    return UnsupportedAttributeError(
        f"an Array has no attribute {name!r}\n"
        f"  from       {source_text(caller())}\n"
        f"  hint       {instead}",
        attribute=name,
        instead=instead,
    )
