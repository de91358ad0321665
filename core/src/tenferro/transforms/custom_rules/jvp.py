"""Functions with a forward rule of their own: ``custom_jvp``.

The rule is recorded on tangents like any other function, so higher orders follow; what it does
with them must be linear, and is transposed for the reverse mode. It is recorded when the
function is called (``custom_rules/recorded.py``). Read next: ``custom_rules/vjp.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.weak import is_weak
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle, TensorPrimitive
from tenferro.primitives._primitive import bind_all
from tenferro.tidu import MissingRuleError, NotLinearError, RuleBuilder, Trace, Value
from tenferro.transforms.custom_rules.arguments import Arguments
from tenferro.transforms.custom_rules.batch import BatchedJvp, values_in_front
from tenferro.transforms.custom_rules.call import CustomFunction
from tenferro.transforms.custom_rules.checks import (
    call_rule,
    check_value,
    defined,
    fit,
)
from tenferro.transforms.custom_rules.linear_part import sent
from tenferro.transforms.custom_rules.operation import Custom, Tangents, plain_arrays
from tenferro.transforms.custom_rules.recorded import RecordedRule, Stage
from tenferro.transforms.custom_rules.stopped import Inside, pinned
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import own_handle
from tenferro.transforms.recording.owned import Owned


class custom_jvp(CustomFunction):
    """Replace the derivative of a function by your own rule for tangents.

    The rule serves forward and reverse mode to any order, ``jit`` and ``vmap``. The value is
    always that of the function itself. Derivatives with respect to variables that it closes over
    are computed as usual.

    Parameters
    ----------
    function : callable, optional
        Function of pytrees of arrays and numbers. Without it, ``custom_jvp`` returns a decorator.
    nondiff_argnums : int or sequence of int, optional
        Positions of arguments that are not differentiated. The rule receives them first, in the
        order of the parameters.
    nondiff_argnames : str or sequence of str, optional
        Names of such arguments. Keyword-only ones are passed to the rule by keyword.

    Returns
    -------
    callable
        The function, with two methods that register a rule:

        * ``defjvp(rule)``: ``rule(primals, tangents) -> (y, dy)`` takes two tuples with one entry
          per argument. The tangent of an integer, or of anything that cannot vary, is None.
        * ``defjvps(rule, …)``: one ``rule(dx, y, *primals)`` per argument; None if the argument
          contributes nothing.

    Raises
    ------
    MissingRuleError
        At differentiation, if no rule was registered.
    NotLinearError
        If the rule is not linear in the tangents.
    RuleResultError
        If the rule returns another structure, shape or dtype than the function.

    Notes
    -----
    A transform runs the rule once per call of the function, during the call. A rule that asks for
    the value of a tangent runs later, when the derivative is taken.

    Examples
    --------
    >>> import tenferro as tn
    >>> @tn.custom_jvp
    ... def log1pexp(x):
    ...     return tn.log(1 + tn.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (dx,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + tn.exp(x))) * dx
    >>> tn.grad(log1pexp)(0.0)
    np.float64(0.5)
    """

    def __init__(
        self,
        function: Any = None,
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        super().__init__(function, nondiff_argnums, nondiff_argnames)
        self.rule: Callable[..., Any] | None = None
        self.takes_value = False

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Register the rule ``(primals, tangents) -> (y, dy)``; returns it."""
        self.rule, self._rules, self.takes_value = rule, (rule,), False
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Register a rule ``(dx, y, *primals) -> dy`` per argument; contributions are added."""
        if self.nondiff_argnums:
            raise TypeError(
                "defjvps has no support for nondiff_argnums or nondiff_argnames; use defjvp"
            )

        def rule(y: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
            if len(rules) != len(primals):
                raise self.wrong("defjvps", f"{len(rules)} rules", f"{len(primals)}, one each")
            given = [(r, t) for r, t in zip(rules, tangents, strict=True) if r and t is not None]
            own = Owned()
            terms = [
                call_rule(self.name, "rule(dx, y, *primals)", r, t, *own((y, *primals)))
                for r, t in given
            ]
            return y, _sum(terms, y)

        self.rule, self.takes_value = rule, True
        self._rules = tuple([one for one in rules if one is not None])

    def _call(self, arguments: Arguments, out_spec: Any) -> JvpCall:
        return JvpCall(self, arguments, out_spec)

    def _operation(
        self, rule: Any, outputs: int, arguments: int, inside: Inside
    ) -> TensorPrimitive:
        return CustomJvp(rule, outputs, arguments, inside.id, inside.trace.converted)


def _sum(terms: Sequence[Any], like: Any) -> Any:
    """Add pytrees; zeros if there are none."""
    leaves, spec = _tree.flatten(like)
    total: list[Any] = [0.0] * len(leaves)
    for term in terms:
        parts = _tree.flatten_up_to(spec, term)
        total = [p if type(t) is float else t + p for t, p in zip(total, parts, strict=True)]
    return _tree.unflatten(spec, total)


class JvpCall(NamedTuple):
    """One call of a function with a forward rule, on the level of arrays."""

    custom: custom_jvp
    arguments: Arguments
    out_spec: Any

    @property
    def closed_over(self) -> tuple[ValueKey, ...]:
        """Nothing: the sweep runs the rule, which reads what it closes over itself."""
        return ()

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(self.custom.name)

    def tangents(
        self,
        primals: Sequence[Array],
        tangents: Sequence[Array | None],
        outputs: Sequence[Array],
        zero: Callable[[Any], Any],
        closed_over: Sequence[Array] = (),
    ) -> list[Array | None]:
        """Return tangents of the outputs by the user's rule; ``None`` for a zero.

        ``zero`` gives the tangent of anything but arrays. The rule reads what it closes over
        itself.
        """
        custom, arguments = self.custom, self.arguments
        rule = custom.rule
        if rule is None:
            write = f"`@{self.name}.defjvp` above `def rule(primals, tangents): … return y, dy`"
            raise missing(custom, "jvp", write)
        given = arguments.places.fill(primals), arguments.places.fill(tangents, zero)
        if custom.takes_value:
            result = rule(_tree.unflatten(self.out_spec, [own_handle(y) for y in outputs]), *given)
        else:
            written = arguments.written("rule", "primals, tangents")
            with Owned() as own:
                leading, named = arguments.of_rule(own)
                result = call_rule(self.name, written, rule, *leading, *given, **named)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            need = "a pair: the value and its tangent"
            raise custom.wrong("the jvp rule", type(result).__name__, need, rule)
        if not custom.takes_value:
            what = "the value that the jvp rule returns"
            check_value(custom, what, rule, result[0], self.out_spec, outputs)
        found = self._up_to(result[1], "the tangent that the jvp rule returns")
        pairs = zip(found, outputs, strict=True)
        return [self._fitting(value, y) for value, y in pairs]

    def record(self, stage: Stage) -> RecordedJvp:
        """Record the rule as it is now."""
        tangents = [
            stage.unknown("tangent", x.aval, is_weak(x)) if x.dtype.is_inexact else None
            for x in stage.inputs
        ]
        numbers: list[Any] = []
        zeros: list[Array] = []

        def zero(value: Any) -> Any:
            if type(value) not in (float, complex):
                return None
            numbers.append(value)
            zeros.append(stage.unknown("tangent", as_array(value).aval, weak=True))
            return zeros[-1]

        found = self.tangents(stage.inputs, tangents, stage.outputs, zero)
        moving = [t.key for t in (*tangents, *zeros) if t is not None]
        equations = RecordedRule([*stage.keys, *moving], found, stage.start)
        return RecordedJvp(self, equations, tuple(numbers))

    def _up_to(self, tree: Any, what: str) -> list[Any]:
        try:
            return _tree.flatten_up_to(self.out_spec, tree)
        except ValueError:
            got, need = _tree.describe(_tree.flatten(tree)[1]), _tree.describe(self.out_spec)
            raise self.custom.wrong(what, got, need, self.custom.rule) from None

    def _fitting(self, value: Any, y: Array) -> Array | None:
        if not y.dtype.is_inexact:
            return None
        what = "the tangent that the jvp rule returns"
        return fit(self.custom, what, self.custom.rule, value, y.aval, is_weak(y))

    def not_linear(self, why: str, active: tuple[int, ...]) -> NotLinearError:
        """Make the error about a rule that is not linear."""
        name = self.custom.name
        text = f"{name}: its jvp rule is not linear in the tangents\n  got        {why}"
        text += "\n  need       sums of products with what does not depend on tangents"
        text += defined(self.custom.rule)
        return at_user_line(NotLinearError(text, primitive=name, rule="jvp", active=active))


class RecordedJvp(NamedTuple):
    """A call whose forward rule was recorded; ``numbers`` are arguments that are no arrays."""

    call: JvpCall
    equations: RecordedRule
    numbers: tuple[Any, ...]

    @property
    def closed_over(self) -> list[ValueKey]:
        """Values from before the call that the rule reads."""
        return self.equations.closed_over

    def tangents(
        self,
        primals: Sequence[Array],
        tangents: Sequence[Array | None],
        outputs: Sequence[Array],
        zero: Callable[[Any], Any],
        closed_over: Sequence[Array] = (),
    ) -> list[Array | None]:
        """Return the tangents of the outputs; each argument that may vary has one."""
        moving = [t for t in tangents if t is not None]
        given = [*primals, *outputs, *moving, *[zero(value) for value in self.numbers]]
        return self.equations(given, closed_over[: len(self.closed_over)])

    def not_linear(self, why: str, active: tuple[int, ...]) -> NotLinearError:
        """Make the error about a rule that is not linear."""
        return self.call.not_linear(why, active)


def missing(custom: CustomFunction, rule: str, write: str) -> MissingRuleError:
    """Make the error about a rule that was not registered."""
    function = custom.function
    error = MissingRuleError(
        f"{custom.name}: it is differentiated and has no {rule} rule"
        f"{defined(function, 'function')}\n  hint       {write}",
        primitive=custom.name,
        rule=rule,
        provider=getattr(function, "__module__", None) or "",
        input=None,
    )
    return at_user_line(error)


class CustomJvp(Custom):
    """The values of a function with a forward rule.   y…, x…   →   y…"""

    key = "std::custom_jvp"

    def own(
        self, rule: RuleBuilder, primals: Sequence[Value], outputs: Sequence[Value],
        tangents: Tangents,
    ) -> Tangents:  # fmt: skip
        """Record the user's rule on fresh tangents, and send the flow through what it did."""
        call = self.rule
        arrays, ys = plain_arrays(self.of_arguments(primals)), plain_arrays(outputs)
        closed_over = plain_arrays(self.of_closure(primals))
        trace = Trace()
        pins = [
            pinned(t, x.aval, trace, is_weak(x)) if x.dtype.is_inexact else None
            for t, x in zip(tangents, arrays, strict=True)
        ]
        numbers: list[Array] = []

        def zero(value: Any) -> Any:
            if type(value) not in (float, complex):
                return None
            numbers.append(pinned(None, as_array(value).aval, trace, is_weak=True))
            return numbers[-1]

        try:
            found = call.tangents(arrays, pins, ys, zero, closed_over)
        finally:
            trace.open = False
        nothing = [None] * len(numbers)
        pairs = zip([*pins, *numbers], [*tangents, *nothing], strict=True)
        moving = [(x, t) for x, t in pairs if x is not None]
        given = [x for x, _ in moving], [t for _, t in moving]
        return sent(self, rule, found, *given, call.not_linear)

    def batch(self, size: int, batched: Sequence[bool], *inputs: Handle) -> Sequence[Handle]:
        """Return the same values, under the rule for all examples."""
        masks = self.of_arguments(batched), self.of_closure(batched)
        rule = BatchedJvp(self.rule, size, *masks)
        return bind_all(self.with_rule(rule), *values_in_front(self, size, batched, inputs))
