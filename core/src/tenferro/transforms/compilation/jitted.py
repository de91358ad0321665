"""Jitted functions: recorded once per signature of the arguments, then run as one program.

A function is recorded once per structure of its arguments, their shapes and dtypes, and the values
of its static arguments. Values are unknown while it is recorded, so a program that asks for one is
an error at the user's line. Inside another transform the recorded graph is written into the outer
one. Caches: ``JitCache`` in ``ready.py`` has the graphs and programs of one function; equal graphs
of all functions share one program in ``PROGRAMS`` of ``arrays/evaluation/evaluate.py``.
Read next: ``ready.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload
from weakref import WeakKeyDictionary

from tenferro.arrays import Array, as_array, evaluate_keys, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.evaluate import executable
from tenferro.arrays.handle.array import SCALARS, evaluable
from tenferro.arrays.handle.weak import NumberReads
from tenferro.backend import Backend, select_backend, use
from tenferro.backend._options import (
    DONATED,
    IN_SHARDINGS,
    MESH,
    OUT_SHARDINGS,
    PASSES,
    Options,
    rewritten,
)
from tenferro.backend._snapshots import is_numpy
from tenferro.computegraph import CacheStats, MaterializedGraph
from tenferro.passes import MemoryBudgetError
from tenferro.passes._selection import ROLL, selected
from tenferro.primitives._aval import Aval
from tenferro.primitives._boundary import bounded, refusal
from tenferro.tidu import Trace
from tenferro.transforms.compilation.constants import with_constants
from tenferro.transforms.compilation.ready import (
    UNFIT,
    JitCache,
    Looks,
    Ready,
    classes_of,
    looks,
    operands_of,
)
from tenferro.transforms.compilation.signature import (
    Call,
    Statics,
)
from tenferro.transforms.compilation.traced import (
    Traced,
    abstract_leaves,
    closed,
    describe,
    inline,
    is_known,
    traced_results,
)
from tenferro.transforms.pickled import PickledByName, check_picklable, named_after
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import own_handle
from tenferro.transforms.recording.decisions import collected_decisions
from tenferro.transforms.recording.effects import WithoutEffects, collecting
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.rolling import rolling
from tenferro.transforms.recording.run_or_record import deliver, key_of, pending
from tenferro.transforms.recording.unrolled import as_number, is_unrolling
from tenferro.transforms.recording.unrolled import state as unrolling

if TYPE_CHECKING:
    from tenferro.backend import Timings
    from tenferro.transforms.compilation.placement import Placement

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R")
_WIDTHS = frozenset((1, 2, 4, 8))  # bytes of unsigned integers
_SCHEDULE = "tenferro.passes.budget.schedule"


class Jitted(PickledByName, Generic[_P, _R]):
    """A function that is traced once per signature and then runs as one program."""

    _new_cache: Callable[[], Any] = JitCache

    def __init__(
        self,
        function: Callable[_P, _R],
        statics: Statics,
        backend: Any,
        options: Options | None = None,
        donated: Statics = Statics(),  # noqa: B008 - immutable
        placement: Placement | None = None,
    ) -> None:
        named_after(self, function)
        self._function: Any = function
        self._statics = statics
        self._has_statics = bool(statics)
        self._backend = backend
        self._options = options
        self._donated = donated
        self._placement = placement
        self._kept: Any = self._new_cache()
        self._bound: WeakKeyDictionary[Any, JitCache] = WeakKeyDictionary()

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run the program for these arguments, traced and compiled at the first such call."""
        kept = self._kept
        try:
            if kept.by_class and not kwargs and not unrolling.was_entered:
                ready = kept.by_class.get(classes_of(args))
                result: Any = UNFIT if ready is None else ready.tried(args, kept.level)
                if result is not UNFIT:
                    next(kept.hits)
                    return result  # type: ignore[no-any-return]
            return self._run_or_trace(args, kwargs)  # type: ignore[no-any-return]
        except Exception as error:
            if (error := refusal(error, "jit")) is not None:
                raise error from None
            raise

    def _run_or_trace(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run the program for calls that look like this one, tracing the function if needed."""
        if unrolling.was_entered and is_unrolling():
            return self._unjitted(args, kwargs)
        level = self._kept.level
        call: Call | None = None
        leaves: Sequence[Any] = args
        seen: Looks | None = None if kwargs or self._has_statics else looks(args, level)
        if seen is None:
            leaves, structure = _tree.flatten_plain(args, kwargs)
            found = None if self._has_statics else looks(leaves, level)
            if found is None:
                call = self._statics.call(args, kwargs, level)
                leaves, structure = call.leaves, (call.spec, call.static)
                found = looks(leaves, level)
            seen = None if found is None else (structure, found)
        ready = None if seen is None else self._kept.find(seen)
        if ready is not None:
            return ready.result(leaves)
        if call is None:
            call = self._statics.call(args, kwargs, level)
        return self._run(call, seen, level, args if leaves is args else None)

    def _unjitted(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the function on known values, and give its results the form of its arguments."""
        call = self._call(args, kwargs)
        arrays = [as_array(leaf) for leaf in call.leaves]
        given = [
            as_number(x, "number") if type(leaf) in SCALARS else own_handle(x)
            for x, leaf in zip(arrays, call.leaves, strict=True)
        ]
        chosen = nullcontext() if self._backend is None else use(self._backend)
        positional, named = call.arguments(given)
        with chosen:
            leaves, spec = _tree.flatten(self._function(*positional, **named))
            keys = [key_of(leaf) for leaf in leaves]
            if any([is_traced(key) or not evaluable(key) for key in keys]):
                return _tree.unflatten(spec, pending(keys))
            evaluate_keys(keys)
        operands = [key.operand for key in keys]
        backend = select_backend(self._backend, operands)
        plain = not any([isinstance(leaf, Array) for leaf in call.leaves])
        known = operands_of(call.leaves)
        found = deliver(operands, [key.aval for key in keys], backend, known, plain)
        return _tree.unflatten(spec, found)

    def _run(self, call: Call, seen: Looks | None, level: int, flat: tuple[Any, ...] | None) -> Any:
        """Run a call that looks like none before, and keep its program if it can be kept.

        ``flat`` are the arguments if they are the leaves.
        """
        if any([isinstance(leaf, Aval) for leaf in call.leaves]):
            raise at_user_line(
                TypeError("a jitted function runs on values; `lower` and `explain` take Avals")
            )
        traced, leaves = self._traced_for_run(call)
        arrays = [leaf for leaf in leaves if isinstance(leaf, Array)]
        if traced.is_open or any([not is_known(array) for array in arrays]):
            return _tree.unflatten(traced.out_spec, self._inlined(traced, call, leaves))
        ready = self._ready(traced, call, self._given_up(call))
        if seen is not None and level == self._kept.level:
            self._kept.keep(seen, ready, flat)
        return ready.result(leaves)

    def _inlined(self, traced: Traced, call: Call, leaves: Sequence[Any]) -> Sequence[Array]:
        """Return the results as values of an outer program, split as the user said."""
        if self._placement is None:
            return inline(traced, leaves)
        self._placement.check_outer()
        specs = self._placement.inputs(call, self._function, [key.aval for key in traced.inputs])
        results = inline(traced, self._placement.constrained(leaves, specs))
        of_results = self._placement.outputs(traced.out_spec, traced.avals)
        return self._placement.constrained(results, of_results)

    def _traced_for_run(self, call: Call) -> tuple[Traced, Sequence[Any]]:
        """Return the trace for a call, and its leaves as they were before the function was
        traced.
        """
        found: Traced | None = self._kept.traces.get(call.key)
        if found is not None:
            return found, call.leaves
        with Loans() as loans:
            held = [
                x if isinstance(x, Array) or not is_numpy(x) else loans.hold(x) for x in call.leaves
            ]
            traced = self._traced_anew(call)
        pairs = zip(call.leaves, held, strict=True)
        return traced, [x if x is h or _same_bits(x, h) else h for x, h in pairs]

    def _given_up(self, call: Call) -> tuple[int, ...]:
        """Return the positions of donated leaves. Arrays are excluded: several may share one
        value.
        """
        if not self._donated:
            return ()
        count = len(call.given) + len(call.statics)
        donated = {i % count for i in self._donated.numbers if -count <= i < count}
        found: list[int] = []
        first = 0
        for number, argument in zip(call.positions(), call.given, strict=True):
            after = first + len(_tree.flatten(argument)[0])
            if number in donated:
                found += range(first, after)
            first = after
        if self._placement is not None:  # who reads a donated array of a mesh again gets an error
            return tuple(found)
        return tuple([i for i in found if not isinstance(call.leaves[i], Array)])

    def _options_of(self, traced: Traced, call: Call) -> Options | None:
        """Return the options of one program; those of a mesh depend on its arguments."""
        if self._placement is None:
            return self._options
        avals = [key.aval for key in traced.inputs]
        return {
            **(self._options or {}),
            MESH: self._placement.mesh,
            IN_SHARDINGS: tuple(self._placement.inputs(call, self._function, avals)),
            OUT_SHARDINGS: tuple(self._placement.outputs(traced.out_spec, traced.avals)),
        }

    def _ready(self, traced: Traced, call: Call, donated: tuple[int, ...]) -> Ready:
        """Prepare the program of a trace on the backend for the leaves of a call."""
        leaves = call.leaves
        known = operands_of(leaves)
        chosen_by = [*known, *traced.captured]
        backend = select_backend(self._backend, chosen_by)
        options = self._with_donated(self._options_of(traced, call), donated, backend)
        graph, captured = _program_of(traced, backend)
        try:
            run: Any = executable(graph, backend, options)
        except MemoryBudgetError as error:
            raise at_user_line(error) from None
        run.prepare()
        if traced.effects:
            run = WithoutEffects(run, len(traced.outputs))
        avals = graph.avals[: len(graph.inputs)], traced.avals
        spec = traced.out_spec
        return Ready(run, backend, self._backend, leaves, captured, chosen_by, avals, spec)

    def _with_donated(
        self, options: Options | None, donated: tuple[int, ...], backend: Any
    ) -> Options | None:
        """Add the donated inputs, for a backend that uses their memory."""
        if not donated or not (DONATED in backend.info.options or self._placement is not None):
            return options
        return {**(options or {}), DONATED: donated}

    @bounded("jit")
    def lower(self, *args: Any, **kwargs: Any) -> MaterializedGraph:
        """Return the graph that would run for these arguments."""
        return self._traced(self._call(args, kwargs)).graph

    @bounded("jit")
    def profile(self, *args: Any, **kwargs: Any) -> Timings:
        """Run the program for these arguments once, and return the seconds of each equation.

        See ``tenferro.profile``.
        """
        call = self._call(args, kwargs)
        needs = "profile runs the program, so it needs"
        if any([isinstance(leaf, Aval) for leaf in call.leaves]):
            raise at_user_line(TypeError(f"{needs} arrays instead of Avals"))
        traced, leaves = self._traced_for_run(call)
        arrays = [leaf for leaf in leaves if isinstance(leaf, Array)]
        if traced.is_open or any([not is_known(array) for array in arrays]):
            raise at_user_line(TypeError(f"{needs} values: it cannot be called in a transform"))
        return self._ready(traced, call, self._given_up(call)).profile(leaves)

    @bounded("jit")
    def explain(self, *args: Any, **kwargs: Any) -> str:
        """Describe how the program for these arguments runs; without arguments, all programs.

        The description names its backend, its equations, what the graph passes did to them, inputs
        and results, captured values, and the backend's own report.
        """
        kept = self._kept.traces.values()
        if kept and not args and not kwargs and self._placement is None:
            return "\n\n".join([self._explain(traced, (), self._options, ()) for traced in kept])
        call = self._call(args, kwargs)
        traced = self._traced(call)
        options = self._options_of(traced, call)
        return self._explain(traced, call.leaves, options, self._given_up(call))

    def _explain(
        self,
        traced: Traced,
        leaves: Sequence[Any],
        options: Options | None,
        donated: tuple[int, ...],
    ) -> str:
        known = [x for x in operands_of(leaves) if not isinstance(x, Aval)]
        backend = select_backend(self._backend, [*known, *traced.captured])
        name = getattr(self, "__qualname__", type(self._function).__qualname__)
        options = self._with_donated(options, donated, backend)
        own, _ = _program_of(traced, backend)
        graph, report = rewritten(own, backend, options)
        run = executable(own, backend, options)
        memory = report.memory or import_module(_SCHEDULE).described(graph, run.memory())
        return describe(traced, name, backend.name, run.explain(), str(report), memory)

    def cache_info(self) -> CacheStats:
        """Return hits and misses of the trace cache; a miss is a new signature."""
        found: CacheStats = self._kept.stats
        return found

    def clear_cache(self) -> None:
        """Forget all traces."""
        self._kept.clear()

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(
        self: Jitted[Concatenate[Any, _Q], _R], instance: object, owner: Any = None
    ) -> Jitted[_Q, _R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind as a method; traces are kept per instance, as long as the instance lives."""
        if instance is None:
            return self
        bound = object.__new__(type(self))
        bound.__dict__.update(self.__dict__)
        bound._function = self._function.__get__(instance, owner)
        bound._statics = self._statics.bound()
        bound._has_statics = bool(bound._statics)
        bound._donated = self._donated.bound()
        bound._kept = self._new_cache()
        try:
            bound._kept = self._bound.setdefault(instance, bound._kept)
        except TypeError:  # without a hash or weak references, nothing is kept
            pass
        return bound

    def _pickle_parts(self, protocol: Any) -> Any:
        """Return the function and the settings; programs are compiled anew after unpickling."""
        owner = getattr(self._function, "__self__", None)
        name = getattr(self._function, "__name__", "")
        if owner is not None and isinstance(getattr(type(owner), name, None), Jitted):
            return getattr, (owner, name)  # a jitted method
        check_picklable(self._function, "a jitted function")
        settings = self._statics, self._backend, self._options, self._donated, self._placement
        return type(self), (self._function, *settings)

    def _call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        return self._statics.call(args, kwargs, self._kept.level)

    def _traced(self, call: Call) -> Traced:
        """Return the trace for a signature; one that reads values of an outer transform is not
        cached.
        """
        found: Traced | None = self._kept.traces.get(call.key)
        return self._traced_anew(call) if found is None else found

    def _traced_anew(self, call: Call) -> Traced:
        number_reads = NumberReads()
        traced = self._trace(call, number_reads)
        if number_reads.level:
            self._kept.level = max(self._kept.level, number_reads.level)
            call = call.at(self._kept.level)
        return traced if traced.is_open else self._kept.traces.get_or_make(call.key, lambda: traced)

    @property
    def _rolls(self) -> bool:
        """True if long loops become loops of the graph before they are differentiated."""
        return ROLL in selected((self._options or {}).get(PASSES))

    def _trace(self, call: Call, number_reads: NumberReads) -> Traced:
        trace = Trace(abstract=True, sealed="jit")
        keys = abstract_leaves(call, self._function, trace, number_reads)
        with (
            collecting() as effects,
            collected_decisions() as decisions,
            rolling(self._rolls, self._backend),
            nullcontext() if self._placement is None else self._placement.recording(),
        ):
            outputs, out_spec = traced_results(call, self._function, keys, trace)
        graph, captured, is_open = closed(keys, (*outputs, *effects))
        return Traced(
            graph,
            tuple(keys),
            tuple(outputs),
            captured,
            out_spec,
            tuple([key.aval for key in outputs]),
            is_open,
            tuple(effects),
            tuple(dict.fromkeys(decisions)),
        )


def _same_bits(x: Any, y: Any) -> bool:
    """Return True if two NumPy operands of one dtype hold the same bits, nan and -0.0 too."""
    size = x.dtype.itemsize
    if size not in _WIDTHS or x.shape != y.shape:
        return bool(x.tobytes() == y.tobytes())
    return bool((x.view(f"u{size}") == y.view(f"u{size}")).all())  # reads both, and copies neither


def _program_of(traced: Traced, backend: Backend) -> tuple[MaterializedGraph, Sequence[Any]]:
    """Return the graph that a backend compiles, and the values that it captures."""
    if backend.info.whole_program and traced.captured:
        return with_constants(traced.graph, traced.captured)
    return traced.graph, traced.captured
