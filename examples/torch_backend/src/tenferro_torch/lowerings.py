"""Lowerings: those of any namespace of the Array API standard, and what PyTorch does differently.

Read next: ``profile.py``.
"""

from __future__ import annotations

import array_api_compat.torch as xp
import torch

from tenferro.backend import Lowering, Lowerings, array_api_like
from tenferro.backend.array_api_like.indexing import register_scatter_add
from tenferro.primitives.arithmetic import Add, Sub
from tenferro.primitives.complex import Complex
from tenferro.primitives.structural import Bitcast

Tensor = torch.Tensor


def lowerings() -> list[Lowering]:
    """Return the lowerings of all primitives that run on this backend."""
    own = _own()
    replaced = {record.primitive for record in own}
    shared = array_api_like.lowerings(xp)
    return [*(record for record in shared if record.primitive not in replaced), *own]


def _own() -> Lowerings:
    own = Lowerings()
    register_scatter_add(own, xp, lambda flat, at, values: flat.index_add(0, at, values))

    @own.register(Complex)
    def complex_(op: Complex, re: Tensor, im: Tensor) -> Tensor:
        return torch.complex(re, im)

    @own.register(Bitcast)
    def bitcast(op: Bitcast, x: Tensor) -> Tensor:
        return x.contiguous().view(getattr(torch, op.dtype.name))

    @own.register(Add)
    def add(op: Add, x: Tensor, y: Tensor) -> Tensor:
        return _from_parts(_parts(x) + _parts(y)) if x.is_complex() else x + y

    @own.register(Sub)
    def sub(op: Sub, x: Tensor, y: Tensor) -> Tensor:
        return _from_parts(_parts(x) - _parts(y)) if x.is_complex() else x - y

    return own


# PyTorch computes x + alpha·y with alpha = ±1 as a complex number, which loses the sign of zeros:
# the side of a branch cut, for what comes after.
def _parts(x: Tensor) -> Tensor:
    return torch.view_as_real(x.resolve_conj())


def _from_parts(x: Tensor) -> Tensor:
    return torch.view_as_complex(x)
