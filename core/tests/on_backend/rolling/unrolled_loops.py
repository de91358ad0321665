"""Loops that Python unrolls: functions of a vector of 3 and a number of steps.

``ROLLED`` become loops of the graph, ``AT_ONCE`` equations for all steps; ``KEPT`` stay as they
are, each for a reason.
"""

import numpy as np

import tenferro as tn

A = np.array([[0.5, -0.2, 0.1], [0.3, 0.4, -0.1], [0.0, 0.2, 0.6]])
DATA = np.sin(np.arange(600.0).reshape(200, 3))
POINTS = np.cos(np.arange(15.0).reshape(5, 3))
FACTORS = np.cos(np.arange(1800.0).reshape(200, 3, 3)) / 2
LABELS = np.arange(200) ** 2 % 97 % 5


def recurrence(x, n):
    s = x
    for _ in range(n):
        s = np.tanh(A @ s) + 0.1 * s * x
    return np.sum(s**2)


def numbers(x, n):
    a, b, c = x
    total = 0.0
    for _ in range(n):
        a = b * a * (1.0 - a)
        b = b + 0.001 * np.exp(-a) * c
        total = total + (a - 0.5) ** 2
    return total / n


def constant_start(x, n):
    s = np.ones(3)
    for _ in range(n):
        s = 0.5 * s + x * np.cos(s)
    return np.sum(s)


def two_back(x, n):
    before, now = x, 0.5 * x
    for _ in range(n):
        before, now = now, 0.5 * np.sin(now) + 0.3 * before * x
    return np.sum(now * before)


def three_back(x, n):
    s = [x, 0.5 * x, 0.2 * x]
    for _ in range(n):
        s.append(np.sin(s[-1]) + 0.1 * s[-2] * s[-3])
    return np.sum(s[-1] - s[-2])


def rows(x, n):
    s = 0.0 * x
    for k in range(n):
        s = 0.9 * s + np.sin(x * DATA[k])
    return np.sum(s * s)


def rows_of_an_argument(x, n):
    table = np.outer(np.sin(np.arange(float(n))), x)
    s = 0.1 * x
    for k in range(n):
        s = np.tanh(s + table[k]) * x
    return np.sum(s)


def steps_of_time(x, n):
    s = x
    for k in range(n):
        t = 0.01 * k
        s = s + 0.01 * (np.cos(t * s) - x * s)
    return np.sum(s)


def stacked(x, n):
    s, seen = x, []
    for _ in range(n):
        s = np.sin(s) + 0.2 * x
        seen.append(s)
    return np.mean(np.stack(seen) ** 2)


def stacked_with_the_start(x, n):
    s, seen = x, [x]
    for _ in range(n):
        s = np.sin(s) + 0.2 * x
        seen.append(s)
    return np.mean(np.stack(seen)[::2] ** 3)


def joined(x, n):
    s, seen = x, []
    for _ in range(n):
        s = np.sin(s) + 0.2 * x
        seen.append(s)
    return np.sum(np.concatenate(seen) ** 2)


def losses(x, n):
    s, terms = x, []
    for k in range(n):
        s = np.cos(s) * x
        terms.append(np.sum((s - DATA[k]) ** 2))
    return sum(terms) / n


def table(x, n):
    values = np.stack([x, 2.0 * x, np.sin(x), x * x, x + 1.0])
    s, total = x, 0.0
    for label in LABELS[:n]:
        s = np.tanh(s + values[label])
        total = total + np.log(np.sum(np.exp(s))) - s[label % 3]
    return total


def dead_end(x, n):
    """Of the last step, only the first line is read."""
    s, p, total = x, x * x, 0.0
    for _ in range(n):
        total = total + np.sum(s * p)
        s = np.sin(s) + 0.1 * p
        p = 0.9 * p * np.cos(s)
    return total


def repeats_inside(x, n):
    def slope(s):
        return np.tanh(A @ s) - 0.5 * s

    s = x
    for _ in range(n):
        a = slope(s)
        b = slope(s + 0.05 * a)
        c = slope(s + 0.05 * b)
        s = s + 0.1 * (a + 2 * b + c)
    return np.sum(s * x)


def nested(x, n):
    s = x
    for k in range(n):
        for _ in range(4):
            s = np.sin(s) + 0.1 * x
        s = s * np.cos(DATA[k])
    return np.sum(s)


def one_behind_the_other(x, n):
    s = x
    for _ in range(n):
        s = np.sin(s) + 0.1 * x
    t = s
    for _ in range(n):
        t = np.tanh(t * x) - 0.2 * t
    return np.sum(s * t)


def there_and_back(x, n):
    s, seen = x, []
    for _ in range(n):
        s = np.sin(s) + 0.2 * x
        seen.append(s)
    adjoint = np.ones(3)
    for s in reversed(seen):
        adjoint = adjoint * np.cos(s) + 0.1 * x
    return np.sum(adjoint)


def equations_with_two_results(x, n):
    p = np.diag(x) + 2.0 * np.eye(3)
    total = 0.0
    for _ in range(n):
        p = A @ p @ A.T + np.eye(3)
        total = total + np.linalg.slogdet(p)[1] + np.sum(np.linalg.solve(p, x))
    return total


def complex_carry(x, n):
    z = x + 0.5j * x
    for _ in range(n):
        z = z * np.exp(1j * x) * 0.9 + 0.1
    return np.sum(np.abs(z) ** 2)


def singles(x, n):
    s = x.astype(np.float32)
    for _ in range(n):
        s = np.tanh(s) + np.float32(0.25) * s
    return np.sum(s.astype(np.float64))


def choices(x, n):
    s = x
    for _ in range(n):
        s = np.where(s > 0.2, np.sin(s), np.maximum(s, 0.1) * x)
    return np.sum(s)


def whole_numbers(x, n):
    s, k = x, np.zeros(3, int)
    for _ in range(n):
        k = k + (s > 0.3)
        s = np.sin(s) + 0.01 * k
    return np.sum(s)


def stopped(x, n):
    s = x
    for _ in range(n):
        s = np.sin(s) * tn.stop_gradient(np.cos(s)) + 0.1 * x
    return np.sum(s)


def inner_gradient(x, n):
    s = x
    for _ in range(n):
        s = s - 0.1 * tn.grad(lambda s: np.sum(np.cos(s * x)))(s)
    return np.sum(s)


def last_but_one(x, n):
    s, seen = x, [x]
    for _ in range(n):
        s = np.sin(s) + 0.2 * x
        seen.append(s)
    return np.sum(seen[-2] * seen[-1])


@tn.custom_vjp
def doubled(x):
    return 2.0 * np.sin(x)


doubled.defvjp(lambda x: (doubled(x), x), lambda x, g: (3.0 * np.cos(x) * g,))


def own_rule(x, n):
    """A rule of the user belongs to its call."""
    s = x
    for _ in range(n):
        s = 0.4 * doubled(s) + 0.1 * x
    return np.sum(s)


def seldom_read(x, n):
    """Stacking all steps would cost more than the few that are read."""
    s, seen = x, []
    for k in range(n):
        s = np.sin(s) + 0.2 * x
        if k % 10 == 3:
            seen.append(s)
    return sum([np.sum(s) for s in seen])


def unlike(x, n):
    """No two steps are alike."""
    s = np.concatenate([x, x])
    for k in range(n):
        s = np.roll(np.sin(s), k % 5 + k % 3) + 0.1
    return np.sum(s)


def components(x, n):
    """A product and a sum for each component, stacked in columns."""
    columns = []
    for k in range(n):
        y = (POINTS - x * DATA[k]) @ FACTORS[k].T
        columns.append(x[0] * np.sin(x[1]) - 0.5 * np.sum(y**2, axis=1))
    inner = np.stack(columns, axis=1)
    top = np.max(inner, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(inner - top), axis=1)) + top[:, 0])


def filled(x, n):
    """A buffer that is filled column by column."""
    buffer = tn.zeros((3, n))
    for k in range(n):
        buffer[:, k] = np.sin(x * DATA[k]) * np.exp(-x) + x[::-1] ** 2
    return np.sum(buffer**3)


def filled_from_the_end(x, n):
    """A part of a buffer, from its last row on; the other rows stay."""
    buffer = tn.ones((n + 3, 3)) * x
    for k in reversed(range(n)):
        buffer[k + 1] = np.cos(x + DATA[k]) * x * np.sin(x) - 0.5 * x**2
    return np.sum(buffer**2)


ROLLED = (
    recurrence, numbers, constant_start, two_back, three_back, rows, rows_of_an_argument,
    steps_of_time, stacked, stacked_with_the_start, joined, losses, table, dead_end,
    repeats_inside, nested, one_behind_the_other, there_and_back, equations_with_two_results,
    complex_carry, singles, choices, whole_numbers, stopped, inner_gradient, last_but_one,
)  # fmt: skip
KEPT = (own_rule, seldom_read, unlike)
#: no step reads another one, so that they run all at once
AT_ONCE = (components, filled, filled_from_the_end)
