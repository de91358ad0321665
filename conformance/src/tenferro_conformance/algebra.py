"""The laws of a commutative semiring, asked of an algebra through programs.

The suite compares with real numbers, so it does not apply to another algebra. Here each law is two
programs of tenferro that must give the same elements: sums, products and contractions that
associate and distribute, a zero and a one, and derivatives that are those of a bilinear product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import tenferro as tn
from tenferro.backend import AlgebraBackend, Backend

__all__ = ["BrokenLawsError", "check_algebra"]

Program = Callable[..., Any]


class SemiringLaw(NamedTuple):
    """Two programs of three matrices that give equal elements.

    ``order`` permutes the matrices of the right program: recording puts the operands of a
    commutative operation in one order, so only other operands show whether it commutes.
    """

    name: str
    left: Program
    right: Program
    order: tuple[int, int, int] = (0, 1, 2)


def _zeros(x: Any) -> Any:
    """Return zeros behind a barrier, because recording leaves out the addition of a literal 0."""
    return tn.barrier(tn.zeros(x.shape))


class BrokenLawsError(AssertionError):
    """Some laws do not hold; ``laws`` has their names."""

    def __init__(self, message: str, laws: tuple[str, ...]) -> None:
        super().__init__(message)
        self.laws = laws


ELEMENTWISE = (
    SemiringLaw("add commutes", lambda x, y, z: x + y, lambda x, y, z: x + y, (1, 0, 2)),
    SemiringLaw("add associates", lambda x, y, z: (x + y) + z, lambda x, y, z: x + (y + z)),
    SemiringLaw("mul commutes", lambda x, y, z: x * y, lambda x, y, z: x * y, (1, 0, 2)),
    SemiringLaw("mul associates", lambda x, y, z: (x * y) * z, lambda x, y, z: x * (y * z)),
    SemiringLaw("mul distributes", lambda x, y, z: x * (y + z), lambda x, y, z: x * y + x * z),
    SemiringLaw("adding zero", lambda x, y, z: x + _zeros(x), lambda x, y, z: x),
    SemiringLaw(
        "multiplying by one", lambda x, y, z: x * tn.barrier(tn.ones(x.shape)), lambda x, y, z: x
    ),
    SemiringLaw(
        "multiplying by zero", lambda x, y, z: x * _zeros(x), lambda x, y, z: tn.zeros(x.shape)
    ),
    SemiringLaw("a sum of two", lambda x, y, z: tn.sum(tn.stack([x, y]), 0), lambda x, y, z: x + y),
    SemiringLaw(
        "a sum of nothing", lambda x, y, z: tn.sum(x[:0], 0), lambda x, y, z: tn.zeros(x.shape[1:])
    ),
)
CONTRACTIONS = (
    SemiringLaw(
        "dot_general is a sum of products",
        lambda x, y, z: x @ y,
        lambda x, y, z: tn.sum(x[:, :, None] * y[None], 1),
    ),
    SemiringLaw("products associate", lambda x, y, z: (x @ y) @ z, lambda x, y, z: x @ (y @ z)),
    SemiringLaw(
        "a batch is a product of each",
        lambda x, y, z: tn.stack([x, y]) @ tn.stack([y, z]),
        lambda x, y, z: tn.stack([x @ y, y @ z]),
    ),
)
DERIVATIVES = (
    SemiringLaw(
        "derivative of a product by one factor",
        lambda x, y, z: tn.grad(lambda x: tn.sum(x * y))(x),
        lambda x, y, z: y,
    ),
    SemiringLaw(
        "derivative in a direction",
        lambda x, y, z: tn.jvp(lambda x: x @ y, (x,), (z,))[1],
        lambda x, y, z: z @ y,
    ),
    SemiringLaw(
        "adjoint of a contraction",
        lambda x, y, z: tn.vjp(lambda x: x @ y, x)[1](z)[0],
        lambda x, y, z: z @ tn.transpose(y),
    ),
)


def check_algebra(
    algebra: object,
    x: Any,
    y: Any,
    z: Any,
    *,
    equal: Callable[[Any, Any], bool] = np.array_equal,
) -> tuple[str, ...]:
    """Check the laws of a commutative semiring, of its contractions and of its derivatives.

    Laws that need an operation which the algebra does not have are left out, as
    ``MissingLoweringError`` names it.

    Parameters
    ----------
    algebra : object or Backend
        The object with the operations, or the ``AlgebraBackend`` made of it.
    x, y, z : array_like or operands of the algebra
        Square matrices of one shape. Choose elements whose sums and products are exact, such as
        small integers, and let the zero and the one of the algebra be among them.
    equal : callable, optional
        Whether two results are equal, as ``to_numpy`` gives them. By default every element is.

    Returns
    -------
    tuple of str
        The names of the laws that hold.

    Raises
    ------
    BrokenLawsError
        If a law does not hold; the message shows both results.

    Examples
    --------
    >>> import numpy as np
    >>> from tenferro_numpy.algebra import ArrayAlgebra
    >>> class MaxPlus(ArrayAlgebra):
    ...     zero, one, dtype = -np.inf, 0.0, float
    ...
    ...     def add(self, x, y):
    ...         return np.maximum(x, y)
    ...
    ...     def mul(self, x, y):
    ...         return x + y
    >>> x, y, z = np.random.default_rng(0).integers(-9, 9, (3, 4, 4)).astype(float)
    >>> "products associate" in check_algebra(MaxPlus(), x, y, z)
    True
    """
    backend = algebra if isinstance(algebra, Backend) else AlgebraBackend(algebra)
    asked = list(_judged(backend, (x, y, z), equal))
    broken = {name: what for name, what in asked if what}
    if broken:
        lines = [f"{name}\n{what}" for name, what in broken.items()]
        raise BrokenLawsError(
            f"{len(broken)} of {len(asked)} laws do not hold over {backend.name}\n"
            + "\n".join(lines),
            tuple(broken),
        )
    return tuple([name for name, _ in asked])


def _judged(
    backend: Backend, operands: tuple[Any, Any, Any], equal: Callable[[Any, Any], bool]
) -> Iterator[tuple[str, str]]:
    """Yield the name of each law that can be asked, and what is wrong with it."""
    for law in (*ELEMENTWISE, *CONTRACTIONS, *DERIVATIVES):
        try:
            left = _computed(law.left, operands, backend)
            right = _computed(law.right, [operands[i] for i in law.order], backend)
        except tn.MissingLoweringError:
            continue
        is_wrong = not equal(left, right)
        yield law.name, f"  got        {left!r}\n  and        {right!r}" if is_wrong else ""


def _computed(program: Program, operands: Sequence[Any], backend: Backend) -> Any:
    result = tn.jit(program, backend=backend)(*operands)
    return backend.to_numpy(result) if backend.owns(result) else np.asarray(result)
