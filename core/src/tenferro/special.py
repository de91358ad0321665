"""The functions of scipy.special that are differentiable here, by SciPy's names and signatures.

``scipy.special.gammaln(x)`` of an Array comes here by itself, as every ufunc does. What is a plain
function in SciPy (``logsumexp``, ``softmax``, ``log_softmax``, ``polygamma``, ``multigammaln``,
``softplus``, ``zeta``) knows no protocol and is called here. Orders (``polygamma``, ``iv``, ``yv``,
``multigammaln``, ``expn``) are integers that are known when the program is written; that of ``jv``
is any number from 0, and that of ``kv`` any number.

>>> import tenferro as tn
>>> round(float(tn.grad(tn.special.gammaln)(2.0)), 12)  # 1 - γ
0.422784335098
"""

from __future__ import annotations

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import cbrt
from tenferro.arrays.functions.bessel import (
    i0,
    i0e,
    i1,
    i1e,
    iv,
    ive,
    j0,
    j1,
    jv,
    k0,
    k0e,
    k1,
    k1e,
    kn,
    kv,
    kve,
    y0,
    y1,
    yn,
    yv,
)
from tenferro.arrays.functions.elementwise import erf, exp2, expm1, log1p
from tenferro.arrays.functions.elementwise import logistic as expit
from tenferro.arrays.functions.faddeeva import dawsn, erfi, voigt_profile, wofz
from tenferro.arrays.functions.integrals import ellipe, ellipk, ellipkm1, exp1, expi, expn
from tenferro.arrays.functions.logsumexp import log_softmax, logsumexp, softmax
from tenferro.arrays.functions.power_transforms import (
    boxcox,
    boxcox1p,
    inv_boxcox,
    inv_boxcox1p,
)
from tenferro.arrays.functions.probabilities import (
    chdtr,
    chdtrc,
    fdtr,
    fdtrc,
    gdtr,
    gdtrc,
    pdtr,
    pdtrc,
)
from tenferro.arrays.functions.special import (
    beta,
    betainc,
    betaincc,
    betaln,
    cosm1,
    digamma,
    entr,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    exp10,
    exprel,
    gamma,
    gammainc,
    gammaincc,
    gammaln,
    gammasgn,
    huber,
    kl_div,
    log_expit,
    log_ndtr,
    loggamma,
    logit,
    multigammaln,
    ndtr,
    ndtri,
    polygamma,
    pseudo_huber,
    rel_entr,
    rgamma,
    softplus,
    xlog1py,
    xlogy,
    zeta,
)
from tenferro.arrays.functions.student import stdtr
from tenferro.arrays.functions.trigonometric import sinc
from tenferro.primitives._boundary import publish as _publish

psi = digamma
jn = jv

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betaln",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "chdtr",
    "chdtrc",
    "cosm1",
    "dawsn",
    "digamma",
    "ellipe",
    "ellipk",
    "ellipkm1",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp1",
    "exp2",
    "exp10",
    "expi",
    "expit",
    "expm1",
    "expn",
    "exprel",
    "fdtr",
    "fdtrc",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "gdtr",
    "gdtrc",
    "huber",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "iv",
    "ive",
    "j0",
    "j1",
    "jn",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "kn",
    "kv",
    "kve",
    "log1p",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "pdtr",
    "pdtrc",
    "polygamma",
    "pseudo_huber",
    "psi",
    "rel_entr",
    "rgamma",
    "sinc",
    "softmax",
    "softplus",
    "stdtr",
    "voigt_profile",
    "wofz",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "yv",
    "zeta",
]

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
