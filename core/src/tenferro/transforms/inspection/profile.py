"""Measure how long each equation of a function takes: ``profile``.

The program is the one that ``jit`` makes. Read next: ``backend/timings.py``, which shows the times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenferro.transforms.compilation.jit import jit
from tenferro.transforms.compilation.jitted import Jitted
from tenferro.transforms.errors import check_function

if TYPE_CHECKING:
    from tenferro.backend import Backend, Timings


def profile(
    function: Callable[..., Any], *args: Any, backend: str | Backend | None = None, **kwargs: Any
) -> Timings:
    """Run a function once as a compiled program, and return the seconds of each equation.

    On NumPy and CuPy a row is a step of the plan: one equation, or several that are computed
    together. XLA merges all equations of a segment, and gives one row for each segment. A first run
    includes what happens once, such as touching new memory.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers; or a jitted function, with its options.
    *args, **kwargs
        Its arguments, with values.
    backend : str or Backend, optional
        The backend, for a function that is not jitted.

    Returns
    -------
    Timings
        One row for each step, with the user's line. Print it, display it in a notebook, or write
        it with its method ``save`` for chrome://tracing or Perfetto.

    Raises
    ------
    TypeError
        If an argument has no value.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> times = tn.profile(lambda x: np.sum(np.exp(x)), np.ones(3), backend="numpy")
    >>> [row.equation.split()[2].partition("[")[0] for row in times]
    ['exp', 'reduce_sum']
    """
    check_function(function, "profile")
    if isinstance(function, Jitted):
        if backend is not None:
            raise TypeError("profile: a jitted function has its backend; give none")
        return function.profile(*args, **kwargs)
    times: Timings = jit(function, backend=backend).profile(*args, **kwargs)
    return times
