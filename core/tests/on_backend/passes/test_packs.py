"""What is done to each part of an array, done at once: values, gradients, products of Hessians.

Values are NumPy's own; derivatives are those of the same program whose parts are done one by one.
"""

import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(3)
W, ROWS = RNG.normal(size=(4, 4)) / 2, RNG.normal(size=(12, 4))
APART, TOGETHER = {"passes": {"packs": False}}, {"passes": {"packs": True}}


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def parts_of_a_batch(w, rows):
    total = 0.0
    for start in range(0, 12, 3):
        hidden = np.tanh(rows[start : start + 3] @ w)
        total = total + np.sum(np.exp(hidden @ w) ** 2)
    return total / 12


def mean_of_parts(w, rows):
    """Taken off, and with a remainder."""
    total = np.sum(rows)
    for start in range(0, 10, 5):
        total = total - np.mean(np.cos(rows[start : start + 5] @ w))
    return total - np.mean(np.cos(rows[10:] @ w))


def heads(w, rows):
    """Attention with two heads, joined along the last axis."""
    q = rows @ w
    found = []
    for h in range(2):
        a, b = q[:, 2 * h : 2 * h + 2], rows[:, 2 * h : 2 * h + 2]
        found.append(softmax(a @ b.T) @ b)
    return np.sum(np.concatenate(found, axis=1) ** 2)


def physical_index(w, rows):
    """A sum over an index in the middle, by hand."""
    cubes, left = np.reshape(rows, (4, 3, 4)), w
    for _ in range(2):
        left = sum(cubes[:, p].T @ left @ cubes[:, p] for p in range(3)) / 30
    return np.trace(left @ left)


def components(w, rows):
    """Each component has weights of its own, stacked again."""
    columns = [np.sum(np.square(rows @ np.tanh(w[k])) * (k + 1.0)) for k in range(4)]
    return np.log(np.sum(np.exp(np.stack(columns) / 100)))


def blocks_of_a_stencil(w, rows):
    """Blocks of neighbours: two divisions of one array, one element from each other."""
    x, total = np.reshape(rows, (48,)), np.sum(w**2)
    for start in range(0, 45, 15):
        a, b = x[start : start + 15], x[start + 1 : start + 16]
        total = total + np.sum(100 * (b - a**2) ** 2 + (1 - a) ** 2)
    return total / 1000


def gates(w, rows):
    """Split a product into four gates; three go through the logistic function, one through tanh."""
    c = h = np.zeros(1) + w[0, :1]
    for t in range(3):
        z = rows[t] @ w + h
        i, f, o = (1 / (1 + np.exp(-z[k : k + 1])) for k in range(3))
        c = f * c + i * np.tanh(z[3:])
        h = o * np.tanh(c)
    return np.sum(h)


def each_reads_the_one_before(w, rows):
    total = w[0]
    for start in range(0, 12, 3):
        total = np.sin(total + np.sum(np.exp(rows[start : start + 3]) @ w, axis=0))
    return np.sum(total)


def chosen_and_gathered(w, rows):
    labels = np.array([0, 3, 1, 2, 2, 1, 0, 0, 3, 3, 1, 2])
    total = 0.0
    for start in range(0, 12, 4):
        z = rows[start : start + 4] @ w
        total = total + np.sum(np.log(softmax(z))[np.arange(4), labels[start : start + 4]])
    return total


def one_part_is_read_again(w, rows):
    made = [np.exp(np.sin(rows[k : k + 6] @ w)) for k in (0, 6)]
    return np.sum(made[0] + made[1]) * np.sum(made[1])


def added_before_they_are_added(w, rows):
    made = [np.cos(rows[k : k + 4] @ w) + np.exp(rows[k : k + 4]) for k in (0, 4, 8)]
    return np.sum((made[0] + made[1] + made[2]) ** 2)


PROGRAMS = [
    parts_of_a_batch, mean_of_parts, heads, physical_index, components, blocks_of_a_stencil, gates,
    each_reads_the_one_before, chosen_and_gathered, one_part_is_read_again,
    added_before_they_are_added,
]  # fmt: skip


def both(function, *args):
    return [tn.jit(function, options=options)(*args) for options in (TOGETHER, APART)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_numpy(program):
    wanted = program(W, ROWS)
    for found in both(program, W, ROWS):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_those_of_the_parts_one_by_one(program):
    for found, wanted in zip(*both(tn.grad(program, (0, 1)), W, ROWS), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS)
def test_products_of_hessians_are_those_of_the_parts_one_by_one(program):
    product = tn.hvp(lambda w: program(w, ROWS))
    np.testing.assert_allclose(*both(product, W, W.T + 1), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("program", [parts_of_a_batch, physical_index, added_before_they_are_added])
def test_other_dtypes_are_kept(program, dtype):
    w, rows = W.astype(dtype), ROWS.astype(dtype)
    if dtype == "complex128":
        w, rows = w * (1 + 0.5j), rows * (1 - 0.2j)
    wanted = program(w, rows)
    found = both(program, w, rows)
    assert {x.dtype for x in found} == {wanted.dtype}
    np.testing.assert_allclose(found, [wanted] * 2, rtol=1e-5)
    gradients = both(tn.grad(lambda w: np.real(program(w, rows))), w)
    assert {x.dtype for x in gradients} == {w.dtype}
    np.testing.assert_allclose(*gradients, rtol=1e-4, atol=1e-5)


def test_a_batch_of_them_is_each_of_them():
    mapped = tn.vmap(lambda s: parts_of_a_batch(W * s, ROWS))
    wanted = [parts_of_a_batch(W * s, ROWS) for s in (0.3, 0.7)]
    np.testing.assert_allclose(both(mapped, np.array([0.3, 0.7])), [wanted] * 2, rtol=1e-12)


def test_parts_within_the_step_of_a_loop():
    def program(w, rows):
        step = lambda c, r: (c + np.tanh(parts_of_a_batch(w * c, rows)), None)  # noqa: E731
        return tn.scan(step, 0.5, rows[:3, 0])[0]

    for found, wanted in zip(*both(tn.value_and_grad(program), W, ROWS), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_infinities_and_nans_stay_in_their_parts():
    rows = ROWS.copy()
    rows[1, 0], rows[7, 2] = np.inf, np.nan

    def program(rows):
        return np.concatenate([np.exp(np.sin(rows[k : k + 3]) * 2) for k in range(0, 12, 3)])

    with np.errstate(invalid="ignore"):
        wanted = program(rows)
    for found in both(program, rows):
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_parts_without_elements():
    def program(x):
        return np.concatenate([np.exp(x[:, :3]), np.exp(x[:, 3:])], axis=1)

    assert [x.shape for x in both(program, np.zeros((0, 6)))] == [(0, 6)] * 2


class State:
    """Lanes, other lanes, an array that all lanes read, and a sum."""

    def __init__(self, w, rows, count):
        self.count, self.w = count, w
        self.lanes = self.parts(rows)
        self.others = [np.tanh(lane) for lane in self.lanes]
        self.shared, self.total = w[0], np.sum(w[0])

    def parts(self, rows):
        size = 12 // self.count
        return [rows[k * size : (k + 1) * size] for k in range(self.count)]

    def multiply(self):
        self.lanes = [lane @ self.w for lane in self.lanes]

    def add(self):
        self.lanes = [np.sin(a) + b for a, b in zip(self.lanes, self.others, strict=True)]

    def read_one(self):
        self.shared = np.cos(self.shared + self.lanes[-1][0])

    def scale(self):
        self.lanes = [lane * self.shared for lane in self.lanes]

    def sum_up(self):
        first = np.sum(self.lanes[0])
        self.total = self.total - first + sum(np.sum(lane * lane) for lane in self.lanes)

    def join(self):
        self.lanes = self.parts(np.tanh(np.concatenate(self.lanes)))

    def turn(self):
        self.others = [*self.others[1:], np.exp(-np.square(self.others[0]))]

    def change_one(self):
        self.lanes[0] = self.lanes[0] * 0.5


STEPS = [
    State.multiply, State.add, State.read_one, State.scale, State.sum_up, State.join, State.turn,
    State.change_one,
]  # fmt: skip


def random_program(seed):
    """Lanes of random operations that are mixed, exchanged, joined and divided again at random."""
    rng = np.random.default_rng(seed)
    steps = [STEPS[i] for i in rng.integers(0, len(STEPS), size=14)]
    count = int(rng.choice([2, 3, 4]))

    def program(w, rows):
        state = State(w, rows, count)
        for step in steps:
            step(state)
        return state.total + np.sum(sum(state.lanes) ** 2) + np.sum(state.shared * w)

    return program


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_of_parts(seed):
    program = random_program(seed)
    found, wanted = both(tn.value_and_grad(program), W, ROWS)
    np.testing.assert_allclose(found[0], program(W, ROWS), rtol=1e-9)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-7, atol=1e-8)
