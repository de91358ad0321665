"""Functions of Hermitian matrices, V g(w) Vᴴ, right at equal eigenvalues at every order.

The k-th derivative along E₁ … E_k is a sum over products of the directions in the basis of
eigenvectors, weighted by divided differences g[w_i, …, w_j]. Those exist where values are equal.
Eigenvectors are never differentiated. Read next: ``../linalg.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from math import factorial
from typing import Any

from tenferro.arrays import Array, as_array, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.broadcasting import broadcast_to
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import adjoint, conj, real
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.creation import ones, zeros
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.einsum import einsum
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.linalg.decomposing import from_lower
from tenferro.arrays.functions.reduction import sum
from tenferro.arrays.functions.sorting import sort
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.promotion.broadcast import cast, double_if_exact
from tenferro.primitives import InvalidParameterError, ShapeMismatchError, TensorPrimitive
from tenferro.primitives.linalg import eigh as eigh_primitives
from tenferro.transforms.custom_rules.jvp import custom_jvp
from tenferro.transforms.custom_rules.linear import custom_linear
from tenferro.transforms.derivatives.jvp import jvp
from tenferro.transforms.errors import check_function

_AXES = "abcdefghijklm"
#: Gauss-Legendre on [0, 1] with 2, 3 and 5 points: node, weight.
_GAUSS = {
    2: ((0.21132486540518713, 0.5), (0.7886751345948129, 0.5)),
    3: ((0.1127016653792583, 5 / 18), (0.5, 8 / 18), (0.8872983346207417, 5 / 18)),
    5: (
        (0.046910077030668, 0.11846344252809454), (0.23076534494715845, 0.2393143352496832),
        (0.5, 0.28444444444444444), (0.7692346550528415, 0.2393143352496832),
        (0.9530899229693319, 0.11846344252809454),
    ),
}  # fmt: skip


def spectral_function(a: Any, g: Callable[..., Any], *args: Any) -> Array:
    """Apply a function to the eigenvalues of Hermitian matrices: V g(w) Vᴴ.

    Unlike the product written with ``eigh``, this has its derivatives of every order where
    eigenvalues are equal or nearly so.

    Parameters
    ----------
    a : array, [*b, n, n]
        Hermitian matrices; their lower triangle is read.
    g : callable
        ``g(w, *args)``, a smooth function of every element of a real array, of the same shape. It
        may be complex.
    *args : arrays
        Parameters of ``g`` that are differentiated. Values that ``g`` closes over must be constant.

    Returns
    -------
    array, [*b, n, n]

    Raises
    ------
    InvalidParameterError
        If ``g`` closes over a traced value, or returns another shape.

    Notes
    -----
    A derivative of order k has a table of nᵏ⁺¹ numbers. That by a parameter in reverse mode takes
    one more spectral function for each element of the parameter.

    Examples
    --------
    >>> import tenferro as tn
    >>> a = tn.asarray([[2.0, 0.0], [0.0, 2.0]])
    >>> def entry(a, k):
    ...     return tn.linalg.spectral_function(a, lambda w, k: k * tn.exp(w), k)[1, 0]
    >>> print(tn.grad(entry)(a, 1.0) / tn.exp(2.0))
    [[0. 0.]
     [1. 0.]]
    """
    check_function(g, "spectral_function")
    x = double_if_exact(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise at_user_line(ShapeMismatchError.of(
            "spectral_function", "the operand is not a square matrix", got=x.aval,
            need="[*batch, n, n]", shapes=(x.shape,),
        ))  # fmt: skip
    known = tuple([as_array(each) for each in args])
    _check(g, x, known)
    found: Array = _function(g, False, 0)(from_lower(x), (), known)
    return found


def _check(g: Callable[..., Any], x: Array, args: Sequence[Array]) -> None:
    """Refuse a function of another shape, or with parameters that it does not show."""
    w = ones(x.shape[:-1], dtype=x.dtype.real_dtype)
    y = as_array(g(w, *[ones(each.shape, dtype=each.dtype) for each in args]))
    got, need = "", ""
    if y.shape != w.shape:
        got, need = f"g: {w.aval} → {y.aval}", "a function of each element, of the same shape"
    elif is_traced(y.key):
        got, need = "g closes over a value that is traced", "spectral_function(a, g, value, …)"
    if got:
        raise at_user_line(InvalidParameterError.of(
            "spectral_function", "not a function of elements and arguments alone", got=got,
            need=need, parameter="g", value=g,
        ))  # fmt: skip


def _function(g: Callable[..., Any], is_conjugate: bool, order: int) -> custom_jvp:
    """Return the derivative of an order as a function of matrix, directions and parameters."""

    def value(a: Array, directions: Sequence[Array], args: Sequence[Array]) -> Array:
        return _along(g, is_conjugate, a, directions, args)

    def rule(primals: Any, tangents: Any) -> Any:
        (a, directions, args), (da, steps, dargs) = primals, tangents
        terms = []
        if _flows(da):
            terms.append(_linear(g, is_conjugate, order + 1)((a, directions, args), da))
        for i, step in enumerate(steps):
            if _flows(step):
                others = (*directions[:i], *directions[i + 1 :])
                terms.append(_linear(g, is_conjugate, order)((a, others, args), step))
        if any([_flows(each) for each in dargs]):
            terms.append(_in_args(g, is_conjugate, order)((a, directions, args), tuple(dargs)))
        y = made(a, directions, args)
        total = zeros(y.shape, dtype=y.dtype)
        for term in terms:
            total = total + term
        return y, total

    made = custom_jvp(value)
    made.defjvp(rule)
    return made


def _flows(tangent: Any) -> bool:
    return tangent is not None and not TensorPrimitive.space.is_zero(as_array(tangent).key)


def _linear(g: Callable[..., Any], is_conjugate: bool, order: int) -> custom_linear:
    """Return the derivative as a linear map of one direction; ⟨ct, L(E, …)⟩ = ⟨L̄(ct, …ᴴ), E⟩."""

    def apply(residuals: Any, e: Array) -> Array:
        a, others, args = residuals
        given = (*others, cast(e, _kind(a, e)))
        found: Array = _function(g, is_conjugate, order)(a, given, args)
        return found

    def transpose(residuals: Any, ct: Array) -> Array:
        a, others, args = residuals
        adjoints = tuple([adjoint(e) for e in others])
        found = _function(g, not is_conjugate, order)(a, (*adjoints, ct), args)
        return found if a.dtype.is_complex else real(found)

    return custom_linear(apply, transpose)


def _kind(a: Array, e: Array) -> Any:
    return e.dtype if e.dtype.is_complex else a.dtype


def _in_args(g: Callable[..., Any], is_conjugate: bool, order: int) -> custom_linear:
    """Return the derivative by the parameters, a linear map of their tangents."""

    def slope(w: Array, args: Any, dargs: Any) -> Any:
        return jvp(lambda *xs: g(w, *xs), tuple(args), tuple(dargs))[1]

    def apply(residuals: Any, dargs: Any) -> Array:
        a, directions, args = residuals
        count = len(args)
        flat = _function(lambda w, *xs: slope(w, xs[:count], xs[count:]), is_conjugate, order)
        found: Array = flat(a, directions, (*args, *dargs))
        return found

    def transpose(residuals: Any, ct: Array) -> Any:
        args = residuals[2]
        return tuple([_pulled(lambda d, i=i: apply(residuals, _only(args, i, d)), x, ct)  # type: ignore[misc]
                      for i, x in enumerate(args)])  # fmt: skip

    return custom_linear(apply, transpose)


def _only(args: Sequence[Array], place: int, d: Array) -> tuple[Array, ...]:
    return tuple([d if i == place else zeros(x.shape, dtype=x.dtype) for i, x in enumerate(args)])


def _pulled(push: Callable[[Array], Array], x: Array, ct: Array) -> Array:
    """Compute the cotangent of a parameter, element by element."""
    size = x.size
    found = []
    for i in range(size):
        basis = as_array([float(k == i) for k in range(size)]).astype(x.dtype).reshape(x.shape)
        each = sum(conj(push(basis)) * ct)
        found.append(each if x.dtype.is_complex else real(each))
    if not found:
        return zeros(x.shape, dtype=x.dtype)
    return cast(stack(found), x.dtype).reshape(x.shape)


# ---- values --------------------------------------------------------------------------------------


def _along(
    g: Callable[..., Any], is_conjugate: bool, a: Array, directions: Sequence[Array],
    args: Sequence[Array],
) -> Array:  # fmt: skip
    """Σ over orders of the directions, Σ over inner places of g[w_i, …, w_j] E_i· … E_·j."""
    w, v = eigh_primitives.eigh(stop_gradient(a), projectors_only=True)
    w, v = stop_gradient(w), stop_gradient(v)
    args = [stop_gradient(each) for each in args]  # `_derivative` would see through the rule
    order = len(directions)
    table = _divided(lambda x: as_array(g(x, *args)), w, order) if w.size else zeros(
        (*w.shape, *[w.shape[-1]] * order), dtype=w.dtype
    )  # fmt: skip
    table = conj(table) if is_conjugate else table
    vh = adjoint(v)
    if not order:
        return matmul(v * _like(table, v)[..., None, :], vh)
    inside = [matmul(matmul(vh, e), v) for e in directions]
    places = _AXES[: order + 1]
    words = ",".join(f"...{places[i : i + 2]}" for i in range(order))
    equation = f"...{places},{words}->...{places[0]}{places[-1]}"
    total: Any = None
    for ordered in permutations(inside):
        term = einsum(equation, _like(table, ordered[0]), *ordered)
        total = term if total is None else total + term
    return matmul(matmul(v, total), vh)


def _like(x: Array, y: Array) -> Array:
    return cast(x, y.dtype) if y.dtype.is_complex and not x.dtype.is_complex else x


def _divided(g: Callable[[Array], Array], w: Array, order: int) -> Array:
    """g[w_i, …, w_j] at every tuple of so many values and one more.

    Nodes are sorted. A quotient (g[x₁ … x_m] - g[x₀ … x_m₋₁])/(x_m - x₀) loses digits where its
    nodes are near, and an integral of the m-th derivative over their simplex where they are
    distant. The one with the smaller estimate of its error is taken.
    """
    n = w.shape[-1]
    shape = (*w.shape[:-1], *[n] * (order + 1))
    lead = w.ndim - 1
    nodes = []
    for i in range(order + 1):
        axes = [n if k == i else 1 for k in range(order + 1)]
        nodes.append(broadcast_to(w.reshape((*w.shape[:lead], *axes)), shape))
    if order:
        ordered = sort(stack(nodes, axis=-1), axis=-1)
        nodes = [ordered[..., i] for i in range(order + 1)]
    rounding = finfo(w.dtype).eps / 2
    found = [g(x) for x in nodes]
    errors = [absolute(stop_gradient(y)) * rounding for y in found]
    slope = g
    for m in range(1, order + 1):
        slope = _derivative(slope)
        pairs = [
            _difference(slope, nodes[i : i + m + 1], found[i : i + 2], errors[i : i + 2], rounding)
            for i in range(order + 1 - m)
        ]
        found, errors = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return found[0]


def _derivative(g: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: jvp(g, (x,), (ones(x.shape, dtype=x.dtype),))[1]


def _difference(
    slope: Callable[[Array], Array], nodes: Sequence[Array], values: Sequence[Array],
    errors: Sequence[Array], rounding: float,
) -> tuple[Array, Array]:  # fmt: skip
    """Compute one divided difference and an estimate of its error."""
    gap = nodes[-1] - nodes[0]
    distance = where(gap > 0, gap, 1.0)
    quotient = (values[1] - values[0]) / distance
    lost = where(gap > 0, (errors[0] + errors[1]) / distance, float("inf"))
    fine, coarse = (5, 3) if len(nodes) == 2 else (3, 2)
    integral = _integral(slope, nodes, fine)
    known = stop_gradient(integral)
    missed = absolute(known - stop_gradient(_integral(slope, nodes, coarse)))
    missed = missed + absolute(known) * rounding
    is_near = missed <= lost
    return where(is_near, integral, quotient), where(is_near, missed, lost)


def _integral(slope: Callable[[Array], Array], nodes: Sequence[Array], points: int) -> Array:
    """∫ of the m-th derivative over the simplex of m + 1 nodes, whose volume is 1/m!.

    x = x₀ + t₁ (x₁ - x₀ + t₂ (x₂ - x₁ + …)) with the weight t₁ᵐ⁻¹ t₂ᵐ⁻² … .
    """
    m = len(nodes) - 1
    steps = [nodes[i + 1] - nodes[i] for i in range(m)]
    total, volume = None, 0.0
    for chosen in _product(_GAUSS[points], m):
        x, weight = steps[-1] * chosen[-1][0], 1.0
        for i in range(m - 2, -1, -1):
            x = (steps[i] + x) * chosen[i][0]
        for i, (t, share) in enumerate(chosen):
            weight *= share * t ** (m - 1 - i)
        term = slope(nodes[0] + x) * weight
        total = term if total is None else total + term
        volume += weight
    assert total is not None
    assert abs(volume * factorial(m) - 1) < 1e-9
    return total


def _product(points: Sequence[Any], times: int) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [()]
    for _ in range(times):
        found = [(*each, point) for each in found for point in points]
    return found
