"""``einsum`` and ``einsum_path``: sums of products, written by labels of axes.

An expression is read once per text and shapes; what comes out, a straight line of primitives, is
kept. Derivatives are those of the primitives: each pair of the tree costs a constant number of
contractions more, so the gradient of N operands costs a constant factor.
Read next: ``_subscripts.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.einsum import _order
from tenferro.arrays.functions.einsum._cost import PathInfo
from tenferro.arrays.functions.einsum._steps import EinsumOperation, EinsumProgram, program_of
from tenferro.arrays.functions.einsum._subscripts import (
    Subscripts,
    Written,
    expression_of,
    of_lists,
    of_text,
    refused,
)
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.numpy_protocols.writing import check_cast, destination, write
from tenferro.arrays.promotion.broadcast import cast
from tenferro.arrays.registry import covers
from tenferro.primitives import Aval, DType, Shape, ShapeMismatchError, constant, promote_dtypes
from tenferro.primitives._primitive import bind

_MAX_KEPT_PLANS = 1024
_ORDERS = ("C", "F", "A", "K")


class _Plan(NamedTuple):
    """Plan of an expression for operands of given shapes."""

    expression: Subscripts
    steps: EinsumProgram


_plans: dict[Hashable, _Plan] = {}


@covers("einsum")
def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = True,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
) -> Array:
    """Sum products of elements over the labels that the output lacks.

    x: [*axes labelled by its term], …   →   y: [*axes labelled by the output]

    Definition   "ij,jk->ik": y_ik = Σ_j x_ij z_jk; without "->" the output has the labels that
                 occur once, in alphabetical order; "..." stands for axes that broadcast
    Convention   a label may repeat in an operand (the diagonal) and stand in any number of
                 operands; in the output it stands once: `np.diag` makes a diagonal matrix.
                 The interleaved form is einsum(x, [0, 1], z, [1, 2], [0, 2])
    Orders       operands are contracted in pairs; ``optimize`` is a path, a method of
                 opt_einsum, "cotengra" or "cotengra:PRESET" where that is installed, or an
                 optimizer object of either; True and False mean "auto". ``order`` changes nothing
    Raises       ShapeMismatchError: if a label has two sizes, or an operand has another rank than
                 its term; InvalidParameterError: for other faults of the subscripts or the path

    >>> import tenferro as tn
    >>> x = tn.asarray(((1.0, 2.0), (3.0, 4.0)))
    >>> tn.einsum("ij,j->i", x, tn.asarray((1.0, 10.0)))
    Array([21., 43.])
    >>> tn.einsum("ii", x), tn.einsum("ii->i", x)
    (Array(5.), Array([1., 4.]))
    """
    if order not in _ORDERS:
        raise at_user_line(ValueError(f"einsum: order must be one of {_ORDERS}"))
    subscripts, given = _split_arguments(operands)
    arrays = [as_array(x) for x in given]
    kind = common_dtype(arrays, dtype, casting)
    plan = _plan(subscripts, tuple([x.key.aval for x in arrays]), kind, optimize)
    empty = _empty(plan.expression)
    if empty is not None:
        found = Array(constant(0, kind, empty).key)
    else:
        found = run(plan.steps.lines, [cast(x, kind) for x in arrays])[plan.steps.result]
    if out is not None:
        return into(out, found, casting)
    if len(arrays) == 1 and set(plan.expression.inputs[0]) == set(plan.expression.output):
        return view_of(arrays[0], found)  # nothing is summed
    return another_handle(found)  # an operand's own handle may be rebound by an assignment


@covers("einsum_path")
def einsum_path(*operands: Any, optimize: Any = True) -> tuple[list[Any], PathInfo]:
    """Find the order in which ``einsum`` contracts, and its cost.

    x, … as for einsum   →   (path, info): a path for ``optimize=``, and a table that prints

    Nothing is computed. ``info.flops`` counts operations, ``info.largest_intermediate`` elements.

    >>> import tenferro as tn
    >>> x = tn.asarray(((1.0, 2.0), (3.0, 4.0)))
    >>> path, info = tn.einsum_path("ij,jk,k->i", x, x, x[0])
    >>> path, info.flops
    (['einsum_path', (1, 2), (0, 1)], 16)
    """
    subscripts, given = _split_arguments(operands)
    arrays = [as_array(x) for x in given]
    kind = common_dtype(arrays, None, "safe")
    plan = _plan(subscripts, tuple([x.key.aval for x in arrays]), kind, optimize)
    return path_of(plan.steps.tree, len(arrays)), PathInfo(plan.expression, plan.steps.pairs)


def _split_arguments(operands: Sequence[Any]) -> tuple[str | Written, Sequence[Any]]:
    """Separate the arguments into subscripts and operands."""
    subscripts: str | Written
    if operands and isinstance(operands[0], str):
        subscripts, given = operands[0], operands[1:]
    else:
        given = operands[: len(operands) // 2 * 2 : 2]
        subscripts = of_lists([*operands[1::2], *operands[len(given) * 2 :]])
    if given:
        return subscripts, given
    raise refused(
        "there is no operand",
        operands[:1],
        got=f"{len(operands)} arguments",
        need="subscripts and at least one operand, or operands each followed by a list of labels",
    )


def common_dtype(arrays: Sequence[Array], dtype: Any, casting: str) -> DType:
    """Return the dtype in which everything is computed."""
    kinds = [x.key.aval.dtype for x in arrays]
    found: DType = kinds[0]
    for kind in kinds:
        found = kind if found is kind else promote_dtypes(found, kind)
    found = found if dtype is None else DType.of(dtype)
    for number, kind in enumerate(kinds):
        if kind is not found or casting != "safe":
            check_cast(kind, found, casting, "einsum", f"operand {number}")
    return found


def _plan(subscripts: str | Written, avals: tuple[Aval, ...], kind: DType, optimize: Any) -> _Plan:
    """Return the plan of an expression, memoized."""
    chosen = _order.choice(optimize)
    entry = subscripts, tuple([aval.shape for aval in avals]), kind, chosen
    plan = _plans.get(entry)
    if plan is None:
        written = of_text(subscripts, len(avals)) if isinstance(subscripts, str) else subscripts
        expression = expression_of(written, avals)
        plan = _Plan(expression, program_of(expression, kind, chosen))
        if len(_plans) >= _MAX_KEPT_PLANS:
            _plans.clear()
        _plans[entry] = plan
    return plan


def _empty(expression: Subscripts) -> Shape | None:
    """Return the shape of the result if it is a sum of nothing; None if there is something to add.

    It must not be contracted in pairs: a NaN in one of them times the 0 of another would be NaN.
    """
    sizes = expression.sizes
    if all(sizes.values()) or all(sizes[label] for label in set(sizes) - set(expression.output)):
        return None
    return tuple(sizes[label] for label in expression.output)


def run(lines: Sequence[EinsumOperation], operands: Sequence[Array]) -> list[Array]:
    """Apply the operations of a program; return the operands and all results."""
    values: list[Any] = [*operands]
    for operation, inputs in lines:
        values.append(bind(operation, *[values[i] for i in inputs]))
    return values


def path_of(pairs: Sequence[tuple[int, int]], count: int) -> list[Any]:
    """Return the pairs as NumPy writes a path: positions among the remaining operands."""
    left, path = list(range(count)), []
    for number, pair in enumerate(pairs):
        path.append(tuple(sorted(left.index(i) for i in pair)))
        left = [i for i in left if i not in pair] + [count + number]
    return ["einsum_path", *(path or [tuple(left)])]


def into(out: Any, result: Array, casting: str) -> Array:
    """Assign the result to the array `out`, and return that."""
    target = destination(out, "einsum")
    assert target is not None
    if target.shape != result.shape:
        error = ShapeMismatchError.of(
            "einsum",
            "`out` does not have the shape of the result",
            got=f"out: {target.aval}, result: {result.aval}",
            need="an `out` of the shape of the result",
            shapes=(target.shape, result.shape),
        )
        raise at_user_line(error)
    return write(target, result, "einsum", casting=casting)
