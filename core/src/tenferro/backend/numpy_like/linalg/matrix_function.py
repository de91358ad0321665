"""exp, sqrt and log of matrices with products and inverses alone, for any NumPy-shaped namespace.

Every function is written for stacks of matrices and for a `loop`, since some namespaces trace their
loops. Of the pairs of `dual_matrices.py` it gives Fréchet derivatives; where a library has the
function of a matrix alone, `through_blocks` takes them from a larger matrix.
Read next: `../contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, sin
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.dual_matrices import (
    Dual,
    array_of,
    dual,
    identity,
    inverse,
    last_change,
    norm,
    select,
    solve,
)
from tenferro.primitives.linalg.matrix_function import MatrixFunction

__all__ = ["derived", "in_turn", "register", "through_blocks"]

Loop = Callable[[Callable[[Any], Any], Callable[[Any], Any], Any], Any]

_THETA = {"float64": 5.371920351148152, "float32": 3.925724783138660}  # Higham (2008), table 10.2
_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
    10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
_NEAR_ONE = 0.475  # where 10 nodes are enough in double precision: Higham (2008), table 11.1
_NODES = (  # of Gauss and Legendre on [-1, 1], with their weights, both for ±
    (0.1488743389816312, 0.2955242247147529),
    (0.4333953941292472, 0.2692667193099963),
    (0.6794095682990244, 0.2190863625159820),
    (0.8650633666889845, 0.1494513491505806),
    (0.9739065285171717, 0.0666713443086881),
)
_TURN = 2.0**-10  # θ in radians: the error grows as its inverse, the wrong branch as itself
_ITERATIONS = 100  # of Newton's method, which halves the exponents of eigenvalues at first
_ROOTS = 100


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register matrix_function."""

    @lowerings.register(MatrixFunction)
    def matrix_function(op: MatrixFunction, a: Any, *directions: Any) -> Any:
        return derived(xp, in_turn, op, a, directions)


def in_turn(condition: Callable[[Any], Any], body: Callable[[Any], Any], state: Any) -> Any:
    """Run a loop in a namespace that computes eagerly; each iteration waits for the device."""
    while condition(state).item():
        state = body(state)
    return state


# ---- Fréchet derivatives -------------------------------------------------------------------------


def derived(xp: Any, loop: Loop, op: MatrixFunction, a: Any, directions: Sequence[Any]) -> Any:
    """L(a; directions), by the algorithms below."""
    function = {"expm": expm, "sqrtm": sqrtm, "logm": logm}[op.function]
    if not a.size or not directions:
        return function(xp, loop, a) if a.size else a
    factor, scaled = _scaled(xp, op, a, directions)
    return last_change(function(xp, loop, dual(xp, a, scaled))) * factor


def through_blocks(
    xp: Any, op: MatrixFunction, function: Callable[[Any], Any], a: Any, directions: Sequence[Any]
) -> Any:
    """L(a; directions): the last block of the first row of the function of one large matrix."""
    if not a.size or not directions:
        return function(a) if a.size else a
    n = a.shape[-1]
    factor, scaled = _scaled(xp, op, a, directions)
    return function(_matrix(xp, dual(xp, a, scaled)))[..., :n, -n:] * factor


def _scaled(
    xp: Any, op: MatrixFunction, a: Any, directions: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """Return directions of the size of a, since errors are relative to the whole, and a factor."""
    size = norm(xp, a)
    if op.function == "expm":
        size = xp.maximum(size, 1)
    factor, scaled = 1, []
    for e in directions:
        own = norm(xp, e)
        weight = xp.where(own > 0, own / size, xp.ones_like(own))[..., None, None]
        factor = factor * weight
        scaled.append(e / weight)
    return factor, scaled


def _matrix(xp: Any, x: Any) -> Any:
    """Return the matrix [[x, e], [0, x]] of pairs."""
    if not isinstance(x, Dual):
        return x
    value, change = _matrix(xp, x.value), _matrix(xp, x.change)
    above = xp.concatenate([value, change], -1)
    below = xp.concatenate([xp.zeros_like(value), value], -1)
    return xp.concatenate([above, below], -2)


# ---- functions -----------------------------------------------------------------------------------


def expm(xp: Any, loop: Loop, x: Any) -> Any:
    """Compute by scaling and squaring with the [13/13] Padé approximant: Higham (2008), 10.20."""
    theta = _THETA["float32" if array_of(x).dtype.name in ("float32", "complex64") else "float64"]
    size = xp.maximum(norm(xp, x), theta)  # nan stays nan
    halvings = xp.ceil(xp.log2(size / theta))
    y = _pade(xp, _repeated(xp, loop, lambda y: y * 0.5, halvings, x))  # exact, as no power is
    return _repeated(xp, loop, lambda y: y @ y, halvings, y)


def _repeated(xp: Any, loop: Loop, step: Callable[[Any], Any], times: Any, x: Any) -> Any:
    """Return the matrices after this many steps each."""
    last = xp.max(xp.where(xp.isfinite(times), times, xp.zeros_like(times)))

    def once(state: Any) -> Any:
        count, y = state
        return count + 1, select(xp, (count < times)[..., None, None], step(y), y)

    return loop(lambda state: state[0] < last, once, (xp.zeros_like(last), x))[1]


def _pade(xp: Any, x: Any) -> Any:
    b = _PADE
    one = identity(xp, x)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2)
    odd = x @ (odd + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2)
    even = even + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    return solve(xp, even - odd, even + odd)


def sqrtm(xp: Any, loop: Loop, x: Any) -> Any:
    """Compute the principal square root; nan for a real matrix with an eigenvalue below zero.

    For eigenvalues at the branch cut of a complex matrix, the iteration does not converge unless
    rounding moves them. There it takes √x = e^(iθ/2) √(e^(-iθ) x), which is the principal root
    unless another eigenvalue has an argument between -π and θ - π.
    """
    root = _iterated_root(xp, loop, x)
    if not xp.iscomplexobj(array_of(x)):
        return root
    lost = xp.isnan(norm(xp, root))[..., None, None]
    rotated = select(xp, lost, x * complex(cos(_TURN), -sin(_TURN)), identity(xp, x))
    other = _iterated_root(xp, loop, rotated) * complex(cos(_TURN / 2), sin(_TURN / 2))
    return select(xp, lost, other, root)


def _iterated_root(xp: Any, loop: Loop, x: Any) -> Any:
    """Iterate the product form of Denman & Beavers' method: Higham (2008), (6.29).

    M → 1 and X → √x quadratically, if no eigenvalue is at or below zero; otherwise nan.
    """
    one = identity(xp, x)
    size = norm(xp, x)[..., None, None]
    scaled = x / size
    far = xp.full_like(size, float("inf"))

    def step(state: Any) -> Any:
        count, m, root, error, _ = state
        back = inverse(xp, m)
        root = root @ (one + back) / 2
        m = (one + (m + back) / 2) / 2
        return count + 1, m, root, norm(xp, m - one)[..., None, None], error

    def is_moving(state: Any) -> Any:
        count, _, _, error, before = state
        return (count < _ITERATIONS) & xp.any((error < before / 2) | (error > 0.01))

    _, _, root, error, _ = loop(is_moving, step, (xp.zeros((), int), scaled, scaled, far, far))
    return select(xp, error < 0.01, root, root * float("nan")) * xp.sqrt(size)


def logm(xp: Any, loop: Loop, x: Any) -> Any:
    """Compute by inverse scaling and squaring without a Schur form (Cheng et al., 2001).

    log x = 2ˢ log x^(1/2ˢ), and near 1 the [10/10] Padé approximant, a sum over nodes of Gauss
    and Legendre: Dieci, Morini & Papini (1996). See Cheng, Higham, Kenney & Laub (2001).
    """
    one = identity(xp, x)

    def is_far(root: Any) -> Any:
        return (norm(xp, root - one) > _NEAR_ONE)[..., None, None]  # nan is not far

    def halve(state: Any) -> Any:
        count, root, factor = state
        far = is_far(root)
        halved = sqrtm(xp, loop, root)
        return count + 1, select(xp, far, halved, root), xp.where(far, 2 * factor, factor)

    def goes_on(state: Any) -> Any:
        return (state[0] < _ROOTS) & xp.any(is_far(state[1]))

    factor = xp.ones_like(norm(xp, x))[..., None, None]
    _, root, factor = loop(goes_on, halve, (xp.zeros((), int), x, factor))
    y = root - one
    total = y * 0
    for node, weight in _NODES:
        for place in ((1 - node) / 2, (1 + node) / 2):
            total = total + weight / 2 * solve(xp, one + place * y, y)
    return total * factor
