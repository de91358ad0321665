"""Operands are tensors of PyTorch, on the CPU. PyTorch records nothing: tenferro differentiates.

Read next: ``lowerings.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tenferro.backend import Backend, UnsupportedError
from tenferro.primitives import Aval


class TorchBackend(Backend):
    """Backend on tensors; it inherits ``compile``, which interprets programs."""

    def asoperand(self, value: Any, aval: Aval) -> torch.Tensor:
        """Convert a NumPy array or a number; a tensor is detached from PyTorch's own graph."""
        if isinstance(value, torch.Tensor):
            _check_device(value)
            return value.detach() if value.requires_grad else value
        return torch.from_numpy(np.array(value, dtype=aval.dtype.name, order="C"))

    def to_numpy(self, operand: torch.Tensor) -> Any:
        """Convert an operand to a NumPy array with memory of its own."""
        return operand.detach().resolve_conj().resolve_neg().numpy().copy()

    def aval_of(self, operand: torch.Tensor) -> Aval:
        """Return the shape and dtype of an operand: `torch.float64` is named in its text."""
        return Aval(tuple(operand.shape), str(operand.dtype).removeprefix("torch."))

    def owns(self, value: Any) -> bool:
        """Recognize tensors, and parameters of modules."""
        return isinstance(value, torch.Tensor)

    def snapshot(self, operand: torch.Tensor) -> torch.Tensor:
        """Copy: whoever holds a tensor can write to it."""
        return operand.detach().clone()


def _check_device(x: torch.Tensor) -> None:
    if x.device.type != "cpu":
        raise UnsupportedError(
            f"torch: this backend runs on the CPU\n  got        a tensor on {x.device}\n"
            "  hint       `x.cpu()`",
            backend="torch",
            feature=x.device.type,
            instead="",
        )
