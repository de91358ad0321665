"""Conversion of operands, in one place.

A jax array is used as it is. Anything of the host becomes a NumPy array of exactly the wanted dtype
and byte order, because a compiled call reads memory as it finds it. Scalars take the dtype that is
wanted if their kind allows it; arrays are never cast. Read next: ``_executable.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tenferro.computegraph import OperandError
from tenferro.primitives import Aval, DType
from tenferro_xla._jax import Tracer

NumpyArray = npt.NDArray[Any]
_dtypes: dict[DType, np.dtype[Any]] = {}
_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """NumPy's object for a dtype; jax brings the one for bfloat16."""
    found = _dtypes.get(dtype)
    if found is None:
        found = _dtypes[dtype] = np.dtype(dtype.name)
    return found


def host_array(value: Any, aval: Aval, name: str = "") -> NumpyArray:
    """A NumPy array for a value of the host, native and of the dtype of the aval.

    Raises OperandError: if the shape or the dtype does not fit, naming the input.
    """
    if isinstance(value, Tracer):
        raise refusal(value, aval, name, "jax is tracing it; call this outside of jax.jit")
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return _of_scalar(value, aval, name)
    array, dtype = np.asarray(value), numpy_dtype(aval.dtype)
    if array.shape != aval.shape or array.dtype.newbyteorder("=") != dtype:
        raise refusal(array, aval, name)
    return array.astype(dtype, copy=False)


def _of_scalar(value: Any, aval: Aval, name: str) -> NumpyArray:
    """Return a scalar in the dtype of the aval, if that is of its kind or of a wider one."""
    got, dtype = np.asarray(value).dtype.kind, numpy_dtype(aval.dtype)
    if aval.shape != () or _RANK.get(got, 0) > _RANK.get(dtype.kind, 3):
        raise refusal(value, aval, name)
    try:
        return np.asarray(value, dtype)
    except OverflowError:
        raise refusal(value, aval, name) from None


def refusal(value: Any, aval: Aval, name: str, hint: str = "") -> OperandError:
    """Make the error about an operand that does not fit."""
    got = _described(value)
    of = f" for {name}" if name else ""
    message = f"xla: the operand{of} does not fit\n  got        {got}\n  need       {aval}"
    if hint:
        message += f"\n  hint       {hint}"
    return OperandError(message, input=name, got=got, need=str(aval))


def _described(value: Any) -> str:
    """``float64[2,3]`` of an array, the type and value of anything else."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is None or shape is None:
        return f"{value!r} of type {type(value).__name__}"
    return f"{dtype}[{','.join(map(str, shape))}]"


def fits(value: Any, aval: Aval) -> bool:
    """Return True if an array is of the aval."""
    return bool(value.shape == aval.shape and value.dtype == numpy_dtype(aval.dtype))
