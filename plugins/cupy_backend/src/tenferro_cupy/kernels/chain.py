"""A chain ready to run: small regions in one launch, in order, by one block of threads.

A launch costs microseconds, and what a small region computes costs less. Views between the regions
are made before the launch: they are strides and offsets of memory that is not filled yet. Read
next: ``modules.py``, ``chain_source.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.backend.extend import NamedTuple
from tenferro_cupy.kernels.chain_source import CHAIN_BLOCK, chain_text
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.region import Link, Region, walkable

__all__ = ["Chain", "Member"]


class Member(NamedTuple):
    """A region of a chain, or a view of what a region makes.

    call       the region, or the function that makes the view
    operands   slots that are read
    targets    slots that are written
    view       the primitive that makes the view; None for a region
    """

    call: Region | Callable[..., Sequence[Any]]
    operands: tuple[int, ...]
    targets: tuple[int, ...]
    view: type | None = None

    @property
    def region(self) -> Region | None:
        """The region; None for a view."""
        return self.call if isinstance(self.call, Region) else None


class Chain:
    """Regions and views in order, as one function of the slots that come from elsewhere.

    operands   slots that are read and that no member makes
    targets    slots that others read
    """

    def __init__(
        self,
        modules: Modules,
        members: Sequence[Member],
        operands: Sequence[int],
        targets: Sequence[int],
    ) -> None:
        self.modules = modules
        self.members = tuple(members)
        self.operands = tuple(operands)
        self.targets = tuple(targets)

    @property
    def regions(self) -> list[Region]:
        """The regions in order."""
        return [member.region for member in self.members if member.region is not None]

    def __call__(self, *operands: Any) -> list[Any]:
        """Launch on the current stream; return the targets."""
        slots = dict(zip(self.operands, operands, strict=True))
        links: list[Link] = []
        arguments: list[Any] = []
        for call, reads, targets, _ in self.members:
            given = [slots[i] for i in reads]
            if isinstance(call, Region):
                walked = walkable(given)
                results: Sequence[Any] = call.allocated()
                link = call.link(walked)
                links.append(link)
                arguments += [*walked, *call.constants, *results, *link.integers]
            else:
                results = call(*given)
            slots.update(zip(targets, results, strict=True))
        self._function(links)((1, 1), (CHAIN_BLOCK,), tuple(arguments))
        return [slots[i] for i in self.targets]

    def _function(self, links: Sequence[Link]) -> Any:
        structure = tuple([(link.kernel, link.layout) for link in links])
        return self.modules.loaded(structure, lambda: chain_text(structure))

    def bytes_moved(self) -> int:
        """Return bytes that are read and written, if every operand is as large as its region."""
        return sum([region.bytes_moved() for region in self.regions])
