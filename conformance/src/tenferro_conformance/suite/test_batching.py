"""A batch is a loop over examples, for values and for derivatives."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs

_value = pytest.mark.tenferro_law(
    "batching", build=programs.batched_value, where=programs.is_of_widest
)
_derivative = pytest.mark.tenferro_law(
    "batching", build=programs.batched_adjoint, grad=True, where=programs.is_typical
)


@_value
def test_batch_is_a_loop(tenferro_run):
    """vmap(f)(xs)[k] = f(xs[k]), whichever inputs are batched."""
    laws.require_batching(tenferro_run())


@_derivative
def test_derivative_of_a_batch_is_a_loop(tenferro_run):
    """vmap(J·v) and vmap(Jᵀ·w) are those of each example."""
    laws.require_batching(tenferro_run())
