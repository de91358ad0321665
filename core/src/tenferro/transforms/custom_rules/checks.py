"""Checks of what a rule returns: structure, shapes and dtypes, and whether it is zero.

Read next: ``call.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from tenferro.arrays import Array, as_array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS, evaluable
from tenferro.arrays.handle.traces import refuse_leaked_value
from tenferro.arrays.handle.weak import is_weak
from tenferro.arrays.promotion.broadcast import weak
from tenferro.computegraph import ValueKey
from tenferro.primitives import ArgumentTypeError, TensorPrimitive, convert
from tenferro.primitives._aval import Aval
from tenferro.tidu import RuleResultError
from tenferro.transforms.custom_rules.arguments import is_array
from tenferro.transforms.recording import tree as _tree

_SCALARS = frozenset(SCALARS)


def wrong_result(
    name: str, what: str, got: str, need: str, rule: Any = None, hint: str = ""
) -> RuleResultError:
    """Make the error about what a function with a rule of its own, or that rule, returned."""
    text = f"{name}: wrong result of {what}\n  got        {got}\n  need       {need}"
    text += defined(rule)
    if hint:
        text += f"\n  hint       {hint}"
    error = RuleResultError(text, primitive=name, rule=what, got=got, need=need)
    return at_user_line(error)


def defined(rule: Any, what: str = "rule") -> str:
    """Return a line of a message that says where the user defined a rule."""
    code = getattr(rule, "__code__", None)
    if code is None or (rule.__module__ or "").startswith("tenferro."):
        return ""
    file = code.co_filename.rpartition("/")[2]
    return f"\n  {what:10} {rule.__name__}, {file}:{code.co_firstlineno}"


def call_rule(name: str, written: str, rule: Any, *args: Any, **named: Any) -> Any:
    """Call a rule of the function ``name``; ``written`` is the call as documentation writes it.

    Raises ArgumentTypeError: if the rule does not take these arguments.
    """
    try:
        return rule(*args, **named)
    except TypeError:
        got = _unfitting_signature(rule, args, named)
        if got is None:
            raise
        what = written.partition("(")[0]
        text = f"{what} of {name} is called with other arguments than it takes"
        text += f"\n  got        {what}{got}\n  need       {written}{defined(rule)}"
        raise at_user_line(ArgumentTypeError(text, function="")) from None


def _unfitting_signature(rule: Any, args: Sequence[Any], named: dict[str, Any]) -> str | None:
    """Return the signature of a rule that does not take these arguments; None if it does."""
    try:
        signature = import_module("inspect").signature(rule)
    except (TypeError, ValueError):  # code in C may have none
        return None
    try:
        signature.bind(*args, **named)
    except TypeError:
        return str(signature)
    return None


class HasWrong(Protocol):
    """A function with a rule of its own, as checks of what the rule returned see it."""

    def wrong(
        self, what: str, got: str, need: str, rule: Any = None, hint: str = ""
    ) -> RuleResultError:
        """Make the error about a wrong result of the function or of one of its rules."""


def fit(
    custom: HasWrong, what: str, rule: Any, value: Any, aval: Aval, lenient: bool
) -> Array | None:
    """Convert a tangent or cotangent that a rule returned to the shape and dtype of its value.

    A real one is accepted for a complex value. Any change of the width is accepted if either side
    is a Python scalar (``lenient`` says that the value is one).

    Raises RuleResultError: if it has another shape or dtype, or is complex where the value is real.
    Raises LeakedArrayError: if it is an array of a traced call that is over.
    """
    if value is None or (type(value) in _SCALARS and value == 0):
        return None
    given = value
    if type(value) in _SCALARS:
        value = weak(value, aval)
    elif not is_array(value):
        raise custom.wrong(what, type(value).__name__, str(aval), rule)
    x = as_array(value)
    refuse_leaked_value(x.key)
    if x.dtype.is_complex and not aval.dtype.is_complex:
        hint = "if its real part is the derivative, return that: `tenferro.real(…)`"
        raise custom.wrong(what, _described(given), str(aval), rule, hint)
    exact = x.dtype.real_dtype is aval.dtype.real_dtype if x.dtype.is_inexact else False
    if x.shape != aval.shape or not (exact or lenient or is_weak(x)):
        raise custom.wrong(what, _described(given), str(aval), rule)
    return convert(x, aval.dtype)


def check_value(
    custom: HasWrong, what: str, rule: Any, value: Any, spec: Any, outputs: Sequence[Array]
) -> None:
    """Check the value that a rule returned with a tangent or residuals.

    Raises RuleResultError: if it has another structure, shape or dtype than the function's value.
    """
    try:
        leaves = _tree.flatten_up_to(spec, value)
    except ValueError:
        got = _tree.describe(_tree.flatten(value)[1])
        raise custom.wrong(what, got, _tree.describe(spec), rule) from None
    for leaf, y in zip(leaves, outputs, strict=True):
        if not is_array(leaf) and type(leaf) not in _SCALARS:
            raise custom.wrong(what, type(leaf).__name__, str(y.aval), rule)
        x = as_array(leaf)
        may_differ = type(leaf) in _SCALARS or is_weak(x) or is_weak(y)
        if may_differ and x.dtype.is_complex:
            may_differ = y.dtype.is_complex
        if x.shape != y.shape or not (x.dtype is y.dtype or may_differ):
            raise custom.wrong(what, _described(leaf), str(y.aval), rule)


def _described(leaf: Any) -> str:
    """Describe what a rule returned, for a message: a number as it was written, else its aval."""
    return repr(leaf) if type(leaf) in _SCALARS else str(as_array(leaf).aval)


def is_constant_zero(key: ValueKey) -> bool:
    """Return True if a value is 0 and no transform has followed what it is computed from.

    Such a zero may be added to a tangent: ``np.where(x > 0, dx, 0)``, ``sum([dx, dy])``.
    """
    return not key.traces and is_known_zero(Array(key))


def is_known_zero(x: Array) -> bool:
    """Return True if a value that no tangent reaches is known to be zero."""
    if TensorPrimitive.space.is_zero(x.key):
        return True
    return evaluable(x.key) and not x._concrete("the zero of a tangent")[...].any()
