"""Suggestions for NumPy functions that are not covered.

A written table comes first; what it lacks is compared with the names that are covered.
Read next: ``numpy_protocols/protocols.py``.
"""

from __future__ import annotations

from importlib import import_module

from tenferro.arrays.errors import UnsupportedFunctionError
from tenferro.arrays.registry import FUNCTIONS
from tenferro.primitives._source import caller, source_text

_READING = "read it with NumPy alone, then take `tenferro.asarray(...)` of it"
_NUMBERS = "arrays hold numbers and bools only"
_RANDOM = (
    "NumPy draws on the host and keeps a state; `tenferro.random` draws in programs:\n"
    "             `tenferro.random.normal(tenferro.random.key(seed), shape, loc=x)`"
)
_VIEWS = "Arrays share no memory; `x[index]` and `np.broadcast_to` give values"

# name or prefix of names -> (nearest function or None, what to do)
HINTS: dict[str, tuple[str | None, str]] = {
    "scimath.": (None, "say the domain: `np.sqrt(x.astype(complex))`"),
    "strings.": (None, _NUMBERS),
    "char.": (None, _NUMBERS),
    "rec.": (None, _NUMBERS),
    "polynomial.": ("polyval", "`np.polyval` and its kin take arrays of coefficients"),
    "frombuffer": ("asarray", _READING),
    "fromfile": ("asarray", _READING),
    "fromiter": ("asarray", _READING),
    "fromstring": ("asarray", _READING),
    "loadtxt": ("asarray", _READING),
    "genfromtxt": ("asarray", _READING),
    "random.": (None, _RANDOM),
    "byte_bounds": (None, _VIEWS),
    "stride_tricks.as_strided": ("broadcast_to", _VIEWS),
    "isnat": (None, "there are no dates; convert them to numbers first"),
    "datetime_as_string": (None, "there are no dates; convert them to numbers first"),
    "busday_count": (None, "there are no dates; convert them to numbers first"),
    "busday_offset": (None, "there are no dates; convert them to numbers first"),
    "is_busday": (None, "there are no dates; convert them to numbers first"),
    "packbits": ("bitwise_and", "shift and mask with `<<`, `>>`, `&`"),
    "unpackbits": ("bitwise_and", "shift and mask with `<<`, `>>`, `&`"),
    "require": ("asarray", "an Array has no memory layout; `np.asarray(x)` gives memory"),
    "roots": (
        "linalg.eigvals",
        "they are the eigenvalues of the companion matrix: `tenferro.linalg.companion(x)`",
    ),
    "polyfit": ("linalg.lstsq", "write `np.linalg.lstsq(np.vander(x, degree + 1), y)[0]`"),
    "poly": ("polymul", "multiply the factors: `np.polymul` of [1, -root]"),
    "asmatrix": ("asarray", "a matrix means something else by `*`; use arrays of rank 2 and `@`"),
    "bmat": ("block", "a matrix means something else by `*`; use arrays of rank 2 and `@`"),
    "common_type": ("result_type", "a dtype is asked for by `np.result_type`"),
    "min_scalar_type": ("result_type", "the dtype is `x.dtype`; values do not change it"),
    "isfortran": (None, "an Array has no memory layout"),
}
_GENERAL = (
    "`tenferro.numpy_functions()` lists what is covered; a function gets a\n"
    "             derivative by `tenferro.custom_vjp`; for a value that is meant as a\n"
    "             constant, call it on `np.asarray(tenferro.stop_gradient(x))`"
)


def unsupported(name: str, library: str = "np") -> UnsupportedFunctionError:
    """Make the error about a function of NumPy, or of another library, that is not covered."""
    nearest, advice = _advice(name)
    there = library if nearest is None or library == "np" else "tenferro"
    return UnsupportedFunctionError(
        f"{library}.{name} is not covered for tenferro arrays\n"
        f"  from       {source_text(caller())}\n"
        + (f"  nearest    {there}.{nearest}\n" if nearest else "")
        + f"  hint       {advice}",
        function=name,
        nearest=nearest,
    )


def _advice(name: str) -> tuple[str | None, str]:
    prefix = f"{name.partition('.')[0]}."
    found = HINTS.get(name) or (HINTS.get(prefix) if "." in name else None)
    if found is not None:
        return found
    names = sorted(key for key in FUNCTIONS if not key.startswith("_"))
    difflib = import_module("difflib")
    near = difflib.get_close_matches(name.rpartition(".")[2], names, n=1, cutoff=0.7)
    return near[0] if near else None, _GENERAL


def unsupported_keyword(name: str, keyword: str) -> UnsupportedFunctionError:
    """Make the error about a keyword that is not covered."""
    return UnsupportedFunctionError(
        f"np.{name}: the keyword {keyword!r} is not covered for tenferro arrays\n"
        f"  from       {source_text(caller())}",
        function=name,
        nearest=name,
        keyword=keyword,
    )
