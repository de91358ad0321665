"""Which results are the same: leaves of nested results, compared in the largest norm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


class DisagreementError(Exception):
    """Report a contestant whose result is not that of the baseline."""


def leaves(result: Any) -> Iterator[np.ndarray]:
    """The arrays of a nested result, of whatever library, in order."""
    if isinstance(result, Mapping):
        for name in sorted(result):
            yield from leaves(result[name])
    elif isinstance(result, list | tuple):
        for part in result:
            yield from leaves(part)
    else:
        detach = getattr(result, "detach", None)
        yield np.asarray(detach() if detach else result)


def agree(found: Any, want: Any, tolerance: float) -> None:
    """Raise unless every leaf is that of the baseline, in shape and up to the tolerance."""
    ours, theirs = list(leaves(found)), list(leaves(want))
    if len(ours) != len(theirs):
        raise DisagreementError(f"{len(ours)} results, the baseline has {len(theirs)}")
    for number, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        if x.shape != y.shape:
            raise DisagreementError(f"result {number} is {x.shape}, need {y.shape}")
        if y.size and not distance(x, y) <= tolerance:  # a nan disagrees
            raise DisagreementError(f"result {number} is off by {distance(x, y):.1e} of its size")


def distance(x: np.ndarray, y: np.ndarray) -> float:
    """The largest difference over the largest magnitude."""
    scale = float(np.max(np.abs(y)))
    return float(np.max(np.abs(x - y))) / (scale or 1.0)
