"""The files of a checkpoint: arrays by the digest of their content, and one manifest.

    manifest.json          what the checkpoint is; written last
    arrays/<sha256>.npy    one part of an array
    parts/<number>.json    what one of several processes saves, until the manifest has it

Each file is written under another name, brought to the disc, and then moved to its place, which is
one step of the file system. Read next: ``checkpoints.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from os import PathLike, fspath
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.backend.sharding import Region
from tenferro.computegraph import SerializationError
from tenferro.transforms.errors import FileAccessError
from tenferro.transforms.recording import tree as _tree

FORMAT = "tenferro.arrays"
SCHEMA = 1
_MANIFEST = "manifest.json"
_SECONDS_TO_APPEAR = 2.0  # until a file that another machine has written is seen here
_SECONDS_BETWEEN_LOOKS = 0.1


class Part(NamedTuple):
    """A region of an array, and the digest by which its file is called."""

    region: Region
    file: str


class Stored(NamedTuple):
    """An array in files."""

    dtype: str
    shape: tuple[int, ...]
    parts: tuple[Part, ...]


class Saved(NamedTuple):
    """Tree that one of several processes saves: containers, as JSON, and its parts of arrays."""

    structure: Any
    arrays: Sequence[Stored]


def directory(path: str | PathLike[str]) -> str:
    """Make the directories of a checkpoint, and return the first."""
    os = import_module("os")
    found = os.path.abspath(os.fsdecode(fspath(path)))
    with _access("save_arrays", found):
        for name in ("arrays", "parts"):
            os.makedirs(os.path.join(found, name), exist_ok=True)
    return str(found)


def numpy_dtype(name: str) -> Any:
    """Return NumPy's dtype of a name; that of bfloat16 is of another package."""
    numpy = import_module("numpy")
    return import_module("ml_dtypes").bfloat16 if name == "bfloat16" else numpy.dtype(name)


def write_array(where: str, values: Any) -> str:
    """Write an array to a file, and return its digest. A file that is there is left alone."""
    os = import_module("os")
    data = _npy_bytes(values)
    digest = sha256(data).hexdigest()
    target = os.path.join(where, "arrays", f"{digest}.npy")
    if not (os.path.exists(target) and _digest_of(target) == digest):
        _write(target, data)
    return digest


def digest_of_array(values: Any) -> str:
    """Return the digest by which ``write_array`` calls the file of an array."""
    return sha256(_npy_bytes(values)).hexdigest()


def _npy_bytes(values: Any) -> memoryview:
    """Return the content of the file of an array."""
    numpy, io = map(import_module, ("numpy", "io"))
    values = numpy.ascontiguousarray(values).reshape(values.shape)
    if values.dtype.name == "bfloat16":
        values = values.view("uint16")
    file = io.BytesIO()
    numpy.save(file, values, allow_pickle=False)
    found: memoryview = file.getbuffer()
    return found


def write_saved(where: str, number: int, saved: Saved) -> None:
    """Write what one process saves."""
    os = import_module("os")
    item = {"structure": saved.structure, "arrays": [_item(array) for array in saved.arrays]}
    _write(os.path.join(where, "parts", f"{number}.json"), json.dumps(item).encode())


def check_parts(where: str, own: int, count: int) -> None:
    """Look whether the other processes, which are done, have written to the same directory.

    Raises FileAccessError: if one has not.
    """
    os, time = import_module("os"), import_module("time")
    limit = time.monotonic() + _SECONDS_TO_APPEAR
    names = [os.path.join(where, "parts", f"{number}.json") for number in range(count)]
    while missing := [i for i, name in enumerate(names) if not os.path.exists(name)]:
        if time.monotonic() > limit:
            raise FileAccessError(
                f"save_arrays: process {missing[0]} has written its parts to another directory\n"
                f"  got        {where} in process {own}\n"
                "  need       the same path in all processes, on a file system that they share\n"
                "  hint       a name from `tempfile` is another one in each process",
                path=where,
            )
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def read_saved(where: str, number: int) -> Saved:
    """Return what one process saves."""
    os = import_module("os")
    with open(os.path.join(where, "parts", f"{number}.json"), "rb") as file:
        item = json.load(file)
    return Saved(item["structure"], [_stored(one) for one in item["arrays"]])


def write_manifest(where: str, structure: Any, arrays: Sequence[Stored]) -> None:
    """Write the manifest, which makes the files a checkpoint, and remove all other files."""
    os = import_module("os")
    body = {"structure": structure, "arrays": [_item(array) for array in arrays]}
    head = {"format": FORMAT, "schema": SCHEMA, "sha256": _digest_of_json(body)}
    _write(os.path.join(where, _MANIFEST), json.dumps({**head, **body}, indent=1).encode())
    kept = {f"{part.file}.npy" for array in arrays for part in array.parts}
    for folder in ("arrays", "parts"):
        for name in os.listdir(os.path.join(where, folder)):
            if name not in kept:
                os.unlink(os.path.join(where, folder, name))


def read_manifest(where: str) -> tuple[Any, list[Stored]]:
    """Return the structure and the arrays of a checkpoint.

    Raises SerializationError: if there is none that is whole.
    """
    os = import_module("os")
    path = os.path.join(where, _MANIFEST)
    if os.path.isdir(where) and not os.path.exists(path):
        raise _refused(where, "it has no manifest; a save may have been interrupted")
    with _access("load_arrays", where), open(path, "rb") as file:
        data = file.read()
    try:
        item = json.loads(data)
        if item["format"] != FORMAT or item["schema"] != SCHEMA:
            raise _refused(where, f"it is of format {item['format']!r:.40}, {item['schema']!r:.20}")
        body = {"structure": item["structure"], "arrays": item["arrays"]}
        if item["sha256"] != _digest_of_json(body):
            raise _refused(where, "the manifest is not as it was written")
        arrays = [_stored(one) for one in item["arrays"]]
        return tree_from_item(item["structure"]), arrays
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, SerializationError):
            raise
        raise _refused(where, f"the manifest is damaged: {error}") from error


class Reader:
    """Reads arrays of a checkpoint; the digest of each file is compared when it is first read."""

    def __init__(self, where: str) -> None:
        self.directory = where
        self._whole: set[str] = set()

    def array(self, name: str, stored: Stored, region: Region) -> Any:
        """Return the array of a file, mapped into memory.

        Raises SerializationError: if the file is missing or was changed.
        """
        numpy, os = import_module("numpy"), import_module("os")
        path = os.path.join(self.directory, "arrays", f"{name}.npy")
        if name not in self._whole:
            if not os.path.exists(path):
                raise _refused(self.directory, f"the file {name}.npy is missing")
            if _digest_of(path) != name:
                raise _refused(self.directory, f"the file {name}.npy is not as it was written")
            self._whole.add(name)
        found = numpy.load(path, mmap_mode="r" if os.path.getsize(path) > 1 << 16 else None)
        if stored.dtype == "bfloat16":
            found = found.view(numpy_dtype("bfloat16"))
        if found.shape != tuple([b - a for a, b in region]) or found.dtype.name != stored.dtype:
            raise _refused(self.directory, f"the file {name}.npy is not what the manifest says")
        return found


# ---- containers as JSON --------------------------------------------------------------------------


def tree_to_item(spec: Any) -> Any:
    """Return a structure as JSON; see ``saving/structures.py``."""
    found = import_module("tenferro.transforms.saving.structures").to_item(spec, "save_arrays")
    return found


def tree_from_item(item: Any) -> Any:
    """Return a structure that JSON describes."""
    spec, _ = import_module("tenferro.transforms.saving.structures").from_item(item, "load_arrays")
    return _tree.LEAF if spec is None else spec


def _item(array: Stored) -> Any:
    parts = [{"region": part.region, "file": part.file} for part in array.parts]
    return {"dtype": array.dtype, "shape": array.shape, "parts": parts}


def _stored(item: Any) -> Stored:
    parts = [
        Part(tuple([(int(a), int(b)) for a, b in part["region"]]), _name(part["file"]))
        for part in item["parts"]
    ]
    return Stored(str(item["dtype"]), tuple([int(n) for n in item["shape"]]), tuple(parts))


def _name(text: Any) -> str:
    """Return a digest; anything else could name a file outside of the checkpoint."""
    if type(text) is not str or len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        raise ValueError(f"{text!r:.80} is not a digest")
    return text


# ---- the file system -----------------------------------------------------------------------------


def _write(target: str, data: Any) -> None:
    """Write a file so that it is there as a whole or not at all, also after a power cut."""
    os, tempfile = import_module("os"), import_module("tempfile")
    folder = os.path.dirname(target)
    with _access("save_arrays", target):
        handle, partial = tempfile.mkstemp(".part", os.path.basename(target)[:16], folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(partial, 0o644)
            os.replace(partial, target)
        except BaseException:
            os.unlink(partial)
            raise
        if os.name == "posix":  # the directory's entry is on the disc when the directory is
            opened = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)


def _digest_of(path: str) -> str:
    found = sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


def _digest_of_json(body: Any) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


@contextmanager
def _access(function: str, path: str) -> Iterator[None]:
    """Name the file in complaints of the system."""
    try:
        yield
    except OSError as error:
        text = f"{function}: {path}: {error.strerror or error}"
        raise FileAccessError(text, path=path) from None
    except ValueError as error:
        if "embedded null" not in str(error):  # "null byte" or "null character", by the release
            raise
        raise FileAccessError(f"{function}: {path!r}: {error}", path=path) from None


def _refused(where: str, why: str) -> SerializationError:
    return SerializationError(f"load_arrays: {where} holds no whole checkpoint: {why}", path=where)
