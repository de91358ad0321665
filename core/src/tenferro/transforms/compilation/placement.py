"""The mesh of a jitted function, and how its arguments and results are split over it.

``Placement`` holds what the user wrote. For each recorded signature it becomes one spec per input
and per result, which the backend is given as options. Read next: ``sharding/prefixes.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.backend import UnsupportedError
from tenferro.primitives import Mesh, ShardingSpec, sharding_constraint
from tenferro.primitives._aval import Aval
from tenferro.primitives._errors import ShardingError
from tenferro.primitives._mesh import check_fits, spec_error
from tenferro.transforms.compilation.signature import Call
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import parameter_names
from tenferro.transforms.sharding.prefixes import Specs, specs_of

#: The mesh for which a function is being recorded.
_recording_for: ContextVar[Mesh | None] = ContextVar("tenferro_mesh", default=None)


class Placement(NamedTuple):
    """A mesh, and the prefixes of specs of arguments and results as the user wrote them."""

    mesh: Mesh
    in_shardings: Any
    out_shardings: Any

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Let jitted functions for the same mesh become part of what is recorded meanwhile."""
        token = _recording_for.set(self.mesh)
        try:
            yield
        finally:
            _recording_for.reset(token)

    def inputs(self, call: Call, function: Any, avals: Sequence[Aval]) -> Specs:
        """Return the spec of each leaf of the arguments, after checking that it fits."""
        entries = _by_argument(self.in_shardings, call, function)
        given = [*call.given, *[call.keywords[name] for name in sorted(call.keywords)]]
        specs: Specs = []
        for (name, prefix), argument in zip(entries, given, strict=True):
            specs += specs_of(prefix, argument, "jit", f"in_shardings of {name}")
        names = call.names(function)
        _check(specs, avals, self.mesh, [f"in_shardings of {name}" for name in names])
        return specs

    def outputs(self, out_spec: Any, avals: Sequence[Aval]) -> Specs:
        """Return the spec of each result, after checking that it fits."""
        # leaves are stand-ins: only the containers around them matter
        stand_ins = [_tree.LEAF] * len(avals)
        tree = _tree.unflatten(out_spec, stand_ins)
        specs = specs_of(self.out_shardings, tree, "jit", "out_shardings")
        _check(specs, avals, self.mesh, [f"out_shardings, result {i}" for i in range(len(specs))])
        return specs

    def constrained(self, arrays: Sequence[Any], specs: Specs) -> list[Any]:
        """Return arrays of an outer program with the constraints that the specs are there."""
        pairs = zip(arrays, specs, strict=True)
        return [
            x
            if spec is None or not isinstance(x, Array)
            else sharding_constraint(x, _full(spec, x))
            for x, spec in pairs
        ]

    def check_outer(self) -> None:
        """Raise UnsupportedError inside a program that is not recorded for the same mesh."""
        outer = _recording_for.get()
        if outer == self.mesh:
            return
        got = f"a program for {outer}" if outer else "a transform or a program without a mesh"
        raise at_user_line(
            UnsupportedError(
                "jit: a function for a mesh is called inside of another program\n"
                f"  got        {got}, around a function for {self.mesh}\n"
                "  need       a program for the same mesh\n"
                "  hint       jit the whole: `tn.jit(tn.grad(f), mesh=mesh, …)` instead of"
                " `tn.grad(tn.jit(f, mesh=mesh, …))`; `tn.export` and `as_jax` take `f` itself",
                backend="",
                feature="a mesh inside of another program",
                instead="tn.jit(tn.grad(f), mesh=mesh)",
            )
        )


def _full(spec: ShardingSpec, x: Array) -> tuple[Any, ...]:
    return spec.dimensions or (None,) * x.ndim


def made_placement(mesh: Any, in_shardings: Any, out_shardings: Any) -> Placement | None:
    """Return what ``jit`` was told of a mesh; None for nothing.

    Raises ShardingError: for shardings without a mesh, or a mesh of another class.
    """
    if mesh is None:
        given = {"in_shardings": in_shardings, "out_shardings": out_shardings}
        stated = [name for name, value in given.items() if value is not None]
        if not stated:
            return None
        fact, got = f"{' and '.join(stated)} without a mesh", f"mesh=None, {stated[0]}=…"
    elif isinstance(mesh, Mesh):
        return Placement(mesh, in_shardings, out_shardings)
    else:
        fact, got = "this is not a mesh", f"{mesh!r:.80}"
    need = 'mesh=tn.mesh({"data": 4, "model": 2}) or the like'
    raise at_user_line(spec_error("jit", fact, in_shardings, got=got, need=need))


def _by_argument(prefix: Any, call: Call, function: Any) -> list[tuple[str, Any]]:
    """Return the name and the prefix of each argument, positional ones first."""
    count = len(call.given) + len(call.statics)
    positional = parameter_names(function, count)
    names = [name for i, name in enumerate(positional) if i not in call.statics]
    keywords = sorted(call.keywords)
    if prefix is None:
        prefix = {}
    if isinstance(prefix, Mapping):
        unknown = sorted(map(str, set(prefix) - {*positional, *keywords, *call.named}))
        if unknown:
            known = ", ".join([*positional, *keywords])
            raise _misplaced(prefix, f"no argument is called {unknown[0]}", f"some of {known}")
        return [(name, prefix.get(name)) for name in [*names, *keywords]]
    if not isinstance(prefix, (list, tuple)) or any([isinstance(x, str) for x in prefix]):
        raise _misplaced(
            prefix,
            "in_shardings has one entry for each argument",
            f"a tuple with an entry for each argument, or {{{names[0] if names else 'x'!r}: …}}",
        )
    if len(prefix) > count:
        raise _misplaced(prefix, f"{len(prefix)} entries", f"one for each of {count} arguments")
    entries = dict(zip(positional, prefix, strict=False))
    return [(name, entries.get(name)) for name in [*names, *keywords]]


def _misplaced(prefix: Any, fact: str, need: str) -> ShardingError:
    return at_user_line(spec_error("jit", fact, prefix, got=f"{prefix!r:.80}", need=need))


def _check(specs: Specs, avals: Sequence[Aval], mesh: Mesh, names: Sequence[str]) -> None:
    for spec, aval, name in zip(specs, avals, names, strict=True):
        if spec is None:
            continue
        try:
            check_fits(spec, mesh, aval, "jit")
        except ShardingError as error:
            error.add_note(f"  where      {name}")
            raise at_user_line(error) from None
