"""Arrays that are split: placed, computed with, donated, closed over, saved and loaded."""

import json
import pickle

import ml_dtypes
import numpy as np
import pytest

import tenferro as tn

X = np.arange(48.0).reshape(8, 6)
SPECS = [(), ("data", None), ("data", "model"), (None, "model"), (("model", "data"), None)]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "bool", "bfloat16"])
def test_an_array_on_a_mesh_is_the_array(mesh, spec, dtype):
    x = X.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    split = tn.shard(x, mesh, spec)
    assert (split.shape, split.dtype.name) == (x.shape, x.dtype.name)
    np.testing.assert_array_equal(np.asarray(split), x)


def test_in_one_process_its_rows_are_all_rows(mesh):
    rows = tn.from_local({"a": X, "b": X[0]}, mesh, {"a": ("data", None), "b": None})
    np.testing.assert_array_equal(np.asarray(rows["a"]), X)
    np.testing.assert_array_equal(np.asarray(rows["b"]), X[0])
    with pytest.raises(tn.ShardingError):
        tn.from_local(X, mesh, ("rows", None))
    with pytest.raises(tn.ShardingError):
        tn.from_local(X[:7], mesh, ("data", None))


def test_programs_without_jit_run_where_their_operands_are(mesh):
    x = tn.shard(X, mesh, ("data", None))
    y = np.sin(x) * 2 + 1
    tn.evaluate(y)
    assert len(y.key.operand.sharding.device_set) == 8
    np.testing.assert_allclose(np.asarray(y), np.sin(X) * 2 + 1, rtol=1e-15)
    assert float(np.sum(x)) == np.sum(X)


def test_gradients_without_jit_too(mesh):
    x = tn.shard(X, mesh, ("data", None))
    slope = tn.grad(lambda x: np.sum(tn.sharding_constraint(x, (None, "model")) ** 2))(x)
    np.testing.assert_array_equal(np.asarray(slope), 2 * X)


def test_a_function_closes_over_split_arrays(mesh):
    x, w = tn.shard(X, mesh, ("data", None)), np.ones(6)
    f = tn.jit(tn.grad(lambda w: np.sum(np.tanh(x @ w / 50))), backend="xla", mesh=mesh)
    wanted = X.T @ ((1 - np.tanh(X @ w / 50) ** 2) / 50)
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(f(w)), wanted, rtol=1e-12)


def test_closed_over_numpy_arrays_and_numbers_are_whole_everywhere(mesh):
    scale, row = 3.0, np.arange(6.0)
    f = tn.jit(lambda x: x * scale + row, backend="xla", mesh=mesh, in_shardings=(("data", None),))
    np.testing.assert_array_equal(f(X), X * 3 + row)


def test_other_shapes_are_other_programs(mesh):
    f = tn.jit(
        lambda x: np.sum(x, axis=0), backend="xla", mesh=mesh, in_shardings={"x": ("data", None)}
    )
    for count in (8, 16, 8):
        np.testing.assert_array_equal(f(np.ones((count, 3))), np.full(3, float(count)))
    assert f.cache_info().misses == 2
    with pytest.raises(tn.ShardingError):
        f(np.ones((9, 3)))


def test_arguments_without_a_spec_stay_split_as_they_come(mesh):
    f = tn.jit(lambda x: x * 2, backend="xla", mesh=mesh)
    for spec in SPECS:
        found = f(tn.shard(X, mesh, spec))
        np.testing.assert_array_equal(np.asarray(found), 2 * X)
    split = f(tn.shard(X, mesh, ("data", "model")))
    assert split.key.operand.addressable_shards[0].data.shape == (2, 3)


def test_arguments_move_to_where_a_spec_says(mesh):
    f = tn.jit(np.sum, backend="xla", mesh=mesh, in_shardings=(("data", None),))
    others = [X, tn.asarray(X), tn.shard(X, mesh, (None, "model"))]
    others.append(tn.shard(X, tn.mesh({"all": 8}), ("all", None)))
    for x in others:
        assert float(f(x)) == np.sum(X)


def test_results_are_numpys_where_all_arguments_are(mesh):
    f = tn.jit(lambda x: x * 2, backend="xla", mesh=mesh, in_shardings=(("data", None),))
    assert type(f(X)) is np.ndarray
    assert isinstance(f(tn.asarray(X)), tn.Array)


def test_float64_stays_float64_whatever_jax_is_told(mesh):
    import jax

    assert not jax.config.jax_enable_x64
    f = tn.jit(lambda x: x / 3, backend="xla", mesh=mesh, in_shardings=(("data", None),))
    assert f(X).dtype == np.float64
    np.testing.assert_allclose(f(X), X / 3, rtol=1e-15)
    assert not jax.config.jax_enable_x64


def test_containers_keywords_and_static_arguments_have_specs(mesh):
    def f(w, *, x, power):
        return {"y": [x @ w["a"], np.sum(w["b"][0]) ** power]}

    specs = {"w": {"a": (None, "model")}, "x": ("data", None)}
    jitted = tn.jit(
        f,
        backend="xla",
        mesh=mesh,
        static_argnames="power",
        in_shardings=specs,
        out_shardings={"y": [("data", "model"), ()]},
    )
    w = {"a": np.ones((6, 2)), "b": (np.ones(3), None)}
    found = jitted(w, x=X, power=2)
    np.testing.assert_allclose(found["y"][0], X @ w["a"])
    assert found["y"][1] == 9.0


def test_a_jitted_function_for_the_mesh_becomes_part_of_another(mesh):
    inner = tn.jit(lambda x: np.tanh(x), backend="xla", mesh=mesh, in_shardings=(("data", None),))
    outer = tn.jit(tn.grad(lambda x: np.sum(inner(x / 50) ** 2)), backend="xla", mesh=mesh)
    t = np.tanh(X / 50)
    np.testing.assert_allclose(outer(X), 2 * t * (1 - t**2) / 50, rtol=1e-12)
    graph = str(outer.lower(X))
    assert "sharding_constraint[spec=('data', None)]" in graph


@pytest.mark.parametrize("kind", ["array", "numpy"])
def test_donated_arguments_give_their_memory(mesh, kind):
    step = tn.jit(
        lambda w, g: {k: w[k] - g[k] for k in w},
        backend="xla",
        mesh=mesh,
        donate_argnums=0,
        in_shardings=(("data", None), ("data", None)),
        out_shardings=("data", None),
    )
    w = {"a": X.copy(), "b": X + 1}
    given = tn.shard(w, mesh, ("data", None)) if kind == "array" else w
    found = step(given, {"a": X, "b": X})
    np.testing.assert_array_equal(np.asarray(found["b"]), np.ones_like(X))
    if kind == "numpy":
        np.testing.assert_array_equal(w["b"], X + 1)  # memory of NumPy is not JAX's to take
    else:
        assert given["a"].key.operand.is_deleted()


def test_a_function_for_a_mesh_can_be_pickled(mesh):
    f = tn.jit(np.sum, backend="xla", mesh=mesh, in_shardings=(("data", None),))
    again = pickle.loads(pickle.dumps(f))
    assert again(X) == np.sum(X)
    assert pickle.loads(pickle.dumps(mesh)) == mesh


# ---- checkpoints ---------------------------------------------------------------------------------


def tree(mesh):
    return {
        "w": tn.shard(X, mesh, ("data", "model")),
        "moments": [tn.shard(X.astype("float32") / 3, mesh, (("data", "model"), None)), X[0]],
        "complex": tn.shard(X * 1j, mesh, ("data", None)),
        "low": tn.shard(X.astype(ml_dtypes.bfloat16), mesh, ("data", None)),
        "empty": np.zeros((0, 3)),
        "step": 7,
        "whole": tn.shard(X + 1, mesh, ()),
    }


@pytest.mark.parametrize("axes", [{"data": 4, "model": 2}, {"data": 2}, {"data": 1}, {"data": 8}])
def test_arrays_are_loaded_under_another_mesh(mesh, tmp_path, axes):
    saved = tree(mesh)
    tn.save_arrays(tmp_path / "a", saved)
    other = tn.mesh(axes)
    specs = {"w": ("data", None), "moments": [(None, None), None], "low": ("data", None)}
    found = tn.load_arrays(tmp_path / "a", other, specs)
    same(found, saved)
    same(tn.load_arrays(tmp_path / "a"), saved)


def same(found, saved):
    if isinstance(saved, dict):
        assert list(found) == list(saved)
        return [same(found[k], saved[k]) for k in saved]
    if isinstance(saved, list):
        return [same(f, s) for f, s in zip(found, saved, strict=True)]
    wanted = np.asarray(saved)
    assert np.asarray(found).dtype == wanted.dtype
    np.testing.assert_array_equal(np.asarray(found), wanted)


def test_each_part_is_written_once(mesh, tmp_path):
    tn.save_arrays(tmp_path, {"w": tn.shard(X, mesh, ("data", None))})
    assert len(list((tmp_path / "arrays").iterdir())) == 4  # and not once for each device


def cut(path, count=8):
    path.write_bytes(path.read_bytes()[:-count])


def named_outside(path):
    item = json.loads(path.read_text())
    item["arrays"][0]["parts"][0]["file"] = "../../etc/passwd"
    path.write_text(json.dumps(item))


def edited(path, old, new):
    path.write_text(path.read_text().replace(old, new, 1))


#: what happens to the manifest, and to the first file of an array
DAMAGES = {
    "no manifest": (lambda path: path.unlink(), None),
    "cut manifest": (cut, None),
    "changed manifest": (lambda path: edited(path, "float64", "float32"), None),
    "foreign manifest": (lambda path: path.write_text('{"format": "other", "schema": 1}'), None),
    "name outside": (named_outside, None),
    "cut file": (None, cut),
    "changed file": (None, lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\1")),
    "missing file": (None, lambda path: path.unlink()),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_not_whole_is_never_taken_for_whole(mesh, tmp_path, name):
    tn.save_arrays(tmp_path, {"w": tn.shard(X, mesh, ("data", None)), "b": X[0]})
    files = tmp_path / "manifest.json", min((tmp_path / "arrays").iterdir())
    for damage, file in zip(DAMAGES[name], files, strict=True):
        if damage is not None:
            damage(file)
    for arguments in ((), (mesh,)):
        with pytest.raises(tn.SerializationError, match="no whole checkpoint"):
            tn.load_arrays(tmp_path, *arguments)


@pytest.mark.parametrize("fails", range(6))
def test_an_interrupted_save_leaves_the_last_checkpoint(mesh, tmp_path, monkeypatch, fails):
    """Wherever a save stops, the directory is the old checkpoint"""
    import os

    old, new = tn.shard(X, mesh, ("data", None)), tn.shard(X + 1, mesh, ("data", None))
    tn.save_arrays(tmp_path, {"w": old})
    real, left = os.replace, [fails]

    def replace(*arguments):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return real(*arguments)

    monkeypatch.setattr(os, "replace", replace)
    try:
        tn.save_arrays(tmp_path, {"w": new})
    except KeyboardInterrupt:
        wanted = X
    else:
        wanted = X + 1
    assert (fails < 5) == (wanted is X)  # four parts and the manifest
    np.testing.assert_array_equal(tn.load_arrays(tmp_path)["w"], wanted)
    assert not list(tmp_path.rglob("*.part"))


def test_a_directory_that_is_not_there_is_a_typed_error(tmp_path):
    with pytest.raises(tn.FileAccessError):
        tn.load_arrays(tmp_path / "nothing")


def test_saved_parts_that_nothing_needs_are_removed(mesh, tmp_path):
    for i in range(3):
        tn.save_arrays(tmp_path, {"w": tn.shard(X + i, mesh, ("data", None))})
    assert len(list((tmp_path / "arrays").iterdir())) == 4
    assert list((tmp_path / "parts").iterdir()) == []
