"""The file of a saved function: a zip with a description, the graph as text, and arrays as npy.

It is written next to its place and moved there when it is whole. Everything in it is data: reading
runs no code from it. Read next: ``load.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from os import PathLike, fspath
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.computegraph import SerializationError
from tenferro.storage import StoredArray, read_npy, write_npy
from tenferro.transforms.errors import FileAccessError

FORMAT = "tenferro.saved_graph"
SCHEMA = 1
_ABOUT, _GRAPH, _ARRAYS = "about.json", "graph.json", "arrays/"
_DATE = (1980, 1, 1, 0, 0, 0)  # so that equal graphs are equal files

Path = str | PathLike[str]


def write(
    path: Path, about: Mapping[str, Any], text: str, arrays: Mapping[str, StoredArray]
) -> None:
    """Write a file; one that was there stays whole until the new one is."""
    os, tempfile, zipfile = map(import_module, ("os", "tempfile", "zipfile"))
    head = {"format": FORMAT, "schema": SCHEMA, "graph": _digest(text.encode()), **about}
    members = {_ABOUT: json.dumps(head, indent=1).encode(), _GRAPH: text.encode()}
    for name, array in sorted(arrays.items()):
        file = BytesIO()
        write_npy(file, array)
        members[f"{_ARRAYS}{name}.npy"] = file.getvalue()
    target = os.path.abspath(fspath(path))
    try:
        handle, partial = tempfile.mkstemp(
            ".part", os.path.basename(target), os.path.dirname(target)
        )
    except (OSError, ValueError) as error:
        raise _no_access("save_graph", path, error) from None
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            for name, data in members.items():
                archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
        os.chmod(partial, 0o666 & ~_umask(os))
        os.replace(partial, target)
    except BaseException:
        os.unlink(partial)
        raise


def read(path: Path) -> tuple[dict[str, Any], str, dict[str, StoredArray]]:
    """Return the description, the text of the graph, and the arrays.

    Raises SerializationError: if the file is none of these, is damaged, or of a newer schema.
    Raises FileAccessError: if the file does not exist, or cannot be opened.
    """
    try:
        file = open(path, "rb")
    except (OSError, ValueError) as error:
        raise _no_access("load_graph", path, error) from None
    with file:
        return _read(path, file)


def _read(path: Path, file: Any) -> tuple[dict[str, Any], str, dict[str, StoredArray]]:
    zipfile, zlib = import_module("zipfile"), import_module("zlib")
    damages = (  # RuntimeError: a compression or encryption that was never written
        zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, OSError, RuntimeError,
    )  # fmt: skip
    try:
        with zipfile.ZipFile(file) as archive:
            return _members(archive)
    except SerializationError as error:
        text, *more = str(error).split("\n")
        lines = [f"load_graph: {fspath(path)} cannot be read: {text}", *more]
        raise at_user_line(SerializationError("\n".join(lines), **error.fields)) from error
    except damages as error:
        text = f"load_graph: {fspath(path)} is damaged, or no saved graph: {error}"
        raise at_user_line(SerializationError(text)) from error


def _members(archive: Any) -> tuple[dict[str, Any], str, dict[str, StoredArray]]:
    """Read an open archive, and compare what it holds with the digests that were saved."""
    names = archive.namelist()
    if _ABOUT not in names or _GRAPH not in names:
        raise SerializationError("it has no description of a graph")
    about = json.loads(archive.read(_ABOUT))
    _check(about)
    text = archive.read(_GRAPH)
    if _digest(text) != about.get("graph"):
        raise SerializationError("the graph is not the one that was saved")
    arrays = {}
    for name in names:
        if name.startswith(_ARRAYS):
            data = archive.read(name)
            digest = name.removeprefix(_ARRAYS).removesuffix(".npy")
            if _digest(data) != digest:
                raise SerializationError(f"the array {name} is not the one that was saved")
            arrays[digest] = read_npy(BytesIO(data))
    return about, text.decode(), arrays


def _check(about: Any) -> None:
    if type(about) is not dict or about.get("format") != FORMAT:
        raise SerializationError(f"it is not of the format {FORMAT}")
    schema = about.get("schema")
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        raise SerializationError(
            f"its schema is {schema!r:.20}; this version of tenferro reads up to {SCHEMA}\n"
            "  hint       load it with the version that saved it, or a newer one",
            schema=schema,
            need=SCHEMA,
        )


def _no_access(function: str, path: Path, error: OSError | ValueError) -> FileAccessError:
    """Name the file in a complaint of the system; a ValueError is about a null in its name."""
    if isinstance(error, ValueError):
        text = f"{function}: {fspath(path)!r}: {error}"
    else:
        text = f"{function}: {fspath(path)}: {error.strerror or error}"
    return at_user_line(FileAccessError(text, path=fspath(path)))


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _umask(os: Any) -> int:
    """Return the bits that new files lack; the only way to ask is to set them."""
    found: int = os.umask(0)
    os.umask(found)
    return found
