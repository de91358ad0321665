"""Calls of functions that bring their own derivative: arguments, results, and how they are checked.

The function itself is recorded like any other, on arguments through which no derivative flows, so
it may look at values and call what has no derivative. Operations around its results carry the rule
(``custom_rules/jvp.py``, ``custom_rules/vjp.py``, ``custom_rules/linear.py``). What the function
closes over is differentiated too. Read next: ``arguments.py``, ``stopped.py``, ``checks.py``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from types import MethodType
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS
from tenferro.primitives import TensorPrimitive
from tenferro.tidu import RuleResultError
from tenferro.transforms.custom_rules.arguments import (
    Arguments,
    FixedArgument,
    is_array,
    take_arrays,
)
from tenferro.transforms.custom_rules.checks import wrong_result
from tenferro.transforms.custom_rules.recorded import recorded, results_of_same_call
from tenferro.transforms.custom_rules.stopped import Inside, has_known_value
from tenferro.transforms.errors import ArgumentNumberError, check_function
from tenferro.transforms.pickled import PickledByName, check_picklable, named_after
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.effects import silenced
from tenferro.transforms.recording.owned import Owned

_SCALARS = frozenset(SCALARS)


class CustomFunction(PickledByName):
    """Base of the functions that bring their own derivative."""

    function: Callable[..., Any]
    _rules: tuple[Callable[..., Any], ...]  # of the user; empty while there are none

    def __new__(
        cls,
        function: Any = None,
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> Any:
        """Return the decorated function; without a function, return the decorator with these
        options.
        """
        if function is None:
            return partial(cls, nondiff_argnums=nondiff_argnums, nondiff_argnames=nondiff_argnames)
        return super().__new__(cls)

    def __init__(
        self,
        function: Any = None,
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        check_function(function, type(self).__name__)
        named_after(self, function)
        self.function = function
        self._rules = ()
        self._signature: Any = None
        numbers = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        names = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else nondiff_argnames
        named = self._positions(tuple(names)) if names else ()
        self.nondiff_argnums = (*numbers, *named)

    def _positions(self, names: tuple[Any, ...]) -> list[int]:
        """Return the positions of parameters; keyword-only ones never vary and have none.

        Raises ArgumentNumberError: for a name that is not a parameter.
        """
        kinds = {}
        if not hasattr(self.function, "nin"):  # the arguments of a NumPy ufunc have no names
            self._signature = import_module("inspect").signature(self.function)
            several = ("VAR_POSITIONAL", "VAR_KEYWORD")
            found = self._signature.parameters.values()
            kinds = {x.name: x.kind.name for x in found if x.kind.name not in several}
        for name in names:
            if name not in kinds:
                text = (
                    f"{type(self).__name__}: nondiff_argnames names {name!r}, which is not a "
                    f"parameter of {self.name}\n  got        nondiff_argnames={names!r}\n"
                    f"  need       names among {', '.join(kinds) or 'none'}"
                )
                raise at_user_line(ArgumentNumberError(text, argnums=names, count=len(kinds)))
        places = [name for name in kinds if kinds[name] != "KEYWORD_ONLY"]
        return [places.index(name) for name in names if name in places]

    def _pickle_parts(self, protocol: Any) -> Any:
        check_picklable(self.function, "a function with a derivative of its own")
        return object.__new__, (type(self),), dict(self.__dict__)

    @property
    def name(self) -> str:
        """The name of the function, for messages."""
        return str(getattr(self.function, "__name__", None) or repr(self.function))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind as a method; the instance is an argument that the rules receive, too."""
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; a derivative of the call is what the rule says."""
        args, kwargs = self._positional(args, kwargs)
        count = len(args)
        numbers = sorted({i + count if i < 0 else i for i in self.nondiff_argnums})
        about = tuple([arg for i, arg in enumerate(args) if i not in numbers])
        arrays, places = take_arrays(about)
        if all([has_known_value(x) for x in arrays]):
            with Owned() as own:
                return own.result(self.function(*own(args), **own(kwargs)))
        fixed = tuple([(i, FixedArgument(args[i])) for i in numbers if i < count])
        named = tuple([(name, FixedArgument(value)) for name, value in sorted(kwargs.items())])
        arguments = Arguments(places, fixed, named)
        known = results_of_same_call(self, arguments, arrays)
        if known is not None:
            return known
        keep = any([t.open and (t.hidden or t.abstract) for x in arrays for t in x.key.traces])
        inside, outputs, spec = self._run(arguments, arrays, keep)
        if not keep and inside.closed_over((), outputs):
            with silenced():
                inside, outputs, spec = self._run(arguments, arrays, True)
        if not outputs:
            return _tree.unflatten(spec, ())
        results = partial(_tree.unflatten, spec)
        call = self._call(arguments, spec)
        rule = recorded(call, self._rules, inside.start, arrays, outputs, results)
        operation = self._operation(rule, len(outputs), len(arrays), inside)
        closed_over = inside.closed_over(rule.closed_over, outputs)
        return results(inside.results(operation, outputs, arrays, closed_over))

    def _run(
        self, arguments: Arguments, arrays: Sequence[Array], keep: bool
    ) -> tuple[Inside, list[Array], Any]:
        """Run the function: its inside, the arrays of its result, and the structure of that."""
        inside = Inside(keep)
        try:
            result = arguments.call(self.function, [inside.argument(x) for x in arrays])
        finally:
            inside.trace.open = False
        leaves, spec = _tree.flatten(result)
        return inside, [self._output(leaf) for leaf in leaves], spec

    @abstractmethod
    def _call(self, arguments: Arguments, out_spec: Any) -> Any:
        """Make the rule for one call; it runs where a derivative is taken."""

    @abstractmethod
    def _operation(
        self, rule: Any, outputs: int, arguments: int, inside: Inside
    ) -> TensorPrimitive:
        """Make the operation that carries the rule, given the numbers of values and of
        arguments.
        """

    def _positional(self, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Pass every argument that has a position by position, defaults included.

        A call of a NumPy ufunc stays as it was written.
        """
        if hasattr(self.function, "nin"):
            return args, kwargs
        if self._signature is None:
            self._signature = import_module("inspect").signature(self.function)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def _output(self, leaf: Any) -> Array:
        if not is_array(leaf) and type(leaf) not in _SCALARS:
            raise self.wrong(
                "the function", f"{type(leaf).__name__} in its result", "arrays and numbers"
            )
        return as_array(leaf)

    def wrong(
        self, what: str, got: str, need: str, rule: Any = None, hint: str = ""
    ) -> RuleResultError:
        """Make the error about a wrong result of the function or of one of its rules."""
        return wrong_result(self.name, what, got, need, rule, hint)
