"""Operations: immutable, interned values that label the nodes of a graph.

An operation is its class and its parameters, nothing else. Parameters are the annotated fields of
the class; equal parameters give the *same object*, so comparing and hashing operations is by
identity. Unlike Python's ``==``, the interning distinguishes 1, 1.0 and True, and 0.0 and -0.0,
and finds nan equal to itself. What an operation computes is none of this module's business.
Read next: ``_roles.py``, ``_keys.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, dataclass_transform

from tenferro.computegraph._canonical import canonical
from tenferro.computegraph._errors import GraphError
from tenferro.computegraph._interning import WeakTable

Given = tuple[object, ...]
_interned: WeakTable[Operation] = WeakTable()  # by the parameters as they are in the end
_recent: dict[Given, Operation] = {}  # by the parameters as given; keeps hot ones alive
_RECENT_LIMIT = 4096


@dataclass_transform(frozen_default=True, kw_only_default=False)
class Operation:
    """Base of all operations; subclass it with annotated fields.

    >>> from tenferro.computegraph import Operation
    >>> class Scale(Operation):
    ...     input_count = 1
    ...     by: float
    >>> Scale(2.0) is Scale(by=2.0), Scale(2.0) is Scale(2)
    (True, False)
    """

    #: Number of inputs; None: any number. A property where it depends on parameters.
    input_count: ClassVar[Any] = 1
    #: Number of outputs; a property where it depends on parameters.
    output_count: ClassVar[Any] = 1
    name: ClassVar[Any] = "operation"
    #: Output k is input k: ``materialize_merge`` removes the operation.
    transparent: ClassVar[bool] = False
    #: A transparent operation whose derivative is that of another input.
    redirects: ClassVar[bool] = False
    #: The derivative is code of the user, which is run anew each time.
    volatile: ClassVar[bool] = False
    #: No inputs, and a value that a backend may compute once.
    literal: ClassVar[bool] = False
    #: The two operands may change places.
    commutative: ClassVar[bool] = False
    #: Costs less, or checks less, without some outputs: these are computed only when they are read.
    prunable: ClassVar[bool] = False
    #: The one output of a prunable operation that costs less alone; any other one costs all.
    cheap_output: ClassVar[int | None] = None
    #: Parameters are closed graphs, which ``meaning`` looks into.
    has_graphs: ClassVar[bool] = False
    #: The first parameter is an identity: a new operation is not compared with recent ones.
    unique: ClassVar[bool] = False
    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, object]] = {}
    _single: ClassVar[Any] = None

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        names = list(cls._fields)
        own = cls.__dict__
        for field, annotation in own.get("__annotations__", {}).items():
            if "ClassVar" not in str(annotation) and field not in names:
                names.append(field)
        cls._fields = tuple(names)
        cls._defaults = {**cls._defaults, **{n: own[n] for n in names if n in own}}
        cls._single = None
        if "name" not in own:
            cls.name = _snake_case(cls.__name__)

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        if not cls._fields and not args and not kwargs:
            return cls._single or cls._intern_single()
        if cls.volatile:  # its parameters belong to the user, and are not kept alive here
            return _intern(_fill(cls, args, kwargs))
        if cls.unique:
            operation = _fill(cls, args, kwargs)
            return _interned.intern((cls, getattr(operation, cls._fields[0])), operation)
        given: Given = (cls, canonical(args))
        if kwargs:
            given = (*given, canonical(tuple(kwargs.items())))
        try:
            found = _recent.get(given)
        except TypeError:  # a list, say, that is normalised to a tuple
            return _intern(_fill(cls, args, kwargs))
        if found is None:
            found = _intern(_fill(cls, args, kwargs), given)
            if len(_recent) >= _RECENT_LIMIT:
                _recent.clear()
            _recent[given] = found
        return found

    @classmethod
    def _intern_single(cls) -> Operation:
        operation = _intern(_fill(cls, (), {}))
        cls._single = operation
        return operation

    def __post_init__(self) -> None:
        """Normalize parameters with ``self._set(field=value)``; called once per new value."""

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; cannot delete {name!r}")

    @property
    def parameters(self) -> Mapping[str, object]:
        """Parameter values by name, in the order of declaration."""
        return {name: getattr(self, name) for name in self._fields}

    @property
    def meaning(self) -> Hashable:
        """The operation as a key, which is equal for two that differ in derivatives alone."""
        return self

    def abstract_eval(self, *avals: Any) -> Any:
        """Return the aval of the output, or a tuple of them; ``None`` if nothing is known."""
        return (None,) * self.output_count

    def carries(self, aval: Any) -> bool:
        """Return True if an output of this aval depends differentiably on the inputs."""
        return True

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({inside})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple(self.parameters.values())

    def __copy__(self) -> Operation:
        return self

    def __deepcopy__(self, memo: object) -> Operation:
        return self


def infer(operation: Operation, avals: tuple[Any, ...]) -> tuple[Any, ...]:
    """Infer the output avals of an operation, memoized per (operation, avals)."""
    if not avals:  # for example a constant: each is made once, and there may be very many
        return _inferred(operation, avals)
    memo = operation.__dict__.get("_inferred")
    if memo is None:
        memo = operation.__dict__.setdefault("_inferred", {})
    found: tuple[Any, ...] | None = memo.get(avals)
    if found is None:
        found = _inferred(operation, avals)
        if len(memo) >= _MEMO_LIMIT:
            memo.clear()
        memo[avals] = found
    return found


_MEMO_LIMIT = 256


def _inferred(operation: Operation, avals: tuple[Any, ...]) -> tuple[Any, ...]:
    result = operation.abstract_eval(*avals)
    found = result if type(result) is tuple else (result,)
    if len(found) != operation.output_count:
        raise GraphError(
            f"{operation.name}: abstract_eval gave {len(found)} abstract values, "
            f"need {operation.output_count}, which is its output_count",
            operation=operation,
        )
    return found


def _snake_case(name: str) -> str:
    letters = [
        f"_{letter}" if before.islower() and letter.isupper() else letter
        for before, letter in zip(f"_{name}", name, strict=False)
    ]
    return "".join(letters).lower()


def _fill(cls: type[Operation], args: tuple[object, ...], kwargs: dict[str, object]) -> Operation:
    """Make a new, not yet interned instance with its fields set and normalized."""
    fields = cls._fields
    values = args if len(args) == len(fields) and not kwargs else _completed(cls, args, kwargs)
    operation = object.__new__(cls)
    for name, value in zip(fields, values, strict=True):
        object.__setattr__(operation, name, value)
    operation.__post_init__()
    return operation


def _completed(
    cls: type[Operation], args: tuple[object, ...], kwargs: dict[str, object]
) -> list[object]:
    """Return the values of all fields in order, including named ones and defaults."""
    if len(args) > len(cls._fields):
        raise TypeError(f"{cls.__name__} takes {len(cls._fields)} parameters, got {len(args)}")
    values = dict(zip(cls._fields, args, strict=False))
    for name, value in kwargs.items():
        if name not in cls._fields or name in values:
            raise TypeError(f"{cls.__name__}: unknown or repeated parameter {name!r}")
        values[name] = value
    missing = [n for n in cls._fields if n not in values and n not in cls._defaults]
    if missing:
        raise TypeError(f"{cls.__name__} lacks the parameters {', '.join(missing)}")
    return [values.get(n, cls._defaults.get(n)) for n in cls._fields]


def _intern(operation: Operation, given: Given = ()) -> Operation:
    """Intern the operation: return the existing one with these parameters, else this one."""
    cls = type(operation)
    entry = (cls, canonical(tuple([getattr(operation, name) for name in cls._fields])))
    try:
        hash(entry)
    except TypeError as error:
        raise TypeError(f"{operation!r}: parameters must be hashable ({error})") from None
    return _interned.intern(given if given == entry else entry, operation)  # one tuple, two tables
