"""Functions of singular values and eigenvalues that are equal, nearly equal or distinct, with their
gradients in closed form. Data of `suite/test_equal_values.py`.

A form makes, for a dtype and a gap between two values, the points a and the gradients there of its
loss f(A) = Re Σ W∘F(A). A gradient is written as the derivatives in all directions E_ij, and for
complex matrices in iE_ij, which the formula of dF gives. The matrices are made in double precision;
what single precision rounds of them changes the derivative by as little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import tenferro as tn

__all__ = ["FORMS", "GAPS", "Form"]

Matrix = npt.NDArray[Any]
GAPS = (0.0, 1e-16, 1e-12, 1e-8, 1e-6, 0.3)
WEIGHTS = np.cos(np.arange(9.0) ** 2).reshape(3, 3)


@dataclass(frozen=True, kw_only=True)
class Form:
    """A loss and what it must give.

    points   dtype, gap → pairs of a point and the gradient there
    bounds   relative tolerance in single and in double precision
    """

    loss: Callable[[Any], Any]
    points: Callable[[str, float], Sequence[tuple[Matrix, Matrix]]]
    bounds: tuple[float, float] = (5e-5, 1e-11)


def _isometry(dtype: str, seed: float) -> Matrix:
    """Return a fixed orthogonal or unitary matrix."""
    m = np.cos(seed + np.arange(9.0) ** 2).reshape(3, 3)
    q: Matrix = np.linalg.qr(m + 1j * m.T[::-1] if "complex" in dtype else m)[0]
    return q


def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def _loss(x: Any) -> Any:
    return np.sum(WEIGHTS * np.real(x))


def _gradient(tangent: Callable[[Matrix], Matrix], dtype: str) -> Matrix:
    """Return the gradient of the loss, from dF in all directions."""
    units = np.eye(9).reshape(9, 3, 3)
    real = np.array([_loss(tangent(unit)) for unit in units]).reshape(3, 3)
    if "complex" not in dtype:
        return real
    return real + 1j * np.array([_loss(tangent(1j * unit)) for unit in units]).reshape(3, 3)


# ---- the whole matrix: dF = dA -------------------------------------------------------------------


def _of_factors(a: Any) -> Any:
    left, right = tn.linalg.low_rank_factors(a, 3)
    return _loss(left @ right)


def _of_split_values(a: Any) -> Any:
    u, s, vh = tn.linalg.svd(a, split=True)
    return _loss((u * s) @ vh)


def _wholes(dtype: str, gap: float) -> list[tuple[Matrix, Matrix]]:
    """Return points near the identity, near an orthogonal matrix, and Q diag(2 + gap, 2, 1) P."""
    near, q, p = np.array([1 + 2 * gap, 1 + gap, 1]), _isometry(dtype, 0), _isometry(dtype, 1)
    points = np.diag(near), q * near, (q * np.array([2 + gap, 2, 1])) @ p
    return [(a.astype(dtype), WEIGHTS) for a in points]


# ---- a function of a Hermitian matrix: dF = Q (exp[w_i, w_j] ∘ Qᴴ dA Q) Qᴴ -----------------------


def _hermitian(a: Any) -> Any:
    return (a + _adjoint(a)) / 2


def _of_exponential(a: Any) -> Any:
    return _loss(tn.linalg.spectral_function(_hermitian(a), np.exp))


def _of_split_eigenvalues(a: Any) -> Any:
    w, v = tn.linalg.eigh(_hermitian(a), split=True)
    return _loss((v * np.exp(w)) @ _adjoint(v))


def _exponentials(dtype: str, gap: float) -> list[tuple[Matrix, Matrix]]:
    """Return points diag(2 + gap, 2, 1) and Q diag(2 + gap, 2, 1) Qᴴ."""
    w = np.array([2 + gap, 2, 1])
    half = (w[:, None] - w) / 2
    ratio = np.where(half == 0, 1, np.sinh(half) / np.where(half == 0, 1, half))
    slopes = np.exp((w[:, None] + w) / 2) * ratio  # exp[w_i, w_j], also where they are equal

    def pair(q: Matrix) -> tuple[Matrix, Matrix]:
        def tangent(e: Matrix) -> Matrix:
            return q @ (slopes * (_adjoint(q) @ _hermitian(e) @ q)) @ _adjoint(q)  # type: ignore[no-any-return]

        return ((q * w) @ _adjoint(q)).astype(dtype), _gradient(tangent, dtype)

    return [pair(np.eye(3)), pair(_isometry(dtype, 0))]


# ---- the nearest matrix of rank 2: dF of P A with the projector P on two vectors -----------------


def _of_rank_2(a: Any) -> Any:
    return _loss(tn.linalg.low_rank(a, 2))


def _of_factors_of_rank_2(a: Any) -> Any:
    left, right = tn.linalg.low_rank_factors(a, 2)
    return _loss(left @ right)


def _truncations(dtype: str, gap: float) -> list[tuple[Matrix, Matrix]]:
    """Return points Q diag(2 + gap, 2, 1) P: equal kept values, distinct from the dropped one."""
    q, p, s = _isometry(dtype, 0), _isometry(dtype, 1), np.array([2 + gap, 2, 1.0])

    def tangent(e: Matrix) -> Matrix:
        m = _adjoint(q) @ e @ _adjoint(p)
        x = m.copy()
        for i in (0, 1):
            between = s[i] ** 2 - s[2] ** 2
            x[i, 2] = (s[i] ** 2 * m[i, 2] + s[i] * s[2] * np.conj(m[2, i])) / between
            x[2, i] = (s[i] ** 2 * m[2, i] + s[i] * s[2] * np.conj(m[i, 2])) / between
        x[2, 2] = 0
        return q @ x @ p  # type: ignore[no-any-return]

    return [(((q * s) @ p).astype(dtype), _gradient(tangent, dtype))]


# ---- a gate of two spins, exp(-0.3 Σ c_k S_k⊗S_k), split between the spins: dF = dgate -----------

#: The products S_k⊗S_k commute: their values in the four Bell states, and these as columns.
_SIGNS = np.array([[1, -1, 1], [-1, 1, 1], [1, 1, -1], [-1, -1, -1]]) / 4
_BELL = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, -1], [1, -1, 0, 0]]) / 2**0.5
_GATE_WEIGHTS = np.cos(np.arange(16.0) ** 2).reshape(4, 4)


def _between_sites(gate: Any) -> Any:
    """Reshape a gate to a map between the indices of one site and those of the other."""
    return np.reshape(np.transpose(np.reshape(gate, (2, 2, 2, 2)), (0, 2, 1, 3)), (4, 4))


def _of_gate(couplings: Any) -> Any:
    values = np.exp(-0.3 * (_SIGNS.astype(couplings.dtype.name) @ couplings))
    bell = _BELL.astype(couplings.dtype.name)
    left, right = tn.linalg.low_rank_factors(_between_sites((bell * values) @ bell.T), 4)
    return np.sum(_GATE_WEIGHTS * (left @ right))


def _gates(dtype: str, gap: float) -> list[tuple[Matrix, Matrix]]:
    """Return gates with equal Schmidt values for equal couplings, as in the Heisenberg model."""
    couplings = np.array([1, 1 + gap, 1 + 2 * gap])
    values = np.exp(-0.3 * (_SIGNS @ couplings))
    slopes = [
        np.sum(_GATE_WEIGHTS * _between_sites((_BELL * (-0.3 * sign * values)) @ _BELL.T))
        for sign in _SIGNS.T
    ]
    return [(couplings.astype(dtype), np.array(slopes))]


FORMS = {
    "factors of the matrix": Form(loss=_of_factors, points=_wholes),
    "split singular values": Form(loss=_of_split_values, points=_wholes, bounds=(3e-2, 1e-6)),
    "exponential": Form(loss=_of_exponential, points=_exponentials),
    "split eigenvalues": Form(
        loss=_of_split_eigenvalues, points=_exponentials, bounds=(3e-2, 1e-6)
    ),
    "rank 2": Form(loss=_of_rank_2, points=_truncations),
    "factors of rank 2": Form(loss=_of_factors_of_rank_2, points=_truncations),
    "gate of two spins": Form(loss=_of_gate, points=_gates),
}
