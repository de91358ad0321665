"""Functions with a reverse rule of their own: ``custom_vjp``.

Both parts of the rule are recorded when the function is called (``custom_rules/recorded.py``), the
backward part on cotangents that are not known yet; if it asks for their values, it is run when the
sweep turns around. Forward mode transposes the backward part, which must be linear for that. Read
next: ``custom_rules/linear.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.weak import is_weak
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle, TensorPrimitive
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind_all
from tenferro.tidu import (
    NotLinearError,
    RuleBuilder,
    Trace,
    Value,
    linear_map,
    pinned_leaf,
)
from tenferro.transforms.custom_rules.arguments import Arguments, ArgumentTree, take_arrays
from tenferro.transforms.custom_rules.batch import BatchedVjp, values_in_front
from tenferro.transforms.custom_rules.call import CustomFunction
from tenferro.transforms.custom_rules.checks import (
    call_rule,
    check_value,
    defined,
    fit,
    is_constant_zero,
    is_known_zero,
)
from tenferro.transforms.custom_rules.jvp import missing
from tenferro.transforms.custom_rules.linear_call import LinearCall
from tenferro.transforms.custom_rules.operation import Custom, Tangents, plain_arrays
from tenferro.transforms.custom_rules.recorded import RecordedRule, Stage
from tenferro.transforms.custom_rules.stopped import Inside
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import Name, own_handle
from tenferro.transforms.recording.owned import Owned


class custom_vjp(CustomFunction):
    """Replace the reverse-mode derivative of a function by your own rule.

    The value is always that of the function itself. Derivatives with respect to variables that
    it closes over are computed as usual.

    Parameters
    ----------
    function : callable, optional
        Function of pytrees of arrays and numbers. Without it, ``custom_vjp`` returns a decorator.
    nondiff_argnums : int or sequence of int, optional
        Positions of arguments that are not differentiated. ``bwd`` receives them first, in the
        order of the parameters.
    nondiff_argnames : str or sequence of str, optional
        Names of such arguments. Keyword-only ones are passed to both rules by keyword.

    Returns
    -------
    callable
        The function, with a method ``defvjp(fwd, bwd)`` that registers the two rules:

        * ``fwd(*args) -> (y, residuals)`` computes the value and what ``bwd`` needs.
        * ``bwd(residuals, ct)`` returns a tuple with the cotangent of each argument. None stands
          for zero, and for arguments that cannot vary. Cotangents are those of
          ⟨a, b⟩ = Re Σ conj(a) b.

    Raises
    ------
    MissingRuleError
        At differentiation, if no rule was registered.
    NotLinearError
        If ``bwd`` is not linear in the cotangent, but forward mode or the reverse of the reverse
        needs it to be. Reverse mode alone accepts any function, such as one that clips.
    RuleResultError
        If a rule returns another structure, shape or dtype than required, such as a complex
        cotangent of a real argument.

    Notes
    -----
    A transform runs ``fwd`` and ``bwd`` once per call of the function, during the call. A ``bwd``
    that asks for the value of a cotangent runs later, when the derivative is taken.

    Examples
    --------
    >>> import tenferro as tn
    >>> @tn.custom_vjp
    ... def clip_gradient(x):
    ...     return x
    >>> clip_gradient.defvjp(lambda x: (x, None), lambda _, ct: (tn.clip(ct, -1, 1),))
    >>> tn.grad(lambda x: 5 * clip_gradient(x))(2.0)
    np.float64(1.0)
    """

    def __init__(
        self,
        function: Any = None,
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        super().__init__(function, nondiff_argnums, nondiff_argnames)
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Register ``fwd(*args) -> (y, residuals)`` and ``bwd(residuals, ct) -> cotangents``."""
        self.fwd, self.bwd = fwd, bwd
        self._rules = (fwd, bwd)

    def _call(self, arguments: Arguments, out_spec: Any) -> VjpCall:
        return VjpCall(self, arguments, out_spec)

    def _operation(
        self, rule: Any, outputs: int, arguments: int, inside: Inside
    ) -> TensorPrimitive:
        return CustomVjp(rule, outputs, arguments, inside.id, inside.trace.converted)


class VjpCall(NamedTuple):
    """One call of a function with a reverse rule, on the level of arrays."""

    custom: custom_vjp
    arguments: Arguments
    out_spec: Any

    @property
    def closed_over(self) -> tuple[ValueKey, ...]:
        """Nothing: the sweep runs the rule, which reads what it closes over itself."""
        return ()

    def forward(
        self, primals: Sequence[Array], outputs: Sequence[Array],
        closed_over: Sequence[Array] = (),
    ) -> tuple[list[Array], PullbackRule]:  # fmt: skip
        """Return the residuals by the user's ``fwd``, and the linear rule that reads them.

        The functions of the user read what they close over themselves.
        """
        custom = self.custom
        fwd = custom.fwd
        if fwd is None or custom.bwd is None:
            write = f"`{custom.name}.defvjp(fwd, bwd)`, with `fwd(*args) -> (y, residuals)` and\n"
            write += "             `bwd(residuals, ct) -> (cotangent of each argument, …)`"
            raise missing(custom, "vjp", write)
        fwd_of = partial(call_rule, custom.name, "fwd(*args)", fwd)
        result = self.arguments.call(fwd_of, primals)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            need = "a pair: the value and the residuals"
            raise custom.wrong("fwd", type(result).__name__, need, fwd)
        what = "the value that fwd returns"
        check_value(custom, what, fwd, result[0], self.out_spec, outputs)
        residuals, places = take_arrays(result[1])
        varying = tuple([(x.aval, is_weak(x)) for x in primals if x.dtype.is_inexact])
        exact = tuple([not x.dtype.is_inexact for x in primals])
        outs = tuple([y.aval for y in outputs])
        return residuals, PullbackRule(self, places, varying, exact, outs)

    def record(self, stage: Stage) -> RecordedVjp:
        """Record the rule as it is now; ``bwd`` only if it does not ask for values of
        cotangents.
        """
        residuals, linear = self.forward(stage.inputs, stage.outputs)
        try:
            linear = linear.recorded(residuals, stage)
        except Exception:  # an error of the rule itself is raised again by the sweep
            read = []
        else:
            read = [Array(key) for key in linear.closed_over]
        equations = RecordedRule(stage.keys, [*residuals, *read], stage.start)
        return RecordedVjp(self, equations, linear)


class RecordedVjp(NamedTuple):
    """A call whose ``fwd`` was recorded, and ``bwd`` with it if that could be."""

    call: VjpCall
    equations: RecordedRule
    linear: PullbackRule

    @property
    def closed_over(self) -> list[ValueKey]:
        """Values from before the call that the rules read."""
        return self.equations.closed_over

    def forward(
        self, primals: Sequence[Array], outputs: Sequence[Array],
        closed_over: Sequence[Array] = (),
    ) -> tuple[list[Array], PullbackRule]:  # fmt: skip
        """Return the residuals, followed by the values that ``bwd`` closes over, and the linear
        rule.
        """
        given = [*primals, *outputs]
        found = self.equations(given, closed_over[: len(self.closed_over)])
        return [x for x in found if x is not None], self.linear


class PullbackRule(NamedTuple):
    """The linear rule of one call: what its ``bwd`` says, and its transpose."""

    call: VjpCall
    places: ArgumentTree  # of the residuals
    varying: tuple[tuple[Aval, bool], ...]  # aval and weakness of each argument that can vary
    exact: tuple[bool, ...]  # for each array argument, whether it cannot vary
    outs: tuple[Aval, ...]
    wants_zeros: bool = False
    equations: RecordedRule | None = None  # of ``bwd``

    @property
    def closed_over(self) -> list[ValueKey]:
        """Values that the recorded ``bwd`` reads in addition to its residuals."""
        return [] if self.equations is None else self.equations.closed_over

    def recorded(self, residuals: Sequence[Array], stage: Stage) -> PullbackRule:
        """Record ``bwd`` as it is now."""
        avals = [aval for aval in self.outs if aval.dtype.is_inexact]
        cts = [stage.unknown("ct", aval) for aval in avals]
        found = self.pull(residuals, cts)
        given = [x.key for x in (*residuals, *cts)]
        return self._replace(equations=RecordedRule(given, found, stage.start, stage.keys))

    def pull(self, residuals: Sequence[Array], cts: Sequence[Array | None]) -> list[Array | None]:
        """Return the cotangents of the arguments that can vary, by the user's ``bwd``."""
        if self.equations is not None:
            count = len(residuals) - len(self.closed_over)
            given = [*residuals[:count], *[ct for ct in cts if ct is not None]]
            return self.equations(given, residuals[count:])
        call, custom = self.call, self.call.custom
        bwd = custom.bwd
        rest = iter(cts)
        leaves = [next(rest) if aval.dtype.is_inexact else None for aval in self.outs]
        ct = _tree.unflatten(call.out_spec, [own_handle(x) for x in leaves])
        arguments = call.arguments
        assert bwd is not None
        written = arguments.written("bwd", "residuals, ct")
        residual = self.places.fill(residuals)
        with Owned() as own:
            leading, named = arguments.of_rule(own)
            result = call_rule(custom.name, written, bwd, *leading, residual, ct, **named)
        entries = self._entries(result)
        arrays = [entries[i] for i in arguments.places.arrays]
        kept = [x for x, is_exact in zip(arrays, self.exact, strict=True) if not is_exact]
        what = "the cotangent that bwd returns"
        pairs = zip(kept, self.varying, strict=True)
        return [fit(custom, what, bwd, x, aval, lenient) for x, (aval, lenient) in pairs]

    def _entries(self, result: Any) -> list[Any]:
        """Return one entry per leaf of the arguments."""
        custom, bwd = self.call.custom, self.call.custom.bwd
        specs = _tree.children(self.call.arguments.places.spec)
        if not isinstance(result, (tuple, list)) or len(result) != len(specs):
            got = type(result).__name__
            if isinstance(result, (tuple, list)):
                got += f" of {len(result)}"
            need = f"a tuple of {len(specs)}, one cotangent per argument"
            raise custom.wrong("bwd", got, need, bwd)
        entries: list[Any] = []
        for spec, value in zip(specs, result, strict=True):
            if value is None:
                entries += [None] * spec.num_leaves
                continue
            try:
                entries += _tree.flatten_up_to(spec, value)
            except ValueError:
                got = _tree.describe(_tree.flatten(value)[1])
                need = _tree.describe(spec)
                raise custom.wrong("bwd", f"a cotangent {got}", need, bwd) from None
        return entries

    def push(
        self, residuals: Sequence[Array], tangents: Sequence[Array | None]
    ) -> list[Array | None]:
        """Return the tangents of the outputs that can vary, by transposing ``bwd``."""
        trace = Trace()
        avals = [aval for aval in self.outs if aval.dtype.is_inexact]
        places = [pinned_leaf(Name("ct", trace.id.serial), aval, trace) for aval in avals]
        try:
            found = self.pull(residuals, [Array(key) for key in places])
        finally:
            trace.open = False
        chosen = [i for i, x in enumerate(found) if x is not None]
        outputs = [x.key for x in found if x is not None]
        try:
            linear = linear_map(
                outputs, places, space=TensorPrimitive.space, is_zero=is_constant_zero
            )
        except NotLinearError as error:
            raise self._not_linear(str(error).partition("\n")[0]) from error
        for i, is_reached in zip(chosen, linear.reached, strict=True):
            value = found[i]
            if not is_reached and value is not None and not is_known_zero(value):
                raise self._not_linear("a cotangent that does not depend on the one given")
        given = [None if (t := tangents[i]) is None else Handle(t.key) for i in chosen]
        return [None if y is None else Array(y.key) for y in linear.transpose(given)]

    def _not_linear(self, why: str) -> NotLinearError:
        name = self.call.custom.name
        text = f"{name}: forward mode transposes bwd, which is not linear in the cotangent"
        text += f"\n  got        {why}"
        text += "\n  need       sums of products with what does not depend on the cotangent"
        text += defined(self.call.custom.bwd)
        text += "\n  hint       use reverse mode (`grad`, `vjp`, `jacrev`), or write the function"
        text += "\n             with `custom_jvp` and a rule that is linear in the tangents"
        return at_user_line(NotLinearError(text, primitive=name, rule="vjp", active=()))

    def transposed(self) -> None:
        """Return None: the transpose of the transpose is what the transpose records."""
        return


class CustomVjp(Custom):
    """The values of a function with a reverse rule.   y…, x…   →   y…"""

    key = "std::custom_vjp"

    def own(
        self, rule: RuleBuilder, primals: Sequence[Value], outputs: Sequence[Value],
        tangents: Tangents,
    ) -> Tangents:  # fmt: skip
        """Record the user's ``fwd``; its residuals and the tangents go into a linear map."""
        arrays, ys = plain_arrays(self.of_arguments(primals)), plain_arrays(outputs)
        closed_over = plain_arrays(self.of_closure(primals))
        residuals, linear = self.rule.forward(arrays, ys, closed_over)
        varying = [i for i, x in enumerate(arrays) if x.dtype.is_inexact]
        ins = tuple([arrays[i].aval for i in varying])
        reached = [k for k, y in enumerate(ys) if y.dtype.is_inexact]
        outs = tuple([ys[k].aval for k in reached])
        call = LinearCall(linear, len(residuals), ins, outs)
        fixed = [rule.value(x.key) for x in residuals]
        results: list[Value | None] = [None] * self.count
        for k, dy in zip(reached, call.send(fixed, [tangents[i] for i in varying]), strict=True):
            results[k] = dy
        return results

    def batch(self, size: int, batched: Sequence[bool], *inputs: Handle) -> Sequence[Handle]:
        """Return the same values, under the rule for all examples."""
        masks = self.of_arguments(batched), self.of_closure(batched)
        rule = BatchedVjp(self.rule, size, *masks)
        return bind_all(self.with_rule(rule), *values_in_front(self, size, batched, inputs))
