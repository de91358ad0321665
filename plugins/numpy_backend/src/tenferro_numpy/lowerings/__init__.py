"""NumPy's lowerings of the standard set, one module per family.

Each module may `register` lowerings that replace those of `numpy_like`, and lists `EXPRESSIONS`:
how an instruction is written when its avals are known, so that it costs the call of the ufunc and
no wrapper. Those of one ufunc are in a table, `ufuncs.py`. An expression is used only where the
table of the backend gives the lowering registered here; somebody else's lowering of higher priority
is called as the contract says. A module loads when one of its primitives is met first.
Loops, branches and checkpoints have no module here: `../loops/` plans and writes them with the
equations of their bodies. Read next: `ufuncs.py`.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.backend import numpy_like
from tenferro.backend.lowering import Lowering, Lowerings, Promised, load_target
from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression, Function, Scalar, Specialize, called
from tenferro_numpy.lowerings.ufuncs import ufunc_expression

__all__ = ["expression", "is_own", "is_promised_here", "lowerings", "own_expression"]

# the primitives whose lowerings each module replaces, or completes
# generated: lowered primitives
_OWN = {
    "arithmetic": "div pow",
    "bitwise": "shift_left shift_right",
    "cumulative": "cumlogsumexp cummax cummin",
    "fft": "fft irfft rfft",
    "indexing": "dynamic_slice dynamic_update_slice scatter scatter_add",
    "linalg": (
        "banded_solve cholesky cholesky_cotangent cholesky_tangent det eig eigh eigvals eigvalsh "
        "gauge_check large_adjugate linear_solve lu matrix_function pivoted_qr schur "
        "sparse_product sparse_solve svd svdvals system_factors system_slogdet system_solve "
        "triangular_solve triangular_sylvester"
    ),
    "random": "random_bits",
    "rounding": "rem",
    "scattering": "scatter_max scatter_min scatter_mul",
    "sorting": "searchsorted",
    "special": (
        "bessel_i bessel_ie beta_density betainc betainc_derivative betaincc betaln digamma erf "
        "erfc erfcinv erfcx erfinv exprel gamma gamma_density gammainc gammainc_derivative "
        "gammaincc lgamma log_ndtr ndtr ndtri polygamma polygamma_difference zeta"
    ),
}
# end generated
_EXPRESSIONS = {  # the module with the expressions of a family of primitives
    "arithmetic": "arithmetic",
    "comparison": "selection",
    "complex": "complex",
    "contraction": "contraction",
    "cumulative": "cumulative",
    "elementwise": "elementwise",
    "fourier": "fft",
    "gammas": "special",
    "indexing": "indexing",
    "linalg.linear_solve": "linalg.lu",
    "linalg.lu": "linalg.lu",
    "linalg.triangular_solve": "linalg.triangular_solve",
    "normal": "special",
    "reduction": "reduction",
    "rounding": "rounding",
    "scattering": "scattering",
    "sorting": "sorting",
    "special": "special",
    "structural": "structural",
}


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name}")


def _register(name: str, own: Lowerings) -> None:
    _module(name).register(own)


@cache
def lowerings() -> tuple[Lowering, ...]:
    """Return the lowerings of the standard set: `numpy_like`, with this package's replacements."""
    own = numpy_like.promised(_OWN, _register)
    draws = partial(_register, "random")
    own.later(["std::random_log_gamma"], draws, dtypes=("uint32", "float32", "float64"))
    own.later(["std::gamma_moment"], draws, dtypes=("float32", "float64"))
    replaced = {record.primitive for record in own}
    shared = numpy_like.lowerings(np)
    return (*(record for record in shared if record.primitive not in replaced), *own)


@cache
def _by_key() -> dict[str, Lowering]:
    """Return the lowerings by the keys of their primitives, the first of each."""
    return {record.primitive: record for record in reversed(lowerings())}


@cache
def _own_function(key: str) -> Any:
    found = _by_key().get(key)
    return None if found is None else load_target(found, "numpy")


@cache
def _expressions(module: str) -> dict[type, Specialize]:
    """Return the functions that write instructions of a module's primitives."""
    name = _EXPRESSIONS.get(module.removeprefix("tenferro.primitives."))
    found: dict[type, Specialize] = {} if name is None else _module(name).EXPRESSIONS
    return found


@cache
def _scalar_form() -> Any:
    return import_module("tenferro_numpy.python_scalars").scalar_form


def is_own(op: Any, function: Function) -> bool:
    """Return whether the table chose the lowering that is registered here."""
    return getattr(function, "func", function) is _own_function(op.key)


def is_promised_here(op: Any, promise: Promised | None) -> bool:
    """Return whether the table chose a lowering that is registered here and loads when used."""
    own = _by_key().get(op.key)
    return promise is not None and own is not None and own.target is promise


def own_expression(
    op: Any, avals: tuple[Aval, ...], result: Aval, promise: Promised | None
) -> Expression | None:
    """Write an instruction whose lowering, promised by the table, is registered here.

    The lowering loads if the expression calls it. `None` if no expression is listed.
    """
    if promise is None or not is_promised_here(op, promise):
        return None
    return _written(op, avals, result, promise)


def expression(op: Any, avals: tuple[Aval, ...], result: Aval, function: Function) -> Expression:
    """Write an instruction, given the lowering that the table chose for it."""
    found = _written(op, avals, result, function) if is_own(op, function) else None
    return found or called(op, len(avals), function, shares=True, foreign=True)


def _written(
    op: Any, avals: tuple[Aval, ...], result: Aval, function: Function
) -> Expression | None:
    """Write an instruction, and how it runs on Python's numbers if it can.

    `None` if no expression is listed.
    """
    found = ufunc_expression(op, result)
    if found is None:
        specialize = _expressions(type(op).__module__).get(type(op))
        if specialize is None:
            return None
        found = _specialized(specialize, op, avals, result, function)
    if result.shape:
        return found
    scalar: Scalar | None = _scalar_form()(op, avals, result)
    return found if scalar is None else found._replace(scalar=scalar)


@lru_cache(maxsize=2048)  # a function and its derivatives share most of their instructions
def _specialized(
    specialize: Specialize, op: Any, avals: tuple[Aval, ...], result: Aval, function: Function
) -> Expression:
    return specialize(op, avals, result, function)
