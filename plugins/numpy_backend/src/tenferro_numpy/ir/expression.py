"""Expressions: an instruction as a line of Python over its operands, with bound values.

`{0}`, `{1}` stand for operands, `{p0}`, `{p1}` for bound values. Templates are written in this
package and never hold anything of a user. The generated source and the interpreter read the same
expression, so that both do the same. Read next: `lowerings/arithmetic.py`, then `planner.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.backend.lowering import Promised
from tenferro.primitives import Aval
from tenferro_numpy.ir.assembly import Pieces
from tenferro_numpy.ir.templates import MAKERS

__all__ = [
    "CIRCULANT",
    "COPY_TO_MATRIX",
    "IDENTITY",
    "RAISED",
    "VIEW_BY_UNIT_AXES",
    "Expression",
    "Function",
    "Scalar",
    "Specialize",
    "called",
    "for_each",
    "simple",
]

Function = Callable[..., Any]
#: (operation, avals of the operands, aval of the first result, the contract lowering) → expression
Specialize = Callable[[Any, tuple[Aval, ...], Aval, Function], "Expression"]

#: what the fast form of a line raises where NumPy has a value
RAISED = (ArithmeticError, ValueError)
_NEVER = 1 << 30


class Expression(NamedTuple):
    """A line of Python for one instruction.

    shares       the result may share memory with an operand (or is one)
    broadcasts   operands may be of any shapes that broadcast to the shape of the result
    unexpanded   of a broadcast: the line that leaves expanding to its consumers
    expanded_for  of a broadcast: the number of consumers from which to expand it once pays
    safe         a function that gives the same where the line gives a value, and never raises
    scalar       of rank 0: the line on Python's own numbers
    foreign      somebody else's code, which may do anything
    into         of an elementwise instruction: the call that writes its result to `{out}`
    in_place     `{out}` may be the memory of any operand of its dtype
    onto         of another line: the call that writes its result to `{out}`, which it does not read
    strict_out   `onto` is for `{out}` in row-major order
    as_is        it reads numbers as they are, Python's or NumPy's
    elements     it gives the elements of its instruction's results, as Python's numbers
    each         of such a line: the line of one, and the operands of each
    update       of a line that changes a copy of its first operand: the line that changes itself
    memory_of    the operand in whose memory the result is
    fold         of a reduction: the ufunc, the axes and the dtype of the result
    pieces       of what is put together from its operands: where they go
    """

    template: str
    bound: tuple[Any, ...] = ()
    shares: bool = False
    broadcasts: bool = False
    unexpanded: Expression | None = None
    safe: Function | None = None
    scalar: Scalar | None = None
    foreign: bool = False
    into: str = ""
    in_place: bool = False
    onto: str = ""
    update: Expression | None = None
    memory_of: int | None = None
    fold: tuple[Any, tuple[int, ...], Any] | None = None
    pieces: Pieces | None = None
    expanded_for: int = _NEVER
    strict_out: bool = False
    as_is: bool = False
    elements: bool = False
    each: tuple[Expression, tuple[tuple[int, ...], ...]] | None = None

    def __getnewargs__(self) -> tuple[Any, ...]:  # type: ignore[misc]  # of our NamedTuple
        """Return what pickle writes: all but `scalar`, which only the planner reads."""
        return tuple(self if self.scalar is None else self._replace(scalar=None))

    @property
    def operand_count(self) -> int:
        """Number of operands that the line reads."""
        fields = [part.partition("}")[0] for part in self.template.split("{")]
        return len({field for field in fields if field.isdigit()})

    def text(self, operands: tuple[str, ...], names: Sequence[str]) -> str:
        """Write the line with names for operands and bound values."""
        return self.with_names(names).format(*operands)

    def with_names(self, names: Sequence[str]) -> str:
        """Return the template with names for bound values, and the places of its operands."""
        text = self.template
        for i, name in enumerate(names):
            text = text.replace(f"{{p{i}}}", name)
        return text

    def function(self) -> Function:
        """Return the expression as a function of its operands, without a Python frame if
        possible.
        """
        if self.safe is not None:
            return self.safe
        if self.each is not None:
            return _for_each(*self.each)
        there = _OPERATORS.get(self.template)
        if there is not None:
            return there
        if self.template in _PLAIN_CALLS:
            return self.bound[0]  # type: ignore[no-any-return]
        count = self.operand_count
        if self.template == _plain_call(count):
            return self.bound[0]  # type: ignore[no-any-return]
        if self.template == _call_with_operation(count):
            return partial(self.bound[0], self.bound[1])
        return _factory(self.template, count, len(self.bound))(*self.bound)  # type: ignore[no-any-return]

    def writer(self) -> Function:
        """`into` as a function of the operands and of where to write."""
        count = self.operand_count
        if self.into == _into_call(count):
            return self.bound[0]  # type: ignore[no-any-return]
        text = self.into.replace("{out}", f"{{{count}}}")
        return _factory(text, count + 1, len(self.bound))(*self.bound)  # type: ignore[no-any-return]


class Scalar(NamedTuple):
    """A line on Python's own numbers.

    gain    nanoseconds that it saves
    total   the line that gives the same and never raises; None if it is for one number alone
    cost    nanoseconds that this takes
    """

    expression: Expression
    gain: int
    total: Expression | None = None
    cost: int = 0


def for_each(line: Expression, rows: tuple[tuple[int, ...], ...]) -> Expression:
    """Make the line that gives a number for each row of operands."""
    names = {f"p{i}": f"{{p{i}}}" for i in range(len(line.bound))}
    texts = [line.template.format(*[f"{{{i}}}" for i in row], **names) for row in rows]
    return Expression(", ".join(texts), line.bound, elements=True, each=(line, rows))


def _for_each(line: Expression, rows: tuple[tuple[int, ...], ...]) -> Function:
    """Return what gives a number for each row of operands; compiling the whole line costs more."""
    function = line.function()
    if len(rows) == 1:
        (row,) = rows
        return lambda *xs: function(*[xs[i] for i in row])
    takers = [itemgetter(*column) for column in zip(*rows, strict=True)]
    return lambda *xs: [*map(function, *[take(xs) for take in takers])]


#: Ufuncs whose loop branches for each element if the result is the memory of an operand, and is
#: vectorized otherwise: on numbers of any sign `np.sign` then takes 9 to 12 times as long.
_SLOW_IN_PLACE = frozenset((np.sign,))
IDENTITY = Expression("{0}", shares=True)
#: The view that drops or adds axes of length 1, by an index (bound after the shape of the result).
#: It takes half the time of `reshape`.
VIEW_BY_UNIT_AXES = "{0}[{p1}]"
#: Copies an array with its axes in another order, merged; a view where strides allow that.
COPY_TO_MATRIX = "{0}.transpose({p0}).reshape({p1})"
#: Makes a matrix of factors of a spectrum, for signals of a length.
CIRCULANT = "{p0}({0}, length={p1}, scale={p2})"

_PLAIN_CALLS = frozenset(("{p0}({0})", "{p0}({0}, {1})", "{p0}({0}, {1}, {2})"))
_OPERATORS: dict[str, Function] = {
    "{0} + {1}": operator.add,
    "{0} - {1}": operator.sub,
    "{0} * {1}": operator.mul,
    "{0} / {1}": operator.truediv,
    "-{0}": operator.neg,
    "{0} == {1}": operator.eq,
    "{0} != {1}": operator.ne,
    "{0} < {1}": operator.lt,
    "{0} <= {1}": operator.le,
    "{0} > {1}": operator.gt,
    "{0} >= {1}": operator.ge,
    "{0} & {1}": operator.and_,
    "{0} | {1}": operator.or_,
    "{0} ^ {1}": operator.xor,
    "~{0}": operator.invert,
}


@lru_cache(maxsize=64)
def _plain_call(count: int) -> str:
    """Return the template that calls a bound function with the operands in their order."""
    return "{p0}(" + ", ".join([f"{{{i}}}" for i in range(count)]) + ")"


@lru_cache(maxsize=64)
def _call_with_operation(count: int) -> str:
    """Return the template of `called`, which passes the operation before the operands."""
    return "{p0}({p1}" + "".join([f", {{{i}}}" for i in range(count)]) + ")"


@lru_cache(maxsize=1024)
def _factory(template: str, arity: int, bound: int) -> Function:
    """Make functions of operands from bound values, for one template."""
    there = MAKERS.get((template, bound))
    if there is not None:
        return there
    return compiled(template, arity, bound)


def compiled(template: str, arity: int, bound: int) -> Function:
    """Compile what makes functions of operands from bound values."""
    operands = tuple(f"a{i}" for i in range(arity))
    names = tuple(f"p{i}" for i in range(bound))
    line = template.format(*operands, **{name: name for name in names})
    made: Function = eval(f"lambda {', '.join(names)}: lambda {', '.join(operands)}: {line}", {})
    return made


def called(
    op: Any, count: int, function: Function, *, shares: bool, foreign: bool = False
) -> Expression:
    """Make the call of a contract lowering, `function(op, *operands)`; a promised one loads now."""
    if isinstance(function, Promised):
        function = function.function()
    template = _call_with_operation(count)
    return Expression(template, (function, op), shares=shares, foreign=foreign)


@lru_cache(maxsize=512)
def simple(function: Function, count: int) -> Expression:
    """Make the call of a function of the operands alone, which returns a new array."""
    operands = ", ".join(f"{{{i}}}" for i in range(count))
    writes = isinstance(function, np.ufunc)
    return Expression(
        f"{{p0}}({operands})",
        (function,),
        broadcasts=True,
        into=_into_call(count, function) if writes else "",
        in_place=writes and function not in _SLOW_IN_PLACE,
    )


def _into_call(count: int, function: Function | None = None) -> str:
    """Write the call of a ufunc with the place of its result as the last argument.

    NumPy deprecates that for maximum and minimum, where a third argument looks like an operand.
    """
    out = "out={out}" if function in (np.maximum, np.minimum) else "{out}"
    return "{p0}(" + "".join(f"{{{i}}}, " for i in range(count)) + f"{out})"
