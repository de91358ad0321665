"""Operations in kernels of their own, compiled together for the CPU, as functions of arrays."""

from inspect import signature

import kernel_cases as cases
import numpy as np
from on_cpu import compiler
from test_kernels_on_cpu import Address, aligned

from tenferro.primitives import Aval
from tenferro_cupy.kernels.layout import layout_of
from tenferro_cupy.kernels.source import body_text, kernel_name


def functions_of(operations, dtype):
    """From {name: operation} make {name: function of arrays of this dtype}."""
    found = {name: _kernel(operation, dtype) for name, operation in operations.items()}
    compiled = compiler.compiled([body_text(*pair) for pair in found.values()])
    return {name: _function(compiled[kernel_name(*pair)], pair[0]) for name, pair in found.items()}


def _kernel(operation, dtype):
    count = len(signature(operation.abstract_eval).parameters)
    operands = (Aval((5,), dtype),) * count
    kernel = cases.kernel_of(operation, operands, operation.abstract_eval(*operands))
    return kernel, layout_of((5,), None, [(1,)] * count, 16, True, 1)[0]


def _function(launch, kernel):
    def function(*arrays):
        given = [aligned(x) for x in arrays]
        out = aligned(np.zeros(given[0].shape, kernel.dtype(kernel.outputs[0])))
        launch((1, 1), (64,), [*map(Address, [*given, out]), np.int32(out.size)])
        return out

    return function
