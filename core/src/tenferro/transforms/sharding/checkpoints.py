"""``save_arrays`` and ``load_arrays``: arrays in a directory, each process its parts.

The format is our own, npy files and one manifest in JSON, because any tool reads it and nothing has
to be installed. A file is called by the digest of its content, and is moved to its name when it is
on the disc as a whole. The manifest comes last: a directory is the checkpoint that its manifest
names, and nothing else. So an interrupted save leaves the checkpoint that was there before, and
what was cut off or changed later is found. Read next: ``joining.py``, ``files.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import prod
from os import PathLike, fspath
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.arrays.evaluation.evaluate import evaluate_keys
from tenferro.backend import Backend, host
from tenferro.backend.select import backend_of
from tenferro.backend.sharding import Region
from tenferro.computegraph import SerializationError
from tenferro.primitives import Aval, Mesh, ShardingError, ShardingSpec
from tenferro.primitives._mesh import check_fits
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.sharding import files
from tenferro.transforms.sharding.files import Part, Saved, Stored
from tenferro.transforms.sharding.joining import put_together
from tenferro.transforms.sharding.placing import check_mesh, host_value, placed, sharding_backend
from tenferro.transforms.sharding.prefixes import specs_of

__all__ = ["load_arrays", "save_arrays"]

_WHOLE = ShardingSpec(())


def save_arrays(path: str | PathLike[str], arrays: Any) -> None:
    """Write arrays to a directory; each process writes its own parts.

    All processes call it with the same path, on a file system that they share. A checkpoint that is
    there stays whole until the new one is. The call returns when the checkpoint is whole, in all
    processes.

    Parameters
    ----------
    path : path
        The directory. It is made if it does not exist; another checkpoint in it is replaced.
    arrays : pytree of arrays
        Lists, tuples and dictionaries of Arrays, NumPy arrays and numbers. What is not split must
        be equal in all processes, and is written by process 0. If none is an Array of a backend
        with meshes, the process that calls writes all and waits for no other: call it in one.

    Raises
    ------
    SerializationError
        For a container of another class.
    FileAccessError
        If the directory cannot be written, or another process was given another one.
    ValuesDifferError
        If the processes save other containers, or other values of an array that is not split; the
        checkpoint that was there stays.
    ProcessError
        If another process does not come to the same call; no checkpoint is made then.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import tenferro as tn
    >>> with tempfile.TemporaryDirectory() as path:
    ...     tn.save_arrays(path, {"w": np.eye(2), "step": 3})
    ...     tn.load_arrays(path)
    {'w': array([[1., 0.],
           [0., 1.]]), 'step': array(3)}
    """
    leaves, structure = _tree.flatten(arrays)
    shape_of_tree = files.tree_to_item(structure)
    named = [as_array(leaf) for leaf in leaves]
    evaluate_keys([array.key for array in named], "save_arrays")
    processes = _processes_of(named)
    index, count = (0, 1) if processes is None else (processes.index, processes.count)
    directory = files.directory(path)
    own = [_written(directory, array, writes_whole=index == 0) for array in named]
    if count == 1 or processes is None:
        files.write_manifest(directory, shape_of_tree, own)
        return
    files.write_saved(directory, index, Saved(shape_of_tree, own))
    processes.wait(f"save_arrays({fspath(path)!r}), all parts written")
    files.check_parts(directory, index, count)
    every = [files.read_saved(directory, number) for number in range(count)]
    processes.wait(f"save_arrays({fspath(path)!r}), all parts seen")  # the next save writes others
    together = put_together(every, _tree.paths(arrays, "arrays"))
    if index == 0:
        files.write_manifest(directory, shape_of_tree, together)
    processes.wait(f"save_arrays({fspath(path)!r}), manifest written")


def _written(directory: str, array: Array, *, writes_whole: bool) -> Stored:
    """Write this process's parts of an array.

    One of NumPy, which each process has, is written by one process, and the others state its
    digest.
    """
    operand, aval = array.key.operand, array.aval
    backend = backend_of(operand)
    write = True
    regions: Sequence[tuple[Region, Any]]
    if backend.sharding is None or not backend.owns(operand):
        write = writes_whole
        regions = [(tuple([(0, size) for size in aval.shape]), host_value(operand, aval))]
    else:
        regions = backend.sharding.parts(operand)
    parts = [
        Part(
            region,
            files.write_array(directory, values) if write else files.digest_of_array(values),
        )
        for region, values in regions
    ]
    return Stored(aval.dtype.name, aval.shape, tuple(parts))


def _processes_of(arrays: Sequence[Array]) -> Any:
    """Return the processes that save together; None if no array is of a backend that has them."""
    names = {backend_of(array.key.operand).name for array in arrays}
    plugins = host()
    able = [name for name in sorted(names) if "sharding" in plugins.info(name).features]
    return plugins.processes(able[0]) if able else None


def load_arrays(
    path: str | PathLike[str],
    mesh: Mesh | None = None,
    specs: Any = None,
    *,
    backend: str | Backend | None = None,
) -> Any:
    """Read arrays that ``save_arrays`` wrote, whole or split over a mesh.

    The mesh may be another one than that of the arrays when they were saved, in another number of
    processes. Each process reads the files that hold its parts, and checks their digests.

    Parameters
    ----------
    path : path
        The directory.
    mesh : Mesh, optional
        Devices over which the arrays are split. Without it they are whole, in NumPy's memory.
    specs : tuple, or pytree of tuples, optional
        As for ``shard``; None leaves an array whole on every device.
    backend : str or Backend, optional
        As for ``shard``.

    Returns
    -------
    pytree of arrays
        The containers that were saved, with NumPy arrays, or Arrays if there is a mesh.

    Raises
    ------
    SerializationError
        If the directory holds no whole checkpoint, or a file of it was changed.
    FileAccessError
        If there is no such directory.
    ShardingError
        If a spec does not fit, or there are specs and no mesh.
    """
    if mesh is None and specs is not None:
        raise ShardingError.of(
            "load_arrays",
            "specs split arrays over a mesh, and none is given",
            got=repr(specs)[:80],
            need="a mesh as the second argument, or no specs",
            mesh=None,
            spec=specs,
            dimension=None,
        )
    directory = import_module("os").fsdecode(fspath(path))
    structure, stored = files.read_manifest(directory)
    reader = files.Reader(directory)
    if mesh is None:
        whole = [[(0, size) for size in one.shape] for one in stored]
        found = [
            _read(reader, one, tuple(region)) for one, region in zip(stored, whole, strict=True)
        ]
        return _tree.unflatten(structure, found)
    check_mesh("load_arrays", mesh)
    chosen = sharding_backend("load_arrays", backend)
    avals = [Aval(one.shape, one.dtype) for one in stored]
    tree = _tree.unflatten(structure, avals)
    arrays = []
    for one, aval, spec in zip(stored, avals, specs_of(specs, tree, "load_arrays"), strict=True):
        check_fits(spec or _WHOLE, mesh, aval, "load_arrays")

        def read(region: Region, one: Stored = one) -> Any:
            return _read(reader, one, region)

        arrays.append(placed(chosen, aval, mesh, spec or _WHOLE, read))
    return _tree.unflatten(structure, arrays)


def _read(reader: files.Reader, stored: Stored, region: Region) -> Any:
    """Return a region of an array, put together from the parts that it overlaps.

    Raises SerializationError: if the parts leave a gap.
    """
    numpy = import_module("numpy")
    out = numpy.empty([stop - start for start, stop in region], files.numpy_dtype(stored.dtype))
    filled = 0
    for part in stored.parts:
        common = [
            (max(a, c), min(b, d)) for (a, b), (c, d) in zip(region, part.region, strict=True)
        ]
        sizes = [stop - start for start, stop in common]
        if any([size <= 0 for size in sizes]):
            continue
        values = reader.array(part.file, stored, part.region)
        there = [slice(a - o, b - o) for (a, b), (o, _) in zip(common, part.region, strict=True)]
        here = [slice(a - o, b - o) for (a, b), (o, _) in zip(common, region, strict=True)]
        out[tuple(here)] = values[tuple(there)]
        filled += prod(sizes)
    if filled != out.size:
        raise SerializationError(
            f"load_arrays: {reader.directory}: parts of an array are missing from the manifest",
            path=reader.directory,
        )
    return out
