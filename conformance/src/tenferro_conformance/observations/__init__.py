"""Observations: functions of outputs that are not unique, since factorizations have gauges.

An observation is a function `(params, inputs, outputs) -> Handle` of what does not depend on the
gauge: singular values, a product of factors, a projector. A row of `samples/` names it with
`observe="values"`; the laws then run on the observation, whose golden value is the oracle's
`"svd@values"`. One file per family, each with a table `OBSERVATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from tenferro.primitives import Handle

__all__ = ["Observation", "observation"]

Observation = Callable[[Mapping[str, Any], Sequence[Handle], Sequence[Handle]], Handle]


@cache
def _observations() -> Mapping[str, Observation]:
    found: dict[str, Observation] = {}
    for module in iter_modules(__path__):
        found |= import_module(f"{__name__}.{module.name}").OBSERVATIONS
    return found


def observation(primitive: str, name: str) -> Observation:
    """Return the observation of a primitive that a row names."""
    return _observations()[f"{primitive.removeprefix('std::')}@{name}"]
