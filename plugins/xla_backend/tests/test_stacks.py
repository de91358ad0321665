"""Programs with several stacks of matrices end, with the numbers that NumPy gives.

Two of jaxlib's batched LAPACK calls at the same time wait for each other on a machine of two
processors; see `src/tenferro_xla/_batches.py`. A process of its own is given up after five minutes.
"""

import subprocess
import sys

import numpy as np
import pytest

import tenferro as tn

MANY = """
import numpy as np, tenferro as tn
rng = np.random.default_rng(0)
lower = np.tril(rng.random((8, 64, 64, 64))) + 3 * np.eye(64)
right = rng.random((8, 64, 64, 64))
def f(lower, right):
    pairs = zip(lower, right)
    return [tn.linalg.solve_triangular(l, 2 * r, lower=True) + 1 for l, r in pairs]
run = tn.jit(f, backend="xla")
for _ in range(20):
    found = run([*lower], [*right])
assert all(np.allclose(l @ (x - 1), 2 * r) for l, r, x in zip(lower, right, found))
print("ended")
"""


def test_many_stacks_at_once_end():
    done = subprocess.run(
        [sys.executable, "-c", MANY], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.strip() == "ended", done.stderr


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_factorizations_of_stacks_are_those_of_numpy(dtype):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(2, 3, 4, 4))
    if dtype == "complex128":
        a = a + 1j * rng.normal(size=a.shape)
    h = a @ a.conj().swapaxes(-1, -2) + np.eye(4)

    def function(a, h):
        q, r = np.linalg.qr(a)
        u, s, vh = np.linalg.svd(a)
        w, v = np.linalg.eigh(h)
        return q @ r, (u * s[..., None, :]) @ vh, w, abs(v), np.linalg.cholesky(h), np.linalg.inv(a)

    found = tn.jit(function, backend="xla")(a, h)
    for x, want in zip(found, function(a, h), strict=True):
        np.testing.assert_allclose(x, want, rtol=1e-10, atol=1e-12)
