"""Trees that several processes save, put together: containers and whole arrays must be equal.

Each process reads what the others save, and all come to the same verdict, so that none waits for
another one. Read next: ``files.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tenferro.backend import ValuesDifferError
from tenferro.primitives import Aval
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.sharding.files import Saved, Stored, tree_from_item


def put_together(every: Sequence[Saved], names: Sequence[str]) -> list[Stored]:
    """Return each array with the parts of all processes; one that each of them has counts once.

    ``every`` has an entry for each process, ``names`` one for each array.

    Raises ValuesDifferError: if the processes save other containers, shapes or dtypes, or other
    values of an array that each of them has.
    """
    containers = [_tree.describe(tree_from_item(saved.structure)) for saved in every]
    _check(containers, "arrays", "containers")
    found = []
    for name, arrays in zip(
        names, zip(*[saved.arrays for saved in every], strict=True), strict=True
    ):
        _check([str(Aval(array.shape, array.dtype)) for array in arrays], name, "arrays")
        found.append(_joined(arrays, name))
    return found


def _joined(arrays: Sequence[Stored], name: str) -> Stored:
    whole = [array for array in arrays if _is_whole(array)]
    if not whole:
        return arrays[0]._replace(parts=tuple([part for one in arrays for part in one.parts]))
    if prod(whole[0].shape):  # a process without a part has none of a whole array on the mesh
        _check([_described(array if array.parts else whole[0]) for array in arrays], name, "values")
    return whole[0]


def _is_whole(array: Stored) -> bool:
    """Return True if a process has all of an array."""
    sizes = [prod([stop - start for start, stop in part.region]) for part in array.parts]
    return bool(sizes) and sum(sizes) == prod(array.shape)


def _described(array: Stored) -> str:
    if not _is_whole(array):
        return "a part of an array on a mesh"
    digests = sorted([(part.region, part.file[:12]) for part in array.parts])
    return f"the whole array, with the digest {', '.join([digest for _, digest in digests])}"


def _check(texts: Sequence[str], name: str, what: str) -> None:
    """Raise ValuesDifferError if the texts of the processes differ."""
    others = tuple([i for i, text in enumerate(texts) if text != texts[0]])
    if not others:
        return
    listed = "; ".join([f"process {i}: {texts[i]}" for i in (0, *others)])
    raise ValuesDifferError(
        f"save_arrays: {name}: the processes save different {what}\n"
        f"  got        {listed[:600]}\n"
        "  need       the same in all processes, but for the parts of arrays on a mesh\n"
        "  hint       give a dictionary the same keys in the same order in all processes; save what"
        " a process has of its own in a directory of its own",
        backend="",
        processes=others,
        arguments=(name,),
    )
