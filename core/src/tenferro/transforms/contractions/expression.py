"""``contract_expression``: the plan of an einsum for given shapes, made once and called often.

The name and the call are those of opt_einsum. The order of contraction is searched, and labels to
slice are chosen, when the expression is made. Read next: ``slices.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.results import in_kind
from tenferro.arrays.functions.einsum import common_dtype, einsum, into, path_of, run
from tenferro.arrays.functions.einsum._cost import PathInfo
from tenferro.arrays.functions.einsum._order import choice
from tenferro.arrays.functions.einsum._steps import prepared_of, program_of
from tenferro.arrays.functions.einsum._subscripts import (
    Label,
    Subscripts,
    expression_of,
    of_text,
)
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives import Aval, InvalidParameterError, Shape, ShapeMismatchError, float64
from tenferro.transforms.contractions.sliced import contracted_in_parts
from tenferro.transforms.contractions.slices import sizes_of_part, slices_of

__all__ = ["ContractExpression", "contract_expression"]


def contract_expression(
    subscripts: str, *shapes: Any, optimize: Any = True, memory_limit: int | None = None
) -> ContractExpression:
    """Prepare a contraction for operands of given shapes; call the result with operands.

    Parameters
    ----------
    subscripts : str
        As for ``einsum``.
    *shapes : tuple of int, or array
        The shape of each operand, or anything that has a ``shape``.
    optimize : optional
        The order of contraction, as for ``einsum``: a path, a method of opt_einsum such as
        "auto-hq", an optimizer object, "cotengra" or "cotengra:PRESET".
    memory_limit : int, optional
        The number of elements that an intermediate may have. Labels are sliced until all
        intermediates fit: the parts are contracted one after the other, and reverse mode computes
        the intermediates of one part at a time again. The operands and the result do not count.

    Returns
    -------
    ContractExpression
        A function of the operands, with ``out=``; ``path``, ``info`` and ``slices`` describe it.

    Raises
    ------
    ShapeMismatchError
        If a label has two sizes, or an operand has another rank than its term.
    InvalidParameterError
        For other faults of the subscripts or the order, or a limit below 1.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> overlap = tn.contract_expression("ab,bc,ca->", (8, 8), (8, 8), (8, 8), memory_limit=16)
    >>> overlap.slices, overlap.info.largest_intermediate
    ({'a': 4}, 16)
    >>> eye = np.eye(8)
    >>> overlap(eye, eye, eye)
    np.float64(8.0)
    """
    limit = None if memory_limit is None else _limit(memory_limit)
    avals = [Aval(_shape(shape), float64) for shape in shapes]
    expression = expression_of(of_text(subscripts, len(avals)), avals)
    return ContractExpression(subscripts, expression, optimize, limit)


class ContractExpression:
    """A contraction with its order and its slices; made by ``contract_expression``.

    Attributes
    ----------
    path : list
        The order, as ``optimize=`` of ``einsum`` takes it.
    info : PathInfo
        Operations and the largest intermediate of one part; printed, a table.
    slices : dict
        Into how many parts each sliced label is cut.
    """

    def __init__(
        self, subscripts: str, expression: Subscripts, optimize: Any, limit: int | None
    ) -> None:
        self.subscripts = subscripts
        self.shapes: tuple[Shape, ...] = expression.shapes
        core = _core(expression)
        program = program_of(core, float64, choice(optimize))
        self.path = path_of(program.tree, len(self.shapes))
        self.slices: dict[Label, int] = {}
        if limit is not None and all(expression.sizes.values()):
            self.slices = slices_of(program.pairs, core.sizes, limit)
        self._expression = expression
        self._part = _with_sizes(core, sizes_of_part(core.sizes, self.slices))
        self.info = PathInfo(self._part, program.pairs)

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        """Contract the operands; ``out`` is an array of tenferro that the result is assigned to.

        The result is NumPy's if all operands are.
        """
        return in_kind(self._contracted(operands, out), (*operands, out), {})

    def _contracted(self, operands: Sequence[Any], out: Any) -> Array:
        arrays = [as_array(x) for x in operands]
        self._check(arrays)
        if not self.slices:
            return einsum(self.subscripts, *arrays, optimize=self.path, out=out)
        dtype = common_dtype(arrays, None, "safe")
        lines, terms = prepared_of(self._expression, dtype)
        values = run(lines, [cast(x, dtype) for x in arrays])
        program = program_of(self._part, dtype, choice(self.path))

        def contract(*parts: Array) -> Array:
            return run(program.lines, parts)[program.result]

        found = contracted_in_parts(
            contract, [values[term.value] for term in terms], self._part, self.slices
        )
        return found if out is None else into(out, found, "safe")

    def _check(self, arrays: Sequence[Array]) -> None:
        """Refuse operands of other shapes than the expression was made for."""
        shapes = tuple(x.shape for x in arrays)
        if shapes != self.shapes:
            error = ShapeMismatchError.of(
                "contract_expression", "operands differ from the shapes of the expression",
                got=f"shapes {shapes}", need=f"shapes {self.shapes}", shapes=shapes,
            )  # fmt: skip
            raise at_user_line(error)

    def __repr__(self) -> str:
        cut = ", ".join(f"{label} in {count}" for label, count in self.slices.items())
        return f"<ContractExpression {self._expression}, slices: {cut or 'none'}>"

    def __str__(self) -> str:
        return f"{self!r}\n{self.info}"


def _core(expression: Subscripts) -> Subscripts:
    """Return the expression that is left when each operand lost what it alone has."""
    terms = prepared_of(expression, float64).terms
    inputs = tuple(term.labels for term in terms)
    sizes = {x: expression.sizes[x] for labels in inputs for x in labels}
    return _with_sizes(Subscripts(inputs, expression.output, (), sizes), sizes)


def _with_sizes(expression: Subscripts, sizes: dict[Label, int]) -> Subscripts:
    """Return the expression for operands of other sizes."""
    shapes = tuple(tuple(sizes[x] for x in labels) for labels in expression.inputs)
    return Subscripts(expression.inputs, expression.output, shapes, sizes)


def _shape(given: Any) -> Shape:
    """Return a shape as a tuple of integers."""
    try:
        return tuple(index(n) for n in getattr(given, "shape", given))
    except TypeError:
        raise _refused("a shape is not a tuple of integers", "shapes", given) from None


def _limit(given: Any) -> int:
    """Return the number of elements that an intermediate may have."""
    is_number = hasattr(given, "__index__") and not isinstance(given, bool)
    if is_number and index(given) >= 1:
        return index(given)
    raise _refused("`memory_limit` is not a number of elements", "memory_limit", given)


def _refused(fact: str, parameter: str, value: Any) -> Exception:
    need = {"shapes": "tuples of integers, or arrays", "memory_limit": "an integer from 1 on"}
    error = InvalidParameterError.of(
        "contract_expression", fact, got=f"{value!r:.60}", need=need[parameter],
        parameter=parameter, value=value,
    )  # fmt: skip
    return at_user_line(error)
