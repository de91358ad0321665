"""Rows of ``tn.special``: one per function, on an interval of its domain."""

from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
from jax_rows import COMPLEX, REAL, Operand, Row

import tenferro as tn

BY_OTHER_NAMES = {"sinc": jnp.sinc, "psi": jax.scipy.special.digamma}
OF_NUMPY = "cbrt exp2 expm1 log1p"


def theirs_of(name):
    found = getattr(jax.scipy.special, name, None)
    if name in OF_NUMPY.split():
        found = getattr(jnp, name)
    return BY_OTHER_NAMES.get(name) or found


def row(name, *spans, before=(), after=(), fixed=(), theirs=None, dtypes=REAL, **rest):
    """A row of a function of real numbers, each in a span; orders stand before or after them."""
    places = enumerate(spans)
    in_jax = theirs or theirs_of(name)
    return Row(
        f"special.{name}",
        tuple(Operand("*b n", low=a, high=b, varies=i not in fixed) for i, (a, b) in places),
        lambda *xs: getattr(tn.special, name)(*before, *xs, *after),
        lambda *xs: in_jax(*before, *xs, *after),
        {"order": before[0]} if before else {},
        dtypes,
        **rest,
    )


WIDE, POSITIVE, UNIT, AWAY = (-3, 3), (0.3, 4), (0.1, 0.9), (0.5, 3)


def huber(d, r):
    size = jnp.abs(r)
    return jnp.where(size <= d, r * r / 2, d * (size - d / 2))


def bessel_series(order):
    """I_v by its series (DLMF 10.25.2)."""

    def found(x):
        terms = [
            (x / 2) ** (2 * k + order) / float(factorial(k) * factorial(k + order))
            for k in range(30)
        ]
        return sum(terms)

    return found


def bessel_integral(order, kind):
    """J, Y or K of an integer order by its integral (DLMF 10.9.2, 10.9.7, 10.32.9)."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    circle, far = np.pi * (nodes + 1) / 2, 4 * (nodes + 1)

    def mean(values):
        return jnp.sum(values * (weights / 2), -1)

    def found(x):
        x = x[..., None]
        if kind == "k":
            return 8 * mean(jnp.exp(-x * np.cosh(far)) * np.cosh(order * far))
        phase = x * np.sin(circle) - order * circle
        if kind == "j":
            return mean(jnp.cos(phase))
        grown = np.exp(order * far) + (-1) ** order * np.exp(-order * far)
        decaying = mean(grown * jnp.exp(-x * np.sinh(far)))
        return mean(jnp.sin(phase)) - 8 / np.pi * decaying

    return found


def dawson(z):
    """Dawson's integral by its definition, on the straight way to z."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    square = (z * z)[..., None]
    return z * jnp.sum(jnp.exp(square * (((nodes + 1) / 2) ** 2 - 1)) * (weights / 2), -1)


def elliptic(power, p):
    """∫ (cos²θ + p sin²θ)^power dθ over a quarter turn, by the midpoints of 80 intervals."""
    angles = (np.arange(80) + 0.5) * (np.pi / 160)
    squares = np.cos(angles) ** 2 + p[..., None] * np.sin(angles) ** 2
    return jnp.sum(squares**power, -1) * (np.pi / 160)


def voigt(x, sigma, gamma):
    """The Voigt profile as the Fourier integral of its characteristic function."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    t = 12 * (nodes + 1)
    x, sigma, gamma = (a[..., None] for a in (x, sigma, gamma))
    values = jnp.cos(x * t) * jnp.exp(-gamma * t - (sigma * t) ** 2 / 2)
    return 12 / np.pi * jnp.sum(values * weights, -1)


def scaled(function):
    return lambda x: jnp.exp(x) * function(x)


def ordered(function):
    """The function of an order, which is fixed, and x."""
    return lambda order, x: function(x)


def gamma_of(name):
    return getattr(jax.scipy.special, name)


def f_of(m, n, x):
    return jax.scipy.special.betainc(m / 2, n / 2, m * x / (n + m * x))


def student(n, t):
    return jax.scipy.special.betainc(n / 2, n / 2, (1 + t / jnp.sqrt(n + t * t)) / 2)


OF_X_ALONE = "its gradient by a and b is not supported there"
ROWS = [
    *[row(name, WIDE) for name in "erf erfc expit ndtr log_ndtr i0 i0e i1 i1e sinc".split()],
    *[row(name, WIDE) for name in "cbrt exp2".split()],
    *[row(name, WIDE, dtypes=COMPLEX) for name in ("expm1",)],
    row("log1p", (-0.5, 3)),
    *[row(name, POSITIVE) for name in "digamma psi gammaln gamma loggamma entr".split()],
    row("rgamma", POSITIVE, theirs=lambda x: jnp.exp(-jax.scipy.special.gammaln(x))),
    row("gammasgn", POSITIVE, constant="it is a sign"),
    *[row(name, UNIT) for name in "erfinv logit ndtri".split()],
    row("erfcx", WIDE),
    row("erfcinv", UNIT, theirs=lambda x: jax.scipy.special.erfinv(1 - x)),
    row("exp10", WIDE, theirs=lambda x: jnp.exp(x * jnp.log(10.0))),
    row("exprel", AWAY, theirs=lambda x: jnp.expm1(x) / x),
    row("log_expit", WIDE, theirs=jax.nn.log_sigmoid),
    row("polygamma", POSITIVE, before=(2,)),
    row("multigammaln", (2.5, 5), after=(3,)),
    row("zeta", (1.5, 4), AWAY, fixed=(0,)),  # nobody differentiates it by s
    *[row(name, POSITIVE, POSITIVE) for name in "beta betaln rel_entr kl_div".split()],
    *[row(name, POSITIVE, POSITIVE) for name in "xlogy xlog1py".split()],
    *[row(name, POSITIVE, POSITIVE) for name in "gammainc gammaincc".split()],
    row("betainc", POSITIVE, POSITIVE, UNIT, not_jax_gradient=OF_X_ALONE),
    row("betaincc", POSITIVE, POSITIVE, UNIT,
        theirs=lambda a, b, x: 1 - jax.scipy.special.betainc(a, b, x),
        not_jax_gradient=OF_X_ALONE),
    *[row(name, POSITIVE, POSITIVE, theirs=lambda v, x, p=p: gamma_of(p)(v / 2, x / 2))
      for name, p in (("chdtr", "gammainc"), ("chdtrc", "gammaincc"))],
    *[row(name, POSITIVE, POSITIVE, POSITIVE, theirs=lambda a, b, x, p=p: gamma_of(p)(b, a * x))
      for name, p in (("gdtr", "gammainc"), ("gdtrc", "gammaincc"))],
    *[row(name, (2.1, 2.9), POSITIVE, fixed=(0,),
          theirs=lambda k, m, p=p: gamma_of(p)(jnp.floor(k) + 1, m))
      for name, p in (("pdtr", "gammaincc"), ("pdtrc", "gammainc"))],
    row("fdtr", POSITIVE, POSITIVE, POSITIVE, theirs=f_of, not_jax_gradient=OF_X_ALONE),
    row("fdtrc", POSITIVE, POSITIVE, POSITIVE, theirs=lambda *xs: 1 - f_of(*xs),
        not_jax_gradient=OF_X_ALONE),
    row("stdtr", POSITIVE, WIDE, theirs=student, not_jax_gradient=OF_X_ALONE),
    row("softplus", WIDE, theirs=jax.nn.softplus),
    row("cosm1", WIDE, theirs=lambda x: -2 * jnp.sin(x / 2) ** 2),
    row("huber", (2, 3), (-1.9, 1.9), theirs=huber),  # differences see a kink that is near
    row("pseudo_huber", AWAY, WIDE, theirs=lambda d, r: d * d * (jnp.sqrt(1 + (r / d) ** 2) - 1)),
    *[row(name, POSITIVE) for name in "exp1 expi".split()],
    row("expn", POSITIVE, before=(3,)),
    row("ellipk", UNIT, theirs=lambda m: elliptic(-0.5, 1 - m)),
    row("ellipkm1", UNIT, theirs=lambda p: elliptic(-0.5, p)),
    row("ellipe", UNIT, theirs=lambda m: elliptic(0.5, 1 - m)),
    row("boxcox", AWAY, AWAY, theirs=lambda x, p: (x**p - 1) / p),
    row("boxcox1p", AWAY, AWAY, theirs=lambda x, p: ((1 + x) ** p - 1) / p),
    row("inv_boxcox", AWAY, AWAY, theirs=lambda y, p: (p * y + 1) ** (1 / p)),
    row("inv_boxcox1p", AWAY, AWAY, theirs=lambda y, p: (p * y + 1) ** (1 / p) - 1),
    row("iv", AWAY, before=(2,), theirs=lambda v, x: bessel_series(v)(x)),
    row("ive", AWAY, before=(2,), theirs=lambda v, x: bessel_series(v)(x) * jnp.exp(-x)),
    *[row(f"{kind}{n}", AWAY, theirs=bessel_integral(n, kind)) for kind in "jyk" for n in (0, 1)],
    *[row(f"{k}v", AWAY, before=(2,), theirs=ordered(bessel_integral(2, k))) for k in "jyk"],
    *[row(f"{k}n", AWAY, before=(2,), theirs=ordered(bessel_integral(2, k))) for k in "jyk"],
    *[row(f"k{n}e", AWAY, theirs=scaled(bessel_integral(n, "k"))) for n in (0, 1)],
    row("kve", AWAY, before=(2,), theirs=ordered(scaled(bessel_integral(2, "k")))),
    row("dawsn", WIDE, theirs=dawson),
    row("erfi", WIDE, theirs=lambda x: 2 / np.pi**0.5 * jnp.exp(x * x) * dawson(x)),
    row("wofz", WIDE, dtypes=("complex128",),
        theirs=lambda z: jnp.exp(-z * z) + 2j / np.pi**0.5 * dawson(z)),
    row("voigt_profile", WIDE, AWAY, AWAY, theirs=voigt),
    row("logsumexp", WIDE),
    row("softmax", WIDE),
    row("log_softmax", WIDE),
]  # fmt: skip
