"""Programs whose sizes depend on values: ``jit(dynamic=True)``.

A look is a place where the function asks for a size. The program from one look to the next is a
segment: it returns what the look reads, and the values that later segments read. A call runs
segment after segment; the sizes that it finds at each look name the next one. Where a segment is
missing, the function is traced again from its start: the first looks get the answers that the call
has found, and later ones run what was recorded before them. Effects belong to the last segment, so
that they happen once per call. Read next: ``continuations.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NoReturn

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, is_traced
from tenferro.arrays.errors import ConcretizationError, at_user_line
from tenferro.arrays.evaluation.evaluate import convert, executable, pending
from tenferro.arrays.handle.array import evaluable
from tenferro.arrays.handle.convert import aval_of_operand
from tenferro.arrays.handle.looks import Find, is_observed, observing
from tenferro.arrays.handle.traces import tracing
from tenferro.arrays.handle.weak import NumberReads
from tenferro.backend import Backend, Timings, UnsupportedError, select_backend
from tenferro.computegraph import UNKNOWN, CacheStats, MaterializedGraph, ValueKey, flatten
from tenferro.primitives._aval import Aval
from tenferro.primitives._boundary import refusal
from tenferro.primitives._source import caller, source_text
from tenferro.tidu import Trace, pinned_leaf
from tenferro.transforms.compilation.continuations import (
    Continuations,
    Last,
    Part,
    Segment,
    answer_of,
    compiled_segment,
    on_host,
    parts_of,
)
from tenferro.transforms.compilation.jitted import Jitted
from tenferro.transforms.compilation.ready import operands_of
from tenferro.transforms.compilation.signature import Call
from tenferro.transforms.compilation.traced import (
    abstract_leaves,
    closed,
    is_known,
    traced_results,
)
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import Name
from tenferro.transforms.recording.effects import collecting
from tenferro.transforms.recording.rolling import rolling
from tenferro.transforms.recording.run_or_record import deliver
from tenferro.transforms.recording.unrolled import is_unrolling

MAX_LOOKS = 64
_PADDING = (
    "keep the shapes: `np.where(mask, x, 0)` instead of `x[mask]`, columns times\n"
    "             `np.arange(n) < k` instead of the first k"
)


class Look(NamedTuple):
    """A place where the function asked for a size, and what it was told."""

    wanted: tuple[ValueKey, ...]
    find: Find
    answer: Sequence[Any]  # what `find` returned
    given: Sequence[Any]  # the same with Arrays for arrays
    places: tuple[ValueKey, ...]  # inputs of the program that stand for these arrays


class Looks:
    """Answers to the looks of a function that is being traced on known arguments."""

    def __init__(
        self,
        jitted: DynamicJitted,
        trace: Trace,
        values: Mapping[ValueKey, Any],
        answers: Sequence[Sequence[Any]],
    ) -> None:
        self._jitted = jitted
        self._trace = trace
        self._values = dict(values)
        self._answers = answers  # of the first looks, which the call has found already
        self._given: dict[Hashable, Sequence[Any]] = {}
        self.looks: list[Look] = []

    def found(self, xs: Sequence[Array], find: Find, asked: str) -> Sequence[Any] | None:
        """Return what ``find`` computes of the values, and remember the look."""
        keys = tuple([x.key for x in xs])
        if all([key.operand is not UNKNOWN or evaluable(key) for key in keys]):
            return None
        name = keys, find, asked
        if name in self._given:
            return self._given[name]
        graph = flatten((), keys, pending)
        operands = [self._values.get(leaf, leaf.operand) for leaf in graph.inputs]
        unknown = [x for x, y in zip(graph.inputs, operands, strict=True) if y is UNKNOWN]
        if any([leaf.traces and not is_traced(leaf) for leaf in unknown]):
            return None  # it has left its function, which the usual error says
        if unknown:
            _refuse_look(unknown, xs[0].aval, asked)
        if any([_is_vague(x.aval, asked) for x in xs]):
            return None
        if len(self.looks) == MAX_LOOKS:
            _refuse_many(xs[0].aval, asked)
        place = len(self.looks)
        if place < len(self._answers):
            answer = self._answers[place]
        else:
            answer = answer_of(find, self._run(graph, operands), [x.aval for x in xs])
        given = [self._as_input(x) for x in answer]
        places = tuple([x.key for x in given if isinstance(x, Array)])
        self.looks.append(Look(keys, find, answer, given, places))
        self._given[name] = given
        return given

    def _run(self, graph: MaterializedGraph, operands: Sequence[Any]) -> list[Any]:
        """Run what was recorded, and return the values as arrays of NumPy."""
        backend = self._jitted.chosen(operands)
        run = executable(graph, backend, self._jitted.options)
        results = run(*convert(graph, operands, backend))
        return [on_host(x, backend) for x in results]

    def _as_input(self, x: Any) -> Any:
        """Return an input of the program for an array, and anything else unchanged."""
        if not getattr(x, "ndim", 0):
            return x
        name = Name(f"found{len(self._values)}", self._trace.id.serial)
        key = pinned_leaf(name, aval_of_operand(x), self._trace)
        self._values[key] = x
        return Array(key)


def _is_vague(aval: Aval, asked: str) -> bool:
    """Return True for a look at a number that cannot be a size: a float, except in ``int(x)``."""
    is_number = not aval.shape and not asked.startswith("np.")
    exact = aval.dtype.is_integer or aval.dtype.is_bool
    return is_number and not exact and asked not in ("int()", "bool()")


def _refuse_look(unknown: Sequence[ValueKey], aval: Aval, asked: str) -> NoReturn:
    inside = _names_of(unknown) or "a transform"
    raise ConcretizationError(
        f"{asked} needs a value inside {inside}, which is recorded on values that are not known\n"
        f"  got        {aval}, for which `jit(dynamic=True)` knows no single value\n"
        "  need       sizes that are found outside of loops, branches, `vmap` and another `jit`\n"
        f"  from       {source_text(caller())}\n"
        f"  hint       {_PADDING}",
        aval=aval,
        asked=asked,
    )


def _refuse_many(aval: Aval, asked: str) -> NoReturn:
    raise ConcretizationError(
        f"a function under jit(dynamic=True) asks for more than {MAX_LOOKS} sizes\n"
        f"  got        {aval}, for {asked}\n"
        f"  need       at most {MAX_LOOKS} sizes in one call, since each has a program of its own\n"
        f"  from       {source_text(caller())}\n"
        "  hint       write `tenferro.while_loop` or `tenferro.fori_loop` instead of Python's "
        "loop",
        aval=aval,
        asked=asked,
    )


def _names_of(keys: Sequence[ValueKey]) -> str:
    return ", ".join([f"`{name}`" for name in tracing(keys)])


class DynamicJitted(Jitted[..., Any]):
    """A jitted function whose sizes may depend on values."""

    _new_cache = Continuations

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the segments for these arguments; trace what no earlier call has needed."""
        try:
            if is_unrolling():
                return self._unjitted(args, kwargs)
            call = self._call(args, kwargs)
            if self._is_nested(call.leaves):
                with rolling(self._rolls, self._backend):
                    return self._unjitted(args, kwargs)
            for traces in range(MAX_LOOKS + 2):
                walk = _Walk(self, call)
                results = walk.run()
                if results is not None:
                    self._kept.count(traces > 0)
                    return results[0]
                if not self._trace_segments(call, walk):
                    return self._unjitted(args, kwargs)
                call = self._call(args, kwargs)
            raise RuntimeError(
                "jit(dynamic=True): the function asks for other sizes each time it is traced\n"
                "  need       a function that does the same for the same arguments"
            )
        except Exception as error:
            if (error := refusal(error, "jit")) is not None:
                raise error from None
            raise

    def _is_nested(self, leaves: Sequence[Any]) -> bool:
        """Return True if the function is called as it is: another transform follows its arguments.

        Raises UnsupportedError: if the arguments have no values.
        """
        arrays = [leaf for leaf in leaves if isinstance(leaf, Array)]
        followed = [x.key for x in arrays if not is_known(x)]
        unknown = [key for key in followed if not evaluable(key)]
        if any([isinstance(leaf, Aval) for leaf in leaves]):
            self._refuse("a description of arrays", "values", "call it, then `explain()`")
        if unknown and not is_observed():
            inside = _names_of(unknown) or "a transform that traces"
            hint = f"apply `jit(dynamic=True)` outermost, or {_PADDING}"
            self._refuse(inside, "a call at top level, on values", hint)
        return bool(followed)

    def _refuse(self, got: str, need: str, hint: str, backend: str = "") -> NoReturn:
        raise at_user_line(
            UnsupportedError(
                "jit(dynamic=True) finds sizes by running parts of the program\n"
                f"  got        {got}\n  need       {need}\n  hint       {hint}",
                backend=backend,
                feature="jit(dynamic=True)",
                instead=hint,
            )
        )

    @property
    def options(self) -> Any:
        """The options of the programs."""
        return self._options

    def chosen(self, operands: Sequence[Any]) -> Backend:
        """Return the backend for these operands.

        Raises UnsupportedError: if it compiles whole programs, as XLA does.
        """
        backend = select_backend(self._backend, operands)
        if backend.info.whole_program:
            got = f"the backend {backend.name}, which compiles anew for every size"
            hint = f"pad to a size that is fixed: {_PADDING}"
            self._refuse(got, "NumPy or CuPy", hint, backend.name)
        return backend

    def _trace_segments(self, call: Call, walk: _Walk) -> bool:
        """Trace the function for the sizes of these arguments, and keep its segments.

        Return False if it closes over values that another transform follows.
        """
        trace = Trace(abstract=True, sealed="jit")
        number_reads = NumberReads()
        keys = abstract_leaves(call, self._function, trace, number_reads)
        looks = Looks(self, trace, dict(zip(keys, walk.operands, strict=True)), walk.answers)
        with collecting() as effects, rolling(self._rolls, self._backend), observing(looks):
            outputs, out_spec = traced_results(call, self._function, keys, trace)
        parts = [Part(look.wanted, look.find) for look in looks.looks]
        parts.append(Part((*outputs, *effects), None))
        places = [key for look in looks.looks for key in look.places]
        declared = [*keys, *places]
        roots = [key for part in parts for key in part.roots]
        graph, known, is_open = closed(declared, roots)
        if is_open:
            return False
        backend = self.chosen([*walk.operands, *known])
        if number_reads.level > self._kept.level:
            self._kept.level = number_reads.level
            call = call.at(number_reads.level)
        name = walk.name(call)
        avals = tuple([key.aval for key in outputs])
        last = Last(out_spec, avals, known)
        pieces = parts_of(graph, len(declared), parts, known)
        sizes: tuple[Hashable, ...] = ()
        for piece, look in zip(pieces, [*looks.looks, None], strict=True):
            old = self._kept.peek((name, sizes))
            end = last if look is None else None
            segment = compiled_segment(piece, old, backend, self._options, end)
            if segment is not old:
                self._kept.keep((name, sizes), segment)
            if look is not None:
                sizes += (sizes_of(look.answer),)
        return True

    def lower(self, *args: Any, **kwargs: Any) -> MaterializedGraph:
        """Raise UnsupportedError: there is no single graph."""
        hint = "`explain()` describes the parts that calls have made"
        self._refuse("`lower`, which wants one graph", "a call", hint)

    def profile(self, *args: Any, **kwargs: Any) -> Timings:
        """Raise UnsupportedError: there is no single program."""
        self._refuse("`profile`, which wants one program", "a call", "profile without `dynamic`")

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """Describe the segments that calls have made, each with the sizes that lead to it.

        Raises UnsupportedError: for arguments, since sizes are found by running.
        """
        if args or kwargs:
            self._refuse("`explain` with arguments", "a call", "call it, then `explain()`")
        name = getattr(self, "__qualname__", type(self._function).__qualname__)
        lines = [f"{name}: {len(self._kept)} segments"]
        for (_, sizes), segment in self._kept.items():
            lines += ["", f"sizes        {describe_sizes(sizes)}", segment.explain()]
        return "\n".join(lines)

    def cache_info(self) -> CacheStats:
        """Return the counters: each call that traced nothing is a hit; entries are segments."""
        return self._kept.stats  # type: ignore[no-any-return]


def describe_sizes(sizes: Sequence[Any]) -> str:
    """Return sizes as a text: ``3, (2, 5)``; "none yet" for the first segment."""
    each = [str(x[0] if len(x) == 1 else x) for x in sizes]
    return ", ".join(each) or "none yet"


def sizes_of(answer: Sequence[Any]) -> tuple[Hashable, ...]:
    """Return the part of an answer on which the rest of the program depends."""
    return tuple([_size_of(x) for x in answer])


def _size_of(x: Any) -> Hashable:
    if getattr(x, "ndim", 0):
        return tuple(x.shape) if x.ndim > 1 else int(x.shape[0])
    is_bool = isinstance(x, bool) or getattr(getattr(x, "dtype", None), "kind", "") == "b"
    return bool(x) if is_bool else int(x)


class _Walk:
    """One call on its way through the segments."""

    def __init__(self, jitted: DynamicJitted, call: Call) -> None:
        self._jitted = jitted
        self._call = call
        self.operands = operands_of(call.leaves)
        self._backend = jitted.chosen(self.operands)
        self.answers: list[Sequence[Any]] = []

    def name(self, call: Call) -> Hashable:
        """Return the name of the first segment of a call."""
        return call.key, self._backend, self._backend.lowerings.generation

    def run(self) -> Any:
        """Return the result, in a tuple; None if a segment is missing."""
        kept, name = self._jitted._kept, self.name(self._call)
        values: dict[Any, Any] = dict(enumerate(self.operands))
        count = len(values)
        sizes: tuple[Hashable, ...] = ()
        while True:
            segment: Segment | None = kept.find((name, sizes))
            if segment is None or not segment.can_run(values):
                return None
            found = segment.run(values)
            if segment.find is None:
                return self._delivered(segment, found)
            hosted = [on_host(x, segment.backend) for x in found]
            answer = answer_of(segment.find, hosted, segment.looked_avals)
            self.answers.append(answer)
            places = [x for x in answer if getattr(x, "ndim", 0)]
            values.update(enumerate(places, count))
            count += len(places)
            sizes += (sizes_of(answer),)

    def _delivered(self, segment: Segment, found: Sequence[Any]) -> Any:
        last: Any = segment.last
        plain = not any([isinstance(leaf, Array) for leaf in self._call.leaves])
        operands = [*self.operands, *last.captured]
        results = deliver(found, last.avals, segment.backend, operands, plain)
        return (_tree.unflatten(last.spec, results),)
