"""Loops and branches: primitives whose parameters are closed graphs."""

from tenferro.primitives.control.bound import Bound
from tenferro.primitives.control.checkpoint import Checkpoint
from tenferro.primitives.control.scan import Scan
from tenferro.primitives.control.switch import Switch
from tenferro.primitives.control.while_loop import WhileLoop

__all__ = ["Bound", "Checkpoint", "Scan", "Switch", "WhileLoop"]
