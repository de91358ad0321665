"""The texts of what cannot be lowered: every gap of a program, and conflicts of lowerings.

Each says what is missing, who provides the primitive, and what would help. Read next:
``table.py``, which finds the gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenferro.backend._errors import LoweringConflictError, MissingLoweringError
from tenferro.backend.records import Gap


def lowering_conflict(key: str, backend: str, providers: Iterable[str]) -> LoweringConflictError:
    """Make the error for several lowerings of one primitive without a preference."""
    tied = tuple(sorted(provider or "unknown" for provider in providers))
    dists = sorted({provider.partition(" ")[0] for provider in tied})
    remedy = f'tenferro.prefer("{key}", "{backend}", "{dists[0]}") decides'
    if len(dists) == 1:
        remedy = f"a bug of {dists[0]}: give one of them a higher priority"
    return LoweringConflictError(
        f"{len(tied)} lowerings of {key} for {backend} could run, and none has precedence\n"
        f"  got        {', '.join(tied)}\n"
        f"  hint       {remedy}",
        primitive=key,
        backend=backend,
        providers=tied,
    )


def missing_lowerings(
    backend: str, gaps: Sequence[Gap], advice: str
) -> MissingLoweringError | LoweringConflictError:
    """Make the error that lists every gap once; a conflict if several distributions could close
    one.

    ``advice`` is the last hint: what an author of the backend can do.
    """
    unique = tuple(dict.fromkeys(gaps))
    for gap in unique:
        if len(gap.offered_by) > 1:  # the user has to choose, then it runs
            return lowering_conflict(gap.primitive, backend, gap.offered_by)
    count = "1 operation" if len(unique) == 1 else f"{len(unique)} operations"
    lines = [f"{backend} cannot run {count} of this program"]
    for gap in unique:
        lines += _gap_lines(gap, backend)
    lines.append(f"  hint       {advice}")
    return MissingLoweringError("\n".join(lines), backend=backend, gaps=unique)


def _gap_lines(gap: Gap, backend: str) -> list[str]:
    operands = ", ".join(gap.dtypes) or "no operands"
    lines = [
        f"  missing    {gap.primitive} version {gap.version} on ({operands})",
        f"    provider       {gap.provider}{'' if gap.registered else ' (not registered)'}",
        f"    decomposition  {'yes' if gap.has_decomposition else 'none'}",
        f"    lowered on     {', '.join(gap.backends) or 'no installed backend'}",
    ]
    if gap.within:
        lines.append(f"    needed by      the decomposition of {gap.within}")
    if gap.written_for:
        versions = ", ".join(map(str, gap.written_for))
        lines.append(f"    but            lowerings exist for version {versions}")
    if gap.dtypes_of_lowerings:
        lines.append(f"    but            lowerings exist for {', '.join(gap.dtypes_of_lowerings)}")
    for dist in gap.offered_by:
        call = f'tenferro.prefer("{gap.primitive}", "{backend}", "{dist}")'
        lines.append(f"    offered by     {dist}, which does not own it; {call} allows it")
    if gap.note:
        lines.append(f"    note           {gap.note}")
    elif not gap.registered:
        namespace = gap.primitive.partition("::")[0]
        lines.append(
            f'    note           register it: entry point `{namespace} = "…"` in the group '
            "tenferro.primitives, or tenferro.host().register(module)"
        )
    return lines
