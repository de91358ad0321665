"""The lazy array: a handle on a graph value that evaluates itself when its numbers are wanted.

Operators and methods record; nothing runs until a value is printed, converted, tested or asked for
with ``evaluate``. What a method does is in ``functions/``; they are reached through the table of
``registry.py``, so that this file depends on none of them. Read next: ``handle/convert.py``,
``evaluation/evaluate.py``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro.arrays.diagnosis.missing_attributes import INSTEAD, MissingAttribute
from tenferro.arrays.diagnosis.temporaries import (
    UNHELD,
    UNHELD_ITERABLE,
    is_statement,
    lost_assignment,
)
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.evaluator import EVALUATOR
from tenferro.arrays.handle.looks import number_in
from tenferro.arrays.handle.traces import (
    is_followed,
    is_traced,
    note_conversion,
    refuse_leaked,
    tracing,
)
from tenferro.arrays.handle.views import mark_of
from tenferro.arrays.handle.weak import WeakName
from tenferro.arrays.registry import FUNCTIONS
from tenferro.backend._errors import SpansProcessesError
from tenferro.computegraph import UNKNOWN, ValueKey
from tenferro.primitives._boundary import bounded, refusal
from tenferro.primitives._handle import Handle
from tenferro.primitives._source import caller
from tenferro.tidu import NO_FLOW, Flow

if TYPE_CHECKING:
    from tenferro.arrays.handle.at import At
    from tenferro.arrays.handle.flat import Flat

FLUSH_DEPTH = 2000
SCALARS = (float, int, complex, bool)
PLAIN_UFUNCS: dict[Any, Callable[..., Any]] = {}  # those of one operand that were called before
RETURN_NUMBERS = frozenset(("real", "imag", "trim_zeros"))  # of a Python number, as NumPy does
_last_body = 0  # number of the loop body or branch whose recording began last
_new = object.__new__


def _spanning(error: SpansProcessesError) -> str:
    """Return the text of an array that is partly in other processes."""
    fact, *lines = str(error).splitlines()
    rest = "; ".join([" ".join(line.split()) for line in lines])
    return f"Array({fact.partition(': ')[2]}; {rest})"


class Array(Handle):
    """An n-dimensional array of a backend, evaluated on demand.

    Arrays come from ``tenferro.asarray`` and from every function that is given one.

    >>> from tenferro import asarray
    >>> x = asarray(2.0)
    >>> (x * x + 1).shape
    ()
    """

    __slots__ = ("__weakref__", "body", "is_taken")
    body: int  # number of the body that was recorded last when the handle was made
    is_taken: Any  # False, or what `mark_of` of `handle/views.py` makes
    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, key: ValueKey, flow: Flow = NO_FLOW) -> None:
        self.key = key
        self.flow = flow
        self.body = _last_body
        self.is_taken = False
        try:
            if key.source is None and key.definition is not None:
                key.source = caller(3)  # a public function is between the user and this
                if key.traces:
                    refuse_leaked(key)
        except AttributeError:
            text = "make an Array with `tenferro.asarray(x)`"
            raise at_user_line(TypeError(text)) from None
        if key.depth > FLUSH_DEPTH and not is_traced(key):
            EVALUATOR.flush(key)

    # ---- evaluation ------------------------------------------------------------------------------

    @property
    def operand(self) -> Any:
        """The backend's own array, evaluated if need be."""
        key = self.key
        if key.operand is UNKNOWN:
            EVALUATOR.evaluate_keys([key])
        return key.operand

    def evaluate(self) -> Array:
        """Compute the value now, and keep it."""
        _ = self.operand
        return self

    @property
    def __pandas_priority__(self) -> int:
        """Rank this array above tables of pandas while a transform follows it, else below.

        pandas then leaves `table * x` to this class, which refuses it as it refuses `x * table`.
        """
        return 5000 if is_followed(self.key) else 0

    def _to_numpy(self, asked: str) -> Any:
        """A NumPy copy of the value; refused where that would cut a derivative."""
        if is_followed(self.key):
            known = self.key.operand is not UNKNOWN or evaluable(self.key)
            transforms = tracing([self.key])
            raise refusals().refused_conversion(self.aval, asked, known, transforms)
        note_conversion(self.key)
        return self._concrete(asked)

    def __bool__(self) -> bool:
        try:
            return bool(self._concrete("bool()"))
        except ValueError as error:
            if (error := refusal(error, "bool")) is not None:
                raise error from None
            raise

    def __int__(self) -> int:
        self._refuse_complex("int")
        try:
            return int(self._concrete("int()"))
        except TypeError as error:
            if (error := refusal(error, "int")) is not None:
                raise error from None
            raise

    def __index__(self) -> int:
        if not self.dtype.is_integer or self.ndim:
            text = f"only an integer of rank 0 can be an index, not {self.aval}"
            raise at_user_line(TypeError(text))
        return int(self._concrete("index()"))

    def __float__(self) -> float:
        self._refuse_complex("float")
        try:
            return float(self._to_numpy("float()"))
        except TypeError as error:
            if (error := refusal(error, "float")) is not None:
                raise error from None
            raise

    def _refuse_complex(self, asked: str) -> None:
        if self.dtype.is_complex:
            text = f"{asked}() would drop the imaginary part of {self.aval}: take `x.real`"
            raise at_user_line(TypeError(text))

    def __complex__(self) -> complex:
        try:
            return complex(self._to_numpy("complex()"))
        except TypeError as error:
            if (error := refusal(error, "complex")) is not None:
                raise error from None
            raise

    @bounded("trunc")
    def __trunc__(self) -> int:
        found: int = math.trunc(self._to_numpy("math.trunc()"))
        return found

    @bounded("round")
    def __round__(self, digits: int | None = None) -> Any:
        return round(self._to_numpy("round()"), digits)

    @bounded("item")
    def item(self, *where: Any) -> Any:
        """Return the only element, or the one at a position, as a Python scalar."""
        return self._to_numpy("item()").item(*where)

    @bounded("tolist")
    def tolist(self) -> Any:
        """Return the elements as nested lists of Python scalars."""
        return self._to_numpy("tolist()").tolist()

    @bounded("tobytes")
    def tobytes(self, order: str = "C") -> Any:
        """Return the elements as bytes, in row-major order."""
        return self._to_numpy("tobytes()").tobytes(order)

    def _concrete(self, asked: str) -> Any:
        """Return the value for control flow and shapes; it is evaluated now, whatever trace is
        open.
        """
        if self.key.operand is UNKNOWN:
            answer = number_in(self, asked)
            if answer is not None:
                return answer
            return EVALUATOR.to_numpy(EVALUATOR.look_at(self.key, asked), self.aval)
        return EVALUATOR.to_numpy(self.key.operand, self.aval)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            text = "an Array cannot be viewed without a copy; leave out `copy=False`"
            raise at_user_line(ValueError(text))
        if "scipy.sparse" in sys.modules:
            scipy = _loaded("scipy_operators")
            if scipy.is_operator(sys._getframe(1), is_followed=is_followed(self.key)):
                return scipy.nothing()
        if "scipy" in sys.modules:  # its functions convert what they are given
            refusals().refuse_scipy()
        found = self._to_numpy("conversion to a NumPy array")
        if not self.ndim:
            found = found[...]  # NumPy wants an array of rank 0, not a scalar
        if dtype is None:
            return found
        try:
            return found.astype(dtype)
        except (TypeError, ValueError) as error:  # no dtype, or one of no numbers
            raise at_user_line(error) from None

    # ---- looking ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self.key.operand is UNKNOWN and not evaluable(self.key):
            return f"Array({self.aval}, abstract)"
        try:
            text = repr(self._concrete("repr()")[...])
        except SpansProcessesError as error:
            return _spanning(error)
        return f"Array({text.removeprefix('array(').removesuffix(')')})"

    def _repr_html_(self) -> str:
        """Return a table of the values for notebooks; shape and dtype under ``jit``."""
        return FUNCTIONS["__html__"](self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        if self.key.operand is UNKNOWN and not evaluable(self.key):
            return repr(self)
        try:
            return str(self._concrete("str()"))
        except SpansProcessesError as error:
            return _spanning(error)

    @bounded("format")
    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(self._concrete("format()"), spec)

    def __len__(self) -> int:
        if not self.ndim:
            raise at_user_line(TypeError("len() of an array of rank 0"))
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise at_user_line(TypeError("iteration over an array of rank 0"))
        is_held = not UNHELD_ITERABLE or sys.getrefcount(self) > UNHELD_ITERABLE
        return _rows(self, None if is_held else self.is_taken)

    def __contains__(self, value: Any) -> bool:
        return bool(FUNCTIONS["any"](FUNCTIONS["equal"](self, value)))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in INSTEAD]

    # ---- copies and pickles: the value travels, the history does not ----------------------------

    def __copy__(self) -> Array:
        return type(self)(self.key, self.flow)

    def __deepcopy__(self, memo: object) -> Array:
        return type(self)(self.key, self.flow)

    def __reduce__(self) -> tuple[object, ...]:
        return FUNCTIONS["asarray"], (self._to_numpy("pickling"),)

    # ---- indexing --------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Array:
        try:
            return strong(FUNCTIONS["getitem"](self, index))  # type: ignore[no-any-return]
        except Exception as error:
            if (error := refusal(error, "getitem", operator=True)) is not None:
                raise error from None
            raise

    def __setitem__(self, index: Any, value: Any) -> None:
        if UNHELD and sys.getrefcount(self) <= UNHELD and is_statement(sys._getframe(1)):
            raise lost_assignment(self)
        if self.is_taken:
            import_module("tenferro.arrays.diagnosis.copy_warnings").tell_of_copy(self)
        try:
            FUNCTIONS["__setitem__"](self, index, value)
        except Exception as error:
            if (error := refusal(error, "setitem", operator=True)) is not None:
                raise error from None
            raise

    def __delitem__(self, index: Any) -> None:
        text = (
            "elements of an array cannot be deleted\n"
            "  need       a new array: `x = np.delete(x, index, axis)`, or a slice `x = x[1:]`"
        )
        raise at_user_line(ValueError(text))

    @property
    def at(self) -> At:
        """Updates that give a new array: ``x.at[i].set(v)``, ``x.at[i].add(v)``, …"""
        return _loaded("at").At(self)  # type: ignore[no-any-return]

    @property
    def flat(self) -> Flat:
        """The elements in row-major order, to iterate over, to read and to assign to."""
        return _loaded("flat").Flat(self)  # type: ignore[no-any-return]

    @flat.setter
    @bounded("flat")
    def flat(self, values: Any) -> None:
        _loaded("flat").Flat(self)[...] = values

    # ---- NumPy's protocols -----------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        try:
            plain = PLAIN_UFUNCS.get(ufunc)
            if plain is not None and method == "__call__" and not kwargs:
                result = plain(*inputs)
                result = result if result is not self else Array(result.key, result.flow)
            else:
                result = FUNCTIONS["__array_ufunc__"](ufunc, method, inputs, kwargs)
                result = result if "out" in kwargs else a_handle_of_its_own(result, inputs)
            return strong(result)
        except Exception as error:
            name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            if (error := refusal(error, name)) is not None:
                raise error from None
            raise

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        try:
            result = FUNCTIONS["__array_function__"](function, args, kwargs)
            result = result if "out" in kwargs else a_handle_of_its_own(result, args)
            return result if function.__name__ in RETURN_NUMBERS else strong(result)
        except Exception as error:
            if (error := refusal(error, function.__name__)) is not None:
                raise error from None
            raise

    @bounded("__array_namespace__")
    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the module whose functions take this array, by the Array API standard."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"version {api_version!r} of the Array API standard is not there")
        return sys.modules["tenferro"]

    # ---- devices and other libraries -------------------------------------------------------------

    @property
    def device(self) -> str:
        """Device of the value, now or once it is computed: ``"cpu"``, ``"cuda:0"``."""
        return FUNCTIONS["__device__"](self)  # type: ignore[no-any-return]

    @bounded("to_device")
    def to_device(self, device: str, /, *, stream: Any = None) -> Array:
        """Return the array on a device. No other function moves an array."""
        return FUNCTIONS["__to_device__"](self, device, stream)  # type: ignore[no-any-return]

    @bounded("__dlpack__")
    def __dlpack__(self, **keywords: Any) -> Any:
        """Return a DLPack capsule with a copy of the value, for another library's
        ``from_dlpack``.
        """
        return FUNCTIONS["__dlpack__"](self, **keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the kind and the number of the device in DLPack's numbering."""
        return FUNCTIONS["__dlpack_device__"](self)  # type: ignore[no-any-return]

    # ---- parts and sizes -------------------------------------------------------------------------

    @property
    def T(self) -> Array:
        """The array with its axes reversed."""
        memo = self.key.memo
        if memo is None:
            return FUNCTIONS["transpose"](self)  # type: ignore[no-any-return]
        return _loaded("again").unary(memo, "T", FUNCTIONS["transpose"], self)  # type: ignore[no-any-return]

    @property
    def mT(self) -> Array:
        """The array with its last two axes exchanged."""
        return FUNCTIONS["swapaxes"](self, -1, -2)  # type: ignore[no-any-return]

    @property
    def real(self) -> Array:
        """The real part."""
        return a_handle_of_its_own(FUNCTIONS["real"](self), (self,))  # type: ignore[no-any-return]

    @real.setter
    @bounded("real")
    def real(self, value: Any) -> None:
        FUNCTIONS["_set_real"](self, value)

    @property
    def imag(self) -> Array:
        """The imaginary part."""
        return a_handle_of_its_own(FUNCTIONS["imag"](self), (self,))  # type: ignore[no-any-return]

    @imag.setter
    @bounded("imag")
    def imag(self, value: Any) -> None:
        FUNCTIONS["_set_imag"](self, value)

    @property
    def itemsize(self) -> int:
        """Size of an element in bytes."""
        return self.dtype.itemsize

    @property
    def base(self) -> None:
        """``None``: an array shares memory with no other."""
        return

    @property
    def nbytes(self) -> int:
        """Size of the elements in bytes."""
        return self.size * self.dtype.itemsize

    if TYPE_CHECKING:  # attached by `operators.py`, from its tables

        def all(self, *args: Any, **kwargs: Any) -> Array: ...
        def any(self, *args: Any, **kwargs: Any) -> Array: ...
        def argmax(self, *args: Any, **kwargs: Any) -> Array: ...
        def argmin(self, *args: Any, **kwargs: Any) -> Array: ...
        def astype(self, *args: Any, **kwargs: Any) -> Array: ...
        def clip(self, *args: Any, **kwargs: Any) -> Array: ...
        def conj(self, *args: Any, **kwargs: Any) -> Array: ...
        def conjugate(self, *args: Any, **kwargs: Any) -> Array: ...
        def copy(self, *args: Any, **kwargs: Any) -> Array: ...
        def dot(self, *args: Any, **kwargs: Any) -> Array: ...
        def flatten(self, *args: Any, **kwargs: Any) -> Array: ...
        def max(self, *args: Any, **kwargs: Any) -> Array: ...
        def mean(self, *args: Any, **kwargs: Any) -> Array: ...
        def min(self, *args: Any, **kwargs: Any) -> Array: ...
        def prod(self, *args: Any, **kwargs: Any) -> Array: ...
        def ravel(self, *args: Any, **kwargs: Any) -> Array: ...
        def reshape(self, *args: Any, **kwargs: Any) -> Array: ...
        def squeeze(self, *args: Any, **kwargs: Any) -> Array: ...
        def std(self, *args: Any, **kwargs: Any) -> Array: ...
        def sum(self, *args: Any, **kwargs: Any) -> Array: ...
        def swapaxes(self, *args: Any, **kwargs: Any) -> Array: ...
        def take(self, *args: Any, **kwargs: Any) -> Array: ...
        def transpose(self, *args: Any, **kwargs: Any) -> Array: ...
        def var(self, *args: Any, **kwargs: Any) -> Array: ...
        def __eq__(self, other: object) -> Array: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Array: ...  # type: ignore[override]
        def __lt__(self, other: Any) -> Array: ...
        def __le__(self, other: Any) -> Array: ...
        def __gt__(self, other: Any) -> Array: ...
        def __ge__(self, other: Any) -> Array: ...
        def __and__(self, other: Any) -> Array: ...
        def __or__(self, other: Any) -> Array: ...
        def __xor__(self, other: Any) -> Array: ...
        def __rand__(self, other: Any) -> Array: ...
        def __ror__(self, other: Any) -> Array: ...
        def __rxor__(self, other: Any) -> Array: ...
        def __matmul__(self, other: Any) -> Array: ...
        def __rmatmul__(self, other: Any) -> Array: ...
        def __rpow__(self, other: Any) -> Array: ...
        def __floordiv__(self, other: Any) -> Array: ...
        def __rfloordiv__(self, other: Any) -> Array: ...
        def __mod__(self, other: Any) -> Array: ...
        def __rmod__(self, other: Any) -> Array: ...
        def __lshift__(self, other: Any) -> Array: ...
        def __rshift__(self, other: Any) -> Array: ...
        def __divmod__(self, other: Any) -> tuple[Array, Array]: ...
        def __invert__(self) -> Array: ...
        def __pos__(self) -> Array: ...


for _name, _instead in INSTEAD.items():
    setattr(Array, _name, MissingAttribute(_name, _instead))


def _rows(x: Array, mark: Any) -> Iterator[Any]:
    """Yield the rows, with the given mark unless it is ``None``."""
    for i in range(x.shape[0]):
        row = x[i]
        if mark is not None:
            row.is_taken = mark
        yield row


def remembered(found: tuple[ValueKey, bool], of: Any = None) -> Array:
    """Return a new handle of a value that a memo kept, marked as a view of an array if it is one.

    ``found`` says whether it is one.
    """
    x: Array = _new(Array)
    x.key, is_view = found
    x.flow = NO_FLOW
    x.body = _last_body
    x.is_taken = is_view and isinstance(of, Array) and mark_of(of)
    return x


def evaluable(key: ValueKey) -> bool:
    """Return True if every leaf under the value is known."""
    return EVALUATOR.is_evaluable(key)


def evaluate_if_known(*keys: ValueKey) -> bool:
    """Compute pending values if every leaf under them is known; else return False."""
    return EVALUATOR.evaluate_if_known(*keys)


def another_handle(x: Array) -> Array:
    """Return a new handle of the same value, for a function that may return its argument unchanged.

    The user may assign into either, which must not be seen through the other.
    """
    return Array(x.key, x.flow)


def a_handle_of_its_own(result: Any, given: Any) -> Any:
    """Return the result; if it is one of the arguments, return a new handle of its value."""
    for x in given:
        if x is result and isinstance(x, Array):
            return Array(result.key, result.flow)
    return result


def strong(result: Any) -> Any:
    """Return the results of a function as arrays, whose dtypes do not yield to others.

    ``np.sum(3)`` is an int64 of NumPy, and so is ``np.sum(n)`` of an argument ``n`` that was
    written in Python as 3. Operators give numbers of Python: ``n * 2`` is weak.
    """
    kind = type(result)
    if kind is Array:
        return _strong_array(result) if type(result.key.identity) is WeakName else result
    return kind(map(strong, result)) if kind is list or kind is tuple else result


def _strong_array(x: Array) -> Array:
    """Return the value under another key; no simpler operation than a barrier makes one."""
    structural = import_module("tenferro.primitives.structural")
    return structural.optimization_barrier([x])[0]  # type: ignore[no-any-return]


def next_body() -> int:
    """Return a number for a body that is recorded from now on; new handles carry it."""
    global _last_body
    _last_body += 1
    return _last_body


def refusals() -> Any:
    """Return the module of errors about values that are asked for; it loads with the first."""
    return import_module("tenferro.arrays.diagnosis.refusals")


def _loaded(file: str) -> Any:
    """Import a module of this folder at its first use; few programs need it."""
    return import_module(f"tenferro.arrays.handle.{file}")
