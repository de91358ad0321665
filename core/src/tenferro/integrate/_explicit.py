"""Explicit Runge-Kutta methods: a step, the polynomial over it, and its error.

Source  J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19-26, with the polynomial of
        L. F. Shampine, Math. Comp. 46 (1986) 135-150 ("RK45");
        P. Bogacki, L. F. Shampine, Appl. Math. Lett. 2 (1989) 321-325 ("RK23")
"""

from __future__ import annotations

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.handle.array import Array
from tenferro.integrate._method import Method, RightSide, Step, combined


class _Tableau(NamedTuple):
    """The coefficients of a method whose last slope is that of the next step."""

    times: tuple[float, ...]
    stages: tuple[tuple[float, ...], ...]
    step: tuple[float, ...]
    error: tuple[float, ...]
    between: tuple[tuple[float, ...], ...]
    """Weights of the slopes in the coefficients of x, x², …, with x from 0 to 1 over a step."""

    def method(self, error_order: int) -> Method:
        """Return the method of these coefficients."""
        evaluations = len(self.times) + 1

        def step(f: RightSide, t: Array, y: Array, slope: Array, h: Array, end: Array) -> Step:
            slopes = [slope]
            for part, weights in zip(self.times, self.stages, strict=True):
                slopes.append(f(t + part * h, y + h * combined(weights, slopes)))
            after = y + h * combined(self.step, slopes)
            slopes.append(f(end, after))
            coefficients = stack([h * combined(weights, slopes) for weights in self.between])
            return Step(after, slopes[-1], h * combined(self.error, slopes), coefficients)

        return Method(step, len(self.between), error_order, evaluations)


DORMAND_PRINCE = _Tableau(
    times=(1 / 5, 3 / 10, 4 / 5, 8 / 9, 1),
    stages=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    step=(35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    error=(-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40),
    between=(
        (1, 0, 0, 0, 0, 0, 0),
        (
            *(-8048581381 / 2820520608, 0, 131558114200 / 32700410799, -1754552775 / 470086768),
            *(127303824393 / 49829197408, -282668133 / 205662961, 40617522 / 29380423),
        ),
        (
            *(8663915743 / 2820520608, 0, -68118460800 / 10900136933, 14199869525 / 1410260304),
            *(-318862633887 / 49829197408, 2019193451 / 616988883, -110615467 / 29380423),
        ),
        (
            *(-12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072),
            *(701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423),
        ),
    ),
).method(error_order=5)

BOGACKI_SHAMPINE = _Tableau(
    times=(1 / 2, 3 / 4),
    stages=((1 / 2,), (0, 3 / 4)),
    step=(2 / 9, 1 / 3, 4 / 9),
    error=(5 / 72, -1 / 12, -1 / 9, 1 / 8),
    between=((1, 0, 0, 0), (-4 / 3, 1, 4 / 3, -1), (5 / 9, -2 / 3, -8 / 9, 1)),
).method(error_order=3)
