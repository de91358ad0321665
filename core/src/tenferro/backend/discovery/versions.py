"""Does the running core fit the range that an installed plugin requires? Compared without import.

``packaging`` decides, except for plain ranges (``>=0.1,<0.2``) and plain versions, which nearly
all are and which need none of its import time. Read next: ``scan.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Patterns, which `re` compiles at their first use: most processes read a stored scan instead.
_NAME = r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)"
_PLAIN_REQUIREMENT = r"\s*[A-Za-z0-9._-]+\s*\(?([<>=!.,\s0-9]*)\)?\s*"
_PLAIN_CLAUSE = r"\s*(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)\s*"
_PLAIN_VERSION = r"\d+(?:\.\d+)*"


def range_problem(requirements: Iterable[str], name: str, version: str) -> str:
    """Return why a version of the distribution ``name`` does not meet the requirements; else empty.

    >>> range_problem(["numpy>=2", "tenferro>=0.3,<0.4"], "tenferro", "0.4.1")
    'requires tenferro>=0.3,<0.4, installed is tenferro 0.4.1'
    """
    for line in requirements:
        if version and required_name(line) == name:
            problem = _line_problem(line, name, version)
            if problem:
                return problem
    return ""


def required_name(requirement: str) -> str:
    """Return the canonical name of the distribution that a requirement is about.

    >>> required_name("Tenferro_NumPy[extra] >= 0.1")
    'tenferro-numpy'
    """
    found = re.match(_NAME, requirement)
    return re.sub(r"[-_.]+", "-", found[1]).lower() if found else ""


def _line_problem(line: str, name: str, version: str) -> str:
    fitting = plain_fit(line, version)
    if fitting is None:
        fitting = _packaging_fit(line, version)
    if fitting is None:
        return f"its requirement {line!r} cannot be read"
    if fitting:
        return ""
    return f"requires {line.partition(';')[0].strip()}, installed is {name} {version}"


def plain_fit(line: str, version: str) -> bool | None:
    """Return True if a version meets a requirement of plain clauses; ``None`` if it is not
    plain.
    """
    plain = re.fullmatch(_PLAIN_REQUIREMENT, line)
    if plain is None or not re.fullmatch(_PLAIN_VERSION, version):
        return None
    clauses = [c for c in plain[1].split(",") if c.strip()]
    matches = [re.fullmatch(_PLAIN_CLAUSE, clause) for clause in clauses]
    if not all(matches):
        return None
    return all(_holds(m[1], _numbers(version), _numbers(m[2])) for m in matches if m)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers without trailing zeros, since 1.0 and 1 are one version."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _holds(relation: str, ours: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    return {
        ">=": ours >= theirs,
        "<=": ours <= theirs,
        "==": ours == theirs,
        "!=": ours != theirs,
        "<": ours < theirs,
        ">": ours > theirs,
    }[relation]


def _packaging_fit(line: str, version: str) -> bool | None:
    """Return True if a version meets a requirement; ``None`` if the line cannot be read."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return None
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return True
    return requirement.specifier.contains(version, prereleases=True)
