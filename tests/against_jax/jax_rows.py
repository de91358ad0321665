"""What a row says: a function, the operands that it gets, what JAX computes, and why not, if not.

A row is compared with JAX in value and gradient, the latter after conjugation: JAX's gradient of a
real function by z is conj(∂f/∂z)*, ours points where the function grows. It is compared with
differences too, along a direction of the operands' own kind (Hermitian matrices vary as such). An
exclusion is a sentence.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

REAL, COMPLEX = ("float64",), ("float64", "complex128")


@dataclass(frozen=True)
class Operand:
    """Random arrays of a shape, written as sizes: ``"*b m n"`` with batch b; and of a kind."""

    shape: str
    kind: str = "general"
    low: float = -1.0
    high: float = 1.0
    varies: bool = True

    def sizes(self, sizes):
        """The shape for given sizes."""
        found = []
        for word in self.shape.split():
            found += [*sizes["b"]] if word == "*b" else [sizes.get(word) or int(word)]
        return tuple(found)

    def draw(self, rng, sizes, dtype, *, direction=False):
        """A value, or a direction in which one may move and stay of its kind."""
        shape = self.sizes(sizes)
        x = rng.uniform(self.low, self.high, shape)
        if direction:
            x = rng.normal(size=shape) * (self.high - self.low) / 2
        if dtype == "complex128":
            x = x + 1j * rng.normal(size=shape)
        return KINDS[self.kind](x, direction)


def hermitian(x, direction):
    """Hermitian, with eigenvalues that are apart."""
    x = (x + np.conj(np.swapaxes(x, -1, -2))) / 2
    return x if direction else x + np.diag(4.0 * np.arange(x.shape[-1]))


def definite(x, direction):
    """Positive definite, well conditioned."""
    if direction:
        return hermitian(x, direction)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.diag(1.0 + np.arange(x.shape[-1]))


def apart(x, direction):
    """Any matrix with eigenvalues and singular values that are apart, none of them near 0."""
    rows, columns = x.shape[-2:]
    return x if direction else x + np.eye(rows, columns) * (3.0 + 3.0 * np.arange(columns))


def small(x, direction):
    """Of norm below 1."""
    return x / (4 * x.shape[-1])


def near_one(x, direction):
    """With eigenvalues near 1 and apart."""
    n = x.shape[-1]
    return x / 8 if direction else x / (8 * n) + np.diag(1 + 0.3 * np.arange(n))


def triangle(x, direction):
    """A lower triangle, well conditioned."""
    x = np.tril(x)
    return x if direction else x + 2 * np.eye(x.shape[-1])


KINDS = {
    "general": lambda x, direction: x,
    "hermitian": hermitian,
    "definite": definite,
    "apart": apart,
    "small": small,
    "near one": near_one,
    "lower": triangle,
}


@dataclass(frozen=True)
class Row:
    """One function in one use."""

    name: str
    operands: tuple
    ours: Callable
    theirs: Callable
    keywords: dict
    dtypes: tuple = COMPLEX
    constant: str = ""  # why there is no derivative
    not_jax: str = ""  # why JAX is not asked, neither for value nor gradient
    not_jax_gradient: str = ""  # why JAX is not asked for the gradient
    not_differences: str = ""  # why there are no differences
    where: Callable = field(default=lambda sizes: True)  # the sizes that have a meaning

    def __str__(self):
        said = ", ".join(f"{key}={value}" for key, value in self.keywords.items())
        return f"{self.name}({said})" if said else self.name


def leaves(result):
    """The arrays of a result, which may be a tuple."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]
