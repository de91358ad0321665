"""Gauges of vectors that are defined up to a phase, and the checks that factorizations share.

A factorization in the raw gauge has the phases that the backend happens to give, and its rule
keeps them where they are in the most symmetric way. In the canonical gauge the entry of largest
modulus of each vector is real and positive, the first of them where several are; a change of the
matrix turns the phase along. Read next: ``svd.py``.
"""

from __future__ import annotations

from tenferro.computegraph import Operation
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import at_least_zero, invalid
from tenferro.primitives._handle import H, Handle
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.comparison import eq
from tenferro.primitives.complex import imag, real
from tenferro.primitives.constants import iota
from tenferro.primitives.linalg._matrices import factorizable as factorizable
from tenferro.primitives.linalg._matrices import kept
from tenferro.primitives.reduction import argmax, reduce_sum
from tenferro.primitives.structural import broadcast_in_dim
from tenferro.tidu import MissingRuleError

GAUGES = ("raw", "canonical")


def thin_only(op: Operation, a: Aval) -> MissingRuleError:
    """Make the error about vectors that complete a basis, which are an arbitrary choice."""
    alternative = "full_matrices=False (full=False)"
    if op.name in ("qr", "pivoted_qr"):
        alternative = "mode='reduced' (full=False)"
    return MissingRuleError(
        f"{op.name}: vectors that complete a basis have no derivative\n"
        f"  got        full=True for {a}\n"
        f"  need       {alternative}, which has one",
        primitive=f"std::{op.name}",
        rule="jvp_a",
        provider=type(op).__module__,
        alternative=alternative,
    )


def check_gauge(op: Operation) -> None:
    """Refuse a gauge or a relative gap that does not exist."""
    gauge = op.gauge  # type: ignore[attr-defined]
    if gauge not in GAUGES:
        raise invalid(op, "gauge", "no such gauge", got=repr(gauge), need='"raw" or "canonical"')
    check_epsilon(op)


def check_epsilon(op: Operation) -> None:
    """Refuse a relative gap that is none."""
    if op.epsilon is not None:  # type: ignore[attr-defined]
        at_least_zero(op, "epsilon", "no relative gap")


def angle_rates(dx: H, x: H, axis: int) -> H:
    """θ such that dx + iθx keeps the largest entry of each vector along the axis real.

    dx, x: c[*s], in the canonical gauge   →   f[s without the axis]
    """
    rest = tuple(i for i in range(x.ndim) if i != axis)
    place = broadcast_in_dim(argmax(absolute(x), axis, "int32"), x.shape, rest)
    largest: Handle = eq(iota(x.shape, axis, "int32"), place)
    rate = imag(reduce_sum(kept(largest, dx), (axis,)))
    return -(rate / real(reduce_sum(kept(largest, x), (axis,))))
