"""From operands and Python scalars to arrays, and back to what the user gave.

An array that the user may still write into is copied when a lazy computation captures it; a large
argument of a running transform is borrowed until the transform returns. Small arrays are shared by
content. No array library is imported: an operand is whatever has a shape and a dtype.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import ref

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import UnknownOperandError, at_user_line
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.memo import Memo, held_by
from tenferro.arrays.handle.weak import is_counter, is_weak
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.backend._default import host
from tenferro.backend._errors import BackendError
from tenferro.backend._snapshots import copied, is_numpy
from tenferro.backend._snapshots import snapshot as numpy_snapshot
from tenferro.computegraph import UNKNOWN, ValueKey, input_key, new_leaf
from tenferro.computegraph._keys import SHARED_SERIAL
from tenferro.primitives._aval import Aval
from tenferro.primitives._dtype import DType, bool_, complex128, float64, int64, uint64
from tenferro.primitives._source import caller, source_text

if TYPE_CHECKING:
    from tenferro.arrays.handle.reads import Reads

_DEFAULT: dict[type, DType] = {bool: bool_, int: int64, float: float64, complex: complex128}
_PYTHON: dict[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}
_CONVERSIONS = (  # of what other libraries hold numbers in: the library, its method, the thing
    ("torch", "numpy", "a tensor of PyTorch"),
    ("scipy.sparse", "toarray", "a sparse array of SciPy"),
    ("pandas", "to_numpy", "data of pandas"),
)
_MASK = "a mask"
_SHARED_BYTES = 4096
_TOO_LARGE = 2**63  # for int64: uint64 then, as in NumPy
_KEPT_SCALARS = 1024
_scalars: dict[tuple[type, Any, DType], ValueKey] = {}
_dtypes: dict[Any, DType] = {}
_plain: set[type] = set()  # classes of operands that were looked at
_described: set[type] = set()  # classes whose backend says shape and dtype


class Borrowed(dict[int, tuple[ValueKey, Any]]):
    """Keys by id of the operand, which is held to keep its id; and the memo of what runs.

    ``reads`` are the reads of a function's first call.
    """

    __slots__ = ("memo", "reads")

    def __init__(
        self, keys: Any = (), *, memo: Memo | None = None, reads: Reads | None = None
    ) -> None:
        super().__init__(keys)
        self.memo = memo
        self.reads = reads


_captured: dict[int, tuple[ref[Any], ref[ValueKey]]] = {}  # by id of the array
_borrowed: ContextVar[Borrowed | None] = ContextVar("tenferro_borrowed", default=None)


class ScalarName(NamedTuple):
    """The name of an input that the user wrote as a number; equal numbers share it."""

    kind: str
    text: str
    dtype: DType

    def __str__(self) -> str:
        return self.text


class ContentName(NamedTuple):
    """The name of a small captured array; equal contents share it."""

    dtype: DType
    shape: tuple[int, ...]
    content: bytes

    def __str__(self) -> str:
        return "const"


class CapturedName(NamedTuple):
    """The name of a captured array."""

    serial: int

    def __str__(self) -> str:
        return "const"


def as_array(x: Any) -> Array:
    """Return the array itself, or an array made from an operand, a scalar or a nested sequence.

    Raises UnknownOperandError: if it is none of these.
    """
    if isinstance(x, Array):
        return x
    kind = type(x)
    if kind in _DEFAULT:
        return scalar(x, uint64 if kind is int and x >= _TOO_LARGE else _DEFAULT[kind])
    if kind is list or kind is tuple:
        return asarray(x)
    return Array(operand_key(x))


def scalar(value: bool | int | float | complex, dtype: DType) -> Array:
    """Return an input of rank 0 with the value; equal values of one dtype share one input."""
    kind = type(value), value, dtype
    key = _scalars.get(kind)
    if key is None or value == 0 or type(value) is complex:  # 0.0 == -0.0 in a dict, not here
        check_range(value, dtype)
        key = _shared_leaf(ScalarName(type(value).__name__, repr(value), dtype), Aval((), dtype))
        key.operand = value
        if len(_scalars) >= _KEPT_SCALARS:
            _scalars.clear()
        _scalars[kind] = key
    return Array(key)


def operand_key(x: Any) -> ValueKey:
    """Return the key under which a backend's operand enters graphs."""
    borrowed = _borrowed.get()
    if borrowed is not None and id(x) in borrowed:
        key, _ = borrowed[id(x)]
        if held_by(key) is x or _is_unchanged(x, held_by(key)):  # else the function wrote into x
            return key
    aval = aval_of_operand(x)
    if borrowed is not None and borrowed.memo is not None and is_numpy(x):
        return _captured_again(x, aval, borrowed.memo)
    if is_numpy(x) and x.nbytes <= _SHARED_BYTES:
        key = _shared_leaf(ContentName(aval.dtype, aval.shape, x.tobytes()), aval)
        return key if key.operand is not UNKNOWN else _known(key, x.copy())
    return _captured_key(x, aval)


def memo_here() -> Memo | None:
    """Return the memo of the function that is being recorded, if it has one."""
    borrowed = _borrowed.get()
    return None if borrowed is None else borrowed.memo


def reads_here() -> Reads | None:
    """Return the reads of the function that is being recorded, if this is its first call."""
    borrowed = _borrowed.get()
    return None if borrowed is None else borrowed.reads


def _captured_again(x: Any, aval: Aval, memo: Memo) -> ValueKey:
    """Return the key of an array that a remembered function captured, as its last call did.

    Equal small arrays of one call share a key, as do captures of one large array that has the same
    bytes.
    """
    if x.nbytes <= _SHARED_BYTES:
        content = ContentName(aval.dtype, aval.shape, x.tobytes())
        there = memo.seen(content)
        if there is not None:
            return there[0]
        return memo.capture(content, None, aval, x.copy(), CapturedName(id(x)), newest=True)
    there = memo.seen(id(x))
    if there is not None and there[1]() is x and there[0].aval is aval:
        if there[0].held is x or _is_unchanged(x, there[0].held):
            return there[0]
    copy = quick_to_compare(x, sys.maxsize)
    operand = snapshot(x) if copy is None else copy
    return memo.capture(id(x), ref(x), aval, operand, CapturedName(id(x)), newest=False)


def _captured_key(x: Any, aval: Aval) -> ValueKey:
    """Return the key of a captured array: the same one while the array has the same bytes.

    A loop that reads an array in every step copies it once.
    """
    there = _captured.get(id(x))
    if there is not None:
        owner, known = there[0](), there[1]()
        if owner is x and known is not None and known.aval == aval:
            if known.operand is x or _is_unchanged(x, known.operand):
                return known
    copy = quick_to_compare(x, sys.maxsize)
    key = _known(new_leaf(CapturedName(id(x)), aval), snapshot(x) if copy is None else copy)
    if copy is not None or (is_numpy(x) and key.operand is x):
        number = id(x)

        def forget(dead: ref[Any], captured: dict[int, Any] = _captured) -> None:
            captured.pop(number, None)  # modules lose their names when the interpreter ends

        _captured[number] = ref(x, forget), ref(key)
    return key


def quick_to_compare(x: Any, most: int) -> Any:
    """Return a copy of a NumPy array that compares with it in one pass; ``None`` for others.

    A ``bytearray`` compares itself with any contiguous memory, which other comparisons copy. It is
    worth its construction from 4 KiB on; ``most`` is the largest size in bytes.
    """
    kind = type(x)
    if kind.__module__ != "numpy" or not _SHARED_BYTES < x.nbytes <= most:
        return None
    if kind.__name__ != "ndarray" or not (x.flags.c_contiguous and x.flags.writeable):
        return None
    return kind(x.shape, x.dtype, bytearray(x))


def _is_unchanged(x: Any, copy: Any) -> bool:
    """Return whether an operand still has the bytes of a copy."""
    content = getattr(copy, "base", None)
    if type(content) is bytearray:
        return bool(content == x)
    return bool(copy.tobytes() == x.tobytes())


def snapshot(x: Any) -> Any:
    """Return a value that keeps its contents: x itself if nothing can write to it, else a copy."""
    if is_numpy(x):
        return numpy_snapshot(x)
    return x if type(x) in _DEFAULT else _snapshot_by_owner(x)


def _snapshot_by_owner(x: Any) -> Any:
    """Ask the backend whose operand x is; copy x where no backend that can run owns it."""
    plugins = host()
    owner = plugins.owner_of(type(x))
    try:
        backend = None if owner is None else plugins.backend(owner)
    except BackendError:  # as where its device is missing
        backend = None
    return copied(x) if backend is None else backend.snapshot(x)


def fits(value: int, dtype: DType) -> bool:
    """Return True if an integer dtype can hold the value."""
    low = 0 if dtype.category == "uint" else -(2 ** (dtype.bits - 1))
    return bool(low <= value < low + 2**dtype.bits)


def check_range(value: bool | int | float | complex, dtype: DType) -> None:
    """Raise OverflowError for a Python integer that an integer dtype does not hold."""
    if dtype.is_integer and type(value) is int and not fits(value, dtype):
        error = OverflowError(f"the Python integer {value} does not fit into {dtype}")
        raise at_user_line(error)


def _shared_leaf(name: ScalarName | ContentName, aval: Aval) -> ValueKey:
    """Return the leaf for some content.

    Commutative operations put older operands first. The age of this leaf depends on who else holds
    it, so it counts as new: the same code gives the same program.
    """
    key = input_key(name, aval)
    if key.operand is UNKNOWN:
        key.serial += SHARED_SERIAL
    return key


def _known(key: ValueKey, operand: Any) -> ValueKey:
    key.operand = operand
    return key


def aval_of_operand(x: Any) -> Aval:
    """Shape and dtype of an operand; nested sequences are not operands.

    The attributes ``shape`` and ``dtype`` say it where tenferro knows the dtype by its name. The
    backend that owns the operand is asked otherwise, so operands need no attribute.
    """
    kind = type(x)
    if kind not in _plain:
        if kind not in _described:
            _check_class(x)
        if kind in _described and (aval := _aval_by_owner(x)) is not None:
            return aval
    dtype, shape = getattr(x, "dtype", None), getattr(x, "shape", None)
    if dtype is None or shape is None or isinstance(x, type):
        raise UnknownOperandError(
            f"cannot make an array of {type(x).__name__}\n"
            f"  got        {str(x)[:60]!r}\n"
            "  need       an array of an installed backend, a number, or a sequence of these\n"
            f"  from       {source_text(caller())}" + _hint_for_class(x),
            value=x,
        )
    try:
        found = _dtypes[dtype]
    except KeyError:
        found = _dtypes[dtype] = DType.of(dtype)
    return Aval(shape, found)


def _hint_for_value(x: Any) -> str:
    if x is None:
        return (
            "\n  hint       a function without `return` returns None; in a rule of `custom_jvp` the"
            "\n             tangent of an integer is None"
        )
    if hasattr(x, "__next__"):
        return "\n  hint       write `list(x)` to pass the values of an iterator"
    if hasattr(x, "__float__"):
        return "\n  hint       write `float(x)`"
    if callable(x):
        return "\n  hint       call the function, `f(x)`, or close over it"
    if type(x).__module__ in sys.stdlib_module_names:
        return ""
    return (
        "\n  hint       make the class a dataclass, whose fields are arguments, or pass the\n"
        "             arrays, `(x.a, x.b)`"
    )


def _hint_for_class(x: Any) -> str:
    """Say what to write for a value that is not an array; where a backend declares its class."""
    if isinstance(x, type) or not hasattr(x, "shape"):
        return _hint_for_value(x)
    name = f"{type(x).__module__}.{type(x).__qualname__}"
    return f"\n  hint       a backend takes it whose `BackendInfo.operand_types` names {name!r}"


def _aval_by_owner(x: Any) -> Aval | None:
    """Ask the backend whose operand x is for shape and dtype; None if no backend owns x."""
    plugins = host()
    owner = plugins.owner_of(type(x))
    return None if owner is None else plugins.backend(owner).aval_of(x)


def _check_library(x: Any) -> None:
    """Refuse what other libraries hold numbers in, unless a backend takes it, with the conversion.

    The libraries are known by the modules of their classes; none is imported.
    """
    modules = [cls.__module__ for cls in type(x).__mro__]
    for library, method, what in _CONVERSIONS:
        inside = any([name == library or name.startswith(library + ".") for name in modules])
        if not inside or isinstance(x, type) or not hasattr(x, method):
            continue
        if host().owner_of(type(x)) is not None:
            return
        detached = ".detach()" if getattr(x, "requires_grad", False) else ""
        copied_to_host = "" if getattr(x, "is_cpu", True) else ".cpu()"
        solved = "; `tenferro.linalg.spsolve(x, b)` solves a system" if "sparse" in what else ""
        raise UnknownOperandError(
            f"{what} cannot be converted to an array\n"
            f"  got        {library}: {type(x).__name__}\n"
            "  need       an array of an installed backend, a number, or a sequence of these\n"
            f"  from       {source_text(caller())}\n"
            f"  hint       convert it: `x{detached}{copied_to_host}.{method}()`{solved}",
            value=x,
        )


def _check_class(x: Any) -> None:
    """Refuse arrays whose elements or products mean something else, or remember the class."""
    _check_library(x)
    what = _meaning_of_its_own(x)
    if what is not None:
        filled = (
            "pass `x.filled(value)`, and leave masked elements out by `np.where(x.mask, 0.0, y)`"
        )
        raise UnknownOperandError(
            f"an array with {what} is not accepted as a plain array\n"
            f"  got        {type(x).__name__}\n"
            f"  from       {source_text(caller())}\n"
            f"  hint       {filled if what == _MASK else 'pass `np.asarray(x)`'}",
            value=x,
        )
    if is_numpy(x) or _is_named(x):
        _plain.add(type(x))
    elif _aval_by_owner(x) is not None:  # a class without an owner may get one later
        _described.add(type(x))


def _meaning_of_its_own(x: Any) -> str | None:
    """Return what distinguishes an array class from plain arrays; None of a plain one."""
    if not hasattr(x, "dtype") or isinstance(x, type):
        return None
    if hasattr(x, "filled"):
        return _MASK
    if hasattr(x, "getA1"):
        return "matrix products for `*`"
    for cls in type(x).__mro__:
        own = "__array_ufunc__" in vars(cls)
        if own and (cls.__module__, cls.__name__) == ("numpy", "ndarray"):
            return None
        if own and vars(cls)["__array_ufunc__"] is not None:
            is_taken = not is_numpy(x) and host().owner_of(type(x)) is not None
            return None if is_taken else "ufuncs of its own, as of numbers with units,"
    return None


def _is_named(x: Any) -> bool:
    """Return True if attributes say shape and dtype, and tenferro knows the dtype by its name."""
    try:
        return hasattr(x, "shape") and bool(DType.of(x.dtype))
    except (AttributeError, TypeError):
        return False


@covers("asarray", "asanyarray", "ascontiguousarray", "asfortranarray")
def asarray(
    x: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Any = None,
    copy: bool | None = None,
) -> Array:
    """Make an array of an operand, a scalar or a nested sequence of numbers.

    x: any  →  y: Array. Sequences are read by NumPy. An Array has no memory
    order, so ``order`` changes nothing.

    Raises UnknownOperandError: if x is none of these.
    Raises ValueError: with ``copy=False``, where another dtype or device asks for a copy.

    >>> import tenferro as tn
    >>> tn.asarray(1.5).dtype
    float64
    """
    if isinstance(x, (list, tuple)):
        x = from_sequence(x)
    found: Array = as_array(x)
    if dtype is not None:
        found = FUNCTIONS["astype"](found, dtype)
    if device is not None:
        found = FUNCTIONS["__to_device__"](found, device)
    if copy is False and found.key is not getattr(x, "key", None):
        raise at_user_line(ValueError("asarray: copy=False, but a copy is needed"))
    return Array(found.key, found.flow) if copy else found


def from_sequence(x: Any) -> Any:
    """Return a nested sequence as an operand, or as stacked arrays if it holds Arrays."""
    if _holds_array(x):
        return FUNCTIONS["stack"](x)
    try:
        numpy = import_module("numpy")  # for this only
    except ImportError:
        raise at_user_line(
            UnknownOperandError(
                "a nested sequence becomes an array by NumPy, which is not installed\n"
                "  hint       pass an array of an installed backend",
                value=x,
            )
        ) from None
    return numpy.asarray(x)


def _holds_array(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(_holds_array(item) for item in x)
    return isinstance(x, Array)


class borrowing:
    """While it lasts, operands with these ids enter graphs as these keys, without a copy."""

    __slots__ = ("_entered", "_keys", "_token")

    def __init__(self, keys: Borrowed) -> None:
        self._keys = keys

    def __enter__(self) -> None:
        outer, keys = _borrowed.get(), self._keys
        if outer is not None:
            keys = Borrowed({**outer, **keys}, memo=keys.memo or outer.memo)
        self._entered = keys
        self._token = _borrowed.set(keys)

    def __exit__(self, *exception: object) -> None:
        self._entered.memo = None  # a task that began here has copied the context, and may go on
        _borrowed.reset(self._token)


def weak_kind(x: Any) -> type | None:
    """Return the Python type of a scalar, or of an Array that stands for one; ``None`` for
    others, and for the counter of a loop, whose range is not known.
    """
    kind = type(x)
    if kind in _DEFAULT:
        return kind
    if not isinstance(x, Array) or not is_weak(x) or is_counter(x):
        return None
    return _PYTHON[x.dtype.category]


def is_operand(x: Any) -> bool:
    """Return True if x is an array of some library or a NumPy scalar, but not a class.

    An object without ``shape`` and ``dtype`` is one if a backend owns its class.
    """
    if isinstance(x, (Array, type)):
        return False
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        return True
    return type(x).__module__ != "builtins" and host().owner_of(type(x)) is not None
