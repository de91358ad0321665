"""Regions: steps of a plan that run together, so that values between them need no memory.

A backend gives its steps (any class with the properties of ``RegionStep``) and a ``RegionPolicy``;
``find_regions`` returns groups of steps, and the backend makes a kernel of each group. Nothing here
knows an array library. Read in this order: ``step``, ``grouping``, ``rematerialize``, ``exports``.
"""

from __future__ import annotations

from tenferro.backend.regions.exports import Regions, find_regions
from tenferro.backend.regions.grouping import Group
from tenferro.backend.regions.step import RegionPolicy, RegionStep, in_order

__all__ = ["Group", "RegionPolicy", "RegionStep", "Regions", "find_regions", "in_order"]
