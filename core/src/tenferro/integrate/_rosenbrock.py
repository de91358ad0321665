"""A Rosenbrock method for stiff equations: a step solves linear systems with one matrix.

It needs no iteration, so that its derivative, of any order, is that of its formulas. It takes the
Jacobian by forward mode: of real states, since that of a complex function need not be one matrix.

Source  E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), section
        IV.7: the transformed form (7.25), and RODAS, of order 4(3), with its polynomial
"""

from __future__ import annotations

from tenferro.arrays.functions.creation import ones_like
from tenferro.arrays.functions.linalg.lu_factors import lu_factor, lu_solve
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.functions.triangles import eye
from tenferro.arrays.handle.array import Array
from tenferro.integrate._method import Method, RightSide, Step, combined
from tenferro.transforms import jacfwd, jvp

_GAMMA = 1 / 4
_TIMES = (0, 0.386, 0.21, 0.63, 1, 1)
_STAGES = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1),
)
_COUPLINGS = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (
        *(8.083246795921522, -7.981132988064893, -31.52159432874371),
        *(16.31930543123136, -6.058818238834054),
    ),
)
_BY_TIME = (0.25, -0.1043, 0.1035, -0.0362, 0, 0)
"""Weights of h² ∂f/∂t."""
_BETWEEN = (
    (
        *(10.12623508344586, -7.487995877610167, -34.80091861555747),
        *(-7.992771707568823, 1.025137723295662),
    ),
    (
        *(-0.6762803392801253, 6.087714651680015, 16.43084320892478),
        *(24.76722511418386, -6.594389125716872),
    ),
)
"""Weights of the stages in a and b: y + x (y₁ - y) + x (1 - x) (a + b x) for x from 0 to 1."""


def _step(f: RightSide, t: Array, y: Array, slope: Array, h: Array, end: Array) -> Step:
    """Make a step of size h, which may be 0, from (t, y), where the slope is known."""
    jacobian = jacfwd(lambda y: f(t, y))(y).reshape(y.size, y.size)
    by_time = jvp(lambda t: f(t, y), (t,), (ones_like(t),))[1]
    factors = lu_factor(eye(y.size, dtype=y.dtype) - h * _GAMMA * jacobian)
    stages: list[Array] = []
    for k, part in enumerate(_TIMES):
        at = end if part == 1 else t + part * h
        value = f(at, y + combined(_STAGES[k], stages)) if k else slope
        right = h * _GAMMA * value
        if k:
            right = right + _GAMMA * combined(_COUPLINGS[k], stages)
        if _BY_TIME[k]:
            right = right + _GAMMA * _BY_TIME[k] * h * h * by_time
        stages.append(lu_solve(factors, right.reshape(-1)).reshape(y.shape))
    change = combined((*_STAGES[-1], 1), stages)
    a, b = [combined(weights, stages) for weights in _BETWEEN]
    after = y + change
    return Step(after, f(end, after), stages[-1], stack([change + a, b - a, -b]))


RODAS = Method(_step, coefficients=3, error_order=4, evaluations=6, takes_complex=False)
