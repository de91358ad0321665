"""Choice of the differentiated arguments: ``argnums`` by position, ``argnames`` by name.

A named argument is found however it is passed. Read next: ``recording/arguments.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.transforms.errors import ArgumentNumberError
from tenferro.transforms.recording.arguments import parameter_names

Argnums = int | Sequence[int]
Argnames = str | Sequence[str] | None


class Chosen(NamedTuple):
    """The arguments that were chosen; ``single``: not in a tuple, so the result is none either."""

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    single: bool

    def arrange(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Sequence[int]]:
        """Return the call with the chosen arguments among the positional ones, and their
        positions.
        """
        if self.names:
            return _by_name(function, self.names, args, kwargs)
        count = len(args)
        if all([0 <= i < count for i in self.numbers]):
            return function, args, kwargs, self.numbers
        return function, args, kwargs, [self._position(i, count, kwargs) for i in self.numbers]

    def _position(self, number: int, count: int, kwargs: dict[str, Any]) -> int:
        if -count <= number < count:
            return number % count
        text = f"argnums names argument {number}, but the call has {count} positional arguments"
        text += f"\n  got        argnums={self.numbers[0] if self.single else self.numbers}"
        if kwargs:
            text += f", keyword arguments {', '.join(kwargs)}"
        text += f"\n  need       {-count} <= number < {count}" if count else ""
        if count or kwargs:
            text += "\n  hint       an argument that is passed by keyword is chosen by name: "
            text += f"`argnames={next(iter(kwargs), 'x')!r}`"
        else:
            text += "\n  hint       a derivative takes the arguments of its function: `grad(f)(x)`"
        raise at_user_line(ArgumentNumberError(text, argnums=self.numbers, count=count))


def choose(argnums: Any, argnames: Any = None) -> Chosen:
    """Return the choice that ``argnums`` and ``argnames`` describe.

    Raises ArgumentNumberError: if they are no integers and no names, or if both are given.
    """
    if argnames is None:
        single = isinstance(argnums, int) or not isinstance(argnums, (tuple, list, range))
        given = (argnums,) if single else tuple(argnums)
        return Chosen(tuple([_integer(i, argnums) for i in given]), (), single)
    if not (type(argnums) is int and argnums == 0):
        fact = "argnums and argnames are given together"
        raise _refused(fact, f"argnums={argnums!r}, argnames={argnames!r}", "one of them", argnums)
    single = not isinstance(argnames, (tuple, list))
    names = (argnames,) if single else tuple(argnames)
    if not all([isinstance(name, str) for name in names]) or len(set(names)) != len(names):
        need = "names of arguments, each once"
        raise _refused("argnames are names", f"argnames={argnames!r}", need, argnums)
    return Chosen((), names, single)


def _integer(number: Any, argnums: Any) -> int:
    try:
        if isinstance(number, bool):
            raise TypeError
        return index(number)
    except TypeError:
        hint = ""
        if isinstance(number, str):
            hint = f"\n  hint       arguments are chosen by name with `argnames={number!r}`"
        elif isinstance(number, float) or hasattr(number, "dtype"):
            hint = "\n  hint       transforms make functions: write `grad(f)(x)`, not `grad(f, x)`"
        need = f"an integer, or a tuple of integers{hint}"
        raise _refused("argnums are integers", f"argnums={argnums!r}", need, argnums) from None


def _refused(fact: str, got: str, need: str, argnums: Any) -> ArgumentNumberError:
    text = f"{fact}\n  got        {got}\n  need       {need}"
    return at_user_line(ArgumentNumberError(text, argnums=argnums, count=None))


def _by_name(
    function: Callable[..., Any], names: Sequence[str], args: tuple[Any, ...], kwargs: Any
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], list[int]]:
    """Move named arguments behind the positional ones, and return the call and their positions."""
    count = len(args)
    moved = [name for name in names if name in kwargs]
    labels = parameter_names(function, count)

    def position(name: str) -> int:
        if name in moved:
            return count + moved.index(name)
        if name in labels:
            return labels.index(name)
        got = f"{count} positional arguments ({', '.join(labels)})" if count else "none by position"
        got += f", by keyword {', '.join(kwargs) or 'none'}"
        text = f"argnames names {name!r}, which the call does not pass\n  got        {got}"
        raise at_user_line(ArgumentNumberError(text, argnums=tuple(names), count=count))

    places = [position(name) for name in names]
    if not moved:
        return function, args, kwargs, places
    rest = {name: value for name, value in kwargs.items() if name not in moved}
    call = _Renamed(function, count, moved, [*labels, *moved])
    return call, (*args, *[kwargs[name] for name in moved]), rest, places


class _Renamed:
    """The function with some keyword arguments taken by position, behind the others."""

    def __init__(
        self, function: Callable[..., Any], count: int, names: Sequence[str], labels: list[str]
    ) -> None:
        self._function = function
        self._count = count
        self._names = names
        self.argument_names = labels

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        named = dict(zip(self._names, args[self._count :], strict=True))
        return self._function(*args[: self._count], **named, **kwargs)
