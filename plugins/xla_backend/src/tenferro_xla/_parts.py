"""Parts of an array that is made in several processes, compared before they are used.

The parts of all processes have one shape and dtype. A region that lies in several processes has
the same values in each. Read next: ``_exchange.py``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from tenferro.primitives import Aval, Mesh, ShardingError, ShardingSpec
from tenferro_xla._agreement import digest_of
from tenferro_xla._exchange import exchange, next_number
from tenferro_xla._jax import Array, NamedSharding, process_count


def check_shapes(aval: Aval, mesh: Mesh, spec: ShardingSpec) -> None:
    """Compare the part of this process with those of the others.

    Raises ShardingError: if their shapes or dtypes differ, with those of each process.
    """
    if process_count() == 1:
        return
    found = exchange("shapes", next_number("shapes"), str(aval), "the same call of from_local")
    if len(set(found)) > 1:
        listed = "; ".join([f"process {i}: {each}" for i, each in enumerate(found)])
        raise ShardingError.of(
            "from_local",
            "the parts of the processes have different shapes or dtypes",
            got=listed,
            need="parts of one shape and dtype in all processes",
            hint="cut or pad the last parts",
            mesh=mesh,
            spec=spec,
            dimension=None,
        )


def check_copies(who: str, array: Array, mesh: Mesh, spec: ShardingSpec) -> None:
    """Compare the regions of an array that lie in several processes.

    Raises ShardingError: if their values differ.
    """
    if process_count() == 1 or not _has_copies(array.sharding, array.shape):
        return
    own = {str(s.index): digest_of(np.asarray(s.data)) for s in array.addressable_shards}
    found = exchange("copies", next_number("copies"), json.dumps(own), f"the same call of {who}")
    differing = _differing({i: json.loads(text) for i, text in enumerate(found)})
    if differing:
        first, *others = sorted(differing)
        raise ShardingError.of(
            who,
            "processes have copies of the same part of the array, and the values differ",
            got=f"other values in process {', '.join(map(str, others))} than in process {first}",
            need=f"equal values where {spec} of {mesh} gives several processes the same part",
            hint="seed the generators alike; name the axis of the mesh that splits the data first,"
            " so that each process has a part of its own",
            mesh=mesh,
            spec=spec,
            dimension=None,
        )


def _has_copies(sharding: Any, shape: tuple[int, ...]) -> bool:
    """Return True if a region lies in more than one process."""
    assert isinstance(sharding, NamedSharding)
    owners = defaultdict(set)
    places: Mapping[Any, Any] = sharding.devices_indices_map(shape)
    for device, index in places.items():
        owners[str(index)].add(device.process_index)
    return any([len(processes) > 1 for processes in owners.values()])


def _differing(digests: Mapping[int, Mapping[str, str]]) -> set[int]:
    """Return the processes of the first region with several digests."""
    regions: dict[str, dict[int, str]] = defaultdict(dict)
    for process, own in digests.items():
        for region, digest in own.items():
            regions[region][process] = digest
    for found in regions.values():
        if len(set(found.values())) > 1:
            first = found[min(found)]
            return {min(found), *[i for i, digest in found.items() if digest != first]}
    return set()
