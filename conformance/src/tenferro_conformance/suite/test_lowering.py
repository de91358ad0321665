"""It does not matter how a program is cut: decomposition or lowering, whole or node by node."""

import pytest

from tenferro_conformance.judging import laws
from tenferro_conformance.running import programs
from tenferro_conformance.running.operations import operation_of

_decomposition = pytest.mark.tenferro_law(
    "lowering",
    build=programs.decomposed,
    where=lambda case: operation_of(case).decompose is not None,
)
_nodes = pytest.mark.tenferro_law(
    "lowering", build=programs.adjoint, grad=True, where=lambda case: programs.is_typical(case)
)


@_decomposition
def test_decomposition(tenferro_run):
    """Decomposition = direct lowering."""
    laws.require_decomposition(tenferro_run())


@_nodes
def test_whole_program_is_its_nodes(tenferro_run):
    """Whole program = node by node, each within the tolerance class."""
    laws.require_same_node_by_node(tenferro_run())
