"""Look at the graph of a function: ``trace``, and the forms that a graph can take.

What is recorded is what would be recorded anywhere else; it is only not evaluated. How pictures are
made is in ``inspection/views``. Read next: ``inspection/explain.py``, which says how a graph would
run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenferro.arrays.errors import at_user_line
from tenferro.computegraph import (
    CompiledProgram,
    MaterializedGraph,
    ValueKey,
    compile_program,
    flatten,
)
from tenferro.computegraph._text import unique
from tenferro.primitives import ArgumentTypeError
from tenferro.primitives._source import source_text
from tenferro.tidu import FlowNames, naming_flows
from tenferro.transforms.errors import GraphTooLargeError, check_function
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.record import record
from tenferro.transforms.recording.run_or_record import history, key_of

if TYPE_CHECKING:
    from tenferro.transforms.inspection import views as _views

_MAX_EQUATIONS_DRAWN = 400
_MAX_EQUATIONS_DRAWN_IN_NOTEBOOK = 80  # in addition to the text
_MAX_LINES_IN_NOTEBOOK = 1000


class GraphOf:
    """Graph of a function at some arguments, which can be printed and drawn.

    ``tenferro.trace`` and ``tenferro.graph_of`` make it. A notebook shows the text in colours. For
    a large graph, ``graph[10:20]`` and ``graph.around("%17")`` are parts of it with the same
    numbers.

    >>> import tenferro as tn
    >>> graph = tn.trace(tn.grad(lambda x: tn.sin(x) * x), tn.Aval((), "float64"))
    >>> print(graph[1:3])
    graph(x: f64[]) {
      …                                    equation 0
      %2 = cos %0                          : f64[]
      %3 = mul *%0 %2                      : f64[]      transposed
      …                                    equation 3
      return %4
    }
    """

    def __init__(
        self,
        graph: MaterializedGraph,
        positions: Sequence[int] | None = None,
        labels: Mapping[int, str] | None = None,
    ) -> None:
        given: object = graph
        if not isinstance(given, MaterializedGraph):
            error = ArgumentTypeError(
                "GraphOf takes a materialized graph\n"
                f"  got        {graph!r:.60}\n"
                "  need       for a function `tenferro.trace(f, *args)`, for results "
                "`tenferro.graph_of(y)`",
                function="GraphOf",
            )
            raise at_user_line(error)
        self.graph = graph
        self.positions = range(len(graph)) if positions is None else positions
        self.labels = labels or {}

    @cached_property
    def program(self) -> CompiledProgram:
        """The program of the whole graph, with its slots and frees."""
        return compile_program(self.graph)

    def counts(self) -> dict[str, int]:
        """Number of equations: primal, linear (forward flow) and transposed (backward flow)."""
        found = {"primal": 0, "linear": 0, "transposed": 0}
        for i in self.positions:
            found[_forms().part_of(self.graph.nodes[i])] += 1
        return found

    # ---- parts -----------------------------------------------------------------------------------

    def __getitem__(self, chosen: slice) -> GraphOf:
        """Return the equations at these positions; values from elsewhere are drawn as inputs."""
        return GraphOf(self.graph, self.positions[chosen], self.labels)

    def around(self, value: str | int, distance: int = 2) -> GraphOf:
        """Return the equations at most ``distance`` steps from a value, upward and downward.

        Raises ValueError: if the graph has no such value.
        """
        number = int(str(value).lstrip("%"))
        if not 0 <= number < len(self.graph.avals):
            text = f"the graph has no value %{number}; %{len(self.graph.avals) - 1} is the last"
            raise at_user_line(ValueError(text))
        near = {number}
        found: set[int] = set()
        for _ in range(distance):
            reached = {i for i in self.positions if not near.isdisjoint(_values_of(self.graph, i))}
            found |= reached
            near.update(v for i in reached for v in _values_of(self.graph, i))
        return GraphOf(self.graph, sorted(found), self.labels)

    # ---- text ------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.positions)

    def __str__(self) -> str:
        head, rows, tail = self._rows()
        return "\n".join([head, *[line for _, line, _ in rows], *tail])

    def __repr__(self) -> str:
        return str(self)

    def _rows(self) -> tuple[str, list[tuple[str, str, str]], list[str]]:
        """Split the text: head, (part, lines, user's line) of each equation, tail."""
        head, *tail = self.graph.text_around(()).split("\n")
        nodes, next_ = self.graph.nodes, 0
        part_of = _forms().part_of
        rows: list[tuple[str, str, str]] = []
        for i in self.positions:
            rows += _gap(next_, i)
            note = source_text(nodes[i].source) or ""
            label = ", ".join([self.labels[k] for k in nodes[i].outputs if k in self.labels])
            rows.append((part_of(nodes[i]), self.graph.node_text(nodes[i], label), note))
            next_ = i + 1
        return head, rows + _gap(next_, len(nodes)), tail

    # ---- pictures --------------------------------------------------------------------------------

    def to_mermaid(self, limit: int = _MAX_EQUATIONS_DRAWN) -> str:
        """Return the graph as a flowchart for Mermaid; ``limit`` as for ``to_svg``.

        >>> import tenferro as tn
        >>> print(tn.trace(lambda x: -x, tn.Aval((), "float64")).to_mermaid().split("classDef")[0])
        flowchart TD
          n0(["#37;0  x<br/>f64[]"]):::input
          n1("#37;1 = neg #37;0<br/>f64[]"):::primal
          n2(["return #37;1"]):::output
          n0 --> n1
          n1 --> n2
        """
        text: str = _forms().mermaid(self._picture("to_mermaid", limit))
        return text

    def to_dot(self) -> str:
        """Return the graph in Graphviz's language; any size is accepted."""
        text: str = _forms().dot(_forms().picture(self.graph, self.positions, self.labels))
        return text

    def to_svg(self, limit: int = _MAX_EQUATIONS_DRAWN) -> str:
        """Return the graph as an SVG picture, laid out from the top down.

        Colours and marks tell primal equations from linear (J) and transposed ones (Jᵀ), dashed
        lines are residuals, and the user's line is the tooltip of each box.

        Raises GraphTooLargeError: if there are more equations than ``limit``.
        """
        text: str = _forms().svg(self._picture("to_svg", limit))
        return text

    def _picture(self, method: str, limit: int) -> _views.Picture:
        if len(self) > limit:
            raise _too_large(self, method, limit)
        found: _views.Picture = _forms().picture(self.graph, self.positions, self.labels)
        return found

    def _repr_svg_(self) -> str | None:
        return self.to_svg() if len(self) <= _MAX_EQUATIONS_DRAWN else None

    def _repr_html_(self) -> str:
        head, rows, tail = self._rows()
        if len(rows) > _MAX_LINES_IN_NOTEBOOK:
            count = len(rows) - _MAX_LINES_IN_NOTEBOOK
            left = ("", f"  … {count} lines more; graph[a:b] shows a part", "")
            rows = [*rows[:_MAX_LINES_IN_NOTEBOOK], left]
        drawn = self.to_svg() if len(self) <= _MAX_EQUATIONS_DRAWN_IN_NOTEBOOK else ""
        text: str = _forms().html(head, rows, tail, self.counts(), drawn)
        return text


def _forms() -> Any:
    """Import the module ``inspection/views``, which loads with the first picture."""
    return import_module("tenferro.transforms.inspection.views")


def _values_of(graph: MaterializedGraph, position: int) -> tuple[int, ...]:
    node = graph.nodes[position]
    return (*node.inputs, *node.outputs)


def _gap(start: int, stop: int) -> list[tuple[str, str, str]]:
    """Return a line for equations that are not shown."""
    if start >= stop:
        return []
    which = f"equation {start}" if stop == start + 1 else f"equations {start} to {stop - 1}"
    return [("", f"  {'…':<36} {which}", "")]


def _too_large(graph: GraphOf, method: str, limit: int) -> GraphTooLargeError:
    count = len(graph)
    last = f"%{graph.graph.outputs[0]}" if graph.graph.outputs else "%0"
    return at_user_line(
        GraphTooLargeError(
            f"{method}: a picture of {count} equations is too large to be read\n"
            f"  got        {count} equations\n"
            f"  need       at most {limit}\n"
            f"  hint       draw a part, graph[:{limit}].{method}() or "
            f'graph.around("{last}").{method}(); or {method}(limit={count})',
            count=count,
            limit=limit,
        )
    )


def trace(function: Callable[..., Any], *args: Any, **kwargs: Any) -> GraphOf:
    """Record a function and return its graph.

    Nothing is evaluated, except if control flow asks for a value. Equations through which
    tangents flow are marked ``linear``, those of cotangents ``transposed``. A star marks the
    operand that carries the flow. A name such as ``dx`` or ``ct_x`` says whose tangent or cotangent
    an equation computes.

    Parameters
    ----------
    function : callable
        Function to record.
    *args, **kwargs
        Arguments: pytrees of arrays and numbers, or of an ``Aval`` where only shape and dtype are
        known.

    Returns
    -------
    GraphOf
        The graph. Print it, draw it (``to_svg``, ``to_mermaid``, ``to_dot``), or display it in a
        notebook.

    Examples
    --------
    >>> import tenferro as tn
    >>> print(tn.trace(tn.grad(lambda x: tn.sin(x)), tn.Aval((), "float64")))
    graph(x: f64[]) {
      %1 = cos %0                          : f64[]                 ct_x
      return %1
    }
    """
    check_function(function, "trace")
    with Loans(keeps=True) as loans, naming_flows() as names:
        recording = record(function, args, kwargs, range(len(args)), loans)
        outputs = [key_of(x) for x in recording.outputs]
        given = set(recording.wrt)  # a pin among them has a history that ends in another leaf
        number: dict[ValueKey, int] = {}
        graph = flatten(
            recording.wrt, outputs, lambda key: None if key in given else history(key), number
        )
        return GraphOf(graph, labels=_labels(graph, names, number))


def _labels(
    graph: MaterializedGraph, names: FlowNames, number: Mapping[ValueKey, int]
) -> dict[int, str]:
    """Return the names of the tangents and cotangents among the values, by number.

    What a name is of stands in it as the name of an input, as the number of a value, or, if the
    graph does not compute that value, as the name of its operation. Equal names are counted.
    """
    inputs = unique(graph.input_names)
    literals = {i for node in graph.nodes if not node.inputs for i in node.outputs}
    found: dict[int, str] = {}
    for key, (prefix, root, _) in names.of.items():
        place, of = number.get(key, -1), number.get(root, -1)
        if place < len(inputs) or place in found or place == of or place in literals:
            continue
        if of < 0:
            base = str(root.operation.name if root.operation is not None else root.identity)
        else:
            base = inputs[of] if of < len(inputs) else f"%{of}"
        found[place] = f"{prefix}{base}"
    return dict(zip(found, unique(found.values()), strict=True))
