"""Abilities of a backend with the feature ``sharding``, beyond running programs on a mesh.

``ShardedArrays`` puts arrays on meshes and reads their parts; ``Processes`` connects the processes
of one program. Both are abstract: core knows no devices and no network. Read next: ``base.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._mesh import Mesh, ShardingSpec

Region = tuple[tuple[int, int], ...]  # first and last + 1 of each dimension


class ShardedArrays(ABC):
    """Arrays that are split over the devices of a mesh; ``Backend.sharding`` is one of these."""

    @abstractmethod
    def place(
        self, aval: Aval, mesh: Mesh, spec: ShardingSpec, read: Callable[[Region], Any]
    ) -> Any:
        """Return an operand that is split; ``read`` gives a region of it as a NumPy array.

        Each process reads the regions of its own devices.
        """

    @abstractmethod
    def from_local(self, rows: Any, mesh: Mesh, spec: ShardingSpec) -> Any:
        """Return an operand; each process gives its part as a NumPy array."""

    @abstractmethod
    def parts(self, operand: Any) -> Sequence[tuple[Region, Any]]:
        """Return regions of an operand with their values as NumPy arrays.

        The regions of all processes together are the array, and no two of them overlap.
        """


class Processes(ABC):
    """The processes of one program; this one is alone until ``connect`` is called."""

    @abstractmethod
    def connect(
        self,
        address: str | None,
        count: int | None,
        index: int | None,
        *,
        start_seconds: int,
        heartbeat_seconds: int,
        wait_seconds: float,
    ) -> None:
        """Connect to the other processes; before anything else of the backend is used."""

    @abstractmethod
    def disconnect(self) -> None:
        """Leave the other processes, when all of them are done."""

    @property
    @abstractmethod
    def index(self) -> int:
        """The number of this process."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of processes."""

    @abstractmethod
    def wait(self, what: str) -> None:
        """Wait until all processes have come to the same place, which ``what`` describes.

        Raises ProcessError: if one of them does not come in time.
        """
