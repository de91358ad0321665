"""One table of values and derivatives at singular points: the tests prove it, a page shows it.

An expression and its derivatives are Python of the names ``np``, ``special``, ``linalg``, ``inf``,
``nan``, ``pi`` and the numbers of the dtype: ``big`` is a quarter of the largest finite number,
``tiny`` the smallest normal one. ``x`` and ``y`` are the arguments. What is written per row is
right for float32 and float64, or for complex64 and complex128. Derivatives are those of gradients
and of JVPs alike; one with respect to ``z`` is complex: f′(z) of a complex function, and the
direction of steepest growth of a real one.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ROWS", "SECTIONS", "Row"]


class Row(NamedTuple):
    """A function, where it is differentiated, its derivative in each argument, and the reason."""

    section: str
    function: str
    at: str
    first: str
    second: str
    why: str

    def __str__(self) -> str:
        return f"{self.function} at {self.at}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments, which `at` gives values."""
        return tuple(part.split("=")[0].strip() for part in self.at.split(";"))


SECTIONS = {
    "kinks": "Kinks and steps",
    "ties": "Ties",
    "ends": "Ends of the domain, poles",
    "origin": "The origin",
    "powers": "Powers",
    "infinite": "Infinities",
    "nan": "NaN",
    "large": "Large and small numbers",
    "complex": "Complex numbers, branch cuts",
    "vectors": "Sums, products, norms, order statistics",
}

# function | at | derivative in each argument | second derivative (in the first argument) | why
_TABLE = {
    "kinks": """
np.abs(x) | x = 0.0 | 0 | 0 | the middle of the two slopes
np.abs(x) | x = -0.0 | 0 | 0 | a zero has no sign here
np.fabs(x) | x = 0.0 | 0 | 0 | as abs
np.sign(x) | x = 0.0 | 0 | 0 | the jump is not seen
np.floor(x) | x = 1.0 | 0 | 0 | the jump is not seen
np.ceil(x) | x = 1.0 | 0 | 0 | the jump is not seen
np.trunc(x) | x = -2.0 | 0 | 0 | the jump is not seen
np.rint(x) | x = 0.5 | 0 | 0 | the jump is not seen
np.heaviside(x, y) | x = 0.0; y = 0.5 | 0, 1 | 0 | y is the value there
np.heaviside(x, y) | x = 1.0; y = 0.5 | 0, 0 | 0 |
np.copysign(x, y) | x = 0.0; y = -1.0 | 0, 0 | 0 | that of abs times the sign of y
np.copysign(x, y) | x = 2.0; y = -0.0 | -1, 0 | 0 | the sign of a zero counts
np.remainder(x, y) | x = 4.0; y = 2.0 | 1, -2 | 0 | x − y·floor(x/y), the jump is not seen
np.remainder(x, y) | x = -3.0; y = 2.0 | 1, 2 | 0 |
np.fmod(x, y) | x = -3.0; y = 2.0 | 1, 1 | 0 | x − y·trunc(x/y)
np.floor_divide(x, y) | x = 4.0; y = 2.0 | 0, 0 | 0 | the jump is not seen
np.clip(x, 0.0, 1.0) | x = 0.0 | 0 | 0 | x counts only inside the bounds
np.clip(x, 0.0, 1.0) | x = 1.0 | 0 | 0 | x counts only inside the bounds
np.nan_to_num(x) | x = inf | 0 | 0 | replaced by a constant
special.huber(x, y) | x = 1.0; y = 1.0 | 0, 1 | 0 | continuous
special.huber(x, y) | x = 1.0; y = 0.0 | 0, 0 | 0 |
special.huber(x, y) | x = -1.0; y = 2.0 | 0, 0 | 0 | the value is the constant inf
special.pseudo_huber(x, y) | x = 0.0; y = 2.0 | 0, 0 | 0 | the value is the constant 0
""",
    "ties": """
np.maximum(x, y) | x = 1.0; y = 1.0 | 0.5, 0.5 | 0 | equal ones share
np.minimum(x, y) | x = 1.0; y = 1.0 | 0.5, 0.5 | 0 | equal ones share
np.maximum(x, y) | x = 0.0; y = -0.0 | 0.5, 0.5 | 0 | zeros are equal
np.maximum(x, y) | x = inf; y = inf | 0.5, 0.5 | 0 | equal ones share
np.fmax(x, y) | x = 2.0; y = 2.0 | 0.5, 0.5 | 0 | equal ones share
np.fmin(x, y) | x = -inf; y = -inf | 0.5, 0.5 | 0 | equal ones share
np.maximum(x, x) | x = 3.0 | 1 | 0 | the shares add up
np.logaddexp(x, y) | x = 0.0; y = 0.0 | 0.5, 0.5 | 0.25 | smooth
np.logaddexp(x, y) | x = inf; y = inf | 0.5, 0.5 | | equal ones share
np.logaddexp(x, y) | x = -inf; y = -inf | 0.5, 0.5 | | equal ones share
np.logaddexp2(x, y) | x = -inf; y = -inf | 0.5, 0.5 | | equal ones share
""",
    "ends": """
np.sqrt(x) | x = 0.0 | inf | -inf | the slope is infinite
np.sqrt(x) | x = -1.0 | nan | nan | outside
np.cbrt(x) | x = 0.0 | inf | | the slope is infinite
np.log(x) | x = 0.0 | inf | -inf | 1/x
np.log(x) | x = -0.0 | -inf | -inf | 1/x
np.log(x) | x = -1.0 | -1 | -1 | 1/x; the value is NaN
np.log2(x) | x = 0.0 | inf | -inf | 1/(x·ln 2)
np.log10(x) | x = 0.0 | inf | -inf | 1/(x·ln 10)
np.log1p(x) | x = -1.0 | inf | -inf | 1/(1 + x)
np.reciprocal(x) | x = 0.0 | -inf | inf | −1/x²
np.divide(x, y) | x = 1.0; y = 0.0 | inf, -inf | | 1/y, −x/y²
np.divide(x, y) | x = 0.0; y = 0.0 | inf, nan | | 1/y, −x/y²
np.arcsin(x) | x = 1.0 | inf | | the slope is infinite
np.arcsin(x) | x = 2.0 | nan | nan | outside
np.arccos(x) | x = -1.0 | -inf | | the slope is infinite
np.arctanh(x) | x = 1.0 | inf | | 1/(1 − x²)
np.arccosh(x) | x = 1.0 | inf | | the slope is infinite
special.k0(x) | x = 0.0 | -inf | inf | −K₁
special.k1(x) | x = 0.0 | -inf | inf | −½ (K₀ + K₂)
special.k0(x) | x = -1.0 | nan | nan | outside
special.y0(x) | x = 0.0 | inf | | −Y₁
special.y1(x) | x = 0.0 | inf | | ½ (Y₀ − Y₂)
special.y1(x) | x = -1.0 | nan | nan | outside
special.jv(0.5, x) | x = 0.0 | inf | | the slope is infinite
special.j0(x) | x = 0.0 | 0 | -0.5 | even
special.j1(x) | x = 0.0 | 0.5 | 0 | odd
special.k0(x) | x = inf | 0 | 0 |
special.erfinv(x) | x = 1.0 | inf | inf |
special.ndtri(x) | x = 0.0 | inf | -inf |
special.logit(x) | x = 0.0 | inf | -inf | 1/(x (1 − x))
special.entr(x) | x = 0.0 | inf | -inf | −ln x − 1
special.entr(x) | x = -1.0 | 0 | 0 | the value is the constant −inf
special.gammaln(x) | x = 0.0 | -inf | inf | ψ(x)
special.loggamma(x) | x = -2.0 | 0 | 0 | the value is the constant NaN
special.digamma(x) | x = 0.0 | inf | -inf | ψ′(x)
special.xlogy(x, y) | x = 0.0; y = 0.0 | -inf, 0 | 0 | ln y, x/y with 0/0 = 0
special.xlog1py(x, y) | x = 0.0; y = -1.0 | -inf, 0 | 0 | ln(1 + y), x/(1 + y) with 0/0 = 0
special.rel_entr(x, y) | x = 0.0; y = 2.0 | -inf, 0 | inf | ln(x/y) + 1, −x/y
special.rel_entr(x, y) | x = -1.0; y = 2.0 | 0, 0 | 0 | the value is the constant inf
special.kl_div(x, y) | x = 2.0; y = 2.0 | 0, 0 | 0.5 | the smallest value
""",
    "origin": """
np.sinc(x) | x = 0.0 | 0 | -pi**2 / 3 | smooth
np.hypot(x, y) | x = 0.0; y = 0.0 | 0, 0 | 0 | as abs
np.arctan2(x, y) | x = 0.0; y = 0.0 | 0, 0 | 0 | the angle of nothing
np.i0(x) | x = 0.0 | 0 | 0.5 | smooth
special.i0e(x) | x = 0.0 | 0 | | that of −|x| is 0
special.i1(x) | x = 0.0 | 0.5 | 0 | smooth
special.exprel(x) | x = 0.0 | 0.5 | 1 / 3 | smooth
""",
    "powers": """
x**2 | x = 0.0 | 0 | 2 | exact
x**3 | x = -2.0 | 12 | -12 | exact, without a logarithm
x**-1 | x = 0.0 | -inf | inf |
x**0 | x = 0.0 | 0 | 0 | a constant
x**0 | x = nan | 0 | 0 | a constant
np.power(x, y) | x = 0.0; y = 2.0 | 0, 0 | 2 | 0·∞ is not computed, its limit is taken
np.power(x, y) | x = 0.0; y = 1.0 | 1, 0 | 0 | 0·∞ is not computed, its limit is taken
np.power(x, y) | x = 0.0; y = 0.0 | 0, 0 | 0 | 0·∞ is not computed, its limit is taken
np.power(x, y) | x = 0.0; y = 0.5 | inf, 0 | -inf | y·x^(y − 1)
np.power(x, y) | x = 0.0; y = -1.0 | -inf, -inf | inf | x^y·ln x
np.power(x, y) | x = -2.0; y = 3.0 | 12, nan | -12 | in y it varies over complex numbers
np.float_power(x, y) | x = 0.0; y = 2.0 | 0, 0 | 2 | as power
""",
    "infinite": """
np.exp(x) | x = -inf | 0 | 0 |
np.exp(x) | x = inf | inf | inf |
np.tanh(x) | x = inf | 0 | 0 |
np.arctan(x) | x = -inf | 0 | |
np.arcsinh(x) | x = inf | 0 | |
np.log(x) | x = inf | 0 | 0 |
np.sqrt(x) | x = inf | 0 | |
np.expm1(x) | x = -inf | 0 | 0 |
np.sin(x) | x = inf | nan | nan |
np.maximum(x, y) | x = inf; y = 1.0 | 1, 0 | 0 |
np.logaddexp(x, y) | x = inf; y = 1.0 | 1, 0 | |
np.hypot(x, y) | x = 1.0; y = inf | 0, nan | | x/z, y/z with ∞/∞ = NaN
special.expit(x) | x = inf | 0 | 0 |
special.erf(x) | x = inf | 0 | |
special.log_ndtr(x) | x = inf | 0 | |
special.huber(x, y) | x = inf; y = 1.0 | 0, 1 | 0 | the inner branch alone
special.huber(x, y) | x = 1.0; y = inf | inf, 1 | | the outer branch alone
special.rel_entr(x, y) | x = inf; y = 1.0 | inf, -inf | |
""",
    "nan": """
np.abs(x) | x = nan | nan | |
np.sin(x) | x = nan | nan | nan |
np.maximum(x, y) | x = nan; y = 1.0 | 0.5, 0.5 | 0 | the value is NaN, so both count
np.minimum(x, y) | x = 1.0; y = nan | 0.5, 0.5 | 0 | the value is NaN, so both count
np.fmax(x, y) | x = nan; y = 1.0 | 0, 1 | 0 | NaN loses
np.nan_to_num(x) | x = nan | 0 | 0 | replaced by a constant
np.where(x > 0, x, 2 * y) | x = nan; y = 1.0 | 0, 2 | 0 | selected, not multiplied
special.pseudo_huber(x, y) | x = nan; y = 1.0 | nan, nan | |
special.rel_entr(x, y) | x = nan; y = -1.0 | nan, nan | |
""",
    "large": """
np.hypot(x, y) | x = big; y = big | 0.5**0.5, 0.5**0.5 | | no overflow on the way
np.hypot(x, y) | x = tiny; y = tiny | 0.5**0.5, 0.5**0.5 | | no underflow on the way
np.arctan2(x, y) | x = 0.0; y = big | 1 / big, 0 | | no overflow on the way
np.arcsinh(x) | x = big | 1 / big | | no overflow on the way
np.arccosh(x) | x = big | 1 / big | | no overflow on the way
np.logaddexp(x, y) | x = big; y = big | 0.5, 0.5 | | no overflow on the way
special.rgamma(x) | x = -1000.0 | inf | | (−1)ⁿ n! at −n, which overflows
special.rgamma(x) | x = -1001.0 | -inf | | (−1)ⁿ n! at −n, which overflows
special.rgamma(x) | x = -4.0 | 24 | | (−1)ⁿ n! at −n
special.expit(x) | x = -80.0 | np.exp(-80.0) | | no cancellation
special.log_expit(x) | x = 80.0 | np.exp(-80.0) | | no cancellation
special.log_ndtr(x) | x = -(big**0.5) | big**0.5 | -1 | no 0/0
special.log_ndtr(x) | x = -big | big | -1 | no underflow on the way
special.logit(x) | x = big**-0.75 | big**0.75 | -inf | the true one overflows
special.entr(x) | x = big**0.75 | -np.log(big**0.75) - 1 | -(big**-0.75) | no underflow on the way
special.rel_entr(x, y) | x = big**0.75; y = big**0.75 | 1, -1 | big**-0.75 | no underflow on the way
special.kl_div(x, y) | x = big**-0.75; y = big**-0.75 | 0, 0 | big**0.75 | no overflow on the way
np.expm1(x) | x = -80.0 | np.exp(-80.0) | | no cancellation
special.pseudo_huber(x, y) | x = 1e-20; y = 1.0 | 1, 1e-20 | | no overflow on the way
np.sinc(x) | x = 1e-12 | -(pi**2) / 3 * 1e-12 | | no cancellation
special.exprel(x) | x = -80.0 | 1 / 6400 | |
""",
    "complex": """
np.abs(z) | z = 0j | 0 | | as of real numbers
np.sign(z).real | z = 0j | 0 | | as abs
np.sign(z).real | z = 0.3 + 0.4j | 1.28 - 0.96j | | z/abs(z) turns
np.angle(z) | z = 0j | 0 | | the angle of nothing
np.angle(z) | z = 2j | -0.5 | | along the circle
np.abs(z) | z = complex(big, big) | complex(0.5**0.5, 0.5**0.5) | | no overflow on the way
np.real(z) | z = 1 + 2j | 1 | |
np.imag(z) | z = 1 + 2j | 1j | |
np.sqrt(z) | z = complex(-4, 0.0) | -0.25j | | continuous from above
np.sqrt(z) | z = complex(-4, -0.0) | 0.25j | | continuous from below: the sign of the zero counts
np.sqrt(z) | z = 0j | complex(nan, nan) | | a pole of the derivative
np.log(z) | z = complex(-2, -0.0) | -0.5 | | 1/z on both sides
np.log(z) | z = 0j | complex(nan, nan) | | a pole
np.arcsin(z) | z = complex(2, 0.0) | 3**-0.5 * 1j | | continuous from above
np.arcsin(z) | z = complex(2, -0.0) | -(3**-0.5) * 1j | | continuous from below
np.arccos(z) | z = complex(2, 0.0) | -(3**-0.5) * 1j | | continuous from above
np.arccosh(z) | z = complex(0.0, -0.0) | 1j | | continuous from below
np.arctanh(z) | z = complex(2, 0.0) | -1 / 3 | | 1/(1 − z²) on both sides
np.arcsinh(z) | z = complex(0.0, 2) | -(3**-0.5) * 1j | | continuous from the right
np.arcsinh(z) | z = complex(-0.0, 2) | 3**-0.5 * 1j | | continuous from the left
np.arctan(z) | z = complex(0.0, 2) | -1 / 3 | | 1/(1 + z²) on both sides
np.sinc(z) | z = 0j | 0 | | smooth
np.square(z) | z = 0j | 0 | |
z**2 | z = 0j | 0 | | exact
np.tanh(z) | z = 400 + 1j | 0 | | no overflow on the way
""",
    "vectors": """
np.max(x) | x = [3, 1, 3] | [0.5, 0, 0.5] | | equal ones share
np.min(x) | x = [-0.0, 0.0, 1] | [0.5, 0.5, 0] | | zeros are equal
np.max(x) | x = [nan, 1, 2] | [1 / 3, 1 / 3, 1 / 3] | | the value is NaN, so all count
np.nanmax(x) | x = [nan, 2, 2] | [0, 0.5, 0.5] | | NaN is left out
np.max(x, where=x < 4, initial=3) | x = [3, 9, 3] | [0.25, 0, 0.25] | | `initial` has one half
np.maximum.reduce(x, where=x < 4, initial=3) | x = [2, 9, 3] | [0, 0, 0.5] | | the mask takes it out
np.maximum.accumulate(x)[2] | x = [3, 3, 3] | [1 / 3, 1 / 3, 1 / 3] | | equal ones share
np.fmin.accumulate(x)[3] | x = [1, nan, 1, 1] | [1 / 3, 0, 1 / 3, 1 / 3] | | NaN is left out
np.fmax.reduce(x) | x = [3, 1, 3, 3] | [1 / 3, 0, 1 / 3, 1 / 3] | | equal ones share
np.ptp(x) | x = [2, 2, 2] | [0, 0, 0] | | the shares cancel
np.prod(x) | x = [0, 2, 3] | [6, 0, 0] | | without a division
np.prod(x) | x = [0, 0, 3] | [0, 0, 0] | | without a division
np.cumprod(x)[-1] | x = [2, 0, 3] | [0, 6, 0] | | without a division
np.var(x) | x = [2, 2, 2] | [0, 0, 0] | | smooth
np.std(x) | x = [2, 2, 2] | [nan, nan, nan] | | 0/0; √(var + ε) is smooth
np.median(x) | x = [3, 1, 3] | [1, 0, 0] | | the middle one; of equal ones the first
np.sort(x)[0] | x = [2, 1, 1] | [0, 1, 0] | | the sort is stable
np.nansum(x) | x = [nan, 1, 2] | [0, 1, 1] | | NaN is left out
np.nanmean(x) | x = [nan, 1, 2] | [0, 0.5, 0.5] | | NaN is left out
np.nanprod(x) | x = [nan, 1, 2] | [0, 2, 1] | | NaN is left out
linalg.norm(x) | x = [0, 0, 0] | [0, 0, 0] | | as abs
linalg.norm(x) | x = [big, 0, 0] | [0, 0, 0] | | the value is inf, as that of NumPy
linalg.norm(x, 1) | x = [0, 2, -3] | [0, 1, -1] | | as abs
linalg.norm(x, np.inf) | x = [2, -2, 1] | [0.5, -0.5, 0] | | equal ones share
special.logsumexp(x) | x = [0, 0, 0] | [1 / 3, 1 / 3, 1 / 3] | | smooth
special.logsumexp(x) | x = [inf, 1, inf] | [0.5, 0, 0.5] | | equal infinities share
special.logsumexp(x) | x = [-inf, -inf] | [0.5, 0.5] | | equal infinities share
special.softmax(x)[0] | x = [-inf, 0, 0] | [0, 0, 0] | |
special.log_softmax(x)[1] | x = [-inf, 0, 0] | [0, 0.5, -0.5] | |
special.log_softmax(x)[1] | x = [inf, 0] | [nan, nan] | | the shares of inf are NaN
np.interp(x[0], [0.0, 1.0, 2.0], [0.0, 1.0, 5.0]) | x = [1.0] | [4] | | the piece to the right
np.convolve(x, [1.0, 2.0])[0] | x = [2, nan] | [1, 0] | | only what overlaps is multiplied
np.convolve([1.0, 2.0], x)[-1] | x = [2, nan] | [0, 2] | |
np.trapezoid(x) | x = [inf, 1, 2] | [0.5, 1, 0.5] | | linear
""",
}

ROWS = [
    Row(section, *[cell.strip() for cell in line.split(" |")])
    for section, text in _TABLE.items()
    for line in text.strip().splitlines()
]
