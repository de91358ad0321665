"""Linear functions with a transpose of their own: ``custom_linear``.

An iterative solver is the example: what it does to its right side is linear, and its transpose is
another run of a solver, not the steps of this one backwards. Read next: ``custom_rules/batch.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, is_traced
from tenferro.arrays.handle.array import SCALARS
from tenferro.arrays.handle.weak import is_weak
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle, constant
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind_all
from tenferro.tidu import RuleBuilder, RuleResultError, Value
from tenferro.transforms.custom_rules.arguments import (
    ArgumentTree,
    is_array,
    take_arrays,
)
from tenferro.transforms.custom_rules.batch import BatchedLinear, values_in_front
from tenferro.transforms.custom_rules.checks import call_rule, fit, wrong_result
from tenferro.transforms.custom_rules.linear_call import LinearCall
from tenferro.transforms.custom_rules.operation import Custom, Tangents
from tenferro.transforms.custom_rules.recorded import RecordedRule, Stage, recorded
from tenferro.transforms.custom_rules.stopped import Inside, has_known_value
from tenferro.transforms.errors import check_function
from tenferro.transforms.pickled import PickledByName, check_picklable, named_after
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import own_handle
from tenferro.transforms.recording.owned import Owned

_SCALARS = frozenset(SCALARS)
_T = TypeVar("_T")


class custom_linear(PickledByName):
    """Make a linear function from the code that applies it and the code that transposes it.

    Parameters
    ----------
    apply : callable
        ``apply(residuals, x) -> y``, a function of pytrees that is linear in x. It is not
        differentiated with respect to x, so it may look at values and iterate. It is
        differentiated with respect to the residuals.
    transpose : callable
        ``transpose(residuals, ct) -> ct of x``. You ensure that ⟨ct, apply(r, x)⟩ equals
        ⟨transpose(r, ct), x⟩ under Re Σ conj(a) b.

    Returns
    -------
    callable
        Function ``g(residuals, x)``.

    Raises
    ------
    RuleResultError
        If a function returns another structure, shape or dtype than required.

    Examples
    --------
    >>> import tenferro as tn
    >>> solve = tn.custom_linear(lambda d, b: b / d, transpose=lambda d, ct: ct / d)
    >>> print(tn.trace(solve, tn.Aval((2,), "f64"), tn.Aval((2,), "f64")))
    graph(d: f64[2], b: f64[2]) {
      %2 = div %1 %0                       : f64[2]
      return %2
    }
    """

    def __init__(self, apply: Callable[..., Any], transpose: Callable[..., Any]) -> None:
        check_function(apply, "custom_linear")
        named_after(self, apply)
        self.apply = apply
        self.transpose = transpose

    def _pickle_parts(self, protocol: Any) -> Any:
        for function in (self.apply, self.transpose):
            check_picklable(function, "a custom linear function")
        return custom_linear, (self.apply, self.transpose)

    @cached_property
    def transposed(self) -> custom_linear:
        """The transpose, as a linear function whose transpose is this one."""
        other = custom_linear(self.transpose, self.apply)
        other.__dict__["transposed"] = self
        return other

    def __call__(self, residuals: Any, x: Any) -> Any:
        """Apply the map."""
        fixed, fixed_places = take_arrays(residuals)
        leaves, spec = _tree.flatten(x)
        flowing = [self._varying(leaf) for leaf in leaves]
        if all([has_known_value(a) for a in (*fixed, *flowing)]):
            with Owned() as own:
                return own.result(self.apply_now(*own((residuals, x))))
        inside = Inside(keep=any([is_traced(a.key) for a in fixed]))
        values = [inside.argument(a) for a in flowing]
        try:
            given = _tree.unflatten(spec, [own_handle(x) for x in values])
            result = self.apply_now(fixed_places.fill(fixed), given)
        finally:
            inside.trace.open = False
        found, out_spec = _tree.flatten(result)
        outputs = [self._varying(y) for y in found]
        if not outputs:
            return result
        ins = tuple([(a.aval, is_weak(a)) for a in flowing])
        outs = tuple([(y.aval, is_weak(y)) for y in outputs])
        rule = LinearRule(self, fixed_places, (spec, ins), (out_spec, outs))
        arrays = [*fixed, *flowing]
        rules = self.apply, self.transpose
        results = partial(_tree.unflatten, out_spec)
        rule = recorded(rule, rules, inside.start, arrays, outputs, results)
        closed_over = inside.closed_over(rule.closed_over, outputs)
        return results(rule.values(inside, arrays, outputs, closed_over))

    def apply_now(self, residuals: Any, x: Any) -> Any:
        """Call the user's function."""
        return call_rule(self._name, "apply(residuals, x)", self.apply, residuals, x)

    @property
    def _name(self) -> str:
        return str(getattr(self.apply, "__name__", "custom_linear"))

    def _varying(self, leaf: Any) -> Array:
        if is_array(leaf) or type(leaf) in _SCALARS:
            found = as_array(leaf)
            if found.dtype.is_inexact:
                return found
        got = str(found.aval) if is_array(leaf) else type(leaf).__name__
        what = "a linear function, or wrong argument"
        raise self.wrong(what, got, "floats or complex numbers", self.apply)

    def wrong(
        self, what: str, got: str, need: str, rule: Any = None, hint: str = ""
    ) -> RuleResultError:
        """Make the error about a wrong result of a function."""
        return wrong_result(self._name, what, got, need, rule, hint)


# The structure of an argument or result; of each leaf the aval, and whether it is a Python number.
Space = tuple[Any, tuple[tuple[Aval, bool], ...]]


class LinearRule(NamedTuple):
    """One call of a linear function, on the level of arrays."""

    custom: custom_linear
    places: ArgumentTree  # of the residuals
    ins: Space
    outs: Space
    wants_zeros: bool = True
    pushed: RecordedRule | None = None
    pulled: RecordedRule | None = None

    @property
    def arguments(self) -> ArgumentTree:
        """Places of the arrays, which distinguish calls."""
        return self.places

    @property
    def closed_over(self) -> list[ValueKey]:
        """Values from before the call that the recorded functions read."""
        either = self.pushed or self.pulled
        return [] if either is None else either.closed_over

    def record(self, stage: Stage) -> LinearRule:
        """Record both functions as they are now, unless they ask for values."""
        fixed = stage.inputs[: len(self.places.arrays)]
        pushed, pulled = self._recorded(fixed, stage), self.transposed()._recorded(fixed, stage)
        both = [rule for rule in (pushed, pulled) if rule is not None]
        closed_over = [*dict.fromkeys([key for rule in both for key in rule.closed_over])]
        for rule in both:
            rule.closed_over = closed_over
        return self._replace(pushed=pushed, pulled=pulled)

    def _recorded(self, fixed: Sequence[Array], stage: Stage) -> RecordedRule | None:
        xs = [stage.unknown("x", aval, on) for aval, on in self.ins[1]]
        try:
            found = self._applied(self.custom.apply_now, fixed, xs)
        except Exception:  # an error of the function itself is raised again by the sweep
            return None
        return RecordedRule([x.key for x in (*fixed, *xs)], found, stage.start)

    def values(
        self, inside: Inside, arrays: Sequence[Array], outputs: Sequence[Array],
        closed_over: Sequence[ValueKey],
    ) -> list[Array]:  # fmt: skip
        """Return the outputs of one call under this rule."""
        counts = len(outputs), len(arrays)
        sizes = len(self.places.arrays), len(self.closed_over)
        operation = CustomLinear(self, *counts, inside.id, inside.trace.converted, *sizes)
        return inside.results(operation, outputs, arrays, closed_over)

    def push(
        self, residuals: Sequence[Array], tangents: Sequence[Array | None]
    ) -> list[Array | None]:
        """Apply the map to given arrays."""
        if self.pushed is None:
            return self._applied(self.custom, residuals[: len(self.places.arrays)], tangents)
        count = len(self.places.arrays)
        fixed, closed_over = residuals[:count], residuals[count:]
        inside = Inside(keep=True)
        xs = [x for x in tangents if x is not None]
        found = self.pushed([*fixed, *[inside.argument(x) for x in xs]], closed_over)
        pairs = zip(found, self.outs[1], strict=True)
        outputs = [_zeros(aval) if y is None else y for y, (aval, _) in pairs]
        inside.trace.open = False
        read = [x.key for x in (*closed_over, *fixed)]
        return [*self.values(inside, [*fixed, *xs], outputs, read)]

    def _applied(
        self, function: Callable[..., Any], residuals: Sequence[Array],
        xs: Sequence[Array | None],
    ) -> list[Array | None]:  # fmt: skip
        custom, (spec, avals) = self.custom, self.outs
        flowing = _tree.unflatten(self.ins[0], [own_handle(x) for x in xs])
        result = function(self.places.fill(residuals), flowing)
        what = "a linear function or its transpose"
        try:
            leaves = _tree.flatten_up_to(spec, result)
        except ValueError:
            got = _tree.describe(_tree.flatten(result)[1])
            raise custom.wrong(what, got, _tree.describe(spec), custom.apply) from None
        pairs = zip(leaves, avals, strict=True)
        return [fit(custom, what, custom.apply, y, aval, on) for y, (aval, on) in pairs]

    def pull(self, residuals: Sequence[Array], cts: Sequence[Array | None]) -> list[Array | None]:
        """Apply the transposed map to given arrays."""
        return self.transposed().push(residuals, cts)

    def transposed(self) -> LinearRule:
        """Return the rule of the transpose."""
        transposed = LinearRule(self.custom.transposed, self.places, self.outs, self.ins)
        return transposed._replace(pushed=self.pulled, pulled=self.pushed)


def _zeros(aval: Aval) -> Array:
    return Array(constant(0, aval.dtype, aval.shape).key)


class CustomLinear(Custom):
    """The values of a linear function.   y…, residuals…, x…, c…   →   y…"""

    key = "std::custom_linear"
    residuals: int
    closed_over: int  # values that the rule reads, of those behind the arguments

    def as_linear(self, inputs: Sequence[ValueKey]) -> tuple[LinearCall, Sequence[ValueKey]]:
        """Return the same call without values, which flow passes through."""
        fixed, xs = self._fixed(inputs), self.of_arguments(inputs)[self.residuals :]
        outs = [x.aval for x in inputs[: self.count]]
        return self._call(outs, [x.aval for x in xs]), [*fixed, *xs]

    def stopped(self, xs: Sequence[_T]) -> tuple[_T, ...]:
        """Return the entries behind the residuals, which are closed over."""
        return self.of_arguments(xs)[self.residuals :]

    def _fixed(self, inputs: Sequence[_T]) -> list[_T]:
        """Select, from one entry per input, those of the residuals and of the rule's closure."""
        residuals = self.of_arguments(inputs)[: self.residuals]
        return [*residuals, *self.of_closure(inputs)[: self.closed_over]]

    def _call(self, outs: Sequence[Aval], xs: Sequence[Aval]) -> LinearCall:
        count = self.residuals + self.closed_over
        return LinearCall(self.rule, count, tuple(xs), tuple(outs))

    def own(
        self, rule: RuleBuilder, primals: Sequence[Value], outputs: Sequence[Value],
        tangents: Tangents,
    ) -> Tangents:  # fmt: skip
        """Apply the map itself to tangents; residuals are closed over."""
        r = self.residuals
        if not any([t is not None for t in tangents[r:]]):
            return [None] * self.count
        xs = self.of_arguments(primals)[r:]
        call = self._call([y.aval for y in outputs], [x.aval for x in xs])
        return call.send(self._fixed(primals), tangents[r:])

    def batch(self, size: int, batched: Sequence[bool], *inputs: Handle) -> Sequence[Handle]:
        """Return the same values, under the rule for all examples."""
        flowing = self.of_arguments(batched)[self.residuals :]
        rule = BatchedLinear(self.rule, size, tuple(self._fixed(batched)), flowing)
        return bind_all(self.with_rule(rule), *values_in_front(self, size, batched, inputs))
