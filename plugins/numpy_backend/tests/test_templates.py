"""The functions of common templates are those that the template would be compiled to."""

from types import CodeType

import numpy as np
import pytest

from tenferro_numpy.ir.expression import Expression, compiled
from tenferro_numpy.ir.templates import MAKERS


def alike(a, b):
    """Two pieces of code do the same: equal instructions on equal names and constants."""
    same = (a.co_code, a.co_names, a.co_varnames, a.co_freevars, a.co_argcount) == (
        b.co_code, b.co_names, b.co_varnames, b.co_freevars, b.co_argcount,
    )  # fmt: skip
    pairs = list(zip(a.co_consts, b.co_consts, strict=True))
    return same and all(
        alike(x, y) if isinstance(x, CodeType) else isinstance(x, str) or x == y for x, y in pairs
    )


def strings_in(code):
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return {c for c in code.co_consts if isinstance(c, str) and "lambda" not in c}.union(
        *map(strings_in, inner)
    )


@pytest.mark.parametrize("template, bound", MAKERS)
def test_a_function_is_what_its_template_would_be_compiled_to(template, bound):
    arity = Expression(template).operand_count
    made, expected = MAKERS[template, bound].__code__, compiled(template, arity, bound).__code__
    assert alike(made, expected)
    assert strings_in(made) == strings_in(expected)


def test_a_call_with_all_operands_in_order_is_the_bound_function_itself():
    operands = ", ".join([f"{{{i}}}" for i in range(12)])
    assert Expression(f"{{p0}}({operands})", (max,)).function() is max


def test_a_call_with_operands_in_another_order_is_not():
    assert Expression("{p0}({1}, {0})", (np.subtract,)).function()(1.0, 3.0) == 2.0
    assert Expression("{p0}({0}, {0})", (np.subtract,)).function()(1.0) == 0.0


def difference(op, x, y):
    return op * (x - y)


@pytest.mark.parametrize(
    "template, given, result",
    [
        ("{p0}({p1}, {0}, {1})", (1.0, 3.0), -4.0),
        ("{p0}({p1}, {1}, {0})", (1.0, 3.0), 4.0),
        ("{p0}({p1}, {0}, {0})", (1.0,), 0.0),
    ],
)
def test_a_contract_lowering_gets_its_operation_and_the_operands_in_the_order_of_the_template(
    template, given, result
):
    assert Expression(template, (difference, 2)).function()(*given) == result
