"""Errors of transforms."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import SparseResultError as SparseResultError
from tenferro.arrays.errors import at_user_line
from tenferro.backend.select import check_backend
from tenferro.computegraph import TenferroError
from tenferro.tidu import ADContext


def check_function(function: Any, transform: str, backend: Any = None, context: Any = None) -> None:
    """Raise TypeError, at the user's line, for anything but a function, a backend or a context."""
    check_backend(backend, transform)
    if context is not None and not isinstance(context, ADContext):
        text = f"{transform}: `context` is an ADContext, not {context!r:.60}"
        raise at_user_line(TypeError(text))
    if callable(function):
        return
    hint = ""
    if transform == "trace" and hasattr(function, "ndim"):
        hint = "\n  hint       `np.trace(x)` and `tenferro.linalg.trace(x)` sum a diagonal"
    error = TypeError(
        f"{transform} takes a function, not {type(function).__name__}\n"
        f"  got        {function!r:.60}\n"
        f"  need       the function itself: `f` and not `f(x)`{hint}"
    )
    raise at_user_line(error)


class DifferentiationInputError(TenferroError, TypeError):
    """Report an argument that cannot be differentiated. Fields: ``argument``, ``aval``."""


class NonScalarOutputError(TenferroError, TypeError):
    """Report a function under ``grad`` whose value is not a real scalar. Fields: ``aval``."""


def no_pattern(directions: int, is_dense: bool) -> SparseResultError:
    """Make the error for a pattern of too many directions, or else of too many entries."""
    return at_user_line(
        SparseResultError(
            "sparse: the pattern of the derivative takes too long to find, or is too large\n"
            f"  got        {directions} directions{' with too many entries' if is_dense else ''}\n"
            "  need       at most 32,768 directions and about a million entries\n"
            "  hint       differentiate parts of the arguments, or use `tn.jvp` and `tn.vjp`",
            elements=directions,
        )
    )


class TangentMismatchError(TenferroError, ValueError):
    """Report tangents or cotangents that do not fit. Fields: ``got``, ``need``."""


class ArgumentNumberError(TenferroError, ValueError):
    """Report an ``argnums`` that the call does not have. Fields: ``argnums``, ``count``."""


class BorrowedWriteError(TenferroError, ValueError):
    """Report a write into a large argument while a transform runs the function. Field: ``avals``.

    ``avals`` are the shapes and dtypes of the arguments that are read-only meanwhile.
    """


class BodyError(TenferroError, TypeError):
    """Report the body of a loop or branch that does not fit. Fields: ``got``, ``need``, ``leaf``.

    ``leaf`` is the path of the part of the carry, or of the argument, that is meant; else empty.
    """


def refused_body(
    name: str, fact: str, got: str, need: str, *, leaf: str = "", hint: str = ""
) -> BodyError:
    """Make the error of a loop or branch, called ``name``, at the user's line."""
    text = f"{name}: {fact}\n  got        {got}\n  need       {need}"
    if hint:
        text += f"\n  hint       {hint}"
    return at_user_line(BodyError(text, got=got, need=need, leaf=leaf))


class GraphTooLargeError(TenferroError, ValueError):
    """Report a graph that is too large to be drawn whole. Fields: ``count``, ``limit``."""


class UnknownPrimitiveError(TenferroError, ValueError):
    """Report a key that no installed plugin registered. Fields: ``key``, ``nearest``."""


class GradientCheckError(TenferroError, AssertionError):
    """Report a derivative that disagrees with differences.

    Fields: ``mode``, ``order``, ``got``, ``need``, and ``kink``: the derivatives from the left and
    from the right where they differ, else None.
    """


class PrimitiveCheckError(TenferroError, AssertionError):
    """Report laws that a primitive breaks. Fields: ``primitive``, ``broken`` (a row per law)."""


class KitNotInstalledError(TenferroError, ImportError):
    """Report that the conformance kit cannot be imported. Field: ``distribution``."""


class BatchAxisError(TenferroError, ValueError):
    """Report axes or sizes that do not fit under ``vmap``. Fields: ``got``, ``need``."""


class FileAccessError(TenferroError, OSError):
    """Report a file that is not there, or may not be read or written. Field: ``path``."""


class BatchingWarning(UserWarning):
    """Say that a primitive has no batching rule and is applied to one example at a time."""


class GaugeWarning(UserWarning):
    """Say that a derivative through svd, eigh, eig or qr is wrong.

    ``check_grads`` says so of a function that depends on the gauge of a factorization, which has no
    derivative. On NumPy every derivative says so at run time where eigenvalues or singular values
    are equal and the function needs what their vectors do among themselves.
    """


class NonFiniteError(TenferroError, FloatingPointError):
    """Report an equation that made a NaN or an infinity.

    Fields: ``operation``, ``what``, ``index``, ``equation``, ``line`` of the user's program.
    """
