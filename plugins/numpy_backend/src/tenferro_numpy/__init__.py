"""The NumPy backend of tenferro.

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
