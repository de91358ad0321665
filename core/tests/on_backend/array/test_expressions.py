"""Expressions of NumPy mean the same with Arrays: structure, operators, methods, what stands left.

Variables are Arrays on our side; `n.x` is the NumPy array on both. Each line is one case.
"""

import numpy as np
import pytest
from against_numpy import agree, expression_cases, sample

import tenferro as tn

VARIABLES = {
    "x": sample("float64", (2, 3)),
    "y": sample("float64", (3,), seed=1),
    "t": sample("float32", (2, 1, 3)),
    "f": sample("float32", (3,)),
    "i": sample("int64", (2, 3)),
    "b": sample("bool", (2, 3)),
    "z": sample("complex128", (2, 3)),
    "s": np.array(1.5),
    "k": np.array(2),
    "e": np.zeros((0, 3)),
}
FAMILIES = {
    "reshape": """
        np.reshape(x, (3, 2))
        np.reshape(t, (3, -1))
        np.reshape(x, -1)
        np.reshape(x, [6, 1])
        np.reshape(x, shape=(6,))
        np.reshape(x, n.k + 4)
        np.reshape(x[:1, :1], ())
        np.reshape(e, (-1, 3))
        np.ravel(t)
        np.ravel(s)
        x.reshape(3, 2)
        x.reshape((3, 2))
        x.reshape(-1)
        x.ravel()
        x.flatten()""",
    "axes": """
        np.transpose(x)
        np.transpose(t, (2, 0, 1))
        np.transpose(t, [0, -1, 1])
        np.transpose(x, axes=(1, 0))
        np.transpose(s)
        np.permute_dims(x, (1, 0))
        np.swapaxes(t, 0, -1)
        np.moveaxis(t, 0, -1)
        np.moveaxis(t, (0, 1), (-1, 0))
        np.moveaxis(t, [0, 2], [2, 0])
        np.expand_dims(x, 0)
        np.expand_dims(x, (0, -1))
        np.squeeze(t)
        np.squeeze(t, 1)
        np.squeeze(t, axis=(1,))
        np.flip(x)
        np.flip(t, (0, -1))
        x.T
        t.mT
        x.transpose(1, 0)
        x.transpose((1, 0))
        x.swapaxes(0, 1)
        t.squeeze()""",
    "joining": """
        np.broadcast_to(y, (4, 3))
        np.broadcast_to(s, ())
        np.broadcast_to(y, (0, 3))
        np.concatenate((x, i))
        np.concatenate([x, z], axis=1)
        np.concatenate([x, y], axis=None)
        np.concatenate([y, f], -1)
        np.concatenate([b, b])
        np.concatenate([x, i], axis=0, dtype=np.float32)
        np.concatenate(x)
        np.concatenate([x, e])
        np.concatenate([y, [1.0, 2.0]])
        np.stack((y, f))
        np.stack([x, z], axis=-1)
        np.stack([y[0], 1.0, 2])
        np.stack([s, k])
        np.vstack((x, y))
        np.vstack((s, k))
        np.hstack((x, i))
        np.hstack((y, f))
        np.hstack((y, s))""",
    "new arrays": """
        np.zeros_like(x)
        np.zeros_like(z)
        np.zeros_like(b, dtype=np.int32)
        np.zeros_like(x, shape=(4,))
        np.ones_like(i)
        np.ones_like(x, dtype=bool)
        np.full_like(x, 2.5)
        np.full_like(f, 2)
        np.full_like(x, n.y)
        np.copy(x)
        x.copy()
        np.astype(x, "float32")
        np.astype(i, np.float64)
        x.astype(int)
        x.astype("bool")
        f.astype(complex)
        b.astype(np.int32)
        x.astype(np.dtype("f4"), copy=False)""",
    "where, clip, take": """
        np.where(x > 0, x, n.y)
        np.where(f > 0, f, 0)
        np.where(i > 0, 1, i)
        np.where(f > 0, 1.0, 0.0)
        np.where(i, i, 2.5)
        np.where(n.b, x, -1)
        np.where(True, x, 0.0)
        np.where(x[:, :1] > 0, x, y)
        np.clip(x, -1, 1)
        np.clip(f, None, 1.0)
        np.clip(i, -1, 1)
        np.clip(i, -0.5, 1.5)
        np.clip(x, n.y, 1)
        np.clip(x, 1, -1)
        np.clip(x, a_min=0, a_max=1)
        np.clip(f, max=1)
        x.clip(-1, 1)
        np.take(x, 2)
        np.take(x, [0, -1])
        np.take(x, [0, 1], axis=1)
        np.take(x, [[0, 1], [1, 0]], axis=0)
        x.take([0, 1])""",
    "operators": """
        +x
        -x
        abs(z)
        ~b
        ~i
        x + y
        x - f
        i * 2
        i / 2
        i / i.T[:1].astype(bool)[0, 0]
        x**2
        x**-1
        x**0
        abs(x) ** 0.5
        f**2.0
        2**x
        x @ y
        x @ x.T
        x == y
        x != y
        x < y
        x <= y
        x > y
        x >= 0
        b & (x > 0)
        b | (x > 0)
        b ^ (x > 0)
        1 + x
        1 - x
        2 * x
        1 / (x + 5)
        True + x
        True & b
        1j * x
        3 > x
        divmod(7, 4)[1] - x""",
    "NumPy on the left": """
        n.x + x
        n.x - y
        n.x * f
        n.x / (y + 5)
        abs(n.x) ** y
        n.x @ y
        n.y @ x.T
        n.x.T @ x
        n.x == x
        n.x < y
        n.x >= y
        n.b & b
        n.s + x
        n.s * x
        n.s < x
        np.float64(2) + f
        np.float32(2) + x
        np.float32(2) * f
        np.float64(2) < x
        np.float64(2) ** x
        np.int64(2) - i
        np.int32(2) / i.T[0, 0].astype(float)
        np.bool_(True) & b
        np.complex64(1j) * f""",
    "lists": """
        x + [1.0, 2.0, 3.0]
        [1, 2, 3] * x
        (1, 2, 3) - y
        np.add(x, [1, 2, 3])
        np.dot(x, [1.0, 2.0, 3.0])
        x @ [1, 2, 3]
        np.maximum([0, 0, 0], x)
        np.where([True, False, True], x, y)
        y == [1.0, 2.0, 3.0]""",
    "dtypes": """
        np.zeros(3, x.dtype) + f
        np.ones((2, 3), dtype=f.dtype) * i
        i.astype(z.dtype)
        x.astype(f.dtype)
        np.asarray([1, 2, 3], f.dtype) - f
        f * np.finfo(f.dtype).eps
        i + np.iinfo(i.dtype).min
        x if x.dtype == np.float64 and f.dtype != "float64" else f
        x if x.dtype in (np.float32, float) and i.dtype == int else f
        x if np.issubdtype(f.dtype, np.floating) else f
        f if np.issubdtype(i.dtype, np.floating) else x""",
    "methods": """
        x.sum()
        x.sum(0)
        x.sum(axis=1, keepdims=True)
        b.sum()
        i.sum(axis=(0, 1))
        x.prod(-1)
        x.mean()
        i.mean(0)
        f.mean()
        x.var(ddof=1)
        z.std(axis=0)
        x.max()
        x.min(axis=1)
        x.argmax()
        x.argmin(axis=0)
        b.any()
        b.all(axis=0)
        z.real
        z.imag
        x.real
        x.imag
        z.conj()
        z.conjugate()
        x.dot(y)""",
    "questions": """
        np.array([np.ndim(t), np.size(t), np.size(t, 2), *np.shape(t)]) + 0 * k
        np.array([t.ndim, t.size, len(t), *t.shape, t.nbytes]) + 0 * k
        np.array([1.5 in s[None], 9.5 in y, bool(s), int(k), float(s), complex(s)]) + 0 * k
        np.array([s.item(), round(float(s), 1)]) + 0 * k
        np.array(y.tolist()) + 0 * k
        np.arange(5)[k : k + 2] + 0 * k
        [1, 2, 3][k] * k
        np.array([row.sum() for row in n.x]) + 0 * k
        np.asarray(list(y)[0]) + 0 * k""",
    "Python's builtins": """
        sum(x)
        sum(y)
        max(y[0], y[1])
        abs(y)
        pow(y, 2)
        np.add.reduce(x)
        np.add.reduce(x, axis=None)
        np.multiply.reduce(x, axis=1)
        np.maximum.reduce(x)
        np.logical_or.reduce(b, axis=0)""",
}


def test_nested_lists_of_arrays_become_arrays():
    x = tn.asarray(2.0)
    np.testing.assert_array_equal(
        np.asarray(tn.asarray([[x, 1.0], [0.0, x * x]])), [[2, 1], [0, 4]]
    )
    assert tn.grad(lambda x: np.sum(tn.asarray([[x, 1.0], [0.0, x * x]]) ** 2))(2.0) == 36


@pytest.mark.parametrize("family", FAMILIES)
def test_expressions_mean_what_they_mean_in_numpy(family):
    agree(expression_cases(FAMILIES[family], VARIABLES))


def test_the_slope_of_equal_values_is_no_negative_zero():
    assert not np.signbit(np.asarray(np.gradient(tn.asarray(np.zeros(4))))).any()
