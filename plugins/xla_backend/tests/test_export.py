"""``export``: programs in files that run with JAX alone."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro_xla import export, load_exported

A, X = np.array([[1.0, -0.5], [0.2, 0.9]]), np.array([0.3, -0.2])


def model(p, *, scale):
    return {"loss": np.sum(np.tanh(A @ p["x"])) * scale, "parts": (p["x"], [None])}


def exported(**options):
    return export(model, {"x": tn.Aval((2,), "float64")}, scale=2.0, **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.hlo"


def test_it_computes_what_the_function_does(path):
    exported().save(path)
    for program in exported(), load_exported(path):
        found = program({"x": X}, scale=3)
        np.testing.assert_allclose(found["loss"], np.sum(np.tanh(A @ X)) * 3, rtol=1e-14)
        np.testing.assert_array_equal(found["parts"][0], X)
        assert found["parts"][1] == [None]
        assert found["parts"][0].flags.writeable


def test_derivatives_with_rules_of_the_user_are_applied(path):
    @tn.custom_vjp
    def sine(x):
        return np.sin(x)

    sine.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (5 * ct,))
    export(tn.grad(lambda x: np.sum(sine(x))), X).save(path)
    np.testing.assert_array_equal(load_exported(path)(X), [5.0, 5.0])


def test_it_runs_where_tenferro_was_never_imported(path):
    exported().save(path)
    code = (
        "import sys, numpy, jax, jax.export\n"
        "jax.config.update('jax_enable_x64', True)\n"
        "program = jax.export.deserialize(bytearray(open(sys.argv[1], 'rb').read()))\n"
        f"print(float(program.call({{'x': numpy.array({X.tolist()})}}, scale=2.0)['loss']))\n"
        "print('tenferro' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    value, imported = done.stdout.split()
    np.testing.assert_allclose(float(value), 2 * np.sum(np.tanh(A @ X)), rtol=1e-14)
    assert imported == "False"


def test_one_file_for_several_platforms(path):
    exported(platforms=("cpu", "cuda", "rocm", "tpu")).save(path)
    program = load_exported(path)
    assert set(program.platforms) == {"cpu", "cuda", "rocm", "tpu"}
    np.testing.assert_allclose(program({"x": X}, scale=1.0)["loss"], np.sum(np.tanh(A @ X)))


def test_linear_algebra_loops_and_random_numbers():
    def function(x):
        noise = tn.random.normal(tn.random.key(2), (2,))
        c, _ = tn.scan(lambda c, r: (np.sin(c) + r, None), x, noise)
        return np.linalg.solve(A + np.eye(2), c)

    np.testing.assert_allclose(
        export(function, X)(X), tn.jit(function, backend="xla")(X), rtol=1e-13
    )


def test_the_text_is_stablehlo():
    text = str(exported())
    assert "stablehlo.tanh" in text
    assert "loc(" not in text
    assert repr(exported()) == "<StableHloProgram for cpu>"


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32", "bool"])
def test_dtypes_are_kept(dtype):
    x = np.array([1, 0]).astype(dtype)
    found = export(lambda x: x[::-1], x)(x)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, x[::-1])


@pytest.mark.parametrize(
    "got", [((X[:1],), {}), (({"x": X.astype("f4")},), {"scale": 1.0}), (({"x": X},), {})]
)
def test_other_arguments_are_refused(got):
    args, kwargs = got
    with pytest.raises(tn.OperandError, match="what it was exported for") as caught:
        exported()(*args, **kwargs)
    assert caught.value.need


@pytest.mark.parametrize("transform", [tn.grad, tn.jit, tn.vmap, tn.jacfwd])
def test_transforms_refuse_it(path, transform):
    """It has no equations to transform; made here and read from a file alike"""
    tn.export(np.sin, tn.Aval((), "f64")).save(path)
    for program in tn.export(np.sin, tn.Aval((), "f64")), tn.load_exported(path):
        with pytest.raises(tn.UnsupportedError, match="has no derivative") as caught:
            transform(program)(X[:1] if transform is tn.vmap else 0.5)
        assert "tn.export(tn.grad(f)" in caught.value.instead


def test_arrays_of_tenferro_are_values_outside_of_transforms():
    program = tn.export(np.sin, tn.Aval((2,), "f64"))
    np.testing.assert_array_equal(program(tn.asarray(X) * 2), program(X * 2))


def test_core_finds_it(path):
    """By the hook of the plugin; a backend that exports nothing says so"""
    program = tn.export(lambda x, *, scale: np.sin(x) * scale, X, scale=2.0, platforms="cpu")
    program.save(path)
    assert isinstance(program, tn.backend.ExportedProgram)
    assert program.avals == (tn.Aval((2,), "f64"), tn.Aval((), "f64"))
    found = tn.load_exported(path, backend="xla")(X, scale=2.0)
    np.testing.assert_array_equal(found, program(X, scale=2.0))
    np.testing.assert_allclose(found, np.sin(X) * 2, rtol=1e-15)


def test_only_functions_are_exported():
    with pytest.raises(TypeError, match="needs a function"):
        tn.export(X)


def test_a_program_for_another_platform_says_so():
    with pytest.raises(tn.DeviceUnavailableError, match="was exported for cuda"):
        exported(platforms=("cuda",))({"x": X}, scale=1.0)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(tn.FileAccessError, match=r"load_exported: .*No such file") as caught:
        tn.load_exported(tmp_path / "none.hlo")
    assert isinstance(caught.value, OSError)
    with pytest.raises(tn.FileAccessError, match="save"):
        exported().save(tmp_path / "none" / "model.hlo")


@pytest.mark.parametrize("platforms", [("metal",), (), ("cpu", "fpga")])
def test_unknown_platforms_are_refused(platforms):
    with pytest.raises(tn.UnsupportedError, match="platform"):
        exported(platforms=platforms)


@pytest.mark.parametrize(
    "function",
    [lambda x: tn.debug.print("{}", x) or x, lambda x: tn.host_callback(np.sin, x, results=x)],
    ids=["debug.print", "host_callback"],
)
def test_callbacks_are_refused(function):
    with pytest.raises(tn.UnsupportedError, match="calls back"):
        export(function, 1.0)


@pytest.mark.parametrize(
    "damage", [lambda d: d[:60], lambda d: b"", lambda d: b"not a program" * 9]
)
def test_a_damaged_file_is_refused(path, damage):
    exported().save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(tn.SerializationError, match="holds no exported program"):
        load_exported(path)


def test_a_changed_byte_is_found(path):
    """What runs is what was saved, or nothing"""
    program = tn.export(lambda x: x * 2, X)
    program.save(path)
    data = path.read_bytes()
    for place in range(0, len(data), len(data) // 50):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        path.write_bytes(bytes(changed))
        try:
            found = tn.load_exported(path)(X)
        except tn.SerializationError:
            continue
        np.testing.assert_array_equal(found, X * 2)  # the byte was one of the seal


def test_a_program_travels_in_a_pickle():
    program = tn.export(lambda x: x * 2, X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(program))(X), X * 2)


def test_a_path_that_no_system_has(tmp_path):
    with pytest.raises(tn.FileAccessError, match="embedded null"):
        tn.load_exported("a\0b")
    with pytest.raises(tn.FileAccessError, match="embedded null"):
        exported().save("a\0b")


def test_a_file_that_is_there_is_replaced_whole(path, monkeypatch):
    exported().save(path)
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(tn.FileAccessError, match="full"):
        exported().save(path)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


def test_a_python_integer_must_fit_the_dtype():
    program = tn.export(lambda x: x - 1, tn.Aval((), "int32"))
    assert program(2**31 - 1) == 2**31 - 2
    with pytest.raises(tn.OperandError, match="takes what it was exported for"):
        program(2**31)
