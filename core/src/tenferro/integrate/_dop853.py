"""The explicit Runge-Kutta method of order 8 by Dormand and Prince: "DOP853".

A step has 12 stages. Its error is estimated by methods of order 5 and 3, so that the estimate of
order 5 cannot be small by accident. Three more stages give a polynomial of order 7 over the step.

Source  E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed.
        (1993), sections II.5 and II.6; the coefficients are those of their program DOP853
"""

from __future__ import annotations

from math import comb

from tenferro.arrays.functions.arithmetic import sqrt, square
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.handle.array import Array
from tenferro.integrate._method import Method, RightSide, Step, combined, root_mean_square

_TIMES = (
    0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726,
    0.3333333333333333, 0.25, 0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571,
    1.0,
)  # fmt: skip
_STAGES = (
    (0.05260015195876773,),
    (0.0197250569845379, 0.0591751709536137),
    (0.02958758547680685, 0, 0.08876275643042054),
    (0.2413651341592667, 0, -0.8845494793282861, 0.924834003261792),
    (0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242),
    (0.037109375, 0, 0, 0.17025221101954405, 0.06021653898045596, -0.017578125),
    (
        0.03709200011850479, 0, 0, 0.17038392571223998, 0.10726203044637328,
        -0.015319437748624402, 0.008273789163814023,
    ),
    (
        0.6241109587160757, 0, 0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
        20.154067550477894, -43.48988418106996,
    ),
    (
        0.47766253643826434, 0, 0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
        15.279233632882423, -33.28821096898486, -0.020331201708508627,
    ),
    (
        -0.9371424300859873, 0, 0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
        -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196,
    ),
    (
        2.273310147516538, 0, 0, -10.53449546673725, -2.0008720582248625, -17.9589318631188,
        27.94888452941996, -2.8589982771350235, -8.87285693353063, 12.360567175794303,
        0.6433927460157636,
    ),
)  # fmt: skip
_STEP = (
    0.054293734116568765, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259,
)  # fmt: skip
_ERROR_OF_5 = (
    0.01312004499419488, 0, 0, 0, 0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
    -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294,
)  # fmt: skip
_LESS_THAN_STEP = {0: 0.2440944881889764, 8: 0.7338466882816118, 11: 0.022058823529411766}
_ERROR_OF_3 = tuple([weight - _LESS_THAN_STEP.get(i, 0) for i, weight in enumerate(_STEP)])
_TIMES_BETWEEN = (1 / 10, 2 / 10, 7 / 9)
_STAGES_BETWEEN = (
    (
        0.056167502283047954, 0, 0, 0, 0, 0, 0.25350021021662483, -0.2462390374708025,
        -0.12419142326381637, 0.15329179827876568, 0.00820105229563469, 0.007567897660545699,
        -0.008298,
    ),
    (
        0.03183464816350214, 0, 0, 0, 0, 0.028300909672366776, 0.053541988307438566,
        -0.05492374857139099, 0, 0, -0.00010834732869724932, 0.0003825710908356584,
        -0.00034046500868740456, 0.1413124436746325,
    ),
    (
        -0.42889630158379194, 0, 0, 0, 0, -4.697621415361164, 7.683421196062599, 4.06898981839711,
        0.3567271874552811, 0, 0, 0, -0.0013990241651590145, 2.9475147891527724,
        -9.15095847217987,
    ),
)  # fmt: skip
_BETWEEN = (
    (
        -8.428938276109013, 0, 0, 0, 0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207,
        2.117034582445028, -0.871391583777973, 2.2404374302607883, 0.6315787787694688,
        -0.08899033645133331, 18.148505520854727, -9.194632392478356, -4.436036387594894,
    ),
    (
        10.427508642579134, 0, 0, 0, 0, 242.28349177525817, 165.20045171727028,
        -374.5467547226902, -22.113666853125306, 7.733432668472264, -30.674084731089398,
        -9.332130526430229, 15.697238121770845, -31.139403219565178, -9.35292435884448,
        35.81684148639408,
    ),
    (
        19.985053242002433, 0, 0, 0, 0, -387.0373087493518, -189.17813819516758,
        527.8081592054236, -11.57390253995963, 6.8812326946963, -1.0006050966910838,
        0.7777137798053443, -2.778205752353508, -60.19669523126412, 84.32040550667716,
        11.99229113618279,
    ),
    (
        -25.69393346270375, 0, 0, 0, 0, -154.18974869023643, -231.5293791760455,
        357.6391179106141, 93.40532418362432, -37.45832313645163, 104.0996495089623,
        29.8402934266605, -43.53345659001114, 96.32455395918828, -39.17726167561544,
        -149.72683625798564,
    ),
)  # fmt: skip


def _of_power(power: int, k: int) -> int:
    """Return the coefficient of x to this power in the factor of cₖ.

    The polynomial is x (c₀ + (1 - x) (c₁ + x (c₂ + (1 - x) (c₃ + …)))).
    """
    place = power - (k // 2 + 1)
    return comb((k + 1) // 2, place) * (-1) ** place if place >= 0 else 0


_OF_POWERS = [[_of_power(power, k) for k in range(7)] for power in range(1, 8)]


def _step(f: RightSide, t: Array, y: Array, slope: Array, h: Array, end: Array) -> Step:
    slopes = [slope]
    for part, weights in zip(_TIMES, _STAGES, strict=True):
        slopes.append(f(t + part * h, y + h * combined(weights, slopes)))
    after = y + h * combined(_STEP, slopes)
    errors = stack([h * combined(weights, slopes) for weights in (_ERROR_OF_5, _ERROR_OF_3)])
    slopes.append(f(end, after))
    last = slopes[-1]
    for part, weights in zip(_TIMES_BETWEEN, _STAGES_BETWEEN, strict=True):
        slopes.append(f(t + part * h, y + h * combined(weights, slopes)))
    change = after - y
    nested = [change, h * slope - change, 2 * change - h * (last + slope)]
    nested += [h * combined(weights, slopes) for weights in _BETWEEN]
    coefficients = [combined(weights, nested) for weights in _OF_POWERS]
    return Step(after, last, errors, stack(coefficients))


def _ratio(scaled: Array) -> Array:
    """Return the error of order 5, damped where that of order 3 is much larger.

    scaled: both over what is tolerated, [2, *s]
    """
    fifth, third = [root_mean_square(x) for x in scaled]
    both = sqrt(square(fifth) + 0.01 * square(third))
    nothing = both == 0
    found: Array = square(fifth) / where(nothing, 1.0, both)
    return found


DOP853 = Method(
    _step, coefficients=7, error_order=8, evaluations=len(_TIMES) + 1 + len(_TIMES_BETWEEN),
    ratio=_ratio,
)  # fmt: skip
