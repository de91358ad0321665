"""The pattern of a derivative: ``sparsity``. Read next: ``derivatives/jacobian.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.evaluation.evaluate import executable
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.backend import select_backend
from tenferro.computegraph import UNKNOWN, ValueKey, flatten
from tenferro.primitives import TensorPrimitive, constant
from tenferro.tidu import linearize_keys
from tenferro.transforms.derivatives.blocks import patterns_of
from tenferro.transforms.derivatives.jacobian import nest
from tenferro.transforms.derivatives.whole import check_arguments
from tenferro.transforms.errors import check_function
from tenferro.transforms.patterns.sparse_results import matrices
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording.argnums import Argnames, Argnums, choose
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.record import record
from tenferro.transforms.recording.run_or_record import deliver, history, key_of, store_looks


def sparsity(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    argnames: Argnames = None,
    backend: Any = None,
) -> Callable[..., Any]:
    """Return a function that finds which entries of the Jacobian may differ from zero.

    Nothing is computed: the graph of the function is read. An entry that is zero for some values
    of the arguments only is part of the pattern. For the pattern of second derivatives, pass the
    gradient.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers.
    argnums : int or tuple of int, default 0
        Positions of the arguments to differentiate with respect to.
    argnames : str or tuple of str, optional
        Names of these arguments, instead of ``argnums``.
    backend : str or Backend, optional
        Backend that makes the matrices.

    Returns
    -------
    callable
        Function with the arguments of ``function``, where an ``Aval`` may stand for an array. Its
        result is nested as that of ``jacobian(..., sparse=True)``; each entry of a matrix is True.

    Raises
    ------
    DifferentiationInputError
        If an argument holds integers or bools.
    SparseResultError
        If there are more than 32,768 directions, or about a million entries.

    Examples
    --------
    >>> import tenferro as tn
    >>> pattern = tn.sparsity(lambda x: x[1:] * x[:-1])
    >>> pattern(tn.Aval((4,), "float64")).toarray().astype(int)  # doctest: +SKIP
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    check_function(function, "sparsity", backend)
    chosen = choose(argnums, argnames)

    def compute(args: Any, kwargs: Any, loans: Loans) -> Any:
        recording = record(*chosen.arrange(function, args, kwargs), loans)
        outputs, wrt = [key_of(x) for x in recording.outputs], recording.wrt
        store_looks(wrt)
        check_arguments(wrt, outputs, any(key.aval.dtype.is_complex for key in wrt))
        linear = linearize_keys(outputs, wrt, space=TensorPrimitive.space)
        patterns = patterns_of(linear, outputs, wrt)
        found = matrices(patterns, _ones(patterns, wrt, backend), wrt)
        return nest(found, recording, chosen.single)

    @derived("sparsity", function, argnums=argnums, argnames=argnames, backend=backend)
    def pattern(*args: Any, **kwargs: Any) -> Any:
        with Loans() as loans:
            return compute(args, kwargs, loans)

    return pattern


def _ones(
    patterns: Sequence[SparsePattern], wrt: Sequence[ValueKey], backend: Any
) -> Sequence[Any]:
    """Return True for each entry of each pattern; a part of the program in which it is asked."""
    ones = [constant(True, "bool", (len(found.columns),)).key for found in patterns]
    if any([len(key.traces) > 1 for key in wrt]):  # the first is that of this recording
        return [Array(key) for key in ones]
    known = [key.operand for key in wrt if key.operand is not UNKNOWN]
    chosen = select_backend(backend, known)
    program = executable(flatten((), ones, history), chosen)
    return deliver(program(), [key.aval for key in ones], chosen, known, plain=True)
