"""Suspects: the rule of a primitive that a broken law points at.

A law is broken by one of few rules, and the other laws of the primitive tell which: an adjoint
without a wrong derivative is a wrong transpose. A suspect is a hint, and no proof. Read
`../one_primitive.py` next.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tenferro.primitives import Elementwise, Linear, Multilinear

__all__ = ["suspect_of"]

_DERIVATIVES = frozenset({"derivative", "complex step", "order 2", "order 3"})
_REVERSE = frozenset({"adjoint", "double transpose", "mode agreement", "order 2 adjoint"})
_LOWERED = frozenset({"value", "fidelity", "purity"})


def suspect_of(primitive: type[Any] | None, key: str, law: str, broken: Collection[str]) -> str:
    """Return what a broken law of a primitive points at, given all of its broken laws."""
    if law == "round trip":
        return "`asoperand` and `to_numpy` of the backend"
    if primitive is None:
        return f"a rule of {key}"
    text = f"{_rule(primitive, law, broken)} of {key}"
    if set(broken) == {"value"}:
        text += ", or a number that its row states as `expected`"
    return text


def _rule(primitive: type[Any], law: str, broken: Collection[str]) -> str:
    lowering = "the lowering" if primitive.decompose is None else "the lowering or `decompose`"
    if law == "aval":
        return f"`abstract_eval`, or {lowering}"
    if law in _LOWERED or ("value" in broken and law not in ("identity", "closure")):
        return lowering
    if law == "lowering" or ("lowering" in broken and law in _DERIVATIVES | _REVERSE):
        return "`decompose`, or the lowering"  # rules are compared with what the lowering computes
    if law == "linearity":
        return f"{lowering}, which is declared linear,"
    if law == "batching":
        return _of(primitive, "batch") or "the rule that `batch` derives"
    if law in _DERIVATIVES or (law in _REVERSE and _DERIVATIVES & set(broken)):
        return _forward(primitive)
    if law in _REVERSE:
        return _of(primitive, "transpose") or _forward(primitive)
    return "a rule"


def _forward(primitive: type[Any]) -> str:
    if issubclass(primitive, Elementwise):
        return "`derivative`"
    if issubclass(primitive, Linear | Multilinear):
        return "the lowering: the class declares it linear,"
    return _of(primitive, "jvp") or "the JVP"


def _of(primitive: type[Any], kind: str) -> str:
    """Return the rules of one kind that the class itself defines, as text."""
    names = sorted(
        name for name in dir(primitive)
        if name.startswith(f"{kind}_") or (name == kind and kind == "batch")
    )  # fmt: skip
    written = [name for name in names if getattr(primitive, name) is not None]
    return " or ".join(f"`{name}`" for name in written)
