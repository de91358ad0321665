"""Look at what an array waits for: ``graph_of``. For a function, see ``trace`` in
``inspection/look.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.evaluate import pending
from tenferro.arrays.handle.convert import as_array
from tenferro.computegraph import flatten
from tenferro.transforms.inspection.look import GraphOf
from tenferro.transforms.recording import tree as _tree


def graph_of(*results: Any) -> GraphOf:
    """Return the graph of arrays that are recorded but not evaluated.

    It is the graph that ``evaluate`` would run. Known values are its inputs.

    Parameters
    ----------
    *results
        Arrays, or pytrees of them.

    Returns
    -------
    GraphOf
        The graph. Print it or draw it.

    Examples
    --------
    >>> import tenferro as tn
    >>> print(tn.graph_of(tn.sin(tn.zeros(2))))
    graph() {
      %0 = constant[value=0.0, dtype=f64, shape=(2,)] : f64[2]
      %1 = sin %0                          : f64[2]
      return %1
    }
    """
    if any([callable(x) for x in results]):
        raise at_user_line(
            TypeError("graph_of takes arrays; the graph of a function is `trace(function, *args)`")
        )
    leaves = [leaf for tree in results for leaf in _tree.flatten(tree)[0]]
    arrays: list[Array] = [as_array(leaf) for leaf in leaves]
    return GraphOf(flatten((), [array.key for array in arrays], pending))
