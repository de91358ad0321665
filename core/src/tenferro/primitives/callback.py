"""Functions of the user that run on the host, inside a program.

``host_callback`` computes a result: the function is called on host arrays and must depend on them
alone, since equal calls may be merged and unused ones dropped. It has a derivative only if rules
are given. ``debug_callback`` is an effect: it carries a tag of its own, so that no two are merged,
and whoever records a program keeps it as a root, in program order. Read next: ``_operators.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid
from tenferro.primitives._dtype import DType, bool_
from tenferro.primitives._errors import DTypeMismatchError, ShapeMismatchError
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import Mixed, bind, bind_all, in_front
from tenferro.primitives.constants import constant, zeros_like
from tenferro.primitives.structural import broadcast_in_dim
from tenferro.tidu import (
    FlowInput,
    MissingRuleError,
    Residual,
    RuleBuilder,
    Value,
    missing_rule,
)

__all__ = ["DebugCallback", "HostCallback", "debug_callback", "host_callback"]

_tags = count()
_WIDTHS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}  # of kinds of dtypes


class HostCallback(Mixed):
    """ys = function(xs), called on host arrays; differentiable by the rules that are given"""

    key = "std::host_callback"
    fixed_rules = False  # they are the user's
    linear = ()
    input_count = None
    function: Callable[..., Any]
    results: tuple[Aval, ...]
    jvp_rule: Callable[..., Any] | None = None
    transpose_rule: Callable[..., Any] | None = None
    vectorized: bool = False

    def __post_init__(self) -> None:
        _check_function(self, "function")
        for name in ("jvp_rule", "transpose_rule"):
            if getattr(self, name) is not None:
                _check_function(self, name)
        results: Any = self.results
        if not isinstance(results, (tuple, list)) or not {*map(type, results)} <= {Aval}:
            need = "a tuple of avals"
            raise invalid(self, "results", "no avals of results", got=repr(results), need=need)
        self._set(results=tuple(results))
        given: object = self.vectorized
        if type(given) is not bool:
            raise invalid(self, "vectorized", "not a bool", got=repr(given), need="a bool")

    @property
    def output_count(self) -> int:
        """As many as avals were stated."""
        return len(self.results)

    @property
    def shown(self) -> dict[str, Any]:
        """The parameters that its line in a graph tells: those that are not at their defaults."""
        always = ("function", "results")
        return {name: x for name, x in self.parameters.items() if name in always or x}

    def abstract_eval(self, *xs: Aval) -> tuple[Aval, ...]:
        return self.results

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return one group of all inputs if the transpose is given, else none."""
        return () if self.transpose_rule is None else (tuple(range(count)),)

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Apply the user's rule to all tangents at once; None if a tangent does not flow."""
        if self.transpose_rule is not None:
            return super().jvp(rule, primals_in, primals_out, tangents_in)
        if not any([aval.dtype.is_inexact for aval in self.results]):
            return [None] * len(self.results)
        if self.jvp_rule is None:
            raise _no_rule(self)
        return results_of(self.jvp_rule(tuple(primals_in), tuple(tangents_in)))

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Sequence[Value | None],
        inputs: Sequence[Residual | FlowInput],
    ) -> Sequence[Value | None]:
        """Apply the user's rule to all cotangents at once."""
        if self.transpose_rule is None:
            raise missing_rule(self, "transpose_rule")
        pairs = zip(cotangents_out, self.results, strict=True)
        cts = tuple([zeros_like(aval) if ct is None else ct for ct, aval in pairs])
        found = results_of(self.transpose_rule(cts))
        if len(found) != len(inputs):
            return found  # the sweep refuses it, and says where
        active = zip(found, inputs, strict=True)
        return [ct if isinstance(given, FlowInput) else None for ct, given in active]

    def batch(self, size: int, batched: Sequence[bool], *xs: Handle) -> tuple[Handle, ...]:
        """Call the function once per example; once for all if it is vectorized.

        Rules are not carried over: differentiate first.
        """
        function: Any = self.function
        results = [aval.with_shape((size, *aval.shape)) for aval in self.results]
        if self.vectorized:
            xs = tuple([in_front(x, b, size) for x, b in zip(xs, batched, strict=True)])
        elif not size:  # no call could say what it gives
            return tuple([constant(0, aval.dtype, aval.shape) for aval in results])
        else:
            function = Each(function, size, tuple(batched), len(self.results))
        return host_callback(function, results, *xs, vectorized=self.vectorized)


class DebugCallback(Mixed):
    """Call a function for what it does;   →   a token that says that it was called"""

    key = "std::debug_callback"
    linear = ()
    input_count = None
    function: Callable[..., Any]
    tag: int

    def __post_init__(self) -> None:
        _check_function(self, "function")

    def abstract_eval(self, *xs: Aval) -> Aval:
        return Aval((), bool_)

    def batch(self, size: int, batched: Sequence[bool], *xs: Handle) -> Handle:
        """Call the function once per example, in their order."""
        function: Any = Each(self.function, size, tuple(batched), 0)
        token = debug_callback(function, *xs)
        return broadcast_in_dim(token, (size,), ())


def _check_function(op: Mixed, name: str) -> None:
    """Raise InvalidParameterError unless a parameter is callable."""
    value = getattr(op, name)
    if not callable(value):
        raise invalid(op, name, "not callable", got=repr(value), need="a function")


def _no_rule(op: HostCallback) -> MissingRuleError:
    """Make the error for a function on the host that is differentiated, with the recipe."""
    return MissingRuleError(
        f"{op.key}: no jvp_rule: the derivative of a function on the host is not known\n"
        f"  got        {name_of(op.function)}, which is differentiated\n"
        "  hint       give the function that calls it a derivative: `tn.custom_vjp` or\n"
        "             `tn.custom_jvp` above it, `tn.custom_linear` if it is linear; or pass\n"
        "             `tn.stop_gradient(x)` where its derivative counts as zero",
        primitive=op.key,
        rule="jvp_rule",
        provider=str(getattr(op.function, "__module__", "")),
        input=None,
    )


def name_of(function: Any) -> str:
    """Return the name of a function of the user, for messages and prints."""
    short = getattr(function, "short", None) or getattr(function, "__qualname__", None)
    return short if isinstance(short, str) else repr(function)


class Each(NamedTuple):
    """A function of one example as a function of a batch: called in a loop."""

    function: Callable[..., Any]
    size: int
    batched: tuple[bool, ...]
    result_count: int

    @property
    def short(self) -> str:
        """The name that graphs print."""
        return f"{name_of(self.function)} of each"

    def __call__(self, *xs: Any) -> Any:
        """Return, for each result, the list of its examples."""
        found = [
            self.function(*[x[k] if b else x for x, b in zip(xs, self.batched, strict=True)])
            for k in range(self.size)
        ]
        if not self.result_count:
            return None
        rows = [results_of(row) for row in found]
        return tuple([[row[i] for row in rows] for i in range(self.result_count)])


def results_of(found: Any) -> tuple[Any, ...]:
    """Return a function's result as a tuple of results."""
    return tuple(found) if isinstance(found, tuple) else (found,)


def stated_results(op: HostCallback, found: Any) -> tuple[Any, ...]:
    """Return a function's results; raise if their number is not the stated one."""
    results = results_of(found)
    if len(results) != len(op.results):
        raise ShapeMismatchError.of(
            op.name,
            "the function returned another number of results than stated",
            got=f"{len(results)} from {name_of(op.function)}",
            need=f"{', '.join(map(str, op.results))}, as stated",
            shapes=(),
        )
    return results


def check_results(op: HostCallback, results: Sequence[Any], shape_of: Callable[..., Any]) -> None:
    """Refuse results that have not the stated shapes; for lowerings."""
    shapes = tuple([tuple(shape_of(x)) for x in results])
    if shapes != tuple([aval.shape for aval in op.results]):
        raise ShapeMismatchError.of(
            op.name,
            "the function returned other shapes than stated",
            got=f"{', '.join(map(str, shapes))} from {name_of(op.function)}",
            need=f"{', '.join(map(str, op.results))}, as stated",
            shapes=shapes,
        )


def in_stated_dtype(op: HostCallback, result: Any, aval: Aval, dtype: Any) -> Any:
    """Return an array that the function returned in the stated dtype; for lowerings.

    ``dtype`` is the aval's for the array's library. A narrower dtype of the same kind rounds.
    Refuses to lose a kind of number, as complex to real does, and to change integers.
    """
    if result.dtype == dtype:
        return result
    found = DType.of(str(result.dtype))
    if _WIDTHS[found.kind] <= _WIDTHS[aval.dtype.kind]:
        converted = result.astype(dtype)
        if aval.dtype.is_inexact or bool((converted == result).all()):
            return converted
    raise DTypeMismatchError.of(
        op.name,
        "the function returned another dtype than stated",
        got=f"{found.name} from {name_of(op.function)}",
        need=f"{aval}, as stated",
        hint="convert the result in the function, or state its dtype",
        dtypes=(found, aval.dtype),
    )


def host_callback(
    function: Callable[..., Any],
    result_avals: Sequence[Aval],
    *xs: Handle,
    jvp: Callable[..., Any] | None = None,
    transpose: Callable[..., Any] | None = None,
    vectorized: bool = False,
) -> tuple[Handle, ...]:
    """Call a function of NumPy arrays on the host, on any backend.

    xs: any   →   ys: as result_avals say

    Definition   ys = function(*xs), a tuple if there are several; it must depend on its arguments
                 alone: equal calls may be merged, and calls whose results are not used are dropped
    JVP          jvp(primals, tangents) → tangents of the results, on handles; a tangent that does
                 not flow is None
    Transpose    transpose(cotangents) → cotangents of the inputs; it says that the function is
                 linear, and makes jvp superfluous
    Convention   vectorized says that the function also takes arrays with further leading axes, the
                 same in front of all, and gives results with these axes: vmap then calls it once
    Raises       ShapeMismatchError, DTypeMismatchError: when it runs, if the results are not as
                 stated.

    >>> from tenferro.primitives import Aval, host_callback, variable
    >>> x = variable("x", (3,), "f64")
    >>> [y.aval for y in host_callback(sorted, [Aval((3,), "f64")], x)]
    [f64[3]]
    """
    return bind_all(HostCallback(function, tuple(result_avals), jvp, transpose, vectorized), *xs)


def debug_callback(function: Callable[..., Any], *xs: Handle) -> Handle:
    """Call a function of NumPy arrays for its effect, whenever the program runs.

    xs: any   →   token: bool[]

    Convention   never merged with another; whoever records a program keeps the token as a root

    >>> from tenferro.primitives import debug_callback, variable
    >>> debug_callback(print, variable("x", (3,), "f64")).aval
    bool[]
    """
    return bind(DebugCallback(function, next(_tags)), *xs)
