"""Derivatives at singular points are those of the table, in both modes, eager and jitted."""

import numpy as np
import pytest
import singular_points
from scipy import special

import tenferro as tn
from tenferro.backend import select_backend

ROWS = singular_points.ROWS
#: XLA compiles for minutes what other backends interpret; it proves the compiled programs alone.
EAGER = [] if select_backend().name == "xla" else ROWS
NAMES = {"np": np, "special": tn.special, "linalg": np.linalg, "inf": np.inf, "nan": np.nan}
NAMES |= {"pi": np.pi, "complex": complex}
TOLERANCE = {"float64": 1e-13, "float32": 2e-6}


def case(row, dtype):
    """The function, its arguments and what its derivatives are, evaluated for a dtype."""
    info = np.finfo(dtype)
    names = NAMES | {"big": float(info.max / 4), "tiny": float(info.tiny)}
    arguments = row.arguments
    kind = np.result_type(dtype, 1j) if "z" in arguments else dtype
    parts = [part.split("=", 1)[1] for part in row.at.split(";")]
    values = [np.asarray(eval(part, dict(names)), kind) for part in parts]
    function = eval(f"lambda {', '.join(arguments)}: {row.function}", dict(names))
    wanted = eval(row.first, dict(names))
    wanted = wanted if len(arguments) > 1 else (wanted,)
    return function, values, wanted, eval(row.second or "None", dict(names))


def near(got, want, dtype):
    """Whether they agree; what is smaller than the smallest normal number counts as 0."""
    got, want = np.asarray(got), np.asarray(want)
    bound, least = TOLERANCE[dtype], 4 * float(np.finfo(dtype).tiny)
    with np.errstate(all="ignore"):
        return bool(np.all(np.isclose(got, want, rtol=bound, atol=least, equal_nan=True)))


def derivative(function, values, position, mode):
    """The derivative in one argument, the others held."""

    def alone(x):
        return function(*values[:position], x, *values[position + 1 :])

    x = values[position]
    is_complex = x.dtype.name.startswith("c")
    holomorphic = is_complex and tn.eval_shape(alone, x).dtype.name.startswith("c")
    if mode == "reverse":
        return tn.grad(alone, holomorphic=holomorphic)(x)
    if is_complex and not holomorphic:
        parts = [tn.jvp(alone, (x,), (np.asarray(d, x.dtype.name),))[1] for d in (1, 1j)]
        return parts[0] + 1j * parts[1]
    units = np.eye(x.size, dtype=x.dtype.name).reshape(x.size, *x.shape)
    found = [tn.jvp(alone, (x,), (unit,))[1] for unit in units]
    return np.reshape(np.stack(found), x.shape)


def table_holds(rows, dtype, compiled):
    """Compare the derivatives of rows with the table; `compiled` runs the function it is given."""
    cases = [case(row, dtype) for row in rows]

    def derivatives(every):
        return [
            [
                [derivative(function, values, i, mode) for mode in ("reverse", "forward")]
                for i in range(len(values))
            ]
            for (function, *_), values in zip(cases, every, strict=True)
        ]

    with np.errstate(all="ignore"):
        found = compiled(derivatives)([values for _, values, _, _ in cases])
    for row, got, (_, _, wanted, _) in zip(rows, found, cases, strict=True):
        for pair, want in zip(got, wanted, strict=True):
            assert all(near(x, want, dtype) for x in pair), (row, got)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("row", EAGER, ids=str)
def test_derivatives_at_singular_points_are_those_of_the_table(row, dtype):
    """∇f(x) = the table's, by gradients and by JVPs"""
    table_holds([row], dtype, lambda function: function)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("section", singular_points.SECTIONS)
def test_compiled_derivatives_at_singular_points_are_those_of_the_table(section, dtype):
    """∇f(x) = the table's, by gradients and by JVPs, in one program per section"""
    table_holds([row for row in ROWS if row.section == section], dtype, tn.jit)


def test_second_derivatives_at_singular_points_are_those_of_the_table():
    """∂²f/∂x² = the table's, forward over reverse and reverse over reverse"""
    rows = [row for row in ROWS if row.second]
    cases = [case(row, "float64") for row in rows]

    def seconds(every):
        found = []
        for (function, *_), (x, *others) in zip(cases, every, strict=True):
            first = tn.grad(lambda x, f=function, others=others: f(x, *others))
            found.append([tn.grad(first)(x), tn.jvp(first, (x,), (np.ones_like(x),))[1]])
        return found

    with np.errstate(all="ignore"):
        found = tn.jit(seconds)([values for _, values, _, _ in cases])
    wrong = [
        (row, got)
        for row, got, (*_, want) in zip(rows, found, cases, strict=True)
        if not all(near(x, want, "float64") for x in got)
    ]
    assert not wrong


def test_values_at_singular_points_are_those_of_numpy():
    """f(x) in tenferro = f(x) in NumPy and SciPy"""
    cases = [case(row, "float64") for row in ROWS]

    def ours(every):
        return [f(*values) for (f, *_), values in zip(cases, every, strict=True)]

    with np.errstate(all="ignore"):
        found = tn.jit(ours)([values for _, values, _, _ in cases])
        for row, got, (_, values, _, _) in zip(ROWS, found, cases, strict=True):
            names = NAMES | {"special": special}
            theirs = eval(f"lambda {', '.join(row.arguments)}: {row.function}", names)
            assert near(got, theirs(*values), "float64"), (row, got)
