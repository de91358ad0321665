"""What a type checker knows of transformed functions; ``mypy tests/typing`` checks it.

``jit`` keeps the parameters and the result of a function, derivatives keep its parameters. A line
that a checker must refuse has ``type: ignore`` with the code of the error; mypy reports the comment
if the error does not occur.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_type

import tenferro as tn
from tenferro.transforms import LinearMap


def power(x: float, n: int = 2) -> float:
    return float(x**n)


def power_and_name(x: float) -> tuple[float, str]:
    return x * x, "square"


class Model:
    """A jitted method takes the arguments after ``self``."""

    @tn.jit
    def square(self, x: float) -> float:
        return x * x

    @tn.jit(static_argnames="n")
    def power(self, x: float, n: int) -> float:
        return float(x**n)


if TYPE_CHECKING:  # jit keeps parameters and the result
    assert_type(tn.jit(power)(3.0, n=3), float)
    assert_type(tn.jit(static_argnums=1)(power)(3.0, 3), float)
    assert_type(Model().square(3.0), float)
    assert_type(Model().power(3.0, n=2), float)
    tn.jit(power).clear_cache()
    tn.jit(power)("3")  # type: ignore[arg-type]
    tn.jit(power)(3.0, m=3)  # type: ignore[call-arg]
    Model().power(3.0)  # type: ignore[call-arg]
    tn.jit(power, static=1)  # type: ignore[call-overload]

if TYPE_CHECKING:  # derivatives keep parameters
    assert_type(tn.grad(power)(3.0, n=3), Any)
    assert_type(tn.value_and_grad(power)(3.0), tuple[float, Any])
    assert_type(tn.value_and_grad(power_and_name, has_aux=True)(3.0), tuple[tuple[float, str], Any])
    assert_type(tn.jit(tn.grad(power))(3.0, n=3), Any)
    tn.grad(power)()  # type: ignore[call-arg]
    tn.hessian(power)(3.0, m=3)  # type: ignore[call-arg]
    tn.jacobian(power)("3")  # type: ignore[arg-type]
    tn.jacfwd(power)("3")  # type: ignore[arg-type]
    tn.jacrev(power)("3")  # type: ignore[arg-type]

if TYPE_CHECKING:  # values keep their type
    assert_type(tn.jvp(power, (3.0,), (1.0,)), tuple[float, float])
    assert_type(tn.jvp(power_and_name, (3.0,), (1.0,), has_aux=True), tuple[float, float, str])
    assert_type(tn.vjp(power, 3.0), tuple[float, Callable[..., Any]])
    assert_type(tn.vjp(power_and_name, 3.0, has_aux=True), tuple[float, Callable[..., Any], str])
    assert_type(tn.linearize(power, 3.0), tuple[float, LinearMap])
    assert_type(tn.linearize(power_and_name, 3.0, has_aux=True), tuple[float, LinearMap, str])
