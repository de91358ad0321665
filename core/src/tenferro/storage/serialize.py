"""Graphs and programs as text: ``to_json`` and ``from_json``.

A text names operations; which class a name means is decided by the caller of ``from_json``, so
loading runs no code from a file. One equation per line, no recursion over depth, memory in
proportion to the text. Arrays are stored next to it (``npy.py``). The fragments that loops and
branches have as parameters stand in one table, each after those that it contains; a text with such
a table is of schema 2, any other of schema 1. Not written: source lines and the operands of inputs.
Read next: ``digest.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from tenferro._runtime.collector import CollectorPaused
from tenferro.storage.flat import Operations, Writable
from tenferro.storage.npy import StoredArray
from tenferro.storage.reading import Reader
from tenferro.storage.values import Codecs, parse
from tenferro.storage.writing import Writer


def to_json(
    graph: Writable,
    *,
    operations: Operations | None = None,
    codecs: Codecs | None = None,
    arrays: MutableMapping[str, StoredArray] | None = None,
) -> str:
    """Write a closed graph, a materialized graph or a program as text.

    An operation is written by the name that ``operations`` gives its class, by default its
    ``key``, or ``name`` where it has none. Arrays among the parameters are put into ``arrays``
    under the sha256 of their npy file; store them next to the text with ``write_npy``.

    Inputs of a program, and of a materialized graph where no codec knows them, are named by text.
    A fragment is written with all its operations; one that contains derivative rules of the user
    cannot be written.

    Raises SerializationError: for a type without a codec, and for two classes of one name.

    >>> from tenferro.storage import from_json, to_json
    >>> from tenferro.computegraph import PRIMARY, Operation
    >>> from tenferro.computegraph._graph import from_flat
    >>> class Scale(Operation):
    ...     by: float
    >>> graph = from_flat([("x", None)], [(Scale(2.0), (0,), PRIMARY)], [1])
    >>> again = from_json(to_json(graph), operations={"scale": Scale})
    >>> again.output_keys[0] is graph.output_keys[0]
    True
    """
    with CollectorPaused():
        return "\n".join(Writer(operations, codecs, arrays).document(graph)) + "\n"


def from_json(
    text: str | bytes,
    *,
    operations: Operations,
    codecs: Codecs | None = None,
    arrays: Mapping[str, StoredArray] | None = None,
) -> Any:
    """Read what ``to_json`` wrote; only the classes in ``operations`` are ever called.

    Raises SerializationError: for another schema, an unknown operation or tag, a missing array,
    a malformed text. Its fields name the culprit.
    """
    with CollectorPaused():
        return Reader(operations, codecs, arrays).document(parse(text))
