"""Loops, branches and checkpoints: primitives whose parameters are closed graphs.

Read in this order: ``scan``, then its derivative: ``tangents`` (forward), ``residuals`` (what is
stacked for reverse mode, what is computed again), ``transposed``; then ``while_loop``, ``switch``
with ``branches``, ``checkpoint``, ``batching``, ``unrolled``.
"""

from tenferro.primitives.control.bound import Bound
from tenferro.primitives.control.checkpoint import Checkpoint
from tenferro.primitives.control.scan import Scan
from tenferro.primitives.control.switch import Switch
from tenferro.primitives.control.while_loop import WhileLoop

__all__ = ["Bound", "Checkpoint", "Scan", "Switch", "WhileLoop"]
