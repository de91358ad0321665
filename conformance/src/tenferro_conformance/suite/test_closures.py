"""A value that a rule closes over is as good as an argument."""

import numpy as np
import pytest

import tenferro as tn
from tenferro_conformance.cases.closures import RULES, TRANSFORMS, closure_and_argument
from tenferro_conformance.running.doors import close

pytestmark = pytest.mark.tenferro_law("closed-over values")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("inner", TRANSFORMS)
def test_closed_over_values(tenferro_backend, inner, rule):
    """T(y ↦ S(x ↦ f(x, y))(a))(b) = the same where the rule of f gets y as an argument, for every
    pair of transforms T and S, eager and jitted.
    """
    pairs = [closure_and_argument(rule, T, TRANSFORMS[inner]) for T in TRANSFORMS.values()]
    eager = [closed(1.3) for closed, _ in pairs]
    jitted = tn.jit(lambda y: [(closed(y), given(y)) for closed, given in pairs])(1.3)
    for found, (closed, given) in zip(eager, jitted, strict=True):
        close([found, closed], [np.asarray(given), np.asarray(given)])
