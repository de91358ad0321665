"""Calls of functions that bring their own derivative: arguments, results, and how they are checked.

The function itself is recorded like any other, on arguments through which no derivative flows, so
it may look at values and call what has no derivative. Operations around its results carry the rule
(``custom_rules/jvp.py``, ``custom_rules/vjp.py``, ``custom_rules/linear.py``). What the function
closes over is differentiated as ever. Read next: ``custom_rules/jvp.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from importlib import import_module
from types import MethodType
from typing import Any, Protocol

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.evaluate import ABSTRACT, holding_history
from tenferro.arrays.handle.array import SCALARS, evaluable, is_weak
from tenferro.arrays.handle.convert import is_operand
from tenferro.arrays.handle.weak import WeakName
from tenferro.arrays.promotion.broadcast import weak
from tenferro.computegraph import UNKNOWN, Definition, ValueKey, canonical, new_leaf, postorder
from tenferro.primitives import Handle, Linear, Primitive, constant, convert
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind, bind_all, pointwise
from tenferro.tidu import PassId, RuleResultError, Trace, fresh_id, pin
from tenferro.transforms.custom_rules.recorded import older, recorded, results_of_same_call
from tenferro.transforms.errors import ArgumentNumberError, check_function
from tenferro.transforms.pickled import PickledByName, check_picklable
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.effects import silenced
from tenferro.transforms.recording.record import has_dtype

_SCALARS = frozenset(SCALARS)


class Same:
    """A value of the user that compares by content where it can and by identity where not."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        try:
            self._key = canonical(value)
            hash(self._key)
        except TypeError:
            self._key = id(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class Places(NamedTuple):
    """A pytree without its arrays: structure, where they stand, and what the other leaves are."""

    spec: Any
    arrays: tuple[int, ...]
    others: tuple[Same, ...]

    def fill(self, values: Sequence[Any], other: Callable[[Any], Any] | None = None) -> Any:
        """Fill the tree with these values in the places of the arrays; other leaves are
        unchanged.
        """
        rest = iter([same.value if other is None else other(same.value) for same in self.others])
        given = iter(values)
        chosen = set(self.arrays)
        count = len(self.arrays) + len(self.others)
        leaves = [next(given) if i in chosen else next(rest) for i in range(count)]
        return _tree.unflatten(self.spec, leaves)


def take_arrays(tree: Any) -> tuple[list[Array], Places]:
    """Split a pytree into its arrays and the rest. Python scalars are not arrays here."""
    leaves, spec = _tree.flatten(tree)
    chosen = [i for i, leaf in enumerate(leaves) if is_array(leaf)]
    taken = set(chosen)
    others = [Same(leaf) for i, leaf in enumerate(leaves) if i not in taken]
    return [as_array(leaves[i]) for i in chosen], Places(spec, tuple(chosen), tuple(others))


def is_array(leaf: Any) -> bool:
    """Return True if a leaf is an Array or an operand whose dtype tenferro knows."""
    return isinstance(leaf, Array) or (is_operand(leaf) and has_dtype(leaf))


class Arguments(NamedTuple):
    """The arguments of one call: those that the rule is about, and those that it is not."""

    places: Places  # of the tuple of arguments that the rule is about
    fixed: tuple[tuple[int, Same], ...]  # by position, ``nondiff_argnums``
    keywords: tuple[tuple[str, Same], ...]  # keyword-only

    def call(self, function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
        """Call the function with these arrays in the places of the arguments."""
        args = list(self.places.fill(arrays))
        for position, same in self.fixed:
            args.insert(position, same.value)
        return function(*args, **self.named)

    @property
    def leading(self) -> list[Any]:
        """Fixed arguments, which a rule receives first."""
        return [same.value for _, same in self.fixed]

    @property
    def named(self) -> dict[str, Any]:
        """The keyword-only arguments."""
        return {name: same.value for name, same in self.keywords}


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
        update_wrapper(self, function)
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
            return self.function(*args, **kwargs)
        fixed = tuple([(i, Same(args[i])) for i in numbers if i < count])
        named = tuple([(name, Same(value)) for name, value in sorted(kwargs.items())])
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

    def _call(self, arguments: Arguments, out_spec: Any) -> Any:
        """Make the rule for one call; it runs where a derivative is taken."""
        raise NotImplementedError

    def _operation(self, rule: Any, outputs: int, arguments: int, inside: Inside) -> Primitive:
        """Make the operation that carries the rule, given the numbers of values and of
        arguments.
        """
        raise NotImplementedError

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


class Stopped(Linear):
    """y = x, where a function with a rule of its own begins or ends: no derivative passes.

    ``id`` names the call, ``ends`` says that this is a result of it and not an argument.
    """

    key = "std::stopped"
    batch = pointwise
    transparent = True
    volatile = True
    fixed_rules = False
    id: PassId
    ends: bool

    def abstract_eval(self, x: Aval) -> Aval:
        """Return the aval of the argument."""
        return x

    def carries(self, aval: Aval) -> bool:
        """Return False: no flow passes."""
        return False

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        """Flow that a rule sends through the function itself passes."""
        return ct


class Inside:
    """The inside of one call: what arguments and results are there, and what is closed over.

    ``start`` is the serial of a key made before anything inside. No value between it and the
    results counts as closed over: another function with a rule may be called in between, and its
    closure would end elsewhere.

    What is computed of arguments alone is forgotten once it is known, as an iteration needs, unless
    ``keep``. It must be kept where something is closed over: the derivative in that is recorded
    again, on the arguments. Where values are only traced, nothing is known.
    """

    def __init__(self, keep: bool) -> None:
        self.id = fresh_id()
        self.keep = keep
        self.trace = Trace(hidden=True)
        self.start = new_leaf("start", None).serial

    def argument(self, x: Array) -> Array:
        """Return the argument as the function itself receives it."""
        found = _stopped(x, Stopped(self.id, False))
        if self.keep and x.dtype.is_inexact:
            found.key.traces = frozenset((self.trace,))
        return found

    def results(
        self, operation: Primitive, outputs: Sequence[Array], inputs: Sequence[Array],
        closed_over: Sequence[ValueKey],
    ) -> list[Array]:  # fmt: skip
        """Bind the outputs to the operation that carries the rule."""
        values = [_stopped(y, Stopped(self.id, True)) for y in outputs]
        self._keep_history(values, outputs)
        found = list(bind_all(operation, *values, *inputs, *map(Array, closed_over)))
        for y, inside in zip(found, outputs, strict=True):
            _same_value(y.key, inside)
        return found

    def _keep_history(self, values: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Let what is inside keep its history, when it becomes known, as long as the closure does.

        The derivative in what is closed over is recorded again from it.
        """
        every = [
            frozenset([t for t in y.key.traces if t.open and not (t.hidden or t.sealed)])
            for y in outputs
        ]
        traces = frozenset().union(*every)
        if not traces:
            return
        for value, own in zip(values, every, strict=True):
            value.key.traces |= own
        argument = Stopped(self.id, False)

        def definition_of(key: ValueKey) -> Definition | None:
            definition = None if key.serial < self.start else key.definition
            return None if definition is None or definition[0] is argument else definition

        for key in postorder([y.key for y in outputs], definition_of)[0]:
            if self.trace in key.traces:
                key.traces |= traces

    def closed_over(self, of_rule: Sequence[ValueKey], outputs: Sequence[Array]) -> list[ValueKey]:
        """Return the values from before the call on which the rule or the outputs depend.

        These are those that the rule reads, and those from which the outputs were computed.
        Arguments are not among them, unless the function closes over one of them as well.
        """
        argument = Stopped(self.id, False)
        keys = [y.key for y in outputs]
        found = older(keys, self.start, lambda definition: definition[0] is argument)
        return [*dict.fromkeys([*of_rule, *found])]


def has_known_value(x: Array) -> bool:
    """Return True if the value is known and no derivative of it is being taken."""
    return x.key.operand is not UNKNOWN and not is_traced(x.key) and not x.flow


def _stopped(x: Array, operation: Stopped) -> Array:
    found = bind(operation, Handle(x.key, x.flow))
    if is_traced(x.key):
        found.key.depth = ABSTRACT  # no derivative passes, but it must not be evaluated early
    _same_value(found.key, x)
    return Array(found.key, found.flow)


def _same_value(key: ValueKey, x: Array) -> None:
    """Let a value that is that of x be known, and weak, where x is."""
    if x.key.operand is not UNKNOWN:
        key.operand = x.key.operand
        key.depth = 0
    if is_weak(x):
        key.identity = x.key.identity


def pinned(value: Any, aval: Aval, trace: Trace, is_weak: bool = False) -> Array:
    """Pin a tangent or cotangent, so that it has its own identity; zeros for ``None``.

    The tangent of a number of the user yields to any dtype, as the number does.
    """
    handle = constant(0, aval.dtype, aval.shape) if value is None else value
    key = pin(handle.key, trace)
    if is_weak:
        key.identity = WeakName("tangent", trace.id.serial)
    return Array(key)


def run_rule(rule: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a rule of the user, in the midst of a sweep."""
    with holding_history():
        return rule(*args, **kwargs)


class Checked(Protocol):
    """A function with a rule of its own, as checks of what the rule returned see it."""

    def wrong(
        self, what: str, got: str, need: str, rule: Any = None, hint: str = ""
    ) -> RuleResultError:
        """Make the error about a wrong result of the function or of one of its rules."""


def fit(
    custom: Checked, what: str, rule: Any, value: Any, aval: Aval, lenient: bool
) -> Array | None:
    """Convert a tangent or cotangent that a rule returned to the shape and dtype of its value.

    A real one is accepted for a complex value. Any change of the width is accepted if either side
    is a Python scalar (``lenient`` says that the value is one).

    Raises RuleResultError: if it has another shape or dtype, or is complex where the value is real.
    """
    if value is None or (type(value) in _SCALARS and value == 0):
        return None
    given = value
    if type(value) in _SCALARS:
        value = weak(value, aval)
    elif not is_array(value):
        raise custom.wrong(what, type(value).__name__, str(aval), rule)
    x = as_array(value)
    if x.dtype.is_complex and not aval.dtype.is_complex:
        hint = "if its real part is the derivative, return that: `tenferro.real(…)`"
        raise custom.wrong(what, _described(given), str(aval), rule, hint)
    exact = x.dtype.real_dtype is aval.dtype.real_dtype if x.dtype.is_inexact else False
    if x.shape != aval.shape or not (exact or lenient or is_weak(x)):
        raise custom.wrong(what, _described(given), str(aval), rule)
    return convert(x, aval.dtype)


def check_value(
    custom: Checked, what: str, rule: Any, value: Any, spec: Any, outputs: Sequence[Array]
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
    if Primitive.space.is_zero(x.key):
        return True
    return evaluable(x.key) and not x._concrete("the zero of a tangent")[...].any()
