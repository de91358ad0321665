"""Names of distributions, as they stand in the provider of a lowering and in package indexes."""

from __future__ import annotations

__all__ = ["canonical", "dist_of", "owned_by"]


def dist_of(provider: str) -> str:
    """Return the distribution of a provider, without its version."""
    return provider.partition(" ")[0]


def owned_by(provider: str, dist: str) -> bool:
    """Return True if a provider (``"tenferro-acme 1.2"``) is the distribution ``dist``."""
    name = provider.partition(" ")[0]
    return name == dist or canonical(name) == canonical(dist)


def canonical(dist: str) -> str:
    """Return the name of a distribution as package indexes compare it."""
    parts = dist.lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(part for part in parts if part)
