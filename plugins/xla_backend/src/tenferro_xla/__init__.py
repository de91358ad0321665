"""The XLA backend of tenferro, and its ways into JAX and out of it.

``as_jax`` and ``from_jax`` put a function of one into programs of the other; ``export`` writes a
program that runs with JAX alone. Start reading in ``plugin.py``.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenferro_xla._as_jax import as_jax
    from tenferro_xla._exported import StableHloProgram, export, load_exported
    from tenferro_xla._from_jax import from_jax

    __version__: str

__all__ = ["StableHloProgram", "__version__", "as_jax", "export", "from_jax", "load_exported"]

_MODULES = {
    "StableHloProgram": "_exported",
    "as_jax": "_as_jax",
    "export": "_exported",
    "from_jax": "_from_jax",
    "load_exported": "_exported",
}


def __getattr__(name: str) -> Any:
    """Return a name of the package; JAX is imported with the first of them."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - slow to load

        return version("tenferro-xla")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    return getattr(import_module(f"tenferro_xla.{_MODULES[name]}"), name)
