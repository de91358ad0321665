"""Handles: graph values with a shape and a dtype, and operators that record.

Rules, decompositions and the functions of this layer work on handles and know nothing of
evaluation; ``tenferro.arrays.Array`` extends a handle one layer higher. Operators here are strict:
operands have one shape and one dtype, and a Python scalar takes those of the other operand.
Read next: ``_primitive.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NoReturn, Self, TypeVar

from tenferro.computegraph import Operation, TenferroError, ValueKey, input_key
from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives._boundary import at_user_line
from tenferro.primitives._dtype import DType
from tenferro.tidu import NO_FLOW, Flow, NotLinearError, Value

Scalar = bool | int | float | complex
OPERATORS: dict[str, Callable[..., Any]] = {}  # filled by _operators.py


_OPERATORS_OF_NUMPY = {  # those of `np.float64(2) * x`
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "power": "pow",
}


class Handle(Value):
    """A graph value: what rules receive and what primitives return.

    >>> from tenferro.primitives import variable
    >>> x = variable("x", (2, 3), "float64")
    >>> (x + 1).shape
    (2, 3)
    """

    __slots__ = ()

    def __init__(self, key: ValueKey, flow: Flow = NO_FLOW) -> None:
        self.key = key
        self.flow = flow

    @property
    def aval(self) -> Aval:
        """Shape and dtype."""
        found: Aval = self.key.aval
        return found

    @property
    def shape(self) -> Shape:
        """Sizes of the axes."""
        found: Shape = self.key.aval.shape
        return found

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        found: DType = self.key.aval.dtype
        return found

    @property
    def ndim(self) -> int:
        """Number of axes."""
        found: int = self.key.aval.ndim
        return found

    @property
    def size(self) -> int:
        """Number of elements."""
        found: int = self.key.aval.size
        return found

    def __add__(self, other: Any) -> Self:
        return OPERATORS["add"](self, other)  # type: ignore[no-any-return]

    def __radd__(self, other: Any) -> Self:
        return OPERATORS["add"](other, self)  # type: ignore[no-any-return]

    def __sub__(self, other: Any) -> Self:
        return OPERATORS["sub"](self, other)  # type: ignore[no-any-return]

    def __rsub__(self, other: Any) -> Self:
        return OPERATORS["sub"](other, self)  # type: ignore[no-any-return]

    def __mul__(self, other: Any) -> Self:
        return OPERATORS["mul"](self, other)  # type: ignore[no-any-return]

    def __rmul__(self, other: Any) -> Self:
        return OPERATORS["mul"](other, self)  # type: ignore[no-any-return]

    def __truediv__(self, other: Any) -> Self:
        return OPERATORS["div"](self, other)  # type: ignore[no-any-return]

    def __rtruediv__(self, other: Any) -> Self:
        return OPERATORS["div"](other, self)  # type: ignore[no-any-return]

    def __pow__(self, exponent: Any) -> Self:
        return OPERATORS["pow"](self, exponent)  # type: ignore[no-any-return]

    def __neg__(self) -> Self:
        return OPERATORS["neg"](self)  # type: ignore[no-any-return]

    def __abs__(self) -> Self:
        return OPERATORS["abs"](self)  # type: ignore[no-any-return]

    def operand_of(self, kind: type[Operation]) -> Self | None:
        """Return the input x if this value is f(x) with f of the given kind, else ``None``."""
        definition = self.key.definition
        if definition is None or type(definition[0]) is not kind or len(definition) != 4:
            return None
        return type(self)(definition[3], self.flow)

    def __bool__(self) -> bool:
        raise AbstractValueError(
            f"the truth value of {self.aval} is not known while a graph is built\n"
            "  hint       rules select with `select(pred, a, b)` and test for `is None`",
            aval=self.aval,
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply an operator to a number of NumPy; refuse its functions, which record nothing."""
        operator = _OPERATORS_OF_NUMPY.get(ufunc.__name__)
        numbers = all([isinstance(x, Handle) or not getattr(x, "shape", None) for x in inputs])
        if operator is None or method != "__call__" or kwargs or not numbers:
            raise _not_recorded(ufunc.__name__)
        plain = [x.item() if hasattr(x, "item") else x for x in inputs]
        return OPERATORS[operator](*plain)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Refuse functions of NumPy, which compute and do not record."""
        raise _not_recorded(function.__name__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.aval})"


def _not_recorded(name: str) -> TypeError:
    return at_user_line(
        TypeError(
            f"{name}: np.{name} cannot be applied to a handle in the rule of a primitive\n"
            "  need       operators, or functions that record an equation\n"
            "  hint       functions for rules are in `tenferro.primitives`"
        )
    )


H = TypeVar("H", bound=Handle)  # a function of handles returns the class that it was given


class AbstractValueError(TenferroError, TypeError):
    """Report that a value was asked for where only its shape and dtype exist. Field: ``aval``."""


class FlowHandle(Handle):
    """An input of a transpose rule through which flow runs: only shape and dtype may be read."""

    __slots__ = ("_aval", "_owner")

    def __init__(self, aval: Aval, owner: str) -> None:
        self._aval = aval
        self._owner = owner
        self.flow = NO_FLOW

    @property
    def aval(self) -> Aval:
        """Shape and dtype."""
        return self._aval

    @property
    def shape(self) -> Shape:
        """Sizes of the axes."""
        return self._aval.shape

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return self._aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._aval.size

    @property
    def key(self) -> NoReturn:  # type: ignore[override]
        """Refused: the value of a linear input is not defined in a transpose rule."""
        raise NotLinearError(
            f"{self._owner}: its transpose rule reads the value of an input that carries flow\n"
            "  need       only its shape and dtype; the map is linear in this input",
            primitive=self._owner,
            rule="transpose",
            active=(),
        )


def variable(name: Hashable, shape: Iterable[int], dtype: object) -> Handle:
    """Make a handle on a graph input.

    >>> from tenferro.primitives import variable
    >>> variable("x", (2,), "float32")
    Handle(f32[2])
    """
    return Handle(input_key(name, Aval(tuple(shape), dtype)))
