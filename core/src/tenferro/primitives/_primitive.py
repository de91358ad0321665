"""Base classes of tensor primitives, and ``bind``, which applies one.

An author writes one rule per input, named after the input: ``transpose_x(self, ct, x, y)`` where
the primitive is linear in x, ``jvp_x(self, dx, x, y, *outputs)`` where it is not. A primitive with
``*xs`` writes ``transpose_each(self, ct, index, *xs)``, or ``transpose_together(self, ct, active,
*xs)``, which returns one cotangent or None for each x, where it may get thousands. The classes here
only say in which inputs a primitive is linear and translate tidu's calls to handles; all else is
derived. Read next: ``_operators.py``, then any family file.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar

from tenferro.computegraph import TenferroError, ValueKey, operation_text
from tenferro.primitives._aval import Aval
from tenferro.primitives._boundary import at_user_line
from tenferro.primitives._checks import accepted
from tenferro.primitives._handle import OPERATORS, FlowHandle, H, Handle
from tenferro.primitives._source import caller, source_text
from tenferro.tidu import (
    NO_TANGENT,
    FlowInput,
    MissingRuleError,
    Primitive,
    Residual,
    RuleBuilder,
    Value,
    emit,
    emit_one,
    missing_rule,
)

_VARIADIC = 0x04  # flag of code objects with *args


dtype_of = attrgetter("dtype")  # `rules_look_at` of operations that have one rule for all shapes


class TensorSpace:
    """Tangents of tensors: floats and complex numbers have them, integers and bools do not."""

    value: type[Value] = Handle
    rules_look_at: Any = dtype_of  # a sum is the same operation in every shape

    def add(self, x: Value, y: Value) -> Value:
        """x + y."""
        return OPERATORS["add"](x, y)  # type: ignore[no-any-return]

    def zeros(self, aval: Aval) -> Value:
        """Return the zero of a shape and dtype."""
        return OPERATORS["zeros"](aval)  # type: ignore[no-any-return]

    def is_zero(self, key: ValueKey) -> bool:
        """Return True if the key is a constant of value 0."""
        operation = key.operation
        return operation is not None and operation.literal and getattr(operation, "value", 1) == 0

    def tangent_aval(self, aval: Aval) -> Any:
        """Return the aval itself, or NO_TANGENT for integers and bools."""
        return aval if aval.dtype.is_inexact else NO_TANGENT

    def source_text(self, source: Any) -> str | None:
        """Return where the user recorded an operation; if unknown, where the user is now."""
        return source_text(source) or source_text(caller())


class TensorPrimitive(Primitive):
    """A tensor primitive; subclass one of the four classes below.

    ``accepts`` names the dtypes that ``abstract_eval`` takes: "inexact", "float", "real",
    "numeric", "ordered", "integer", "bits", "bool" or "complex" (``KINDS`` in ``_checks.py``).

    Optional methods: ``simplify(self, *inputs)``, ``decompose(self, *inputs)`` and the batching
    rule ``batch(self, size, batched, *inputs)``: inputs marked in ``batched`` have a new first axis
    of that size (one of them does, at least); the results have it too. An operation with closed
    graphs among its parameters has ``batch_bodies(self, batch, size, batched, *inputs)`` in its
    place, where ``batch(outputs, examples, size)`` batches a graph.
    """

    space: ClassVar[Any] = TensorSpace()
    fixed_rules = True
    accepts: ClassVar[str | None] = None
    decompose: ClassVar[Any] = None
    batch: ClassVar[Any] = None
    batch_bodies: ClassVar[Any] = None
    transpose_together: ClassVar[Any] = None
    _inputs: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        code = cls.abstract_eval.__code__
        cls._inputs = code.co_varnames[1 : code.co_argcount]
        if "input_count" not in cls.__dict__:
            cls.input_count = None if code.co_flags & _VARIADIC else len(cls._inputs)

    def abstract_eval(self, *avals: Any) -> Any:
        """Give the aval of the output, or a tuple of avals; every primitive states its own."""
        raise MissingRuleError(
            f"{self.name}: the primitive has no `abstract_eval`\n"
            "  need       a method `abstract_eval(self, *avals)` that returns the output's Aval",
            primitive=self.name,
            rule="abstract_eval",
        )

    def carries(self, aval: Aval) -> bool:
        """Return True if values of the dtype can vary, without asking the linear space."""
        return aval.dtype.is_inexact

    def jvp_input(
        self,
        rule: RuleBuilder,
        index: int,
        tangent: Value,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
    ) -> Sequence[Value | None]:
        """Call the author's ``jvp_<input>``."""
        method = self._rule("jvp", index)
        return _as_sequence(method(tangent, *primals_in, *primals_out))

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Sequence[Value | None],
        inputs: Sequence[Residual | FlowInput],
    ) -> Sequence[Value | None]:
        """Call the author's ``transpose_<input>`` for each active input."""
        ct = cotangents_out[0] if self.output_count == 1 else cotangents_out
        handles = [
            FlowHandle(i.aval, self.key) if isinstance(i, FlowInput) else i.value for i in inputs
        ]
        active = [isinstance(given, FlowInput) for given in inputs]
        if self.transpose_together is not None:
            return self.transpose_together(ct, active, *handles)  # type: ignore[no-any-return]
        return [
            self._transpose_input(i, ct, handles) if is_active else None
            for i, is_active in enumerate(active)
        ]

    def _transpose_input(self, index: int, ct: Any, handles: Sequence[Value]) -> Value | None:
        if self.input_count is None:
            each = getattr(self, "transpose_each", None)
            if each is None:
                raise missing_rule(self, "transpose_each", index)
            return each(ct, index, *handles)  # type: ignore[no-any-return]
        return self._rule("transpose", index)(ct, *handles)  # type: ignore[no-any-return]

    def _rule(self, kind: str, index: int) -> Any:
        name = f"{kind}_{self._inputs[min(index, len(self._inputs) - 1)]}"
        method = getattr(self, name, None)
        if method is None:
            raise missing_rule(self, name, index)
        return method


def in_front(x: H, batched: bool, size: int) -> H:
    """Return an input of a batching rule with the batch axis in front.

    An input that is not batched is repeated ``size`` times along a new first axis.
    """
    return x if batched else OPERATORS["repeat"](x, size)


def over_leading_axes(
    operation: TensorPrimitive, size: int, batched: Sequence[bool], *inputs: Handle
) -> Sequence[Handle]:
    """Batch an operation that takes any leading axes: apply it to inputs with one more of them.

    ``batch = over_leading_axes`` in a class is its batching rule: matrices are the last two axes of
    their operands, for example, and whatever stands before these is a stack.
    """
    spread = [in_front(x, is_batched, size) for x, is_batched in zip(inputs, batched, strict=True)]
    return bind_all(operation, *spread)


def pointwise(
    operation: TensorPrimitive, size: int, batched: Sequence[bool], *inputs: Handle
) -> Sequence[Handle]:
    """Batch an operation that treats each element alone: apply the operation itself.

    ``batch = pointwise`` in a class also states that element k of each output depends on element k
    of each input alone; sparse Jacobians and backends rely on that.
    """
    return over_leading_axes(operation, size, batched, *inputs)


class Linear(TensorPrimitive):
    """Linear in all inputs jointly (add, reshape, sum, concatenate): write ``transpose_x`` each."""

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return one group of all inputs."""
        return (tuple(range(count)),)


class Multilinear(TensorPrimitive):
    """Linear in each input separately (mul, dot_general): write ``transpose_x`` each."""

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return one group per input."""
        return tuple((i,) for i in range(count))


class Elementwise(TensorPrimitive):
    """A scalar function of each element: write ``derivative(self, x, y)`` with y the output.

    The class states the dtypes that it ``accepts``; ``abstract_eval`` is then that of one operand.
    The derivative is the holomorphic one; nothing is conjugated here (the transpose of the product
    does that).
    """

    batch = pointwise

    def abstract_eval(self, x: Any) -> Any:
        """Return the aval of x; raise if its dtype is not what ``accepts`` says."""
        return super().abstract_eval(x) if self.accepts is None else accepted(self, x)

    def jvp_input(
        self,
        rule: RuleBuilder,
        index: int,
        tangent: Value,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
    ) -> Sequence[Value | None]:
        """dy = f′(x) dx."""
        derivative = getattr(self, "derivative", None)
        if derivative is None:
            raise missing_rule(self, "derivative", index)
        return (OPERATORS["mul"](derivative(*primals_in, *primals_out), tangent),)


class Mixed(TensorPrimitive):
    """Linear in the groups that ``linear`` lists (``transpose_x``), not in others (``jvp_x``)."""


def bind(operation: TensorPrimitive, *handles: H) -> H:
    """Apply a primitive of one output to handles (``bind_all`` for any number of outputs).

    The result is of the class of the inputs. Errors of the primitive get the equation and the
    user's line as notes.
    """
    try:
        cls = type(handles[0]) if len(handles) == 1 else _class_of(handles)
        if operation.output_count == 1:
            return cls(*emit_one(operation, handles))  # type: ignore[return-value]
        return emit(operation, handles, cls)[0]  # type: ignore[return-value]
    except TenferroError as error:
        annotate(error, operation, handles)
        raise
    except (AttributeError, TypeError):
        _check_operands(operation, handles)
        raise


def bind_all(operation: TensorPrimitive, *handles: H) -> tuple[H, ...]:
    """``bind`` for a primitive of any number of outputs."""
    try:
        return emit(operation, handles, _class_of(handles))  # type: ignore[return-value]
    except TenferroError as error:
        annotate(error, operation, handles)
        raise
    except (AttributeError, TypeError):
        _check_operands(operation, handles)
        raise


def _check_operands(operation: object, handles: Sequence[object]) -> None:
    """Raise for anything but a primitive with its parameters, or operands that are not handles."""
    if not isinstance(operation, TensorPrimitive):
        need = "a primitive with its parameters, as in `bind(Sin(), x)`"
        raise at_user_line(TypeError(f"bind: need {need}, not {operation!r:.60}"))
    for handle in handles:
        if not isinstance(handle, Handle):
            hint = "make an Array of it: `tenferro.asarray(x)`"
            if isinstance(handle, (int, float, complex)):
                hint = "in a rule, `2 * x` takes a number, and a function takes a handle:\n"
                hint += "             `tenferro.primitives.full_like(x, 2)`"
            raise at_user_line(
                TypeError(
                    f"{operation.name}: a primitive takes handles, not {type(handle).__name__}\n"
                    f"  hint       {hint}"
                )
            )


def _class_of(handles: Sequence[Handle]) -> type[Handle]:
    """Return the class of results: that of the inputs, of the highest layer if they are mixed."""
    if not handles:
        return Handle
    cls = type(handles[0])
    for handle in handles:
        if type(handle) is not cls:
            return _most_derived(handles)
    return cls


def _most_derived(handles: Sequence[Handle]) -> type[Handle]:
    """Return the class of results of mixed inputs: that of the highest layer."""
    cls: type[Handle] = Handle
    for handle in handles:
        kind = type(handle)
        if issubclass(kind, cls) and kind is not FlowHandle:
            cls = kind
    return cls


def annotate(error: TenferroError, operation: TensorPrimitive, handles: Sequence[Handle]) -> None:
    """Add the equation and the user's line to an error, once."""
    if getattr(error, "__notes__", None):
        return
    operands = " ".join(str(handle.aval) for handle in handles)
    error.add_note(f"  equation   {operation_text(operation)} {operands}".rstrip())
    line = source_text(caller())
    if line is not None:
        error.add_note(f"  from       {line}")


def _as_sequence(result: Any) -> Sequence[Value | None]:
    return result if isinstance(result, (tuple, list)) else (result,)
