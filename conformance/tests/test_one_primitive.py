"""`tn.check_primitive`: each wrong rule breaks a law, and is the suspect that is named."""

import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import (
    Elementwise,
    Linear,
    Mixed,
    Mul,
    Multilinear,
    conj,
    constant,
    cos,
    div,
    exp,
    log,
    mul,
    pad,
    reshape,
    sin,
    slice,
    sub,
)

X = np.array([1.0, 4.0, 9.0])
Y = np.array([0.5, 3.0, 0.25])
Z = np.array([1 + 2j, -0.5j, 2.0])


class Neighbours(Linear):
    """y_i = x_{i+1} - x_i"""

    key = "mine::neighbours"

    def abstract_eval(self, x):
        return x.with_shape((x.shape[0] - 1,))

    def transpose_x(self, ct, x):
        zero = constant(0.0, x.dtype)
        return sub(pad(ct, zero, (1,), (0,), (0,)), pad(ct, zero, (0,), (1,), (0,)))

    def decompose(self, x):
        return sub(slice(x, (1,), x.shape), slice(x, (0,), (x.shape[0] - 1,)))


class XLogY(Mixed):
    """z = x log y"""

    key = "mine::xlogy"
    linear = ((0,),)

    def abstract_eval(self, x, y):
        return x

    def transpose_x(self, ct, x, y):
        return ct * conj(log(y))

    def jvp_y(self, dy, x, y, z):
        return div(x, y) * dy

    def decompose(self, x, y):
        return mul(x, log(y))


class SinCos(Mixed):
    """s, c = sin x, cos x"""

    key = "mine::sincos"
    linear = ()
    output_count = 2

    def abstract_eval(self, x):
        return x, x

    def jvp_x(self, dx, x, s, c):
        return c * dx, -(s * dx)

    def decompose(self, x):
        return sin(x), cos(x)


class Power(Elementwise):
    """y = eˣ"""

    key = "mine::power"
    accepts = "inexact"

    def derivative(self, x, y):
        return y

    def decompose(self, x):
        return exp(x)


class Product(Multilinear):
    """z = x y"""

    key = "mine::product"

    def abstract_eval(self, x, y):
        return x

    def transpose_x(self, ct, x, y):
        return ct * conj(y)

    def transpose_y(self, ct, x, y):
        return conj(x) * ct

    def decompose(self, x, y):
        return mul(x, y)


def broken(base, **rules):
    """A class with other rules."""
    return type(f"Broken{base.__name__}", (base,), {"key": f"{base.key}_broken", **rules})


RIGHT = [(Neighbours, X), (XLogY, X, Y), (SinCos, X), (Power, Z), (Power, X[0]), (Product, Z, Z),
         (Product, X[:0], X[:0])]  # fmt: skip
WRONG = [
    (broken(Neighbours, transpose_x=lambda self, ct, x: pad(
        ct, constant(0.0, x.dtype), (1,), (0,), (0,))), [X], "adjoint", "`transpose_x`"),
    (broken(Product, transpose_y=lambda self, ct, x, y: x * ct), [Z, Z], "adjoint", "`transpose_"),
    (broken(XLogY, jvp_y=lambda self, dy, x, y, z: x * dy), [X, Y], "derivative", "`jvp_y`"),
    (broken(XLogY, transpose_x=lambda self, ct, x, y: ct), [X, Y], "adjoint", "`transpose_x`"),
    (broken(Power, derivative=lambda self, x, y: y * y), [X], "derivative", "`derivative`"),
    (broken(SinCos, jvp_x=lambda self, dx, x, s, c: (c * dx, s * dx)), [X], "derivative",
     "`jvp_x`"),
    (broken(Neighbours, decompose=lambda self, x: slice(mul(x, x), (1,), x.shape)), [X],
     "linearity", "`decompose`"),
    (broken(Power, batch=lambda self, size, batched, x: [exp(reshape(x, x.shape) + x)]), [X],
     "batching", "`batch`"),
]  # fmt: skip


def identity_of(value):
    return value if isinstance(value, str) else None


@pytest.mark.parametrize("row", RIGHT, ids=lambda row: row[0].__name__)
def test_right_rules_break_no_law(row):
    cls, *operands = row
    checked = tn.check_primitive(cls, *operands, backend="numpy")
    assert {law.problem for law in checked.laws} == {""}
    assert {"adjoint", "derivative", "batching", "lowering"} <= {law.law for law in checked.laws}


@pytest.mark.parametrize("cls, operands, law, suspect", WRONG, ids=identity_of)
def test_a_wrong_rule_breaks_its_law_and_is_the_suspect(cls, operands, law, suspect):
    with pytest.raises(tn.PrimitiveCheckError) as caught:
        tn.check_primitive(cls, *operands, backend="numpy")
    rows = {row.law: row for row in caught.value.broken}
    assert suspect in rows[law].suspect
    assert f"suspect    {rows[law].suspect}" in str(caught.value)
    assert caught.value.primitive == cls.key


def test_integers_are_not_differentiated():
    laws = {row.law for row in tn.check_primitive(Mul(), [1, 2], [3, 4], backend="numpy").laws}
    assert "value" not in laws
    assert not laws & {"adjoint", "derivative"}
    assert "round trip" in laws


def test_operands_of_one_kind_are_chosen():
    """The transpose in y alone is asked, and is right where that in x is wrong"""
    cls = broken(Product, transpose_x=lambda self, ct, x, y: ct)
    assert tn.check_primitive(cls, X, Y, wrt=[1], order=1, backend="numpy").primitive == cls.key
    with pytest.raises(tn.PrimitiveCheckError):
        tn.check_primitive(cls, X, Y, wrt=[0], order=1, backend="numpy")


def test_an_error_of_a_rule_is_a_broken_law():
    def fails(self, ct, x):
        raise RuntimeError("not written")

    with pytest.raises(tn.PrimitiveCheckError, match="RuntimeError: not written"):
        tn.check_primitive(broken(Neighbours, transpose_x=fails), X, backend="numpy")


def test_without_the_kit_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tenferro_conformance.one_primitive", None)
    with pytest.raises(tn.KitNotInstalledError, match="pip install tenferro-conformance") as caught:
        tn.check_primitive(Mul(), 1.0, 2.0)
    assert caught.value.distribution == "tenferro-conformance"
    assert isinstance(caught.value, ImportError)


def test_the_laws_are_those_of_the_suite():
    """Every test that a run makes from a case is asked, those about levels excepted"""
    from tenferro_conformance.one_primitive import laws_of_cases

    found = {law.law for law in laws_of_cases()}
    assert found >= {"value", "aval", "fidelity", "purity", "linearity", "adjoint", "lowering",
                     "double transpose", "derivative", "order 2", "order 3", "batching",
                     "mode agreement", "identity", "round trip"}  # fmt: skip
    assert all(law.statement for law in laws_of_cases())


@pytest.mark.parametrize(
    "primitive, operands, error",
    [
        (object(), (), tn.ArgumentTypeError),
        (Mul, (), tn.ArgumentTypeError),
        (Mul(), ([1.0],), tn.ArgumentTypeError),
        (Mul(), ([1.0], [1.0, 2.0]), tn.ShapeMismatchError),
        (Mul(), ("a", "b"), tn.UnknownOperandError),
    ],
)
def test_operands_that_a_primitive_refuses_break_no_law(primitive, operands, error):
    with pytest.raises(error, match=r"check_primitive|array of str"):
        tn.check_primitive(primitive, *operands)
