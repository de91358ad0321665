"""Size of tiles, and the axis along which an array is divided into them.

All of it follows from the shape, the number of buffers and the size of the caches.
Read next: `machine/caches.py`, `kernels/tile_reductions.py`, `kernels/region.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeVar

from tenferro.backend.extend import NamedTuple
from tenferro.backend.row_blocks import CHUNKS
from tenferro_numpy.machine.caches import cache_of_core, second_level_cache

__all__ = [
    "SHRINKS",
    "WORTH_THREADS",
    "Index",
    "Tiling",
    "chunks_of",
    "largest_tile",
    "smallest_region",
    "tile_for_buffers",
    "tiled_axis",
    "tiles_of_blocks",
    "tiles_of_lines",
]  # fmt: skip

WORTH_THREADS = 1 << 21  # elements · operations below which waking a thread costs more
SHRINKS = 2  # times that a tile may be halved for a region of many buffers
_TILES_PER_CACHE = 8  # whole tiles that fit the cache together
_PART_OF_TILE = 4  # arrays smaller than this part of a tile fit the cache anyway
#: Elements. Larger arrays are fused whatever the cache: a region stores fewer of them for the
#: reverse sweep, which counts where a program has many.
_MAX_ELEMENTS_OUTSIDE_REGIONS = 1 << 12
_MIN_TILE_BYTES, _MAX_TILE_BYTES = 1 << 17, 1 << 19  # bytes of a tile

Index = tuple[int | slice, ...]
_T = TypeVar("_T")


class Tiling(NamedTuple):
    """Elements per tile, and number of threads that share the work.

    Lines run one by one if nothing else speaks for a region, none of their arrays is larger than
    ``tiles_of_lines`` tiles, and all together are no larger than ``bytes_of_lines``.

    If ``poisoned``, every buffer is filled with bytes 0xFF, which are nan or -1, before it is
    written: a read of an unwritten place then shows in the results.

    The values of a tile of a row block take as many bytes as ``tiles_of_blocks`` tiles.
    """

    elements: int
    threads: int
    poisoned: bool = False
    tiles_of_lines: int = 1
    tiles_of_blocks: int = _TILES_PER_CACHE // 2

    @property
    def bytes(self) -> int:
        """Bytes of a tile of eight-byte elements."""
        return 8 * self.elements

    @property
    def cache(self) -> int:
        """Bytes of all tiles that are in use together."""
        return _TILES_PER_CACHE * self.bytes

    @property
    def bytes_of_lines(self) -> int:
        """Bytes of all arrays that lines may make one by one."""
        return max(_TILES_PER_CACHE, self.tiles_of_lines) * self.bytes


def tiles_of_lines() -> int:
    """Return the number of tiles in half of a core's cache, and no fewer than are in use together.

    Arrays that stay in the third level pass through its operations as fast as tiles, without a call
    for each tile.
    """
    return max(cache_of_core() // 2 // (8 * largest_tile()), _TILES_PER_CACHE)


def tiles_of_blocks() -> int:
    """Return the number of tiles whose bytes the values of a tile of a row block take.

    They are half of those in use together where these fit the second level. Where they do not, as
    with 512 KiB of it, all come from the third level, and larger tiles need fewer calls: products
    of ten rows took a tenth less time with twice as many columns.
    """
    half = _TILES_PER_CACHE // 2
    if 8 * half * largest_tile() <= second_level_cache():
        return half
    return _TILES_PER_CACHE if tiles_of_lines() > _TILES_PER_CACHE else half


def smallest_region(tiling: Tiling) -> int:
    """Return the size from which arrays are worth a region."""
    return max(min(tiling.elements // _PART_OF_TILE, _MAX_ELEMENTS_OUTSIDE_REGIONS), 1)


def chunks_of(tiles: Sequence[_T]) -> list[Sequence[_T]]:
    """Group tiles into chunks that threads take in turn; they do not depend on the threads."""
    size = -(-len(tiles) // CHUNKS)
    return [tiles[i : i + size] for i in range(0, len(tiles), size)]


def tile_for_buffers(most: int, buffers: int) -> int:
    """Return the elements of a tile for a region of so many buffers; halved at most twice."""
    halvings = 0
    while halvings < SHRINKS and buffers > _TILES_PER_CACHE << halvings:
        halvings += 1
    return max(most >> halvings, 1)


def tiled_axis(shape: Sequence[int], elements: int) -> tuple[int, int]:
    """Return the first axis whose rows fit in a tile, and how many of them make one tile."""
    inner = prod(shape)
    for axis, extent in enumerate(shape):
        inner //= max(extent, 1)
        if inner <= elements:
            return axis, max(elements // max(inner, 1), 1)
    raise AssertionError("an array of rank 0 has no tiles")


def largest_tile() -> int:
    """Return the tile size: 8-byte elements in an eighth of a core's cache, within limits.

    Calls cost more where tiles are smaller; where they are larger, nothing gains.
    """
    return min(max(cache_of_core() // _TILES_PER_CACHE, _MIN_TILE_BYTES), _MAX_TILE_BYTES) // 8
