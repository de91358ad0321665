"""What every primitive says of its result, and what it refuses, with the fields of the error."""

import pytest
from vocabulary import LAYOUT, WINDOW, var

from tenferro import primitives as p

S, D, C, I, B = "f32", "f64", "c128", "i64", "bool"  # noqa: E741


def dot(x, y, *axes, **rest):
    return p.dot_general(x, y, *axes, **rest)


RESULTS = [
    ("add", lambda: p.add(var((2,), D), var((2,), D)), "f64[2]"),
    ("add rank 0", lambda: p.add(var((), I), var((), I)), "i64[]"),
    ("abs complex", lambda: p.abs(var((2,), C)), "f64[2]"),
    ("abs c64", lambda: p.abs(var((2,), "c64")), "f32[2]"),
    ("sign complex", lambda: p.sign(var((2,), C)), "c128[2]"),
    ("eq complex", lambda: p.eq(var((2,), C), var((2,), C)), "bool[2]"),
    ("maximum bool", lambda: p.maximum(var((2,), B), var((2,), B)), "bool[2]"),
    ("complex", lambda: p.complex(var((2,), S), var((2,), S)), "c64[2]"),
    ("constant", lambda: p.constant(1, S, (2, 0)), "f32[2,0]"),
    ("iota", lambda: p.iota((2, 3), 0, I), "i64[2,3]"),
    ("reshape empty", lambda: p.reshape(var((0, 3)), (5, 0)), "f64[5,0]"),
    ("transpose", lambda: p.transpose(var((2, 3, 4)), (1, 2, 0)), "f64[3,4,2]"),
    ("broadcast", lambda: p.broadcast_in_dim(var((1, 3)), (2, 5, 3), (1, 2)), "f64[2,5,3]"),
    ("broadcast to nothing", lambda: p.broadcast_in_dim(var((1,)), (0,), (0,)), "f64[0]"),
    ("slice", lambda: p.slice(var((10, 3)), (1, 0), (8, 0), (3, 1)), "f64[3,0]"),
    ("pad", lambda: p.pad(var((3, 2)), 0, (1, -1), (2, 0), (1, 0)), "f64[8,1]"),
    ("pad empty", lambda: p.pad(var((0,)), 0, (1,), (2,), (5,)), "f64[3]"),
    ("concatenate", lambda: p.concatenate([var((2, 0)), var((2, 3))], 1), "f64[2,3]"),
    ("convert", lambda: p.convert(var((2,), C), "bool"), "bool[2]"),
    ("reduce_sum", lambda: p.reduce_sum(var((2, 3, 4)), (2, 0)), "f64[3]"),
    ("reduce_sum of nothing", lambda: p.reduce_sum(var((0, 3)), (0,)), "f64[3]"),
    ("reduce_prod of nothing", lambda: p.reduce_prod(var((0,)), (0,)), "f64[]"),
    ("reduce_max to nothing", lambda: p.reduce_max(var((0, 3)), (1,)), "f64[0]"),
    ("argmax", lambda: p.argmax(var((2, 3)), 0, "i32"), "i32[3]"),
    ("dot", lambda: dot(var((2, 3)), var((3, 4)), (1,), (0,)), "f64[2,4]"),
    ("dot of nothing", lambda: dot(var((2, 0)), var((0, 4)), (1,), (0,)), "f64[2,4]"),
    ("outer", lambda: dot(var((2,)), var((3,)), (), ()), "f64[2,3]"),
    (
        "dot batched",
        lambda: dot(var((2, 3, 4, 5)), var((5, 4, 7, 3)), (1, 3), (3, 0), (2,), (1,)),
        "f64[4,2,7]",
    ),
    (
        "dot preferred",
        lambda: dot(var((2,), S), var((2,), S), (0,), (0,), preferred=D),
        "f64[]",
    ),
    (
        "gather",
        lambda: p.gather(
            var((5, 3)), var((2, 7, 1), I), **{**LAYOUT, "offset_dims": (0,)}, mode="clip"
        ),
        "f64[3,2,7]",
    ),
    (
        "scatter_add",
        lambda: p.scatter_add(var((5, 3)), var((2, 1), I), var((2, 2)), **WINDOW, mode="drop"),
        "f64[5,3]",
    ),
    ("dynamic_slice", lambda: p.dynamic_slice(var((5, 3)), (var((), I), 1), (2, 0)), "f64[2,0]"),
    (
        "dynamic_update_slice",
        lambda: p.dynamic_update_slice(var((5,)), var((2,)), (var((), "uint8"),)),
        "f64[5]",
    ),
]


@pytest.mark.parametrize("make, text", [row[1:] for row in RESULTS], ids=[r[0] for r in RESULTS])
def test_avals(make, text):
    """Results have the stated shapes and dtypes"""
    assert str(make().aval) == text


def gather(x, indices, **changes):
    return p.gather(x, indices, **{**LAYOUT, "mode": "clip", **changes})


def scatter(x, indices, updates, **changes):
    return p.scatter_add(x, indices, updates, **{**WINDOW, "mode": "drop", **changes})


Shape, Dtype, Bad = p.ShapeMismatchError, p.DTypeMismatchError, p.InvalidParameterError
M = var((2, 3))
ERRORS = [
    (lambda: p.add(M, var((3, 2))), Shape, {"operation": "add", "shapes": ((2, 3), (3, 2))}),
    (lambda: p.add(M, var(())), Shape, {"shapes": ((2, 3), ())}),
    (lambda: p.mul(M, var((2, 3), S)), Dtype, {"dtypes": (p.float64, p.float32)}),
    (lambda: p.add(var((2,), B), var((2,), B)), Dtype, {"operation": "add"}),
    (lambda: p.sub(M, p.constant(0, S, (2, 3))), Dtype, {"operation": "sub"}),
    (lambda: p.mul(M, p.constant(1, D, ())), Shape, {"operation": "mul"}),
    (lambda: p.sin(var((2,), I)), Dtype, {"operation": "sin", "dtypes": (p.int64,)}),
    (lambda: p.erf(var((2,), C)), Dtype, {"operation": "erf"}),
    (lambda: p.lt(var((2,), C), var((2,), C)), Dtype, {"operation": "lt"}),
    (lambda: p.logical_and(M, M), Dtype, {"operation": "logical_and"}),
    (lambda: p.select(M, M, M), Dtype, {"operation": "select"}),
    (lambda: p.select(var((2,), B), M, M), Shape, {"operation": "select"}),
    (lambda: p.imag(M), Dtype, {"operation": "imag"}),
    (lambda: p.complex(var((), "f16"), var((), "f16")), Dtype, {"operation": "complex"}),
    (lambda: p.integer_pow(var((), I), -1), Bad, {"parameter": "exponent", "value": -1}),
    (lambda: p.constant(300, "int8"), Bad, {"parameter": "value", "value": 300}),
    (lambda: p.constant(-1, "uint8"), Bad, {"parameter": "value", "value": -1}),
    (lambda: p.constant(1.5, I), Bad, {"parameter": "value", "value": 1.5}),
    (lambda: p.constant("1", D), Bad, {"parameter": "value", "value": "1"}),
    (lambda: p.constant(1j, D), Bad, {"parameter": "value", "value": 1j}),
    (lambda: p.constant(1, "f9"), p.UnknownDTypeError, {"value": "f9"}),
    (lambda: p.constant(1, D, (-1,)), Bad, {"parameter": "shape", "value": (-1,)}),
    (lambda: p.iota((2,), 1, I), Bad, {"parameter": "dimension", "value": 1}),
    (lambda: p.iota((2,), 0, B), Dtype, {"operation": "iota"}),
    (lambda: p.reshape(M, (4,)), Shape, {"shapes": ((2, 3), (4,))}),
    (lambda: p.reshape(M, (2.0, 3)), Bad, {"parameter": "shape"}),
    (lambda: p.transpose(M, (0,)), Bad, {"parameter": "permutation", "value": (0,)}),
    (lambda: p.transpose(M, (0, 0)), p.AxisError, {"parameter": "permutation", "value": (0, 0)}),
    (lambda: p.broadcast_in_dim(M, (2, 4), (0, 1)), Shape, {"shapes": ((2, 3), (2, 4))}),
    (lambda: p.broadcast_in_dim(M, (3, 2), (1, 0)), Bad, {"parameter": "dimensions"}),
    (lambda: p.broadcast_in_dim(M, (2, 3), (0,)), Bad, {"parameter": "dimensions"}),
    (lambda: p.broadcast_in_dim(M, (2, 3), (0, 2)), p.AxisError, {"parameter": "dimensions"}),
    (lambda: p.slice(M, (0, 0), (2, 4)), Bad, {"parameter": "limit", "value": (2, 4)}),
    (lambda: p.slice(M, (0, 0), (2, 3), (1, 0)), Bad, {"parameter": "strides"}),
    (lambda: p.slice(M, (0,), (2,)), Bad, {"parameter": "start"}),
    (lambda: p.pad(M, var((1,)), (0, 1), (0, 0), (0, 0)), Shape, {"shapes": ((1,),)}),
    (lambda: p.pad(M, var((), S), (0, 1), (0, 0), (0, 0)), Dtype, {"operation": "pad"}),
    (lambda: p.pad(M, 0, (-2, 0), (-1, 0), (0, 0)), Bad, {"parameter": "low"}),
    (lambda: p.concatenate([], 0), Bad, {"parameter": "xs"}),
    (lambda: p.concatenate([M, var((3, 2))], 0), Shape, {"operation": "concatenate"}),
    (lambda: p.concatenate([M], 2), p.AxisError, {"parameter": "dimension", "value": (2,)}),
    (lambda: p.reverse(M, (2,)), p.AxisError, {"parameter": "dimensions"}),
    (lambda: p.reduce_sum(M, (2,)), p.AxisError, {"parameter": "axes", "value": (2,)}),
    (lambda: p.reduce_sum(M, (-1,)), Bad, {"parameter": "axes"}),
    (lambda: p.reduce_sum(M, (0, 0)), p.AxisError, {"parameter": "axes", "value": (0, 0)}),
    (lambda: p.reduce_sum(var((2,), B), ()), Dtype, {"operation": "reduce_sum"}),
    (lambda: p.reduce_max(var((0, 3)), (0,)), Bad, {"parameter": "axes", "value": (0,)}),
    (lambda: p.reduce_min(var((2,), C), (0,)), Dtype, {"operation": "reduce_min"}),
    (lambda: p.argmax(var((2, 0)), 1), Bad, {"parameter": "axis", "value": 1}),
    (lambda: p.argmin(M, 0, D), Dtype, {"operation": "argmin", "dtypes": (p.float64,)}),
    (lambda: dot(M, M, (1,), (0,)), Shape, {"shapes": ((2, 3), (2, 3))}),
    (lambda: dot(M, M, (1,), ()), Shape, {"operation": "dot_general"}),
    (lambda: dot(M, M, (), (), (0,), (1,)), Shape, {"operation": "dot_general"}),
    (lambda: dot(M, M, (1,), (1,), (1,), (1,)), p.AxisError, {"value": (1, 1)}),
    (lambda: dot(M, M, (1,), (1,), preferred=S), Dtype, {"dtypes": (p.float64, p.float32)}),
    (lambda: gather(M, var((2, 1))), Dtype, {"operation": "gather"}),
    (lambda: gather(M, var((2, 2), I)), Shape, {"shapes": ((2, 3), (2, 2))}),
    (lambda: gather(M, var((2, 1), I), mode="wrap"), Bad, {"parameter": "mode", "value": "wrap"}),
    (lambda: gather(M, var((2, 1), I), slice_sizes=(2, 3)), Bad, {"parameter": "slice_sizes"}),
    (lambda: gather(M, var((2, 1), I), slice_sizes=(1, 4)), Bad, {"value": (1, 4)}),
    (lambda: gather(M, var((2, 1), I), offset_dims=()), Bad, {"parameter": "offset_dims"}),
    (lambda: gather(M, var((2, 1), I), offset_dims=(2,)), p.AxisError, {"value": (2,)}),
    (lambda: scatter(M, var((4, 1), I), var((5, 3))), Shape, {"operation": "scatter_add"}),
    (lambda: scatter(M, var((4, 1), I), var((4, 7))), Shape, {"operation": "scatter_add"}),
    (lambda: scatter(M, var((4, 1), I), var((4, 3)), mode="fill"), Bad, {"parameter": "mode"}),
    (lambda: p.dynamic_slice(M, (0,), (1, 1)), Shape, {"shapes": ((2, 3), (1,))}),
    (lambda: p.dynamic_slice(M, (0, 0), (3, 1)), Bad, {"parameter": "sizes", "value": (3, 1)}),
    (lambda: p.dynamic_slice(M, (var(()), var(())), (1, 1)), Dtype, {"dtypes": (p.float64,)}),
    (lambda: p.dynamic_slice(M, (var((1,), I), 0), (1, 1)), Shape, {"shapes": ((1,),)}),
    (lambda: p.dynamic_update_slice(M, var((3, 1)), (0, 0)), Shape, {"shapes": ((2, 3), (3, 1))}),
]


@pytest.mark.parametrize("make, error, fields", ERRORS)
def test_refusals(make, error, fields):
    """Operands that do not fit are a typed error with its fields in the text"""
    with pytest.raises(error) as raised:
        make()
    assert {name: getattr(raised.value, name) for name in fields} == fields
    assert raised.value.got in str(raised.value)
    assert raised.value.need in str(raised.value)


@pytest.mark.parametrize(
    "error, builtin",
    [
        (p.ShapeMismatchError, ValueError),
        (p.DTypeMismatchError, TypeError),
        (p.UnknownDTypeError, TypeError),
        (p.InvalidParameterError, ValueError),
        (p.AxisError, IndexError),
    ],
)
def test_errors_are_what_users_catch(error, builtin):
    assert issubclass(error, builtin)


def test_the_text_of_an_error(golden):
    with pytest.raises(Shape) as raised:
        dot(var((3, 4)), var((5, 6)), (1,), (0,))
    equation = raised.value.__notes__[0]
    golden("shape_mismatch_error", f"ShapeMismatchError: {raised.value}\n{equation}")


def test_errors_tell_of_operands_in_the_order_given():
    """Operands of commutative operations are ordered by their age; those of an error are not."""
    older, younger = p.variable("older", (3, 2), D), p.variable("younger", (2, 3), D)
    for x, y in ((older, younger), (younger, older)):
        for operation in (p.mul, p.add, p.eq):
            with pytest.raises(Shape) as raised:
                operation(x, y)
            assert raised.value.shapes == (x.shape, y.shape)
