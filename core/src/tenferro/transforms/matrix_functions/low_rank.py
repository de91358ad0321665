"""The nearest matrix of rank k and its two factors, right at equal singular values.

The k leading vectors U and V are frames that do not turn within their spaces, and M = Uᴴ A V is a
matrix that need not stay diagonal. A V = U M and Aᴴ U = V Mᴴ then give, for R = A - U M Vᴴ,

    dU M - R dV = (1 - UUᴴ) dA V,   dV Mᴴ - Rᴴ dU = (1 - VVᴴ) dAᴴ U,

where only gaps between kept and dropped values are divided by. The solution of such equations has
derivatives of the same form. Read next: ``../linalg.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import adjoint
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.linalg.decomposing import matrices
from tenferro.arrays.functions.linalg.matrix_functions import sqrtm
from tenferro.arrays.handle.array import evaluable
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives import InvalidParameterError
from tenferro.primitives.linalg import svd as svd_primitives
from tenferro.primitives.linalg._matrices import default_epsilon
from tenferro.transforms.custom_rules.jvp import custom_jvp
from tenferro.transforms.custom_rules.linear import custom_linear


class LowRankFactors(NamedTuple):
    """Result of ``low_rank_factors``: left @ right is the nearest matrix of the rank."""

    left: Array
    right: Array


def low_rank(a: Any, k: int) -> Array:
    """Find the nearest matrix of rank k: the truncated U S Vᴴ as one function.

    Unlike the product written with ``svd``, this has its derivatives of every order where singular
    values are equal, as long as the last that is kept is larger than the first that is dropped.

    Parameters
    ----------
    a : array, [*b, m, n]
    k : int
        The rank, from 0 to min(m, n); with min(m, n) the result is ``a``.

    Returns
    -------
    array, [*b, m, n]

    Raises
    ------
    InvalidParameterError
        If ``k`` is not such a rank, or s_k = s_k+1 for a matrix whose values are known. Under
        ``jit`` and on devices the result is nan then.

    Examples
    --------
    >>> import tenferro as tn
    >>> a = tn.asarray([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> print(tn.grad(lambda a: tn.linalg.low_rank(a, 2)[0, 1])(a))
    [[0. 1. 0.]
     [0. 0. 0.]
     [0. 0. 0.]]
    """
    x = matrices(a, "low_rank")
    rank = _rank("low_rank", k, x)
    if rank == min(x.shape[-2:]):
        return x
    if not rank:
        return x * 0
    u, v, m = _leading("low_rank", x, rank)
    return matmul(matmul(u, m), adjoint(v))


def low_rank_factors(a: Any, k: int) -> LowRankFactors:
    """Split the nearest matrix of rank k in two factors, U M^½ and M^½ Vᴴ with M = Uᴴ A V.

    Their values are U S^½ and S^½ Vᴴ. Derivatives of what depends on their product are right where
    singular values are equal, which those written with ``svd`` are not: M is diagonal at a point,
    and need not stay so. A loss must not depend on how equal values are split between the factors.

    Parameters
    ----------
    a : array, [*b, m, n]
    k : int
        The rank, from 1 to min(m, n).

    Returns
    -------
    LowRankFactors
        ``left``: [*b, m, k] and ``right``: [*b, k, n].

    Raises
    ------
    InvalidParameterError
        As ``low_rank``; also if s_k = 0.

    Examples
    --------
    >>> import tenferro as tn
    >>> a = tn.asarray([[2.0, 0.0], [0.0, 2.0]])
    >>> def entry(a):
    ...     left, right = tn.linalg.low_rank_factors(a, 2)
    ...     return (left @ right)[0, 1]
    >>> print(tn.grad(entry)(a))
    [[0. 1.]
     [0. 0.]]
    """
    x = matrices(a, "low_rank_factors")
    rank = _rank("low_rank_factors", k, x)
    if not rank:
        return LowRankFactors(x[..., :, :0], x[..., :0, :])
    u, v, m = _leading("low_rank_factors", x, rank)
    root = sqrtm(m)
    return LowRankFactors(matmul(u, root), matmul(root, adjoint(v)))


def _rank(function: str, k: Any, x: Array) -> int:
    largest = min(x.shape[-2:])
    if isinstance(k, int) and not isinstance(k, bool) and 0 <= k <= largest:
        return k
    raise at_user_line(InvalidParameterError.of(
        function, "k is not a valid rank for this matrix", got=f"k={k!r} for {x.aval}",
        need=f"an integer from 0 to {largest}", parameter="k", value=k,
    ))  # fmt: skip


def _leading(function: str, x: Array, k: int) -> tuple[Array, Array, Array]:
    """U, V and M; nan where the last value kept is not larger than the first one dropped."""
    frames = _Frames(k)
    u, v = frames.find(x)
    m = matmul(matmul(adjoint(u), x), v)
    s = svd_primitives.svd(stop_gradient(x))[1]
    dropped = s[..., k] if k < s.shape[-1] else s[..., 0] * 0
    is_separate = s[..., k - 1] - dropped > s[..., 0] * default_epsilon(s)
    if evaluable(is_separate.key) and not is_separate._concrete(function)[...].all():
        raise at_user_line(InvalidParameterError.of(
            function, "the rank divides a space of equal singular values",
            got=f"k={k}, where s_k is not larger than s_k+1 (which is 0 beyond the last)",
            need="a rank between different values", parameter="k", value=k,
        ))  # fmt: skip
    return u, v, where(is_separate[..., None, None], m, cast(as_array(float("nan")), m.dtype))


class _Frames:
    """The k leading singular vectors of matrices, and the equations for their tangents."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.find = custom_jvp(self._values)
        self.find.defjvp(self._rule)

    def _values(self, a: Array) -> tuple[Array, Array]:
        u, _, vh = svd_primitives.svd(stop_gradient(a))
        return u[..., :, : self.k], adjoint(vh[..., : self.k, :])

    def _rule(self, primals: Any, tangents: Any) -> Any:
        (a,), (da,) = primals, tangents
        u, v = self.find(a)
        return (u, v), self._tangents(a, u, v, da)

    def _tangents(self, a: Array, u: Array, v: Array, da: Array) -> Any:
        dav, dahu = matmul(da, v), matmul(adjoint(da), u)
        right = dav - matmul(u, matmul(adjoint(u), dav))
        left = dahu - matmul(v, matmul(adjoint(v), dahu))
        return self.solve(False)(a, (right, left))

    def solve(self, is_adjoint: bool) -> custom_linear:
        """X, Y with X M - R Y = P and Y Mᴴ - Rᴴ X = Q; the adjoint has Mᴴ instead of M."""

        def apply(a: Array, both: Any) -> Any:
            return self._solution(is_adjoint)(a, *both)

        def transpose(a: Array, cts: Any) -> Any:
            return self._solution(not is_adjoint)(a, *cts)

        return custom_linear(apply, transpose)

    def _solution(self, is_adjoint: bool) -> custom_jvp:
        def rule(primals: Any, tangents: Any) -> Any:
            (a, p, q), (da, dp, dq) = primals, tangents
            x, y = made(a, p, q)
            u, v = self.find(a)
            du, dv = self._tangents(a, u, v, da)
            m, dm = (matmul(matmul(adjoint(u), z), v) for z in (a, da))
            vh, dvh = adjoint(v), adjoint(dv)
            dr = da - matmul(matmul(du, m) + matmul(u, dm), vh) - matmul(matmul(u, m), dvh)
            dm = adjoint(dm) if is_adjoint else dm
            first = matmul(dr, y) - matmul(x, dm)
            second = matmul(adjoint(dr), x) - matmul(y, adjoint(dm))
            return (x, y), self.solve(is_adjoint)(a, (dp + first, dq + second))

        made = custom_jvp(self._by_gaps)
        made.defjvp(rule)
        return made

    def _by_gaps(self, a: Array, p: Array, q: Array) -> tuple[Array, Array]:
        """Solve in the basis of singular vectors, where M and R are diagonal."""
        u, s, vh = svd_primitives.svd(stop_gradient(a))
        p, q, k = stop_gradient(p), stop_gradient(q), self.k
        rest_u, rest_v = u[..., :, k:], adjoint(vh[..., k:, :])
        kept, dropped = s[..., None, :k], s[..., k:, None]
        inside_p, inside_q = matmul(adjoint(rest_u), p), matmul(adjoint(rest_v), q)
        kind = p.dtype
        scale = cast(1 / ((kept - dropped) * (kept + dropped)), kind)
        near, far, inverse = cast(kept, kind), cast(dropped, kind), cast(1 / kept, kind)
        x = (near * inside_p + far * inside_q) * scale
        y = (near * inside_q + far * inside_p) * scale
        outside_p, outside_q = p - matmul(rest_u, inside_p), q - matmul(rest_v, inside_q)
        return matmul(rest_u, x) + outside_p * inverse, matmul(rest_v, y) + outside_q * inverse
