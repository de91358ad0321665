"""The XLA backend of tenferro.

This module only states the version; start reading in the package's other modules.
"""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("tenferro-xla")
