"""Parts of an array that is made in several processes, compared before they are used.

All processes split the array in one way, and their parts have one shape and dtype. A region that
lies in several processes has the same values in each. Read next: ``_exchange.py``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.primitives import Aval, Mesh, ShardingError, ShardingSpec
from tenferro_xla._agreement import digest_of
from tenferro_xla._exchange import exchange, next_number
from tenferro_xla._jax import Array, NamedSharding, process_count


def check_shapes(aval: Aval, mesh: Mesh, spec: ShardingSpec) -> None:
    """Compare the part of this process with those of the others.

    Raises ShardingError: if shapes, dtypes, specs or meshes differ, with those of each process.
    """
    if process_count() == 1:
        return
    own = json.dumps([str(aval), f"{spec} of {mesh}"])
    texts = exchange("shapes", next_number("shapes"), own, "the same call of from_local")
    shapes, ways = zip(*map(json.loads, texts), strict=True)
    if len(set(shapes)) > 1:
        raise ShardingError.of(
            "from_local",
            "the parts of the processes have different shapes or dtypes",
            got=_by_process(shapes),
            need="parts of one shape and dtype in all processes",
            hint="cut or pad the last parts",
            mesh=mesh,
            spec=spec,
            dimension=None,
        )
    _check_ways("from_local", ways, mesh, spec)


def _check_ways(who: str, ways: Sequence[str], mesh: Mesh, spec: ShardingSpec) -> None:
    """Compare what each process says of the array and of how it is split."""
    if len(set(ways)) > 1:
        raise ShardingError.of(
            who,
            "the processes split the array in different ways",
            got=_by_process(ways),
            need="one array, one spec and one mesh in all processes",
            hint="all processes make the same calls; look for code that depends on the number of"
            " the process",
            mesh=mesh,
            spec=spec,
            dimension=None,
        )


def _by_process(texts: Sequence[str]) -> str:
    return "; ".join([f"process {i}: {text}" for i, text in enumerate(texts)])


def check_copies(
    who: str, array: Array, mesh: Mesh, spec: ShardingSpec, *, is_agreed: bool
) -> None:
    """Compare the regions of an array that lie in several processes.

    ``is_agreed`` is False where the processes have not compared yet how they split the array.

    Raises ShardingError: if their values differ, or the ways in which the array is split.
    """
    has_copies = process_count() > 1 and _has_copies(array.sharding, array.shape)
    if process_count() == 1 or (is_agreed and not has_copies):
        return
    shards = array.addressable_shards if has_copies else []
    own = {str(s.index): digest_of(np.asarray(s.data)) for s in shards}
    way = f"{array.dtype}{list(array.shape)} as {spec} of {mesh}"
    text = json.dumps([way, own])
    texts = exchange("copies", next_number("copies"), text, f"the same call of {who}")
    ways, regions = zip(*map(json.loads, texts), strict=True)
    _check_ways(who, ways, mesh, spec)
    differing = _differing(dict(enumerate(regions)))
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
