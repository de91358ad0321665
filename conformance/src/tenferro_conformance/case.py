"""Old place of `tenferro_conformance.cases.case`; it goes with the next generation of the API."""

from __future__ import annotations

import warnings

from tenferro_conformance.cases.case import *  # noqa: F403

warnings.warn(
    "tenferro_conformance.case has moved to tenferro_conformance.cases.case",
    DeprecationWarning,
    stacklevel=2,
)
