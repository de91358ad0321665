"""``shard`` and ``from_local``: put arrays on a mesh.

Read next: ``checkpoints.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.arrays.errors import TracedConversionError, at_user_line
from tenferro.arrays.evaluation.evaluate import evaluate_keys
from tenferro.arrays.handle.traces import is_followed
from tenferro.backend import Backend, ShardedArrays, UnsupportedError, host, select_backend
from tenferro.backend._snapshots import is_numpy
from tenferro.backend.select import backend_of
from tenferro.primitives import Aval, Mesh, ShardingSpec
from tenferro.primitives._errors import ShardingError
from tenferro.primitives._mesh import check_axes, check_fits, spec_error
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.run_or_record import known_array
from tenferro.transforms.sharding.prefixes import specs_of

__all__ = ["from_local", "shard"]

_WHOLE = ShardingSpec(())


def shard(x: Any, mesh: Mesh, spec: Any, *, backend: str | Backend | None = None) -> Any:
    """Return arrays that are split over the devices of a mesh.

    Each process gives the whole arrays, and its devices take their parts. The arrays must be equal
    in all processes. Where each process has its part alone, use ``from_local``.

    Parameters
    ----------
    x : array or pytree of arrays
        The arrays: of NumPy, numbers, or Arrays.
    mesh : Mesh
        The devices, from ``tn.mesh``.
    spec : tuple, or pytree of tuples
        For each dimension None, an axis of the mesh, or a tuple of axes. () puts the whole array
        on every device, and so does None for a subtree.
    backend : str or Backend, optional
        The backend of the arrays. Without it, the one that is chosen otherwise if it has devices to
        split over, else the only one that has.

    Returns
    -------
    Array or pytree of Arrays
        The arrays. Programs that use them run on the devices of the mesh.

    Raises
    ------
    ShardingError
        If a spec does not fit the mesh or an array.
    TracedConversionError
        Inside a transform, for an array that it differentiates, batches or traces.
    UnsupportedError
        If no backend has sharding.
    DeviceUnavailableError
        If there are fewer devices than the mesh has.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> mesh = tn.mesh({"data": 1})
    >>> x = tn.shard(np.ones((4, 2)), mesh, ("data", None))  # doctest: +SKIP
    """
    check_mesh("shard", mesh)
    chosen = sharding_backend("shard", backend)
    leaves, structure = _tree.flatten(x)
    specs = specs_of(spec, x, "shard")
    pairs = zip(leaves, specs, strict=True)
    found = [_placed("shard", chosen, leaf, mesh, own or _WHOLE) for leaf, own in pairs]
    return _tree.unflatten(structure, found)


def _placed(who: str, backend: Backend, leaf: Any, mesh: Mesh, spec: ShardingSpec) -> Array:
    array = as_array(leaf)
    _check_is_value(array, who)
    _checked(check_fits, spec, mesh, array.aval, who)
    evaluate_keys([array.key], who)
    operand = array.key.operand
    host_array = host_value(operand, array.aval)
    return placed(
        backend,
        array.aval,
        mesh,
        spec,
        lambda region: host_array[tuple([slice(*bounds) for bounds in region])],
    )


def _check_is_value(array: Array, who: str) -> None:
    """Raise TracedConversionError inside a transform: what is placed is a value, without equations.

    Its derivative would be 0 without a word.
    """
    if not is_followed(array.key):
        return
    raise at_user_line(
        TracedConversionError(
            f"{who}: an array on which a transform is open cannot be put on a mesh\n"
            f"  got        {array.aval}, which is differentiated, batched or traced\n"
            "  need       a value: its derivative would be lost\n"
            f"  hint       `{who}` the arguments outside of the transform; inside,"
            " `tn.sharding_constraint` says how a value is split",
            aval=array.aval,
            asked=who,
            function=who,
        )
    )


def host_value(operand: Any, aval: Aval) -> Any:
    """Return an operand as a NumPy array."""
    if is_numpy(operand):
        return operand
    owner = backend_of(operand)
    return owner.to_numpy(owner.asoperand(operand, aval))


def placed(
    backend: Backend,
    aval: Aval,
    mesh: Mesh,
    spec: ShardingSpec,
    read: Callable[[Any], Any],
) -> Array:
    """Return an Array that is split; ``read`` returns a region of it."""
    return known_array(_sharded(backend).place(aval, mesh, spec, read), aval)


def from_local(rows: Any, mesh: Mesh, spec: Any, *, backend: str | Backend | None = None) -> Any:
    """Return arrays that are put together from the parts of all processes.

    The parts of the processes, in their order, make the array along the dimensions that the spec
    splits over several processes. In one process the part is the whole.

    Parameters
    ----------
    rows : array or pytree of arrays
        The part of this process. All processes give parts of one shape and dtype.
    mesh : Mesh
        The devices, of all processes.
    spec : tuple, or pytree of tuples
        As for ``shard``. What no axis splits must be equal in all processes.
    backend : str or Backend, optional
        As for ``shard``.

    Returns
    -------
    Array or pytree of Arrays
        The arrays, whose shapes are those of the wholes.

    Raises
    ------
    ShardingError
        If a spec does not fit the mesh or an array.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> mesh = tn.mesh({"data": 1})
    >>> x = tn.from_local(np.ones((4, 2)), mesh, ("data", None))  # doctest: +SKIP
    """
    check_mesh("from_local", mesh)
    chosen = sharding_backend("from_local", backend)
    numpy = import_module("numpy")
    leaves, structure = _tree.flatten(rows)
    found = []
    for leaf, own in zip(leaves, specs_of(spec, rows, "from_local"), strict=True):
        part = numpy.asarray(leaf)
        local = as_array(part).aval
        spec_of_leaf = own or _WHOLE
        _checked(check_axes, spec_of_leaf, mesh, local, "from_local")
        operand = _sharded(chosen).from_local(part, mesh, spec_of_leaf)
        found.append(known_array(operand, chosen.aval_of(operand)))
    return _tree.unflatten(structure, found)


def _sharded(backend: Backend) -> ShardedArrays:
    if backend.sharding is None:
        raise no_sharding(backend.name)
    return backend.sharding


def sharding_backend(who: str, named: str | Backend | None) -> Backend:
    """Return the backend that splits arrays: as named, as chosen otherwise, or the only one.

    Raises UnsupportedError: if it has no sharding, or several backends have and none is chosen.
    """
    if named is not None:
        found = select_backend(named)
        if found.sharding is None:
            raise at_user_line(no_sharding(found.name))
        return found
    chosen = select_backend()
    if chosen.sharding is not None:
        return chosen
    able = names_with_sharding()
    if len(able) != 1:
        raise at_user_line(no_sharding(chosen.name))
    return host().backend(able[0])


def names_with_sharding() -> list[str]:
    """Return the backends that have the feature ``sharding`` and can run here."""
    plugins = host()
    able = [name for name in plugins.backends() if "sharding" in plugins.info(name).features]
    return [name for name in able if plugins.is_available(name)]


def no_sharding(name: str) -> UnsupportedError:
    """Make the error of a backend that runs on one device."""
    return UnsupportedError(
        f"{name} runs on one device and cannot split arrays\n"
        '  hint       pip install tenferro-xla, and backend="xla" where it is not the only one',
        backend=name,
        feature="sharding",
        instead="xla",
    )


def check_mesh(who: str, mesh: object) -> None:
    """Raise ShardingError for anything but a mesh."""
    if not isinstance(mesh, Mesh):
        need = 'tn.mesh({"data": 4}) or the like'
        raise at_user_line(
            spec_error(who, "this is not a mesh", None, got=f"{mesh!r:.80}", need=need)
        )


def _checked(check: Callable[..., None], *arguments: Any) -> None:
    """Check a spec; an error names the user's line."""
    try:
        check(*arguments)
    except ShardingError as error:
        raise at_user_line(error) from None
