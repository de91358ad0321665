"""Saved functions: they compute what they computed, derivatives too, and files are data."""

import json
import pickle
import subprocess
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import tenferro as tn
from tenferro.storage import fingerprint
from tenferro.transforms.saving import archive
from tenferro.transforms.saving.save import CODECS

RNG = np.random.default_rng(5)
A, X = RNG.normal(size=(3, 3)), np.array([0.3, -0.7, 1.1])


def looped(x):
    def step(c, r):
        return tn.cond(r > 0, lambda c: np.sin(c) * r, lambda c: c + r, c), np.sum(c)

    c, ys = tn.scan(step, x, np.array([0.4, -0.2, 0.9]))
    return np.sum(c) + np.sum(ys)


FUNCTIONS = {
    "elements": lambda x: np.sum(np.exp(x) * np.where(x > 0, x, 2 * x)),
    "closure": lambda x: np.sum(np.tanh(A @ x)) * 2.5,
    "linear algebra": lambda x: np.linalg.slogdet(np.outer(x, x) + 2 * np.eye(3))[1],
    "factorization": lambda x: np.sum(np.linalg.svd(A + np.outer(x, x))[1]),
    "einsum": lambda x: np.einsum("ij,j,i->", A, x, x),
    "indices": lambda x: x[1] * np.sum(x[::-1][np.array([0, 2])]),
    "loop": looped,
    "while": lambda x: np.sum(
        tn.while_loop(lambda c: np.sum(c) < 9, lambda c: c * 2 + 1, x, max_steps=9)
    ),
    "checkpoint": lambda x: np.sum(tn.checkpoint(lambda y: np.sin(y) * y)(x)),
    "random": lambda x: np.sum(tn.random.normal(tn.random.key(3), (3,)) * x**2),
    "complex": lambda x: np.abs(np.sum(np.exp(1j * x) * A[0])) ** 2,
    "special": lambda x: np.sum(tn.special.gammaln(np.abs(x) + 1)),
    "stopped": lambda x: np.sum(tn.stop_gradient(x) * x),
    "gradient": lambda x: np.sum(tn.grad(looped)(x) ** 2),
    "jitted": tn.jit(lambda x: np.sum(x**3)),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "function.tng"


def again(path, function, *args, **kwargs):
    tn.save_graph(path, function, *args, **kwargs)
    return tn.load_graph(path)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives_are_those_of_the_function(name, path):
    """f, ∇f and ∇(v·∇f), the value bit for bit under the same compilation"""
    function = FUNCTIONS[name]
    found = again(path, function, X)
    assert np.asarray(found(X)) == np.asarray(tn.jit(function)(X))
    np.testing.assert_allclose(tn.grad(found)(X), tn.grad(function)(X), rtol=1e-12, atol=1e-14)
    products = [tn.hvp(f)(X, X[::-1].copy()) for f in (found, function)]
    np.testing.assert_allclose(*products, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_graph_is_the_one_that_was_saved(name, path):
    """Equal fingerprints, and saving it again writes the same bytes"""
    found = again(path, FUNCTIONS[name], X)
    graph = tn.jit(FUNCTIONS[name]).lower(X)
    assert fingerprint(found.graph, codecs=CODECS) == fingerprint(graph, codecs=CODECS)
    first = path.read_bytes()
    tn.save_graph(path, FUNCTIONS[name], X)
    assert path.read_bytes() == first


def test_batches_and_compiled_programs(path):
    found = again(path, FUNCTIONS["closure"], X)
    rows = RNG.normal(size=(4, 3))
    expected = [FUNCTIONS["closure"](row) for row in rows]
    np.testing.assert_allclose(tn.vmap(found)(rows), expected, rtol=1e-12)
    np.testing.assert_allclose(tn.jit(tn.vmap(tn.grad(found)))(rows)[2], tn.grad(found)(rows[2]))


def test_structures_of_arguments_and_results(path):
    def model(params, pair, *, scale, shift=None):
        total = np.sum(params["w"] @ params["b"]) * scale + pair[0] * pair[1][0]
        return {"loss": total, "parts": (params["b"], [None, shift])}

    params = {"w": A, "b": X}
    args, kwargs = (params, (2.0, [np.float32(3.0)])), {"scale": 4, "shift": X}
    found = again(path, model, *args, **kwargs)
    result = found(*args, **kwargs)
    expected = model(*args, **kwargs)
    assert list(result) == list(expected)
    assert type(result["parts"]) is tuple
    assert result["parts"][1][0] is None
    np.testing.assert_allclose(result["loss"], expected["loss"])
    np.testing.assert_array_equal(result["parts"][1][1], X)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32", "bool"])
def test_dtypes_are_kept(dtype, path):
    x = np.array([1, 0, 1]).astype(dtype)
    found = again(path, lambda x: (x, np.array([True, False, True]) & (x != 0)), x)
    same, other = found(x)
    assert same.dtype == dtype
    np.testing.assert_array_equal(other, [True, False, True])


def test_a_shape_is_enough_to_save(path):
    found = again(path, lambda x: np.sum(x), tn.Aval((2, 0), "float32"))
    assert found(np.ones((2, 0), "float32")) == 0


def test_a_number_takes_the_dtype_that_was_saved(path):
    found = again(path, lambda x, n: x * n, np.float32(1.5), 2)
    assert found(2.0, True).dtype == np.float32
    with pytest.raises(tn.OperandError, match=r"n: f64\[\]"):
        found(2.0, 2.5)


def test_static_arguments_keep_their_values(path):
    power = tn.jit(lambda x, n: x**n, static_argnums=1)
    assert again(path, power, 2.0, 3)(5.0) == 125


def test_a_saved_function_is_pickled_and_saved_again(path):
    found = again(path, FUNCTIONS["closure"], X)
    copy = pickle.loads(pickle.dumps(found))
    assert copy(X) == found(X) == again(path, found, X)(X)


def test_another_process_on_another_backend_computes_the_same(path):
    """It never saw the function"""
    tn.save_graph(path, FUNCTIONS["closure"], X)
    code = (
        "import sys, numpy as np, tenferro as tn\n"
        "f = tn.load_graph(sys.argv[1], backend='numpy')\n"
        f"print(repr(float(f(np.array({X.tolist()})))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    np.testing.assert_allclose(float(done.stdout), FUNCTIONS["closure"](X), rtol=1e-14)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "got",
    [(X[:2],), (X.astype("float32"),), ([X],), (X, X), ()],
    ids=["shape", "dtype", "structure", "more", "fewer"],
)
def test_other_arguments_are_refused(got, path):
    found = again(path, FUNCTIONS["closure"], X)
    with pytest.raises(
        tn.OperandError, match="a saved function takes what it was saved for"
    ) as caught:
        found(*got)
    assert caught.value.need
    assert Path(__file__).name in str(caught.value.__notes__)


def ruled(x):
    @tn.custom_vjp
    def sine(x):
        return np.sin(x)

    sine.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (5 * ct,))
    return sine(x)


def printed(x):
    tn.debug.print("{}", x)
    return x


REFUSED = {
    "derivative rule": ruled,
    "derivative rule in a loop": lambda x: tn.scan(lambda c, _: (ruled(c), None), x, None, 3)[0],
    "prints or calls back": printed,
    "OrderedDict": lambda x: OrderedDict(a=x),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_data_is_refused(what, path):
    """A rule that were lost would be another derivative"""
    with pytest.raises(tn.SerializationError, match=what.split(" in ")[0]) as caught:
        tn.save_graph(path, REFUSED[what], 1.0)
    assert "hint" in str(caught.value)
    assert not path.exists()


def root(a):
    return tn.custom_root(
        lambda x: x * x - a, 1.0 + 0 * a, lambda f, x: np.sqrt(a), lambda g, y: y / g(1.0)
    )


def solution(a):
    return tn.custom_linear_solve(lambda x: a @ x, a[0], lambda f, b: np.linalg.solve(a, b))


MATRIX = np.diag([3.0, 2.0, 1.0])
OWN_RULES = {
    "`custom_root`": (root, 2.0),
    "`custom_root`, batched": (tn.vmap(root), X),
    "`custom_linear_solve`": (solution, MATRIX),
    "`low_rank`": (lambda a: tn.linalg.low_rank(a, 1), MATRIX),
    "`spectral_function`": (lambda a: tn.linalg.spectral_function(a, np.exp), MATRIX),
    "`tenferro.stats.poisson`": (lambda k: tn.stats.poisson.logpmf(k, 0.3), 2.0),
    "`tenferro.stats.binom`": (lambda k: tn.stats.binom.logpmf(k, 5, 0.3), 2.0),
}


@pytest.mark.parametrize("what", OWN_RULES)
def test_a_function_of_ours_with_a_rule_in_python_is_named(what, path):
    function, x = OWN_RULES[what]
    with pytest.raises(tn.SerializationError, match=what.split(",")[0]) as caught:
        tn.save_graph(path, function, x)
    assert "rule of the user" not in str(caught.value)
    assert "`tn.stop_gradient(f(x))`" in str(caught.value)
    values = again(path, lambda x: tn.stop_gradient(function(x)), x)
    np.testing.assert_allclose(values(x), function(x), rtol=1e-14)


@pytest.mark.parametrize("what", ["`custom_root`", "`low_rank`", "`spectral_function`"])
def test_the_derivative_of_such_a_function_is_saved_as_the_hint_says(what, path):
    function, x = OWN_RULES[what]
    slope = tn.grad(lambda x: np.sum(function(x)))
    with pytest.raises(tn.SerializationError, match=r"`tn.stop_gradient\(tn.grad\(f\)\(x\)\)`"):
        tn.save_graph(path, function, x)
    found = again(path, lambda x: tn.stop_gradient(slope(x)), x)
    np.testing.assert_allclose(found(x), slope(x), rtol=1e-14)


@pytest.mark.parametrize(
    "function", [lambda a: tn.linalg.polar(a)[0], lambda a: tn.linalg.pfaffian(a - a.T)]
)
def test_functions_whose_derivatives_are_primitives_are_saved_with_them(function, path):
    a = np.arange(16.0).reshape(4, 4) + np.diag([3.0, 1.0, 2.0, 4.0]) @ np.tri(4)
    loss = lambda f: tn.grad(lambda a: np.sum(f(a) ** 2 * (1 + np.abs(a[0, 1]))))  # noqa: E731
    np.testing.assert_allclose(loss(again(path, function, a))(a), loss(function)(a), atol=1e-10)


def test_the_derivative_by_a_rule_and_the_value_alone_are_saved(path):
    assert again(path, tn.grad(ruled), 1.0)(2.0) == 5
    np.testing.assert_allclose(
        again(path, lambda x: tn.stop_gradient(ruled(x)), 1.0)(2.0), np.sin(2)
    )


def test_a_value_of_an_outer_transform_is_refused(path):
    def outer(x):
        tn.save_graph(path, lambda y: x * y, 1.0)
        return x

    with pytest.raises(tn.LeakedArrayError, match=r"save_graph: .* outer transform"):
        tn.grad(outer)(1.0)


def changed(path, member, change):
    """Write the file anew, with one member changed."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(path, "w") as new:
        for name, data in members.items():
            new.writestr(name, data)


def about(**more):
    return lambda data: json.dumps({**json.loads(data), **more}).encode()


def without(name):
    return lambda data: json.dumps(
        {key: x for key, x in json.loads(data).items() if key != name}
    ).encode()


def replaced(path, signature, offset, data):
    """Write bytes over the first record of the zip that starts with a signature."""
    whole = bytearray(path.read_bytes())
    start = whole.index(signature) + offset
    whole[start : start + len(data)] = data
    path.write_bytes(whole)


DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "empty": lambda path: path.write_bytes(b""),
    "foreign": lambda path: path.write_bytes(b"PK nothing"),
    "another graph": lambda path: changed(
        path, "graph.json", lambda d: d.replace(b"tanh", b"sinh")
    ),
    "newer schema": lambda path: changed(path, "about.json", about(schema=99)),
    "another format": lambda path: changed(path, "about.json", about(format="npz")),
    "no schema": lambda path: changed(path, "about.json", about(schema=None)),
    "malformed": lambda path: changed(path, "about.json", lambda d: d[:-3]),
    "structure": lambda path: changed(path, "about.json", about(inputs={"set": [1]})),
    "leaves": lambda path: changed(path, "about.json", about(inputs={"list": [0, 0, 0]})),
    "no arrays": lambda path: changed(path, "about.json", about(captured=["0" * 64])),
    "arrays without names": lambda path: changed(path, "about.json", about(captured=[[]])),
    "another number of arrays": lambda path: changed(path, "about.json", about(captured=[])),
    "no arguments": lambda path: changed(path, "about.json", without("inputs")),
    "no results": lambda path: changed(path, "about.json", without("outputs")),
    "another compression": lambda path: replaced(path, b"PK\x01\x02", 10, b"\x63"),
    "encrypted": lambda path: replaced(path, b"PK\x01\x02", 8, b"\x01"),
    "another place of a member": lambda path: replaced(path, b"PK\x05\x06", 16, b"\xff" * 4),
}


SAVING = {
    "save_graph": lambda path: tn.save_graph(path, lambda x: OrderedDict(a=x), X),
    "save_arrays": lambda path: tn.save_arrays(path, [OrderedDict(a=np.ones(2))]),
}


@pytest.mark.parametrize("function", SAVING)
def test_a_container_of_another_class_is_refused_by_the_function_that_was_called(function, path):
    with pytest.raises(tn.SerializationError, match=f"{function}: .*OrderedDict") as caught:
        SAVING[function](path)
    assert caught.value.fields["container"] == "OrderedDict"
    assert not path.exists()


def test_specs_without_a_mesh_are_refused(path):
    """They would be ignored, and the arrays whole"""
    tn.save_arrays(path, X)
    with pytest.raises(tn.ShardingError, match="load_arrays: specs split arrays over a mesh"):
        tn.load_arrays(path, None, ("data",))


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused(damage, path):
    tn.save_graph(path, FUNCTIONS["closure"], X)
    DAMAGE[damage](path)
    with pytest.raises(tn.SerializationError, match="load_graph"):
        tn.load_graph(path)


def test_an_array_that_was_changed_is_refused(path):
    tn.save_graph(path, FUNCTIONS["closure"], X)
    with zipfile.ZipFile(path) as file:
        name = next(name for name in file.namelist() if name.endswith(".npy"))
    changed(path, name, lambda data: data[:-1] + b"\x00")
    with pytest.raises(tn.SerializationError, match="not the one that was saved"):
        tn.load_graph(path)


def test_an_unknown_primitive_names_its_package(path):
    tn.save_graph(path, FUNCTIONS["closure"], X)
    _, text, arrays = archive.read(path)
    other = text.replace("std::tanh", "lattice::tanh")
    archive.write(
        path, {**json_of(path), "packages": {"lattice::tanh": "lattice_tools"}}, other, arrays
    )
    with pytest.raises(tn.SerializationError, match="install the package lattice_tools") as caught:
        tn.load_graph(path)
    assert caught.value.operation == "lattice::tanh"


def json_of(path):
    head = archive.read(path)[0]
    return {
        name: value for name, value in head.items() if name not in ("graph", "format", "schema")
    }


@pytest.mark.parametrize(
    "function",
    [
        lambda path: tn.save_graph(path, lambda x: x * 2, np.ones(3)),
        tn.load_graph,
        lambda path: tn.save_arrays(path, {"x": tn.asarray(np.ones(3))}),
        tn.load_arrays,
    ],
)
def test_a_path_that_no_system_has(function):
    with pytest.raises(tn.FileAccessError, match="embedded null"):
        function("a\0b")


def test_a_file_that_is_not_there_is_not_found(path):
    with pytest.raises(tn.FileAccessError, match="No such file") as caught:
        tn.load_graph(path)
    assert isinstance(caught.value, OSError)
    assert caught.value.path == str(path)
    with pytest.raises(tn.FileAccessError, match="save_graph"):
        tn.save_graph(path / "below", FUNCTIONS["loop"], X)


def test_an_interrupted_save_leaves_the_file_that_was_there(path, monkeypatch):
    tn.save_graph(path, FUNCTIONS["closure"], X)
    before = path.read_bytes()

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "writestr", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tn.save_graph(path, FUNCTIONS["loop"], X)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]
