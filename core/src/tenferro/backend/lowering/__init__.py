"""Lowerings: the records, the table of one backend, and what completes a whole program.

Order of resolution: a lowering that fits exactly (version and dtypes), else the decomposition,
else a gap. Read in this order: ``record``, ``signature``, ``table``, ``decompose``, ``splice``.
"""

from __future__ import annotations

from tenferro.backend.lowering.checked import check_result_count
from tenferro.backend.lowering.promised import Promised
from tenferro.backend.lowering.record import (
    Implementation,
    Lowering,
    Lowerings,
    load_target,
    takes_table,
    with_provider,
)
from tenferro.backend.lowering.signature import key_of, version_of
from tenferro.backend.lowering.table import LoweringTable

__all__ = [
    "Implementation", "Lowering", "LoweringTable", "Lowerings", "Promised", "check_result_count",
    "key_of", "load_target", "takes_table", "version_of", "with_provider",
]  # fmt: skip
