"""A program on a mesh is the program on one device: values, gradients, Hessian products.

Sums are reordered, so that results agree within rounding. Functions are written in NumPy; the value
is also that of NumPy itself where the function is nothing but NumPy.
"""

import warnings

import numpy as np
import pytest

import tenferro as tn

DATA, MODEL, BOTH = ("data", None), (None, "model"), ("data", "model")


def normal(*shape, seed=0, dtype="float64"):
    """Random numbers of a dtype."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("complex") else x).astype(dtype)


def matmul(x, w):
    return np.sum(np.tanh(x @ w) ** 2)


def constrained(x, w):
    h = tn.sharding_constraint(np.tanh(x @ w), BOTH)
    return np.sum(tn.sharding_constraint(h**3, (None, None)))


def reductions(x, w):
    return np.sum(np.mean(x, axis=0) * np.max(x, axis=0)) + np.var(x) + np.prod(np.cos(w))


def cross_entropy(x, w):
    s = x @ w
    s = s - np.max(s, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(s), axis=1)) - s[:, 0])


def einsum(x, w):
    return np.sum(np.einsum("bi,ij,bj,kj->bk", x, w, np.sin(x @ w), w) ** 2)


def scanned(x, w):
    def step(h, _):
        h = tn.sharding_constraint(np.tanh(h @ w @ w.T), DATA)
        return h, np.sum(h**2)

    last, sums = tn.scan(step, x, None, 5)
    return np.sum(last) + np.sum(sums)


def unrolled(x, w):
    for _ in range(4):
        x = np.tanh(x @ w @ w.T)
    return np.sum(x)


def factorizations(x, w):
    a = w @ w.T + 4 * np.eye(len(w))
    return np.sum(np.linalg.solve(a, x.T) ** 2) + np.linalg.slogdet(a)[1]


def cholesky(x, w):
    gram = x.T @ x + len(x) * np.eye(x.shape[1])
    return np.sum(np.linalg.cholesky(gram) ** 2 * np.arange(1.0, 9.0))


def singular_values(x, w):
    return np.sum(np.linalg.svd(w, compute_uv=False) ** 3) + np.sum(x)


def windows(x, w):
    padded = np.pad(x, ((1, 1), (0, 0)))
    return np.sum((padded[:-2] - 2 * padded[1:-1] + padded[2:]) ** 2 @ w)


def moves(x, w):
    flipped = np.concatenate([x[::-1], x[3:7]], axis=0)
    return np.sum(np.sin(flipped.T.reshape(-1)) * np.arange(float(flipped.size)) / 100) + np.sum(w)


def spread(x, w):
    """A pad that crops, pads outside, and pads between elements"""
    strided = x[1::2, ::3]  # its transpose pads between elements
    return np.sum(np.sin(strided) ** 2) + np.sum(np.pad(x, ((2, 0), (0, 1)))[1:-1] ** 3) + np.sum(w)


def positions(x, w):
    rows = x[np.array([0, 5, 5, 11])]
    return (
        np.sum(np.sort(x, axis=0)[::3] ** 2) + np.sum(rows @ w) + np.sum(np.cumsum(x, axis=0)[-2])
    )


def branches(x, w):
    return np.sum(tn.cond(np.sum(x) > 0, lambda h: np.sin(h) @ w, lambda h: np.cos(h) @ w, x))


def batched(x, w):
    def loss(row):
        return np.sum(tn.sharding_constraint(np.tanh(row @ w), ("model",)) ** 2)

    return np.sum(tn.vmap(loss)(x) ** 2)


def checkpointed(x, w):
    @tn.checkpoint
    def layer(h):
        return np.tanh(tn.sharding_constraint(h @ w, BOTH) @ w.T)

    return np.sum(layer(layer(x)) ** 2)


@tn.custom_vjp
def doubled(x):
    return x * x


doubled.defvjp(lambda x: (x * x, x), lambda x, ct: (2 * x * ct,))


def rules(x, w):
    return np.sum(doubled(x @ w))


def modulus(x, w):
    return np.sum(np.abs(x @ w) ** 2) + np.real(np.sum(np.exp(x / 9)))


ROWS = {
    "matmul": (matmul, DATA, MODEL, "float64"),
    "matmul_contracted": (matmul, MODEL, ("model", None), "float64"),
    "matmul_over_both": (matmul, (("data", "model"), None), (), "float64"),
    "matmul_float32": (matmul, DATA, MODEL, "float32"),
    "constrained": (constrained, DATA, None, "float64"),
    "constrained_complex": (modulus, DATA, MODEL, "complex128"),
    "complex64": (modulus, BOTH, None, "complex64"),
    "reductions": (reductions, BOTH, MODEL, "float64"),
    "cross_entropy": (cross_entropy, DATA, MODEL, "float64"),
    "cross_entropy_float32": (cross_entropy, DATA, None, "float32"),
    "einsum": (einsum, DATA, None, "float64"),
    "scan": (scanned, DATA, None, "float64"),
    "unrolled": (unrolled, DATA, MODEL, "float64"),
    "solve": (factorizations, DATA, None, "float64"),
    "cholesky": (cholesky, DATA, None, "float64"),
    "singular_values": (singular_values, DATA, None, "float64"),
    "windows": (windows, DATA, None, "float64"),
    "moves": (moves, DATA, None, "float64"),
    "positions": (positions, DATA, None, "float64"),
    "spread": (spread, BOTH, None, "float64"),
    "cond": (branches, DATA, MODEL, "float64"),
    "vmap": (batched, DATA, MODEL, "float64"),
    "checkpoint": (checkpointed, DATA, None, "float64"),
    "custom_vjp": (rules, DATA, MODEL, "float64"),
}
OF_TENFERRO = {constrained, scanned, branches, batched, checkpointed, rules}


def everything(function):
    """Value, gradients, and the Hessian product in w, of one program."""

    def of(x, w, dx, dw):
        value, slopes = tn.value_and_grad(function, argnums=(0, 1))(x, w)
        _, product = tn.jvp(tn.grad(function, argnums=1), (x, w), (dx, dw))
        return value, slopes, product

    return of


@pytest.mark.parametrize("name", ROWS)
def test_a_program_on_a_mesh_is_the_program_on_one_device(mesh, name):
    """sharded(f) = f,  sharded(∇f) = ∇f,  sharded(∂∇f · v) = ∂∇f · v"""
    function, of_x, of_w, dtype = ROWS[name]
    x, w = normal(16, 8, dtype=dtype), normal(8, 4, seed=1, dtype=dtype)
    given = (x, w, np.ones_like(x), np.ones_like(w))
    specs = {"x": of_x, "dx": of_x, "w": of_w, "dw": of_w}
    program = everything(function)
    found = tn.jit(program, backend="xla", mesh=mesh, in_shardings=specs)(*given)
    with warnings.catch_warnings(action="ignore", category=tn.ShardingIgnoredWarning):
        wanted = tn.jit(program, backend="xla")(*given)
    near(found, wanted, dtype)
    if function not in OF_TENFERRO:
        near(found[0], function(x, w), dtype)


def near(found, wanted, dtype):
    """Each array within some ulps of its largest element, of the same shape and dtype."""
    eps = np.finfo(dtype).eps
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            near(f, w, dtype)
        return
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    scale = np.max(np.abs(wanted), initial=0)
    np.testing.assert_allclose(found, wanted, rtol=256 * eps, atol=256 * eps * scale)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("place", [0, 9, 15])
def test_a_nan_wins_on_whatever_device_it_is(mesh, place, dtype):
    x = normal(16, 3, dtype=dtype)
    x[place, 1] = np.nan
    specs = (DATA,)
    functions = {
        np.max: (lambda x: np.max(x, axis=0)),
        np.min: (lambda x: np.min(x, axis=0)),
        np.argmax: (lambda x: np.argmax(x, axis=0)),
        np.argmin: (lambda x: np.argmin(x, axis=0)),
    }
    program = tn.jit(
        lambda x: [f(x) for f in functions.values()], backend="xla", mesh=mesh, in_shardings=specs
    )
    for found, f in zip(program(x), functions, strict=True):
        np.testing.assert_array_equal(found, f(x, axis=0))


@pytest.mark.parametrize("shape", [(0, 4), (8, 0), (8, 1)])
def test_arrays_without_elements_can_be_split(mesh, shape):
    f = tn.jit(lambda x: (np.sum(x), x * 2), backend="xla", mesh=mesh, in_shardings=(DATA,))
    total, twice = f(np.ones(shape))
    assert total == np.prod(shape)
    np.testing.assert_array_equal(twice, np.full(shape, 2.0))


def test_a_number_has_the_empty_spec(mesh):
    f = tn.jit(tn.grad(lambda x: x**3), backend="xla", mesh=mesh, in_shardings=((),))
    assert f(2.0) == 12.0


@pytest.mark.parametrize("spec", [(), (None, None), DATA, BOTH, (("model", "data"), None)])
def test_the_transpose_of_a_constraint_is_itself(mesh, spec):
    """⟨w, C v⟩ = ⟨C w, v⟩, and both are ⟨w, v⟩"""
    v, w = normal(8, 6), normal(8, 6, seed=3)

    def pulled(v, w):
        y, pull = tn.vjp(lambda x: tn.sharding_constraint(x, spec), v)
        return y, pull(w)[0]

    y, ct = tn.jit(pulled, backend="xla", mesh=mesh)(v, w)
    np.testing.assert_array_equal(y, v)
    np.testing.assert_array_equal(ct, w)


@pytest.mark.parametrize("spec", [DATA, MODEL, BOTH, (("data", "model"), None), ()])
def test_results_are_split_as_was_asked(mesh, spec):
    x = tn.shard(normal(8, 6), mesh, ())
    y = tn.jit(np.sin, backend="xla", mesh=mesh, out_shardings=spec)(x)
    counts = dict(mesh.axes)
    parts = [
        int(np.prod([counts[a] for a in ((e,) if isinstance(e, str) else e or ())])) for e in spec
    ] or [1, 1]
    shard = y.key.operand.addressable_shards[0].data
    assert shard.shape == (8 // parts[0], 6 // parts[1])
    np.testing.assert_allclose(np.asarray(y), np.sin(normal(8, 6)), rtol=1e-15)


PADS = [((0, -1), (0, -1), (0, 1)), ((-1, 0), (2, 1), (0, 3)), ((-1, 2), (3, -2), (2, 1))]


@pytest.mark.parametrize("low, high, interior", PADS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_pads_of_every_kind(mesh, low, high, interior, dtype):
    """One pad that crops and pads between elements would end the process in XLA"""
    operation = tn.primitives.Pad(low, high, interior)
    x, value = normal(8, 4, dtype=dtype), np.array(1.5, dtype)

    def f(x, value):
        return tn.primitives.bind(operation, x, value)

    split = tn.jit(f, backend="xla", mesh=mesh, in_shardings={"x": BOTH})
    np.testing.assert_array_equal(split(x, value), tn.jit(f, backend="xla")(x, value))


TWO, FOUR = "a", ("a", "b")
#: window, inserted and indexed dimensions; positions, shape of updates; how both are split
WINDOWS = {
    "windows": ((1, 2), (), (0, 1), [[3, 1], [1, 0]], (2, 2, 2), (TWO, "b"), (TWO, "b", "c")),
    "points": ((), (0, 1), (0, 1), [[0, 1], [3, 2], [0, 1]], (3,), (None, TWO), (None,)),
    "rows": ((1,), (0,), (0,), [[3], [1], [3], [0]], (4, 3), (FOUR, None), (FOUR, None)),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("kind", ["Scatter", "ScatterAdd", "ScatterMax", "ScatterMul"])
def test_scatters_of_windows_and_points(kind, name):
    """XLA's partitioner alone gives wrong numbers, or refuses the program"""
    *dimensions, positions, shape, of_indices, of_updates = WINDOWS[name]
    operation = getattr(tn.primitives, kind)(*dimensions, "drop")
    x, indices, updates = normal(4, 3), np.array(positions), normal(*shape, seed=1)

    def f(x, indices, updates):
        return tn.primitives.bind(operation, x, indices, updates)

    split = tn.jit(
        f,
        backend="xla",
        mesh=tn.mesh({"a": 2, "b": 2, "c": 2}),
        in_shardings={"x": (FOUR, None), "indices": of_indices, "updates": of_updates},
    )
    wanted = tn.jit(f, backend="xla")(x, indices, updates)
    np.testing.assert_allclose(split(x, indices, updates), wanted, rtol=1e-15)


def test_points_are_read_and_their_gradient(mesh):
    def picked(x):
        return np.sum(np.sin(x[np.arange(8), np.array([0, 3, 1, 1, 2, 0, 3, 2])]))

    x = normal(8, 4)
    split = tn.jit(tn.value_and_grad(picked), backend="xla", mesh=mesh, in_shardings={"x": DATA})
    for found, wanted in zip(split(x), tn.value_and_grad(picked)(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


READS = {
    "rows": lambda x: x[np.array([5, 0, 3])],
    "points": lambda x: x[np.array([5, 0, 3]), np.array([1, 3, 0])],
    "clipped": lambda x: np.take(x, np.array([9, 0, 3]), axis=0, mode="clip"),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64", "int32"])
def test_entries_that_are_read_keep_their_bits(mesh, read, dtype):
    """Devices add what they have of the entries, and 0.0 + -0.0 would be 0.0"""
    x = (-np.zeros((8, 4))).astype(dtype)
    if dtype.startswith("complex"):
        x = np.conj(x)
    if dtype != "int32":
        x[3], x[5, 1] = np.nan, -np.inf
    split = tn.jit(READS[read], backend="xla", mesh=mesh, in_shardings={"x": BOTH})
    wanted = np.asarray(READS[read](x))
    assert np.asarray(split(x)).tobytes() == wanted.tobytes()
