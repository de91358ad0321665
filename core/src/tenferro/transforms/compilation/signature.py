"""The signature of a call of a jitted function: what its trace depends on.

Arguments that are static enter by their value, all others by structure, shape and dtype (Python
scalars by their type). Read next: ``compilation/jit.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import UnknownOperandError, at_user_line
from tenferro.arrays.handle.convert import aval_of_operand, weak_kind
from tenferro.arrays.handle.weak import class_of, is_counter
from tenferro.computegraph._canonical import canonical
from tenferro.primitives._aval import Aval
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import parameter_names


class Call(NamedTuple):
    """One call: its signature, and its flattened arguments."""

    key: Hashable
    leaves: list[Any]
    spec: Any
    static: Hashable  # the values of static arguments
    given: list[Any]  # positional arguments but the static ones
    keywords: dict[str, Any]  # the same of keyword arguments
    statics: dict[int, Any]
    named: dict[str, Any]

    def at(self, level: int) -> Call:
        """Return the call with the signature for traces that read this much of their numbers."""
        return self._replace(key=(self.spec, _signatures(self.leaves, level), self.static))

    def arguments(self, leaves: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments with these leaves instead of its own."""
        args, keywords = self.spec.unflatten(leaves)
        args = list(args)
        for i, value in self.statics.items():
            args.insert(i, value)
        return args, {**keywords, **self.named}

    def positions(self) -> list[int]:
        """Return the positions of the dynamic positional arguments among all positional ones."""
        count = len(self.given) + len(self.statics)
        return [i for i in range(count) if i not in self.statics]

    def names(self, function: Any) -> list[str]:
        """Return a readable name for each leaf."""
        count = len(self.given) + len(self.statics)
        names = parameter_names(function, count)
        found: list[str] = []
        dynamic = [name for i, name in enumerate(names) if i not in self.statics]
        for arg, name in zip(self.given, dynamic, strict=True):
            found += _tree.paths(arg, name)
        for name in sorted(self.keywords):
            found += _tree.paths(self.keywords[name], name)
        return found


class Statics(NamedTuple):
    """The static parameters: positions, from the front or the back, and names."""

    numbers: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.numbers or self.names)

    def bound(self) -> Statics:
        """Return the parameters of a bound method, without ``self``."""
        return Statics(frozenset([i - (i > 0) for i in self.numbers if i]), self.names)

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any], level: int = 0) -> Call:
        """Split a call into leaves and structure; ``level`` says how much traces read of numbers.

        Raises TypeError: if a static argument cannot be hashed.
        """
        numbers = {i + len(args) if i < 0 else i for i in self.numbers}
        statics = {i: args[i] for i in sorted(numbers) if 0 <= i < len(args)}
        named = {k: v for k, v in kwargs.items() if k in self.names}
        given = [arg for i, arg in enumerate(args) if i not in statics]
        keywords = {k: v for k, v in kwargs.items() if k not in named}
        leaves, spec = _tree.flatten_arguments(given, keywords)
        static = canonical((tuple(statics.items()), tuple(sorted(named.items()))))
        try:
            hash(static)
        except TypeError as error:
            raise _unhashable(error, statics, named) from None
        try:
            key = spec, _signatures(leaves, level), static
        except UnknownOperandError as error:
            place = _place(error.fields["value"], given, keywords)
            error.add_note(
                f"  leaf       {place}\n"
                "  hint       an argument that is not an array may be static: `static_argnums`,\n"
                "             `static_argnames`"
            )
            raise
        return Call(key, leaves, spec, static, given, keywords, statics, named)


def _place(value: Any, given: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """Return where a value is among the arguments: ``argument 0['bias']``."""
    named = {**{f"argument {i}": x for i, x in enumerate(given)}, **keywords}
    for name, tree in named.items():
        for leaf, path in zip(_tree.flatten(tree)[0], _tree.paths(tree, name), strict=True):
            if leaf is value:
                return path
    return "an argument of the function"


def _unhashable(
    error: TypeError, statics: Mapping[int, Any], named: Mapping[str, Any]
) -> TypeError:
    given = {**{f"argument {i}": x for i, x in statics.items()}, **named}
    kinds = ", ".join(f"{name}: {type(x).__name__}" for name, x in given.items())
    return at_user_line(
        TypeError(
            "static arguments of a jitted function must be hashable\n"
            f"  got        {kinds} ({error})\n"
            "  hint       pass tuples instead of lists, or do not make an array static"
        )
    )


def _signatures(leaves: Sequence[Any], level: int) -> tuple[Any, ...]:
    return tuple([_signature_of(leaf, level) for leaf in leaves])


def _signature_of(leaf: Any, level: int) -> Any:
    """Return the part of a leaf that a trace depends on: its aval, or the class of a weak
    scalar.
    """
    kind = weak_kind(leaf)
    if kind is not None:
        return class_of(leaf, level) if type(leaf) is kind else _class_of_array(leaf, kind, level)
    if isinstance(leaf, Array):
        return ("counter", leaf.key.aval) if is_counter(leaf) else leaf.key.aval
    return leaf if isinstance(leaf, Aval) else aval_of_operand(leaf)


def _class_of_array(leaf: Array, kind: type, level: int) -> Any:
    """Return the same for an argument of an outer trace, which then depends on it, too."""
    name: Any = leaf.key.identity
    value = name.look(level) if level and kind in (int, bool) else None
    return (kind, leaf.dtype) if value is None else class_of(kind(value), level)


def static_parameters(
    function: Any,
    numbers: int | Sequence[int],
    names: str | Sequence[str],
    what: str = "static",
) -> Statics:
    """Return the static parameters by position and by name, however they will be passed.

    Raises ValueError: if the function has no such parameter.
    """
    numbers = _all_of(numbers, int, f"{what}_argnums", "positions of arguments")
    names = _all_of(names, str, f"{what}_argnames", "names of parameters")
    known = _parameters(function)
    if known is None or not (numbers or names):
        return Statics(frozenset(numbers), frozenset(names))
    positional = known.positional
    count = len(positional)
    wrong: list[Any] = [i for i in numbers if not (known.takes_more or -count <= i < count)]
    wrong += [name for name in names if not (known.takes_any or name in known.named)]
    if wrong:
        kind = "argnums" if isinstance(wrong[0], int) else "argnames"
        names = ", ".join(known.named) or "none"
        text = f"{what}_{kind} names {wrong[0]!r}, which is not a parameter of the function"
        raise at_user_line(ValueError(f"{text}\n  got        a function with parameters {names}"))
    found = [i if known.takes_more else i % count for i in numbers]
    by_name = [positional.index(name) for name in names if name in positional]
    by_number = [positional[i] for i in found if -count <= i < count]
    return Statics(frozenset([*found, *by_name]), frozenset([*names, *by_number]))


def _all_of(given: Any, kind: type, option: str, need: str) -> tuple[Any, ...]:
    """Return one value or several as a tuple, after checking their kind."""
    found = (given,) if isinstance(given, kind) else given
    if isinstance(found, str) or not hasattr(found, "__iter__"):
        found = (None,)
    found = tuple(found)
    if not all([isinstance(x, kind) and not isinstance(x, bool) for x in found]):
        raise at_user_line(TypeError(f"jit: {option} are {need}, got {given!r:.60}"))
    return found


class _Parameters(NamedTuple):
    positional: tuple[str, ...]
    named: tuple[str, ...]
    takes_more: bool  # *args
    takes_any: bool  # **kwargs


def _parameters(function: Any) -> _Parameters | None:
    """Return the parameters of a Python function; ``None`` for any other callable."""
    inner = getattr(function, "__wrapped__", function)
    code = getattr(inner, "__code__", None)
    if code is None:
        return None
    first = int(hasattr(inner, "__self__"))
    positional = code.co_varnames[first : code.co_argcount]
    named = (*positional, *code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount])
    return _Parameters(positional, named, bool(code.co_flags & 0x04), bool(code.co_flags & 0x08))
