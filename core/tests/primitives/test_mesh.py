"""Meshes and specs: values that are checked, printed, compared, hashed and pickled."""

import pickle

import pytest

import tenferro as tn
from tenferro.primitives import (
    Aval,
    Mesh,
    ShardingError,
    ShardingSpec,
    sharding_constraint,
    variable,
)
from tenferro.primitives._mesh import check_fits, made_mesh, made_spec

MESH = Mesh({"data": 4, "model": 2})


def test_a_mesh_is_a_value():
    same = made_mesh({"data": 4, "model": 2})
    assert (same, hash(same), repr(same)) == (MESH, hash(MESH), "Mesh(data=4, model=2)")
    assert pickle.loads(pickle.dumps(MESH)) == MESH
    assert (MESH.names, MESH.shape, MESH.size) == (("data", "model"), (4, 2), 8)
    assert MESH != Mesh({"model": 2, "data": 4})  # the order of the devices
    with pytest.raises(AttributeError):
        MESH.axes = ()


@pytest.mark.parametrize(
    "dimensions, text",
    [
        ((), "()"),
        ((None,), "(None,)"),
        (("data", ()), "('data', None)"),
        ((("data",), ("data2", "model")), "('data', ('data2', 'model'))"),
    ],
)
def test_a_spec_is_a_value_with_one_form(dimensions, text):
    spec = made_spec(dimensions, "f")
    again = pickle.loads(pickle.dumps(spec))
    assert (repr(spec), again, hash(again)) == (text, spec, hash(spec))
    with pytest.raises(AttributeError):
        spec.dimensions = ()


FITS = [((), (3, 5)), ((None, None), (3, 5)), (("data", "model"), (8, 2)), ((None,), (0,))]
FITS += [((("data", "model"),), (16,)), (("data",), (0,)), ((), ())]
MISFITS = [
    (("rows",), (8,), "no axis 'rows'", 0),
    ((None, "data"), (4, 6), "dimension 1 of size 6 cannot be split into 4", 1),
    ((("model", "data"),), (12,), "size 12 cannot be split into 8", 0),
    (("data",), (4, 4), "rank 1, the array of rank 2", None),
    (("data",), (), "rank 1, the array of rank 0", None),
]


@pytest.mark.parametrize("dimensions, shape", FITS)
def test_what_fits_is_not_refused(dimensions, shape):
    check_fits(ShardingSpec(dimensions), MESH, Aval(shape, "float64"), "f")


@pytest.mark.parametrize("dimensions, shape, fact, dimension", MISFITS)
def test_what_does_not_fit_says_who_what_and_what_to_do(dimensions, shape, fact, dimension):
    spec = ShardingSpec(dimensions)
    with pytest.raises(ShardingError, match=fact) as caught:
        check_fits(spec, MESH, Aval(shape, "float64"), "f")
    error = caught.value
    assert (error.spec, error.dimension, error.operation) == (spec, dimension, "f")
    assert all(word in str(error) for word in ("f: ", "got  ", "need  "))


@pytest.mark.parametrize("given", [3, "data", (3,), [("data",)], (("data", None),), {"data": 0}])
def test_what_is_not_a_spec_is_refused(given):
    with pytest.raises(ShardingError, match="not a spec"):
        made_spec(given, "f")


def test_an_axis_is_used_once():
    with pytest.raises(ShardingError, match="'data' is used twice") as caught:
        made_spec(("data", ("model", "data")), "f")
    assert caught.value.dimension == 1


def test_a_constraint_prints_its_spec_and_saves_it():
    x = variable("x", (8, 4), "f64")
    y = sharding_constraint(x, ("data", ("model",)))
    assert y.key.operation.spec == ("data", "model")
    assert pickle.loads(pickle.dumps(y.key.operation)) == y.key.operation


def test_the_public_mesh_is_made_from_a_mapping():
    assert tn.mesh({"data": 4, "model": 2}) == MESH
    with pytest.raises(tn.ShardingError) as caught:
        tn.mesh({"data": 0})
    assert "test_mesh.py" in "".join(caught.value.__notes__)
