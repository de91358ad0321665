"""`cupy.cuda.cublas` and `cupy.cuda.cusolver` on the host: LAPACK on memory that addresses name.

Parameters are those of CuPy's Cython functions. Matrices are stored column by column, pivots count
from 1, and a status says what LAPACK said: nothing is raised.
"""

import ctypes
from functools import partial
from math import prod

import numpy as np

DTYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
BLAS_HANDLE, SOLVER_HANDLE = 11, 12


def memory(address, shape, dtype):
    """The array at an address of the host."""
    size = prod(shape) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)


def _lapack(name, dtype):
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs((name,), dtype=np.dtype(dtype))[0]


def getrf(dtype, m, n, address, pivots, status):
    matrix = memory(address, (n, m), dtype).T
    matrix[...], found, info = _lapack("getrf", dtype)(matrix)
    memory(pivots, (min(m, n),), "int32")[...] = found + 1
    memory(status, (1,), "int32")[...] = info


def potrf(dtype, n, address, status):
    matrix = memory(address, (n, n), dtype).T
    matrix[...], info = _lapack("potrf", dtype)(matrix, lower=0, clean=0)
    memory(status, (1,), "int32")[...] = info


def _getrf(dtype, m, n, address, lda, space, pivots, status):
    assert lda == m
    getrf(dtype, m, n, address, pivots, status)


def _getrf_batched(dtype, n, addresses, lda, pivots, statuses, count):
    assert lda == n
    for k, address in enumerate(memory(addresses, (count,), "uint64")):
        getrf(dtype, n, n, int(address), pivots + 4 * k * n, statuses + 4 * k)


def _potrf(dtype, uplo, n, address, lda, space, size, status):
    assert (uplo, lda, size) == (1, n, n * n)
    potrf(dtype, n, address, status)


def _potrf_batched(dtype, uplo, n, addresses, lda, statuses, count):
    assert (uplo, lda) == (1, n)
    for k, address in enumerate(memory(addresses, (count,), "uint64")):
        potrf(dtype, n, int(address), statuses + 4 * k)


class _Library:
    """Functions by name, a letter for the dtype in front; each call counts as a launch."""

    CUBLAS_FILL_MODE_UPPER = 1

    def __init__(self, module, handle, functions):
        self._module, self._handle, self._functions = module, handle, functions

    def __getattr__(self, name):
        function = self._functions.get(name[1:])
        if name[0] not in DTYPES or function is None:
            raise AttributeError(f"the library (as far as we use it) has no {name!r}")
        return partial(self._call, name, function, DTYPES[name[0]])

    def _call(self, name, function, dtype, handle, *arguments):
        assert handle == self._handle, f"{name} takes the handle of its own library"
        if name.endswith("_bufferSize"):
            return function(*arguments)

        def again():
            function(dtype, *arguments)
            return []

        again()
        self._module.launch(name, [], [], again)
        return None


def cublas(module):
    """`cupy.cuda.cublas`."""
    return _Library(module, BLAS_HANDLE, {"getrfBatched": _getrf_batched})


def cusolver(module):
    """`cupy.cuda.cusolver`."""
    functions = {
        "getrf_bufferSize": lambda m, n, address, lda: m * n,
        "getrf": _getrf,
        "potrf_bufferSize": lambda uplo, n, address, lda: n * n,
        "potrf": _potrf,
        "potrfBatched": _potrf_batched,
    }
    return _Library(module, SOLVER_HANDLE, functions)


class CupyxCusolver:
    """`cupyx.cusolver`, of the version that CuPy was built with or an older one."""

    def __init__(self, version=11700):
        self._version = version

    def check_availability(self, name):
        return self._version >= {"geev": 11700}[name]
