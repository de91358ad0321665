"""Trace once, run many times: ``jit``.

A function is recorded once per structure of its arguments, their shapes and dtypes, and the values
of its static arguments. Values are unknown while it is recorded, so a program that asks for one is
an error at the user's line. Inside another transform the recorded graph is written into the outer
one. Read next: ``_look.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from tenferro.array import Array, as_array, is_traced
from tenferro.array._array import SCALARS, WeakName, evaluable
from tenferro.array._convert import aval_of_operand, operand_key, weak_kind
from tenferro.array._errors import at_user_line
from tenferro.array._evaluate import convert, executable
from tenferro.backend import select_backend
from tenferro.computegraph import (
    UNKNOWN,
    CacheStats,
    CollectorPaused,
    MaterializedGraph,
    ProgramCache,
    ValueKey,
    derive,
    flatten,
    postorder,
)
from tenferro.computegraph._operation import canonical
from tenferro.primitives._aval import Aval
from tenferro.tidu import Trace, pinned_leaf
from tenferro.transforms import _tree
from tenferro.transforms._record import Name, parameter_names
from tenferro.transforms._settle import deliver, history, key_of

if TYPE_CHECKING:
    from tenferro.backend import Executable

_SCALARS = frozenset(SCALARS)


class Traced(NamedTuple):
    """A function recorded for one signature; ``captured`` are inputs that it closes over."""

    graph: MaterializedGraph
    inputs: tuple[ValueKey, ...]
    outputs: tuple[ValueKey, ...]
    captured: tuple[Any, ...]
    out_spec: Any
    avals: tuple[Aval, ...]
    is_open: bool  # it closes over values of an outer transform, so it is good for this call only


class Jitted:
    """A function that is traced once per signature and then runs as one program."""

    def __init__(
        self,
        function: Callable[..., Any],
        static_argnums: Sequence[int],
        static_argnames: Sequence[str],
        backend: Any,
    ) -> None:
        update_wrapper(self, function)
        self._function = function
        self._static_argnums = frozenset(static_argnums)
        self._static_argnames = frozenset(static_argnames)
        self._bound: WeakKeyDictionary[Any, ProgramCache] = WeakKeyDictionary()
        self._backend = backend
        self._cache = ProgramCache(max_entries=256)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program for these arguments, traced and compiled at the first such call."""
        call = self._signature(args, kwargs)
        traced = self._traced(call)
        arrays = [leaf for leaf in call.leaves if isinstance(leaf, Array)]
        if traced.is_open or any([not _is_known(array) for array in arrays]):
            return _tree.unflatten(traced.out_spec, inline(traced, call.leaves))
        leaves = [x.operand if isinstance(x, Array) else x for x in call.leaves]
        operands = [*leaves, *traced.captured]
        backend = select_backend(self._backend, operands)
        run = executable(traced.graph, backend)
        results = run(*convert(traced.graph, operands, backend))
        found = deliver(results, traced.avals, backend, operands, plain=not arrays)
        return _tree.unflatten(traced.out_spec, found)

    def lower(self, *args: Any, **kwargs: Any) -> MaterializedGraph:
        """The graph that would run for these arguments."""
        call = self._signature(args, kwargs)
        return self._traced(call).graph

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """How the program for these arguments runs on its backend."""
        call = self._signature(args, kwargs)
        traced = self._traced(call)
        known = [x.operand if isinstance(x, Array) else x for x in call.leaves]
        backend = select_backend(self._backend, [*known, *traced.captured])
        run: Executable = executable(traced.graph, backend)
        return run.explain()

    def cache_info(self) -> CacheStats:
        """Hits and misses of the traces; a miss is a new signature."""
        return self._cache.stats

    def clear_cache(self) -> None:
        """Forget all traces."""
        self._cache.clear()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind as a method; traces are kept per instance, as long as the instance lives."""
        if instance is None:
            return self
        method = self._function.__get__(instance, owner)
        numbers = tuple(i - (i > 0) for i in self._static_argnums if i)
        bound = Jitted(method, numbers, tuple(self._static_argnames), self._backend)
        try:
            bound._cache = self._bound.setdefault(instance, bound._cache)
        except TypeError:  # without a hash or weak references, nothing is kept
            pass
        return bound

    def _signature(self, args: Sequence[Any], kwargs: dict[str, Any]) -> _Call:
        numbers = {i + len(args) if i < 0 else i for i in self._static_argnums}
        statics = {i: args[i] for i in sorted(numbers) if 0 <= i < len(args)}
        named = {k: v for k, v in kwargs.items() if k in self._static_argnames}
        dynamic = [None if i in statics else arg for i, arg in enumerate(args)]
        rest = {k: v for k, v in kwargs.items() if k not in named}
        tree: Any = dynamic[0] if len(dynamic) == 1 and not rest else (dynamic, rest)
        leaves, spec = _tree.flatten(tree)
        static = canonical((tuple(statics.items()), tuple(sorted(named.items()))))
        types = tuple([_signature_of(leaf) for leaf in leaves])
        key: Hashable = (spec, types, static)
        try:
            hash(key)
        except TypeError as error:
            raise TypeError(
                f"static arguments of a jitted function must be hashable: {error}"
            ) from None
        return _Call(key, leaves, spec, tree, statics, named, len(dynamic) == 1 and not rest)

    def _traced(self, call: _Call) -> Traced:
        """The trace for a signature; one that reads values of an outer transform is not kept."""
        found: Traced | None = self._cache.get(call.key)
        if found is not None:
            return found
        traced = self._trace(call)
        return traced if traced.is_open else self._cache.get_or_make(call.key, lambda: traced)

    def _trace(self, call: _Call) -> Traced:
        trace = Trace()
        names = self._names(call)
        keys = [_abstract(leaf, name, trace) for leaf, name in zip(call.leaves, names, strict=True)]
        tree = _tree.unflatten(call.spec, [Array(key) for key in keys])
        dynamic, rest = ([tree], {}) if call.single else tree
        args = [call.statics.get(i, arg) for i, arg in enumerate(dynamic)]
        try:
            result = self._function(*args, **rest, **call.named)
        finally:
            trace.open = False
        leaves, out_spec = _tree.flatten(result)
        outputs = tuple(key_of(leaf) for leaf in leaves)
        graph = flatten(keys, outputs, lambda key: None if _constant(key) else key.definition)
        captured = graph.inputs[len(keys) :]
        unknown = any([key.operand is UNKNOWN for key in captured])
        return Traced(
            graph,
            tuple(keys),
            outputs,
            tuple(key.operand for key in captured),
            out_spec,
            tuple(key.aval for key in outputs),
            unknown or any([is_traced(key) for key in outputs]),
        )

    def _names(self, call: _Call) -> list[str]:
        if call.single:
            return _tree.paths(call.tree, parameter_names(self._function, 1)[0])
        dynamic, rest = call.tree
        names: list[str] = []
        for arg, name in zip(dynamic, parameter_names(self._function, len(dynamic)), strict=True):
            names += _tree.paths(arg, name)
        for name in sorted(rest):
            names += _tree.paths(rest[name], name)
        return names


class _Call(NamedTuple):
    """One call: its signature, and its arguments taken apart."""

    key: Hashable
    leaves: list[Any]
    spec: Any
    tree: Any
    statics: dict[int, Any]
    named: dict[str, Any]
    single: bool


def jit(
    function: Callable[..., Any],
    *,
    backend: Any = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Jitted:
    """Make a function that is traced once per signature and runs as one compiled program.

    Arguments are pytrees of arrays and scalars; static arguments are hashable values that the
    Python code of the function may look at. ``backend`` names where it runs. What the function
    closes over, attributes of ``self`` in a method too, is read when it is traced, not again.
    Positions given as traced arrays cannot be checked: one outside its axis is clipped to it.

    Raises ConcretizationError: if the function asks for the value of a traced array.

    >>> import tenferro as tn
    >>> print(tn.jit(lambda x: x + x * x).lower(tn.Aval((2,), "float64")))
    graph(x: f64[2]) {
      %1 = mul %0 %0                       : f64[2]
      %2 = add %0 %1                       : f64[2]
      return %2
    }
    """
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return Jitted(function, *static_parameters(function, numbers, names), backend)


def static_parameters(
    function: Any, numbers: Sequence[int], names: Sequence[str]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names of the static parameters: each by both, however it will be passed.

    Raises ValueError: if the function has no such parameter.
    """
    inner = getattr(function, "__wrapped__", function)
    code = getattr(inner, "__code__", None)
    if code is None or not (numbers or names):
        return tuple(numbers), tuple(names)
    first = int(hasattr(inner, "__self__"))
    positional = code.co_varnames[first : code.co_argcount]
    known = (*positional, *code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount])
    count, takes_more, takes_any = len(positional), code.co_flags & 0x04, code.co_flags & 0x08
    wrong: list[Any] = [i for i in numbers if not (takes_more or -count <= i < count)]
    wrong += [name for name in names if not (takes_any or name in known)]
    if wrong:
        raise at_user_line(
            ValueError(f"static {wrong} is no parameter of the jitted function, which has {known}")
        )
    found = [i if takes_more else i % count for i in numbers]
    by_name = [positional.index(name) for name in names if name in positional]
    by_number = [positional[i] for i in found if -count <= i < count]
    return (*found, *by_name), (*names, *by_number)


def _signature_of(leaf: Any) -> Any:
    """What of a leaf the trace depends on: its aval, or the type of a weak scalar."""
    kind = weak_kind(leaf)
    if kind is not None:
        return kind
    if isinstance(leaf, Array):
        return leaf.key.aval
    return leaf if isinstance(leaf, Aval) else aval_of_operand(leaf)


def _abstract(leaf: Any, name: str, trace: Trace) -> ValueKey:
    """A fresh input without a value."""
    weak = weak_kind(leaf) is not None
    aval = leaf if isinstance(leaf, Aval) else as_array(leaf).aval if weak else None
    if aval is None:
        aval = leaf.aval if isinstance(leaf, Array) else aval_of_operand(leaf)
    label = (WeakName if weak else Name)(name, trace.id.serial)
    return pinned_leaf(label, aval, trace)


def _constant(key: ValueKey) -> bool:
    """Whether a value is known and no transform is open on it: it enters as a captured input."""
    return key.is_cut and not key.traces


def _is_known(array: Array) -> bool:
    if is_traced(array.key):
        return False
    return array.key.operand is not UNKNOWN or evaluable(array.key)


def inline(traced: Traced, leaves: Sequence[Any]) -> list[Array]:
    """The traced graph written out on other inputs."""
    keys = [leaf.key if isinstance(leaf, Array) else operand_or_scalar(leaf) for leaf in leaves]
    found: dict[ValueKey, ValueKey] = dict(zip(traced.inputs, keys, strict=True))
    with CollectorPaused():
        order, _ = postorder(traced.outputs, lambda k: None if k in found else history(k))
        for key, definition in order:
            operation, role, slot, *rest = definition
            inputs: list[ValueKey] = rest
            mapped = [found.get(k, k) for k in inputs]
            found[key] = derive(operation, mapped, role)[slot]
    return [Array(found.get(key, key)) for key in traced.outputs]


def operand_or_scalar(leaf: Any) -> ValueKey:
    """The key of an operand or scalar that enters an outer graph."""
    return as_array(leaf).key if type(leaf) in _SCALARS else operand_key(leaf)
