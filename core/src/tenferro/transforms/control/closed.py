"""Functions of the user with what they close over as arguments: the systems that solvers solve.

A rule for the derivative of a solution needs the derivative of the equations in everything they
read. So a function is recorded once, and called again on other values of what it reads from
outside. Read next: ``custom_linear_solve.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array, as_array, is_traced
from tenferro.arrays.errors import ConcretizationError, LeakedArrayError
from tenferro.arrays.handle.array import evaluable
from tenferro.computegraph import Fragment, ValueKey
from tenferro.primitives import Handle, TensorPrimitive
from tenferro.primitives._primitive import bind_all
from tenferro.tidu import NotLinearError, Trace, flow_of, linear_map, pinned_leaf
from tenferro.transforms.control.body import Leaf, closed, fits, held, record_body
from tenferro.transforms.control.implicit_root import ImplicitRoot
from tenferro.transforms.custom_rules.checks import is_constant_zero
from tenferro.transforms.errors import BodyError, refused_body
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import Name


class ClosedFunction:
    """A function of one pytree, recorded: ``call(consts, x)`` with ``consts`` as arguments.

    Its results have the structure, shapes and dtypes of its argument.

    Raises BodyError: if the function returns anything else.
    """

    def __init__(self, name: str, function: Callable[[Any], Any], like: Any, spec: Any) -> None:
        """``like`` are the leaves of an argument and ``spec`` is its structure."""
        self.name = name
        self._spec = spec
        self._like = list(like)
        self._avals = [leaf.aval for leaf in like]
        self._labels = [leaf.label for leaf in like]
        recorded = record_body(name, lambda values: function(_tree.unflatten(spec, values)), like)
        outputs = self.fitting("the function", recorded.spec, recorded.outputs)
        self._body: Fragment
        self.consts: list[Array]
        self._body, self._consts = closed(recorded, [y.key for y in outputs])
        # what nothing varies stays, if its value is known or can be: it may be a zero
        self._varying = [i for i, x in enumerate(self._consts) if not _is_fixed(x)]
        self.consts = [self._consts[i] for i in self._varying]

    def call(self, consts: Sequence[Array], x: Any) -> Any:
        """Return the function's value for these values of what it reads from outside."""
        flat, spec = _tree.flatten(x)
        xs = self.fitting("the argument of the function", spec, [as_array(leaf) for leaf in flat])
        found = self._body.apply([*self._keys(consts), *[x.key for x in xs]])
        return _tree.unflatten(self._spec, [Array(key, flow_of(key)) for key in found])

    def _keys(self, consts: Sequence[Array]) -> list[ValueKey]:
        return [x.key for x in replaced(self._consts, self._varying, consts)]

    def transposed(self, consts: Sequence[Array], ct: Any) -> Any:
        """Return what the adjoint of the function, which is linear, makes of a cotangent.

        Raises NotLinearError: if the function is not linear.
        """
        flat, spec = _tree.flatten(ct)
        cts = self.fitting("the cotangent", spec, [as_array(leaf) for leaf in flat])
        trace = Trace()
        pairs = zip(self._labels, self._avals, strict=True)
        places = [pinned_leaf(Name(label, trace.id.serial), aval, trace) for label, aval in pairs]
        outputs = self._body.apply([*self._keys(consts), *places])
        trace.open = False
        linear = linear_map(outputs, places, space=TensorPrimitive.space, is_zero=is_constant_zero)
        found = linear.transpose([Handle(x.key, x.flow) for x in cts])
        keys = [
            TensorPrimitive.space.zeros(aval).key if y is None else y.key
            for y, aval in zip(found, self._avals, strict=True)
        ]
        return _tree.unflatten(self._spec, [Array(key, flow_of(key)) for key in keys])

    def solver(
        self, solve: Callable[[Sequence[Array], Any], Any]
    ) -> ClosedSolver | UnrecordedSolver:
        """Return ``solve(consts, b)`` recorded, or why it cannot be.

        A solver that looks at values that are known, or that prints, cannot.
        """
        try:
            return self.recorded_solver(solve, 1)
        except (ConcretizationError, BodyError, NotLinearError) as error:
            return UnrecordedSolver(self.name, str(error))

    def recorded_solver(self, solve: Callable[..., Any], count: int) -> ClosedSolver:
        """Return ``solve(consts, …)`` recorded, of ``count`` more arguments like that of f."""
        consts = [Leaf(f"const {i}", x.aval) for i, x in enumerate(self.consts)]
        first, size = len(consts), len(self._like)

        def call(values: Sequence[Array]) -> Any:
            parts = [values[first + k * size : first + (k + 1) * size] for k in range(count)]
            return solve(values[:first], *[_tree.unflatten(self._spec, part) for part in parts])

        recorded = record_body(self.name, call, [*consts, *self._like * count])
        outputs = self.fitting("the solver", recorded.spec, recorded.outputs)
        return ClosedSolver(self._spec, *closed(recorded, [y.key for y in outputs]))

    def implicit(self, x: Any, solver: ClosedSolver) -> Any:
        """Return a solution with the derivative that a solver of (x, b) gives."""
        operation = ImplicitRoot(self._body, solver.body, tuple(self._varying), len(self._like))
        arrays = [as_array(leaf) for leaf in _tree.flatten(x)[0]]
        found = bind_all(operation, *arrays, *self._consts, *solver.reads)
        return _tree.unflatten(self._spec, found)

    def solution(self, result: Any) -> Any:
        """Return what a solver of the user gave, as Arrays with the avals of the argument.

        Raises BodyError: if it has another structure, shape or dtype.
        """
        flat, spec = _tree.flatten(result)
        arrays = [as_array(leaf) for leaf in flat]
        return _tree.unflatten(self._spec, self.fitting("the solver", spec, arrays))

    def fitting(self, who: str, spec: Any, values: Sequence[Array]) -> list[Array]:
        """Return values in the dtypes of the argument, where numbers yield to these.

        Raises BodyError: if structure, shapes or dtypes differ.
        """
        if not _tree.same_structure(spec, self._spec):
            got, need = _tree.describe(spec), _tree.describe(self._spec)
            raise refused_body(self.name, f"{who} has another structure", got, need)
        found = []
        for y, aval, label in zip(values, self._avals, self._labels, strict=True):
            if not fits(y, aval):
                fact, need = f"{who} does not fit {label}", str(aval)
                raise refused_body(self.name, fact, str(y.aval), need, leaf=label)
            found.append(held(y, aval))
        return found


class ClosedSolver:
    """A solver as a graph: ``call(reads, consts, b)``, where ``reads`` is what it closes over."""

    def __init__(self, spec: Any, body: Fragment, reads: list[Array]) -> None:
        self._spec = spec
        self.body = body
        self.reads = reads

    def call(self, reads: Sequence[Array], consts: Sequence[Array], b: Any) -> Any:
        """Return the solution."""
        given = [*reads, *consts, *[as_array(leaf) for leaf in _tree.flatten(b)[0]]]
        found = self.body.apply([x.key for x in given])
        return _tree.unflatten(self._spec, [Array(key, flow_of(key)) for key in found])


class UnrecordedSolver:
    """A solver that must run as it is; ``cause`` is the error that recording it raised."""

    reads: tuple[Array, ...] = ()

    def __init__(self, name: str, cause: str) -> None:
        self._name = name
        self._cause = cause

    def run(self, solve: Callable[..., Any], *args: Any) -> Any:
        """Return ``solve(*args)``.

        Raises BodyError: if it closes over an argument of a traced function that has returned.
        """
        try:
            return solve(*args)
        except LeakedArrayError as error:
            fact = "a solver closes over arguments of a function that has returned"
            need = "a solver that can be recorded while the function is traced"
            cause = self._cause.replace("\n", "\n    ")
            hint = "mend what recording it raised, or read the values through its first argument"
            aval: Any = getattr(error, "aval", None)
            hint += f"\n  recording  {cause}"
            got = f"{aval}, in a derivative"
            raise refused_body(self._name, fact, got, need, hint=hint) from None


def are_known(values: Sequence[Array]) -> bool:
    """Return True if the values can be computed now."""
    return all([evaluable(x.key) for x in values])


def _is_fixed(x: Array) -> bool:
    return evaluable(x.key) and not is_traced(x.key) and not x.flow


def leaves_like(arrays: Sequence[Array], paths: Sequence[str]) -> list[Leaf]:
    """Return the inputs of a function of these arrays; numbers count as arrays of their dtype."""
    return [Leaf(path, x.aval) for x, path in zip(arrays, paths, strict=True)]


def varying(values: Sequence[Array]) -> list[int]:
    """Return the places of values that can vary: floats and complex numbers."""
    return [i for i, x in enumerate(values) if x.dtype.is_inexact]


def replaced(consts: Sequence[Array], places: Sequence[int], some: Sequence[Array]) -> list[Array]:
    """Return the values with some of them replaced."""
    found = list(consts)
    for i, x in zip(places, some, strict=True):
        found[i] = x
    return found
