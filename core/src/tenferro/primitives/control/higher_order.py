"""``HigherOrder``: what primitives over closed graphs have in common. Read next: ``scan.py``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tenferro.computegraph import Definition, Fragment, ValueKey, postorder
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._primitive import Mixed

if TYPE_CHECKING:
    from typing import Self

_GRAPHS = ("body", "branches", "condition")  # parameters that are shown below an equation


class HigherOrder(Mixed):
    """A primitive whose parameters are closed graphs, linear in the inputs that it marks.

    Its rules write graphs that depend on which tangents are there, so they are not memoized.
    """

    fixed_rules = False
    has_graphs = True
    input_count = None

    @property
    def bodies(self) -> tuple[tuple[str, Fragment], ...]:
        """The closed graphs among the parameters, by name."""
        raise NotImplementedError

    @property
    def shown(self) -> dict[str, object]:
        """The parameters that an equation shows: those that say something."""
        found = {k: v for k, v in self.parameters.items() if k not in _GRAPHS}
        missing = object()
        return {k: v for k, v in found.items() if v != self._defaults.get(k, missing)}

    @property
    def volatile(self) -> bool:  # type: ignore[override]  # it depends on the graphs
        """True if a derivative of it runs code of the user."""
        return any([graph.volatile for _, graph in self.bodies])

    @property
    def redirects(self) -> bool:  # type: ignore[override]  # it depends on the graphs
        """True if the derivative of a value in a graph is that of another value."""
        return any([graph.redirects for _, graph in self.bodies])

    @property
    def meaning(self) -> Hashable:
        """The parameters, with closed graphs as they are evaluated.

        A function with a rule of the user is another operation at every call. It is gone from the
        graph that is evaluated, so that calls share one compiled program.
        """
        bodies = self.bodies
        if not any([graph.volatile for _, graph in bodies]):
            return self
        graphs = [(graph.input_avals, graph.flat.structure) for _, graph in bodies]
        others = [(k, v) for k, v in self.parameters.items() if k not in _GRAPHS]
        return (type(self), *others, *graphs)

    @property
    def _marks(self) -> tuple[bool, ...]:
        found: tuple[bool, ...] = self.is_linear  # type: ignore[attr-defined]  # the last parameter
        return found

    @property
    def linear_inputs(self) -> tuple[int, ...]:
        """The inputs in which the results are jointly linear."""
        return tuple([i for i, on in enumerate(self._marks) if on])

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return the one group of inputs in which the results are linear."""
        return (self.linear_inputs,) if self._marks else ()

    def replaced(self, **parameters: Any) -> Self:
        """Return the primitive with other parameters."""
        found: Self = type(self)(**{**self.parameters, **parameters})
        return found

    def check_inputs(self, avals: Sequence[Aval], need: Sequence[Aval]) -> None:
        """Raise ShapeMismatchError unless the inputs are as the closed graph wants them."""
        if tuple(avals) != tuple(need):
            raise ShapeMismatchError.of(
                self.name, "the inputs are not those of the body", got=listed(avals),
                need=listed(need), shapes=tuple([aval.shape for aval in avals]),
            )  # fmt: skip

    def check_graph(self, name: str) -> None:
        """Raise InvalidParameterError unless the parameter is a closed graph."""
        graph = getattr(self, name)
        if not isinstance(graph, Fragment):
            raise invalid(self, name, "not a closed graph", got=repr(graph), need="a Fragment")

    def check_bool(self, name: str) -> None:
        """Raise InvalidParameterError unless the parameter is True or False."""
        found = getattr(self, name)
        if type(found) is not bool:
            raise invalid(self, name, "neither True nor False", got=repr(found), need="a bool")

    def check_marks(self, count: int) -> None:
        """Raise InvalidParameterError unless there is one mark per input, or none at all."""
        marks: Any = self._marks
        is_fine = isinstance(marks, tuple) and {*map(type, marks)} <= {bool}
        if not is_fine or len(marks) not in (0, count):
            need = f"{count} bools, or none"
            raise invalid(self, "is_linear", "not one per input", got=repr(marks), need=need)

    def check_outputs(self, outputs: Any, count: int) -> None:
        """Raise InvalidParameterError unless the numbers are those of outputs."""
        is_fine = isinstance(outputs, tuple) and all([type(i) is int for i in outputs])
        if not is_fine or not {*outputs} <= {*range(count)}:
            need = f"a tuple of integers from 0 to {count - 1}"
            raise invalid(self, "outputs", "no such output", got=repr(outputs), need=need)


def listed(avals: Sequence[Any]) -> str:
    """Return avals as a message names them."""
    return ", ".join(map(str, avals)) or "nothing"


def read_among(
    results: Sequence[ValueKey], stop: Sequence[ValueKey], among: Iterable[ValueKey]
) -> list[ValueKey]:
    """Return those values of ``among`` that the results read, in its order.

    Nothing is looked at behind the values of ``stop``.
    """
    ends = set(stop)

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key in ends else key.definition

    *_, leaves = postorder(results, definition_of)
    read = set(leaves)
    return [key for key in among if key in read]
