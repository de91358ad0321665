"""What holds for every primitive of the set: rules, closure, names, documentation."""

import doctest
import pickle
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest
import vocabulary
from vocabulary import derivatives, emitted, graph

from tenferro import primitives as p
from tenferro.primitives._checks import KINDS
from tenferro.tidu import MissingRuleError

CORE = {
    p.Add,
    p.Mul,
    p.Neg,
    p.Conj,
    p.Constant,
    p.DotGeneral,
    p.ReduceSum,
    p.Transpose,
    p.Reshape,
    p.BroadcastInDim,
    p.Gather,
    p.ScatterAdd,
}
DTYPES = [value for value in vars(p).values() if isinstance(value, p.DType)]
APPLICATIONS = vocabulary.applications()
FAMILIES = [
    import_module(module.name)
    for module in walk_packages(p.__path__, "tenferro.primitives.")
    if not module.name.rpartition(".")[2].startswith("_")
]


def _id(x):
    return getattr(x, "name", None)


@pytest.mark.parametrize("cls", p.STANDARD, ids=_id)
def test_every_primitive_is_applied(cls):
    rows = APPLICATIONS[cls]
    assert rows
    assert all(cls in emitted(f(*xs)) for f, xs in rows)


@pytest.mark.parametrize("cls", vocabulary.elementwise(), ids=_id)
def test_a_primitive_takes_the_dtypes_that_it_accepts(cls):
    """A dtype passes exactly if its category is one of ``KINDS[cls.accepts]``"""
    for dtype in DTYPES:
        avals = [p.Aval((2, 3), dtype)] * cls.input_count
        if dtype.category in KINDS[cls.accepts] and (cls is not p.Complex or dtype.bits >= 32):
            assert cls().abstract_eval(*avals).shape == (2, 3)
        else:
            with pytest.raises(p.DTypeMismatchError) as caught:
                cls().abstract_eval(*avals)
            assert caught.value.dtypes[0] is dtype


def test_what_a_primitive_accepts_has_a_name():
    assert {cls.accepts for cls in p.STANDARD} <= {None, *KINDS}


def test_a_primitive_without_a_statement_of_its_dtypes_says_what_is_missing():
    class Bare(p.Elementwise):
        key = "test::bare"

    with pytest.raises(MissingRuleError, match="has no `abstract_eval`"):
        p.bind(Bare(), p.variable("x", (2,), "f64"))


@pytest.mark.parametrize("cls", p.STANDARD, ids=_id)
def test_derivatives_stay_in_the_set(cls):
    """Rules of the set emit only the set, to second order"""
    for f, xs in APPLICATIONS[cls]:
        assert emitted([f(*xs), *derivatives(f, xs)]) <= set(p.STANDARD)


@pytest.mark.parametrize("cls", sorted(CORE, key=lambda cls: cls.key), ids=_id)
def test_the_core_is_closed(cls):
    """Rules of the core emit only the core, to second order"""
    for f, xs in APPLICATIONS[cls]:
        assert emitted([f(*xs), *derivatives(f, xs)]) <= CORE


@pytest.mark.parametrize("cls", p.STANDARD, ids=_id)
def test_derivatives_have_the_avals_of_what_they_belong_to(cls):
    for f, xs in APPLICATIONS[cls]:
        y = f(*xs)
        for x in xs:
            tangent, cotangent = vocabulary.jvp(y, x), vocabulary.vjp(y, x)
            assert tangent is None or tangent.aval is y.aval
            assert cotangent is None or cotangent.aval is x.aval
            assert (tangent is None) == (cotangent is None)


#: The rules of a host callback are parameters; those of loops and branches are their bodies'.
WITH_RULES = [c for c in p.STANDARD if c is not p.HostCallback and c.batch_bodies is None]


@pytest.mark.parametrize("cls", WITH_RULES, ids=_id)
def test_every_input_has_exactly_one_rule(cls):
    """``transpose`` where the primitive is linear, ``jvp`` where it is not, never both"""
    for f, xs in APPLICATIONS[cls]:
        applied = graph(f(*xs))
        for node in applied.nodes:
            if type(node.operation) is cls and cls.carries(node.operation, f(*xs).aval):
                _check_rules(node.operation, [applied.avals[i] for i in node.inputs])


#: Inputs that must not vary: a typed error says so where one does.
FIXED = {
    (p.LinearSolve, "factors"),
    (p.Zeta, "s"),
    *((p.PositiveSylvester, factor) for factor in ("s", "vh")),
    *((p.SylvesterSolve, factor) for factor in ("ta", "za", "tb", "zb")),
    *((cls, factor) for cls in (p.SvdTurns, p.SvdQuotient) for factor in ("u", "s", "vh")),
}


def _check_rules(op, avals):
    linear = {i for group in op.groups(len(avals)) for i in group}
    for i, aval in enumerate(avals):
        name = op._inputs[i] if i < len(op._inputs) else "each"
        if aval.dtype.is_inexact and (type(op), name) not in FIXED:
            found = [_rules(op, each) for each in (name, "each", "together")]
            rules = next(filter(any, found), found[0])
            assert rules == (i in linear, i not in linear) or _has_one_jvp_for_all(op, i, linear)


def _has_one_jvp_for_all(op, i, linear):
    """Whether a class of any number of inputs says how it varies with one that is not linear"""
    written = type(op).jvp_input not in (p.TensorPrimitive.jvp_input, p.Elementwise.jvp_input)
    return op.input_count is None and written and i not in linear


def _rules(op, name):
    """Whether an input has a rule to transpose, and a derivative"""
    derived = hasattr(op, f"jvp_{name}") or hasattr(op, "derivative")
    return hasattr(op, f"transpose_{name}"), derived


@pytest.mark.parametrize("cls", p.STANDARD, ids=_id)
def test_operations_are_values(cls):
    for f, xs in APPLICATIONS[cls]:
        for node in graph(f(*xs)).nodes:
            op = node.operation
            assert pickle.loads(pickle.dumps(op)) is op
            assert type(op)(**op.parameters) is op


def test_keys_are_names():
    assert [cls.key for cls in p.STANDARD] == sorted(f"std::{cls.name}" for cls in p.STANDARD)


def test_public_names():
    """Each public name is listed once and exists"""
    assert len(p.__all__) == len(set(p.__all__))
    assert all(hasattr(p, name) for name in p.__all__)


def test_every_primitive_has_a_function_of_its_name():
    for cls in p.STANDARD:
        assert callable(getattr(p, cls.name))


def test_every_function_has_an_example():
    tests = {
        test.name.rpartition(".")[2]
        for module in FAMILIES
        for test in doctest.DocTestFinder().find(module)
        if test.examples
    }
    assert {cls.name for cls in p.STANDARD} <= tests


@pytest.mark.parametrize("module", FAMILIES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_examples_run(module):
    """Examples of docstrings give what they show"""
    assert doctest.testmod(module).failed == 0


def test_no_array_library_is_imported():
    code = "import sys, tenferro.primitives; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "cupy", "jax", "opt_einsum"} & set(loaded)
