"""The NumPy backend of tenferro.

A program of core becomes a plan, and the plan one Python function:

    program         instructions over slots
      │  planner.py       plan passes: find row blocks, make a step of each instruction, fuse steps
    steps           expressions over slots
      │  assignment.py    memory and registers
    plan            lines: expressions over registers
      │  execution/       interpreted at first, then generated source
    function        one statement for each line

A line is a call of NumPy, or stands for several operations that run together. There are two kinds
of these. Both go through their arrays tile by tile, so that values in between stay in the cache:

    region          elementwise steps of one shape, and the reductions that end them; a kernel whose
                    buffers have the size of a tile (kernels/)
    row block       a part of the program that acts on rows, with products and regions in it; a plan
                    of its own that runs on a tile of rows (row_blocks.py)

    array   ├─────── chunk ──────┼─────── chunk ──────┤    what one thread takes at a time
            ├ tile ┼ tile ┼ tile ┼ tile ┼ tile ┼ tile ┤    what is computed at once

This module only states the version, when it is asked for: reading it takes longer than importing
everything else of the package. Start reading in `plugin.py`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Return the version, from the metadata of the distribution."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415 - see above

    return version("tenferro-numpy")
