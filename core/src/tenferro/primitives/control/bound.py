"""``Bound``: the value of a loop that had to end within a number of steps.

Read next: ``while_loop.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid
from tenferro.primitives._errors import DTypeMismatchError
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes

__all__ = ["Bound", "bound"]


class Bound(Mixed):
    """y = x where ``ended``; else an error where the backend can raise one, and nan elsewhere.

    x: [*s]   ended: bool, a leading part of s   →   y: [*s]
    """

    key = "std::bound"
    batch = over_leading_axes
    linear = ((0,),)
    steps: int

    def __post_init__(self) -> None:
        if type(self.steps) is not int or self.steps < 0:
            need = "an integer of 0 or more"
            raise invalid(self, "steps", "no number of steps", got=repr(self.steps), need=need)

    def abstract_eval(self, x: Aval, ended: Aval) -> Aval:
        if not ended.dtype.is_bool or ended.shape != x.shape[: ended.ndim]:
            raise DTypeMismatchError.of(
                self.name, "`ended` does not say it for x", got=f"{x}, {ended}",
                need="bool, of leading axes of x", dtypes=(x.dtype, ended.dtype),
            )  # fmt: skip
        return x

    def transpose_x(self, ct: Handle, x: Handle, ended: Handle) -> Handle:
        return bind(self, ct, ended)


def bound(x: Handle, ended: Handle, steps: int) -> Handle:
    """Return x if a loop has ended within a number of steps.

    x: [*s]   ended: bool, of leading axes of s   →   y: [*s]

    Definition   y = x where ended; else StepLimitError, and on XLA nan in place of floats
    Transpose    ct_x = bound(ct, ended)

    >>> from tenferro.primitives import bound, variable
    >>> bound(variable("x", (3,), "f64"), variable("ended", (), bool), 10).aval
    f64[3]
    """
    return bind(Bound(steps), x, ended)
