"""Special functions in mpmath: incomplete gamma and beta, normal, Bessel, exponential sums.

Derivatives in a shape are central differences at a step of 1e-25 of mpmath's own functions; the
backends integrate and sum series instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro_conformance.oracle.numbers import (
    Params,
    Reference,
    Tensor,
    all_indices,
    elementwise,
    mp,
)

__all__ = ["REFERENCES"]

_STEP = mp.mpf(10) ** -25


def _slope(function: Callable[[Any], Any], at: Any, order: int) -> Any:
    """Compute the n-th central difference quotient."""
    terms = (
        (-1) ** k * mp.binomial(order, k) * function(at + (mp.mpf(order) / 2 - k) * _STEP)
        for k in range(order + 1)
    )
    return sum(terms) / _STEP**order


def _gammainc(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _betainc(a: Any, b: Any, x: Any) -> Any:
    return mp.hyp2f1(a, 1 - b, a + 1, x) * x**a / (a * mp.beta(a, b))


def _with(function: Callable[..., Any]) -> Reference:
    """Make a reference that is elementwise once its parameters are known."""
    return lambda params, *xs: elementwise(lambda *es: function(params, *es))(params, *xs)


def _gammainc_derivative(params: Params, a: Any, x: Any) -> Any:
    return _slope(lambda a: _gammainc(a, x), a, params["order"])


def _betainc_derivative(params: Params, a: Any, b: Any, x: Any) -> Any:
    m, n = params["orders"]
    return _slope(lambda a: _slope(lambda b: _betainc(a, b, x), b, n), a, m)


def _gamma_density(params: Params, a: Any, x: Any) -> Any:
    return x ** (a - 1 - params["power"]) * mp.exp(-x) / mp.gamma(a)


def _beta_density(params: Params, a: Any, b: Any, x: Any) -> Any:
    i, j = params["powers"]
    return x ** (a - 1 - i) * (1 - x) ** (b - 1 - j) / mp.beta(a, b)


def _erfcx(params: Params, x: Any) -> Any:
    """n! exp(x²) iⁿerfc x by its recurrence."""
    before, value = 2 / mp.sqrt(mp.pi), mp.exp(x * x) * mp.erfc(x)
    for n in range(1, params["order"] + 1):
        before, value = value, (n - 1 if n > 1 else 1) * before / 2 - x * value
    return value


def _elliptic_integral(params: Params, p: Any) -> Any:
    """K, E, (E - p K)/m and (K - E)/m: DLMF 19.2.8; B = D = π/4 at m = 0."""
    with mp.extradps(30):
        m = 1 - p
        first, second = mp.ellipk(m), mp.ellipe(m)
        if params["kind"] in "KE":
            return first if params["kind"] == "K" else second
        if not m:
            return mp.pi / 4
        return (second - p * first if params["kind"] == "B" else first - second) / m


def _exprel(params: Params, x: Any) -> Any:
    n = params["order"]
    return mp.hyp1f1(n + 1, n + 2, x) / (n + 1)


def _ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _xlogy(x: Any, y: Any) -> Any:
    return x * mp.log(y) if x else x


def _line(x: Tensor, axes: Sequence[int], index: Sequence[int]) -> list[Any]:
    """Return the entries that are reduced together with the one at an index."""
    return [
        x[place]
        for place in all_indices(x.shape)
        if all(d in axes or place[d] == index[d] for d in range(len(index)))
    ]


def _logsumexp(params: Params, x: Tensor) -> Tensor:
    kept = [d for d in range(len(x.shape)) if d not in params["axes"]]

    def entry(index: Sequence[int]) -> Any:
        place = [0] * len(x.shape)
        for d, k in zip(kept, index, strict=True):
            place[d] = k
        return mp.log(sum(map(mp.exp, _line(x, params["axes"], place))))

    return Tensor.make([x.shape[d] for d in kept], entry)


def _softmax(params: Params, x: Tensor) -> Tensor:
    return Tensor.make(
        x.shape, lambda i: mp.exp(x[i]) / sum(map(mp.exp, _line(x, params["axes"], i)))
    )


REFERENCES: dict[str, Reference] = {
    "gammainc": elementwise(_gammainc),
    "gammainc_derivative": _with(_gammainc_derivative),
    "gamma_density": _with(_gamma_density),
    "betainc": elementwise(_betainc),
    "betaincc": elementwise(lambda a, b, x: _betainc(b, a, 1 - x)),
    "betainc_derivative": _with(_betainc_derivative),
    "beta_density": _with(_beta_density),
    "polygamma_difference": _with(
        lambda params, x, d: mp.psi(params["order"], x + d) - mp.psi(params["order"], x)
    ),
    "erfcx": _with(_erfcx),
    "ndtr": elementwise(_ndtr),
    "log_ndtr": elementwise(lambda x: mp.log(_ndtr(x))),
    "bessel_i": _with(lambda params, x: mp.besseli(params["order"], x)),
    "bessel_ie": _with(lambda params, x: mp.exp(-abs(x)) * mp.besseli(params["order"], x)),
    "bessel_j": _with(lambda params, x: mp.besselj(params["order"], x)),
    "bessel_y": _with(lambda params, x: mp.bessely(params["order"], x)),
    "bessel_k": _with(lambda params, x: mp.besselk(params["order"], x)),
    "bessel_ke": _with(lambda params, x: mp.exp(x) * mp.besselk(params["order"], x)),
    "expn": _with(lambda params, x: mp.expint(params["order"], x)),
    "elliptic_integral": _with(_elliptic_integral),
    "xlogy": elementwise(_xlogy),
    "xlog1py": elementwise(lambda x, y: _xlogy(x, 1 + y)),
    "rel_entr": elementwise(lambda x, y: _xlogy(x, x / y)),
    "exprel": _with(_exprel),
    "reduce_logsumexp": _logsumexp,
    "softmax": _softmax,
    "log_softmax": lambda params, x: _softmax(params, x).map(mp.log),
}
