"""What a mesh cannot do is a typed error that says who, what came, where, and what to do."""

import pickle

import jax
import numpy as np
import pytest

import tenferro as tn

X = np.ones((8, 6))


def total(x, w=1.0):
    return np.sum(x * w)


def notes(error):
    return "\n".join(getattr(error, "__notes__", ()))


WRONG_SPECS = {
    "unknown axis": ({"x": ("rows", None)}, "no axis 'rows'", 0),
    "axis used twice": ({"x": ("data", "data")}, "used twice", 1),
    "not divisible": ({"x": (None, "data")}, "size 6 cannot be split into 4", 1),
    "not divisible by a product": ({"x": (None, ("data", "model"))}, "into 8 equal parts", 1),
    "wrong rank": ({"x": ("data",)}, "rank 1, the array of rank 2", None),
    "no spec": ({"x": 3}, "this is not a spec", None),
    "unknown argument": ({"y": ("data", None)}, "no argument is called y", None),
    "a spec instead of entries": (("data", None), "one entry for each argument", None),
    "too many entries": ((None, None, None), "3 entries", None),
    "another structure": ({"x": [None, None]}, "this is not a spec", None),
}


@pytest.mark.parametrize("name", WRONG_SPECS)
def test_wrong_shardings_of_arguments_are_refused(mesh, name):
    given, fact, dimension = WRONG_SPECS[name]
    f = tn.jit(total, backend="xla", mesh=mesh, in_shardings=given)
    with pytest.raises(tn.ShardingError, match=fact) as caught:
        f(X)
    assert caught.value.dimension == dimension
    assert "test_refusals.py" in notes(caught.value)
    assert "need " in str(caught.value)


def test_only_a_constraint_leaves_a_dimension_to_the_compiler(mesh):
    with pytest.raises(tn.ShardingError, match="leaves a dimension to the compiler") as caught:
        tn.shard(X, mesh, ("?", None))
    assert caught.value.dimension == 0


def test_a_wrong_spec_names_the_argument(mesh):
    f = tn.jit(lambda w: w["a"] + 1, backend="xla", mesh=mesh, in_shardings=({"a": ("data",)},))
    with pytest.raises(tn.ShardingError) as caught:
        f({"a": np.ones(6)})
    assert "in_shardings of w['a']" in notes(caught.value)


def test_wrong_shardings_of_results_are_refused(mesh):
    f = tn.jit(lambda x: x * 2, backend="xla", mesh=mesh, out_shardings=(None, "data"))
    with pytest.raises(tn.ShardingError, match="size 6 cannot be split") as caught:
        f(X)
    assert "out_shardings, result 0" in notes(caught.value)


@pytest.mark.parametrize("spec", [("data",), ("data", "data"), ("data", 3), "data"])
def test_wrong_constraints_are_refused_when_they_are_recorded(spec):
    with pytest.raises(tn.ShardingError):
        tn.trace(lambda x: tn.sharding_constraint(x, spec), X)


@pytest.mark.parametrize(
    "spec, fact", [(("rows", None), "no axis 'rows'"), ((None, "data"), "cannot be split")]
)
def test_constraints_that_a_mesh_cannot_meet_are_refused_when_compiled(mesh, spec, fact):
    f = tn.jit(lambda x: np.sum(tn.sharding_constraint(x, spec)), backend="xla", mesh=mesh)
    with pytest.raises(tn.ShardingError, match=fact) as caught:
        f(X)
    assert "test_refusals.py" in notes(caught.value)


@pytest.mark.parametrize("axes", [{}, {"a": 0}, {"a": -1}, {"a": 1.5}, {"": 2}, {3: 2}, 8, [2, 4]])
def test_meshes_without_a_meaning_are_refused(axes):
    with pytest.raises(tn.ShardingError, match="mesh") as caught:
        tn.mesh(axes)
    assert '{"data": 4, "model": 2}' in str(caught.value)


def test_too_few_devices_are_said_with_what_to_do():
    f = tn.jit(total, backend="xla", mesh=tn.mesh({"data": 64}))
    with pytest.raises(tn.DeviceUnavailableError, match="64 devices, and JAX sees 8") as caught:
        f(X)
    assert "xla_force_host_platform_device_count=64" in str(caught.value)


@pytest.mark.parametrize("option", ["in_shardings", "out_shardings"])
def test_shardings_need_a_mesh(option):
    with pytest.raises(tn.ShardingError, match=f"{option} without a mesh"):
        tn.jit(total, backend="xla", **{option: (("data", None),)})


@pytest.mark.parametrize("mesh", [8, {"data": 8}, "data"])
def test_a_mesh_is_made_by_mesh(mesh):
    with pytest.raises(tn.ShardingError, match="not a mesh"):
        tn.jit(total, backend="xla", mesh=mesh)
    with pytest.raises(tn.ShardingError, match="not a mesh"):
        tn.shard(X, mesh, ())


@pytest.mark.parametrize("other", [{"dynamic": True}, {"memory_budget": "1 MB"}])
def test_what_does_not_go_together_is_refused(mesh, other):
    with pytest.raises(tn.UnsupportedError, match="do not go together"):
        tn.jit(total, backend="xla", mesh=mesh, **other)


@pytest.mark.parametrize("inside", [False, True])
def test_callbacks_are_refused(mesh, inside):
    def step(c, _):
        tn.debug.print("{}", c)
        return c + 1, None

    def printed(x):
        if inside:
            return tn.scan(step, np.sum(x), None, 3)[0]
        tn.debug.print("{}", np.sum(x))
        return x

    f = tn.jit(printed, backend="xla", mesh=mesh)
    with pytest.raises(tn.UnsupportedError, match="calls back into Python") as caught:
        f(X)
    assert caught.value.feature == "callbacks in programs for a mesh"


@pytest.mark.parametrize("transform", [tn.grad, tn.vmap, lambda f: tn.jit(f, backend="xla")])
def test_a_function_for_a_mesh_inside_of_another_program_is_refused(mesh, transform):
    inner = tn.jit(total, backend="xla", mesh=mesh)
    with pytest.raises(tn.UnsupportedError, match="inside of another program") as caught:
        transform(inner)(X)
    assert "tn.jit(tn.grad(f), mesh=mesh" in str(caught.value)


def test_inside_of_a_program_for_another_mesh_too(mesh):
    inner = tn.jit(total, backend="xla", mesh=mesh)
    outer = tn.jit(lambda x: inner(x) * 2, backend="xla", mesh=tn.mesh({"data": 8}))
    with pytest.raises(tn.UnsupportedError, match=r"around a function for Mesh\(data=4, model=2\)"):
        outer(X)


def test_arrays_on_different_devices_do_not_meet_in_silence(mesh):
    x = tn.shard(X, mesh, ("data", None))
    y = tn.shard(X, tn.mesh({"data": 2}), ("data", None))
    with pytest.raises(tn.BackendError, match="split over different devices"):
        tn.evaluate(x + y)


def test_a_donated_array_cannot_be_read_again(mesh):
    f = tn.jit(
        lambda x: x + 1, backend="xla", mesh=mesh, donate_argnums=0, out_shardings=("data", None)
    )
    x = tn.shard(X, mesh, ("data", None))
    np.testing.assert_array_equal(np.asarray(f(x)), X + 1)
    with pytest.raises(tn.OperandError, match="donated"):
        np.asarray(x)
    with pytest.raises(tn.OperandError, match="donated"):
        f(x)


def buffers_of(x):
    """Another array with the same buffers."""
    given = x.key.operand
    parts = [shard.data for shard in given.addressable_shards]
    return jax.make_array_from_single_device_arrays(given.shape, given.sharding, parts)


OTHERS = {"x": lambda x: x, "of one memory": buffers_of}


@pytest.mark.parametrize("spec", [("data", None), ()])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_one_array_for_two_arguments_is_refused(mesh, spec, other):
    """XLA itself ends the process with a segmentation fault"""
    f = tn.jit(lambda x, y: x + y, backend="xla", mesh=mesh, donate_argnums=0, out_shardings=spec)
    x = tn.shard(X, mesh, spec)
    with pytest.raises(tn.OperandError, match="x is donated, and y is the same array"):
        f(x, other(x))
    np.testing.assert_array_equal(np.asarray(f(x, tn.shard(X, mesh, spec))), X + X)


def test_a_donated_array_that_is_a_captured_value_is_refused(mesh):
    x = tn.shard(X, mesh, ())
    f = tn.jit(lambda y: x * y, backend="xla", mesh=mesh, donate_argnums=0, out_shardings=())
    with pytest.raises(tn.OperandError, match="y is donated, and"):
        f(x)
    np.testing.assert_array_equal(np.asarray(f(tn.shard(X, mesh, ()))), X * X)


def test_errors_can_be_pickled(mesh):
    with pytest.raises(tn.ShardingError) as caught:
        tn.shard(X, mesh, ("rows", None))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.mesh, again.spec) == (str(caught.value), mesh, caught.value.spec)


@pytest.mark.parametrize("transform", [tn.grad, tn.jit, tn.vmap])
def test_what_is_put_on_a_mesh_is_a_value(mesh, transform):
    """Inside a transform its derivative would be 0 without a word"""
    with tn.use("xla"), pytest.raises(tn.TracedConversionError, match="shard: an array on which"):
        transform(lambda x: np.sum(tn.shard(x, mesh, ()) ** 2))(X)
    with tn.use("xla"):
        found = tn.grad(lambda x: np.sum(x * tn.shard(X, mesh, ("data", None))))(X)
    np.testing.assert_array_equal(np.asarray(found), X)


def test_a_backend_is_pickled_by_its_name():
    backend = tn.host().backend("xla")
    assert pickle.loads(pickle.dumps(backend)) is backend
