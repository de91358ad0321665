"""Programs from a folder compute the same bits as those that the process makes."""

import linecache
import os
import subprocess
import sys
from itertools import permutations
from types import ModuleType

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays.evaluation.evaluate import PROGRAMS
from tenferro.backend import kept
from tenferro.transforms.derivatives.pullback import PULLBACKS
from tenferro.transforms.recording.memos import MEMOS
from tenferro.transforms.recording.run_or_record import TRANSFORMS
from tenferro_numpy.ir.kept import made_again
from tenferro_numpy.loops import run as loops

RNG = np.random.default_rng(5)
X = RNG.normal(size=6)
A = RNG.normal(size=(6, 6))
SPD = A @ A.T + 6 * np.eye(6)
Z = X + 1j * RNG.normal(size=6)
LARGE = RNG.normal(size=(300, 700))  # a fused region with tiles
ROWS = RNG.normal(size=(4000, 25))  # summed by a product with ones


def recurrence(x):
    def step(carry, row):
        carry = np.sin(carry) * row + 0.1
        return carry, carry * row

    last, rows = tn.scan(step, x[0], x)
    return last + np.sum(rows**2)


def newton(x):
    def smaller(state):
        return state[1] < 5

    def step(state):
        return state[0] - (state[0] ** 2 - x) / (2 * state[0]), state[1] + 1

    return np.sum(tn.while_loop(smaller, step, (x * x + 1.0, 0))[0])


def branches(x):
    return tn.cond(np.sum(x) > 0, np.sin, lambda y: y * y, x).sum()


def checkpointed(x):
    return np.sum(tn.checkpoint(lambda y: np.exp(np.sin(y)))(x) ** 2)


def buffers(x):
    y = np.zeros_like(x, shape=8)
    y[1:7] += x
    y[::2] *= 3.0
    return np.sum(y * y)


def masked(x):
    return np.sum(np.where(x > 0, np.log(np.abs(x)), x**3)) + np.max(x)


def gathered(x):
    return np.sum(x[np.array([0, 2, 2, 5])] * np.arange(4.0))


def likelihood(a):
    return np.linalg.slogdet(a)[1] + np.sum(np.linalg.solve(a, np.ones(6)))


def filtered(x):
    """A filter of two states, whose arrays are computed number by number."""
    p, a = np.outer(x[:2], x[:2]) + np.eye(2), np.eye(2) * 0.5 + x[2]
    for _ in range(4):
        p = a @ p @ a.T + a
        p = p - np.outer(p[0], p[:, 1]) / (1 + p[0, 0] ** 2)
    return np.sum(np.linalg.solve(p + 9 * np.eye(2), a)) * np.mean(p > 0.1) + np.max(p)


def shares(a):
    """Shares of exponentials, read at given places."""
    rows = a - np.log(np.sum(np.exp(a - np.max(a, axis=1)[:, None]), axis=1))[:, None]
    weights = np.exp(rows - np.max(rows, axis=1)[:, None])
    return np.sum(weights[np.arange(6), [0, -1, 2, 2, 5, 1]] ** 0.5) * np.mean(a > 0)


CASES = {
    "short arrays": (tn.value_and_grad(filtered), X),
    "shares of exponentials": (tn.value_and_grad(shares), A),
    "value": (tn.grad(lambda x: np.sum(np.tanh(x) * x)), X),
    "float32": (tn.grad(lambda x: np.sum(np.tanh(x) * x)), X.astype("float32")),
    "complex": (tn.grad(lambda z: np.sum(np.abs(np.exp(z) * z) ** 2)), Z),
    "second order": (tn.hessian(lambda x: np.sum(np.exp(x) * np.roll(x, 1))), X),
    "direction": (lambda x: tn.hvp(masked)(x, np.ones(6)), X),
    "forward": (lambda x: tn.jvp(masked, (x,), (np.ones(6),)), X),
    "pullback": (lambda x: tn.vjp(lambda y: np.sin(y) * y, x)[1](np.ones(6)), X),
    "batch": (tn.vmap(tn.grad(masked)), A),
    "scan": (tn.value_and_grad(recurrence), X),
    "scan twice": (tn.hessian(recurrence), X),
    "while": (tn.jit(newton), np.abs(X)),
    "cond": (tn.grad(branches), X),
    "checkpoint": (tn.grad(checkpointed), X),
    "buffers": (tn.grad(buffers), X),
    "gather": (tn.grad(gathered), X),
    "linear algebra": (tn.grad(likelihood), SPD),
    "large": (tn.grad(lambda x: np.sum(np.sin(x) * np.exp(-x * x))), LARGE),
    "rows": (tn.grad(lambda x: np.sum(np.exp(-np.sum(x * x, axis=1)))), ROWS),
    "empty": (tn.grad(lambda x: np.sum(x * x)), np.zeros((0, 3))),
    "number": (tn.grad(lambda x: np.sin(x) * x**3), 1.25),
    "jitted": (tn.jit(tn.grad(masked)), X),
    "power": (tn.grad(lambda x: np.sum(x**7)), X),
    "truth": (tn.jit(lambda x: np.logical_and(x, x > 0)), X),
    "budget": (tn.jit(tn.grad(recurrence), memory_budget="1 kB"), X),
    "un-jitted value": (lambda x: np.asarray(np.sin(tn.asarray(x)) + tn.asarray(x)), X),
    "tree": (tn.grad(lambda p: np.sum(p["a"] * p["b"][0])), {"a": X, "b": (X + 1,)}),
}


@pytest.mark.parametrize("axes", [*permutations(range(3))])
def test_an_array_comes_back_in_its_memory_order(axes):
    """y = x, with the strides of x; also where axes have one element"""
    for shape in ((2, 3, 4), (1, 3, 1), (0, 2, 3)):
        x = np.arange(np.prod(shape)).reshape(shape).transpose(axes)
        x.flags.writeable = False
        make, parts = made_again(x)
        y = make(*parts)
        np.testing.assert_array_equal(x, y)
        assert not x.size or x.strides == y.strides or 1 in shape
        assert not y.flags.writeable


def forget():
    """Forget all that the process has compiled."""
    for cache in (PROGRAMS, TRANSFORMS, PULLBACKS, MEMOS):
        cache.clear()
    for cached in (loops._planned, loops._source):
        cached.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder in which nothing is kept yet."""
    monkeypatch.setattr(kept, "_state", {})
    return tmp_path


def begin(folder):
    """Begin as another process would."""
    forget()
    tn.keep_programs(folder)
    return kept.keeper_now()


def bits(result):
    """Return a result as shapes, dtypes and bytes."""
    if isinstance(result, dict):
        return [bits(result[key]) for key in sorted(result)]
    if isinstance(result, (tuple, list)):
        return [bits(x) for x in result]
    array = np.asarray(result)
    return array.shape, array.dtype.str, array.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_a_kept_program_gives_the_same_bits(name, folder):
    function, argument = CASES[name]

    def run():
        if hasattr(function, "clear_cache"):
            function.clear_cache()
        return [bits(function(argument)) for _ in range(3)]

    first = begin(folder)
    want = run()
    first.write()
    second = begin(folder)
    assert run() == want
    assert (second.found, second.made) == (first.made, 0)
    assert first.made > 0


#: Modules that make the plan of the program below, and have no part in running it.
FOR_PLANS = [f"tenferro_numpy.{name}" for name in ("ir.literals", "planner", "python_scalars")]


def test_another_process_finds_what_this_one_wrote(tmp_path):
    program = (
        "import sys, numpy as np, tenferro as tn\n"
        "from tenferro.backend import kept\n"
        "f = tn.grad(lambda x: np.sum(np.sin(x) * x) / np.sum(x))\n"
        "print(f(np.linspace(0.0, 1.0, 5)).tobytes().hex())\n"
        "k = kept.keeper_now()\n"
        "print(k.found, k.made)\n"
        "print(sum(name in sys.modules for name in " + repr(FOR_PLANS) + "))\n"
    )

    def run():
        environment = {**os.environ, kept.VARIABLE: str(tmp_path / "programs")}
        return subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n")

    first, second = run(), run()
    assert first[0] == second[0]
    assert (first[1], second[1]) == ("0 1", "1 0")
    assert (first[2], second[2]) == (str(len(FOR_PLANS)), "0")


def ruled(factor):
    """Return a gradient by a rule of the user, which another run may have changed."""

    @tn.custom_vjp
    def function(x):
        return np.sin(x)

    function.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (factor * ct * np.cos(x),))
    return tn.grad(lambda x: np.sum(function(x)))


def called_back(factor):
    """Return a function with a callback, which another run may have changed."""
    return tn.jit(lambda x: tn.host_callback(lambda y: factor * y, x) + 1.0)


@pytest.mark.parametrize("make", [ruled, called_back])
def test_code_of_the_user_is_run_as_it_is_now(make, folder):
    keeper = begin(folder)
    want = [bits(make(factor)(X)) for factor in (2.0, 3.0)]
    keeper.write()
    begin(folder)
    assert [bits(make(factor)(X)) for factor in (2.0, 3.0)] == want
    assert want[0] != want[1]


def long(x):
    for _ in range(140):
        x = np.sin(x) * 1.01
    return np.sum(x)


def unrolled():
    with tn.debug.unrolled():
        return tn.grad(long)(X)


DIFFERENT = [
    (lambda: tn.grad(lambda x: np.sum(x * x))(X), lambda: tn.grad(lambda x: np.sum(x + x))(X)),
    (lambda: tn.grad(lambda x: np.sum(x**2))(X), lambda: tn.grad(lambda x: np.sum(x**3))(X)),
    (lambda: tn.jit(np.sin)(X), lambda: tn.jit(np.sin)(X[:3])),
    (lambda: tn.jit(np.sin)(X), lambda: tn.jit(np.sin)(X.astype("float32"))),
    (lambda: tn.jit(np.sin)(X), lambda: tn.jit(np.sin, options={"passes": "none"})(X)),
    (unrolled, lambda: tn.grad(long)(X)),
    (lambda: tn.grad(lambda z: np.sum(np.abs(z) ** 2))(Z),
     lambda: tn.grad(lambda z: np.sum(np.abs(z) ** 2), convention="jax")(Z)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(DIFFERENT)))
def test_other_functions_shapes_dtypes_and_options_are_other_programs(number, folder):
    one, other = DIFFERENT[number]
    want = bits(other())
    keeper = begin(folder)
    one()
    keeper.write()
    again = begin(folder)
    assert bits(other()) == want
    assert again.found == 0


def cut_short(keeper, file):
    """Leave out the end of a file."""
    file.write_bytes(file.read_bytes()[:-3])


def replaced(keeper, file):
    """Write a whole file whose content is not a program."""
    keeper.folder.write(file.stem, b"no program")


@pytest.mark.parametrize("damage", [cut_short, replaced])
def test_a_damaged_file_is_made_and_written_again(damage, folder):
    function = tn.grad(lambda x: np.sum(np.cosh(x)))
    keeper = begin(folder)
    want = bits(function(X))
    keeper.write()
    (file,) = folder.iterdir()
    damage(keeper, file)
    again = begin(folder)
    assert bits(function(X)) == want
    assert (again.found, again.made) == (0, 1)
    again.write()
    third = begin(folder)
    assert bits(function(X)) == want
    assert (third.found, third.made) == (1, 0)


def test_reports_and_errors_of_a_kept_program_name_its_equations(folder):
    def unstable(x):
        return np.sum(np.linalg.cholesky(x * 1.0) @ x)

    keeper = begin(folder)
    text = tn.jit(unstable).explain(SPD)
    keeper.write()
    begin(folder)
    assert tn.jit(unstable).explain(SPD) == text
    jitted = tn.jit(unstable)
    assert "cholesky" in str(jitted.profile(SPD))
    assert "test_kept_programs.py" in str(jitted.profile(SPD))


FUNCTION = "def f(x):\n    return np.cosh(x)\n"


@pytest.mark.parametrize(
    "text, is_loaded, is_named",
    [
        (FUNCTION, True, True),
        (FUNCTION, False, False),
        (f"\n{FUNCTION}", True, False),
        (FUNCTION.replace("(x)\n", "( x )\n"), True, False),
    ],
    ids=["same", "of another script", "moved", "edited"],
)
def test_a_line_that_is_not_there_is_not_named(text, is_loaded, is_named, folder, monkeypatch):
    file = folder / "model.py"
    module = ModuleType("model")
    module.__file__, module.np = str(file), np
    monkeypatch.setitem(sys.modules, "model", module)

    def profile(text):
        file.write_text(text)
        linecache.checkcache()
        exec(compile(text, file, "exec"), vars(module))
        return str(tn.jit(module.f).profile(X))

    keeper = begin(folder)
    assert "model.py:2" in profile(FUNCTION)
    keeper.write()
    again = begin(folder)
    if not is_loaded:
        monkeypatch.delitem(sys.modules, "model")
    assert ("model.py" in profile(text)) is is_named
    assert again.found == 1


def test_nothing_that_a_run_computed_is_written(folder):
    secret = 1234.5678
    keeper = begin(folder)
    value = np.full((300, 700), secret)
    tn.grad(lambda x: np.sum(np.sin(x) * np.exp(-x * x)))(value)
    closed_over = np.full(7, secret)
    tn.jit(lambda x: x * closed_over)(np.ones(7))
    keeper.write()
    files = [file.read_bytes() for file in folder.iterdir()]
    assert files
    assert not any(np.float64(secret).tobytes() in content for content in files)


def test_nothing_is_written_after_source_files_have_changed(folder, monkeypatch):
    keeper = begin(folder)
    tn.grad(lambda x: np.sum(np.cosh(x)))(X)
    monkeypatch.setattr(kept, "LOADED_AT", 0)  # all files are newer
    keeper.write()
    assert keeper.made == 1
    assert not [*folder.iterdir()]


def test_nothing_is_found_after_lowerings_were_added_to_a_table(folder, monkeypatch):
    function = tn.grad(lambda x: np.sum(np.cosh(x)))
    keeper = begin(folder)
    function(X)
    keeper.write()
    table = tn.host().backend("numpy").lowerings
    assert table.is_as_made
    monkeypatch.setattr(table, "generation", table.generation)  # as it was, at the end
    again = begin(folder)
    table.extend([])
    function(X)
    assert (again.found, again.made) == (0, 0)


def test_none_ends_it(folder):
    begin(folder)
    tn.keep_programs(None)
    assert kept.keeper_now() is None
