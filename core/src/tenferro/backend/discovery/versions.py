"""Does the running core fit the range that an installed plugin requires? Compared without import.

``packaging`` decides, except for plain ranges (``>=0.1,<0.2``) and plain versions, which nearly
all are and which need none of its import time. Read next: ``scan.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from tenferro.backend.lowering.providers import canonical

_RELATIONS = (">=", "<=", "==", "!=", "<", ">")  # a sign before what begins with it


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
    return canonical(_written_name(requirement.lstrip()))


def _written_name(requirement: str) -> str:
    return "".join(takewhile(_is_of_name, requirement))


def _is_of_name(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter in "-_.")


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
    name = _written_name(line.lstrip())
    text = line.strip().removeprefix(name).strip().removeprefix("(").removesuffix(")")
    clauses = [_clause(part.strip()) for part in text.split(",") if part.strip()]
    plain = [bool(relation) and _is_plain(number) for relation, number in clauses]
    if not (name and all(plain) and _is_plain(version)):
        return None
    ours = _numbers(version)
    return all([_holds(relation, ours, _numbers(number)) for relation, number in clauses])


def _clause(text: str) -> tuple[str, str]:
    """Return the sign with which a clause begins, empty without one, and what follows it."""
    relation = next((sign for sign in _RELATIONS if text.startswith(sign)), "")
    return relation, text.removeprefix(relation).strip()


def _is_plain(version: str) -> bool:
    """Return True for numbers with points between them."""
    return all([part.isascii() and part.isdigit() for part in version.split(".")])


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
