"""Processes that run one program compare it, and its whole arguments, before each compiles it.

A collective operation waits for all processes; if one of them runs another program, the others
would wait for ever. An array that each process has whole would give a wrong number where its values
differ. So each process writes digests of its n-th program and of these arrays to the service that
connects them, and reads those of all others, with a time limit. Read next: ``_exchange.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b, sha256
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from tenferro.backend import ProgramsDifferError, ValuesDifferError
from tenferro_xla._exchange import exchange, next_number
from tenferro_xla._jax import process_count, process_index

Lines = Sequence[tuple[str, str | None]]

_MOST_LINES = 4000  # of a program that are sent to the others
_MOST_CHARACTERS = 150  # of one of these lines


class Program(NamedTuple):
    """A program as the processes compare it.

    ``lines`` returns its inputs and equations, each with the user's line; it is called where the
    texts of the processes differ.
    """

    text: str
    mesh: str
    equations: int
    lines: Callable[[], Lines]


def agree_on(program: Program, values: Mapping[int, tuple[str, str]]) -> None:
    """Return when all processes have come to the same program; at once if there is one process.

    ``values`` has a name and a digest for each input that each process has whole. Inputs are
    compared by their numbers: a captured number is called by its value, and names may repeat.

    Raises ProgramsDifferError: if another process has come to another program.
    Raises ValuesDifferError: if such an argument is another one in another process.
    Raises ProcessError: if one does not come in time.
    """
    if process_count() == 1:
        return
    number = next_number("program")
    own = {
        "digest": sha256(program.text.encode()).hexdigest(),
        "size": f"{program.equations} equations for {program.mesh}",
        "values": {str(index): named for index, named in values.items()},
    }
    what = f"program {number}, of {program.equations} equations"
    texts = exchange("program", number, json.dumps(own), what)
    found = [json.loads(text) for text in texts]
    digests = [each["digest"] for each in found]
    if len(set(digests)) > 1:
        raise _programs_differ(number, digests, [each["size"] for each in found], program)
    _check_values([each["values"] for each in found])


def digest_of(array: Any) -> str:
    """Return a digest of dtype, shape and values of a NumPy array."""
    digest = blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
    return digest.hexdigest()


def _check_values(values: Sequence[Mapping[str, Sequence[str]]]) -> None:
    """Raise ValuesDifferError if the digest of an input differs."""
    first = values[0]
    differing = [{n for n in first if each.get(n, first[n])[1] != first[n][1]} for each in values]
    inputs = set().union(*differing)
    if not inputs:
        return
    names = list(dict.fromkeys([first[n][0] for n in first if n in inputs]))
    others = [i for i, found in enumerate(differing) if found]
    listed = ", ".join(map(str, others))
    one = "process" if len(others) == 1 else "processes"
    raise ValuesDifferError(
        f"xla: {', '.join(names)}: each process has the whole array, and the values differ\n"
        f"  got        other values in {one} {listed} than in process 0\n"
        "  need       equal values in all processes\n"
        "  hint       seed the generators alike, or load the values from a checkpoint; "
        "if each process has its own part of the array, use `tn.from_local`",
        backend="xla",
        processes=tuple(others),
        arguments=tuple(names),
    )


def _programs_differ(
    number: int, digests: Sequence[str], sizes: Sequence[str], program: Program
) -> ProgramsDifferError:
    others = tuple([i for i, digest in enumerate(digests) if digest != digests[process_index()]])
    texts = [f"process {i}: {size}" for i, size in enumerate(sizes)]
    lines = [(text[:_MOST_CHARACTERS], line) for text, line in program.lines()[:_MOST_LINES]]
    found = exchange("lines", next_number("lines"), json.dumps(lines), "the comparison of programs")
    difference = "".join(_first_difference([json.loads(each) for each in found]))
    return ProgramsDifferError(
        f"xla: the processes have come to different programs, as number {number} of each\n"
        f"  got        {'; '.join(texts)}\n{difference}"
        "  need       the same calls with the same shapes in the same order in each process\n"
        "  hint       look for code that depends on the number of the process, on the clock, or on"
        " the order of a set",
        backend="xla",
        processes=others,
        program=number,
    )


def _first_difference(programs: Sequence[Lines]) -> list[str]:
    """Return lines about the first input or equation in which programs differ."""
    absent = ("no further equation", None)
    for rows in zip_longest(*programs, fillvalue=absent):
        if len({text for text, _ in rows}) > 1:
            return [
                f"  process {i:<4} {text}{f'    {line}' if line else ''}\n"
                for i, (text, line) in enumerate(rows)
            ]
    return []
