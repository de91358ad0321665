"""A backend for pymanopt: costs written in NumPy, with gradients and Hessians of tenferro.

Gradients of complex arguments have one convention in both libraries, so nothing is conjugated.
Read next: ``run.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pymanopt.autodiff import backend_decorator_factory
from pymanopt.autodiff.backends._backend import Backend

import tenferro as tn

Function = Callable[..., Any]


class TenferroBackend(Backend):
    def __init__(self) -> None:
        super().__init__("tenferro")

    @staticmethod
    def is_available() -> bool:
        return True

    def prepare_function(self, function: Function) -> Function:
        return function

    def generate_gradient_operator(self, function: Function, num_arguments: int) -> Function:
        return single(tn.jit(of_all(function, num_arguments)), num_arguments)

    def generate_hessian_operator(self, function: Function, num_arguments: int) -> Function:
        gradient = of_all(function, num_arguments)

        def product(*given: Any) -> Any:
            points, vectors = given[:num_arguments], given[num_arguments:]
            return tn.jvp(gradient, points, vectors)[1]

        return single(tn.jit(product), num_arguments)


def of_all(function: Function, count: int) -> Function:
    """Return the gradient by every argument, as a tuple."""
    return tn.grad(function, tuple(range(count)))


def single(function: Function, count: int) -> Function:
    """Return a function of several results, or the only result of it."""
    return function if count > 1 else lambda *args: function(*args)[0]


tenferro = backend_decorator_factory(TenferroBackend)
