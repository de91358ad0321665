"""Programs of ``tenferro.export`` on XLA: one file of StableHLO, which runs with JAX alone.

The file is what ``jax.export`` writes, so that ``jax.export.deserialize`` reads it in a process
that has never heard of tenferro. ``export`` and ``load_exported`` are the same by this package's
name, for whoever has several backends that export. Read next: ``_as_jax.py``.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export as jax_export

from tenferro.arrays import Array, TracedConversionError, as_array
from tenferro.backend import DeviceUnavailableError, ExportedProgram, Exporter, UnsupportedError
from tenferro.computegraph import OperandError, SerializationError
from tenferro.primitives import Aval
from tenferro.transforms import FileAccessError
from tenferro_xla._as_jax import Flat, Lowered
from tenferro_xla._jax import enable_x64, is_array, shape_dtype
from tenferro_xla._operands import numpy_dtype

#: Stands behind the program, before the digest of it; a reader of JAX's format ignores both.
_SEAL = b"tenferro-sha256:"
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


class XlaExporter(Exporter):
    """Exports programs as StableHLO."""

    def export(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        platforms: Sequence[str],
    ) -> StableHloProgram:
        """Compile a function to StableHLO."""
        return _compiled(function, args, kwargs, platforms)

    def load(self, path: str | os.PathLike[str]) -> StableHloProgram:
        """Read a program that ``save`` wrote."""
        return _loaded(path)


def export(
    function: Callable[..., Any], *args: Any, platforms: Sequence[str] = ("cpu",), **kwargs: Any
) -> StableHloProgram:
    """Compile a function to StableHLO for these shapes and dtypes: ``tenferro.export`` on XLA.

    See ``tenferro.export`` for arguments and errors.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> from tenferro_xla import export
    >>> program = export(tn.grad(lambda x: np.sum(x**3)), tn.Aval((2,), "float64"))
    >>> program(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    return _compiled(function, args, kwargs, platforms)


def load_exported(path: str | os.PathLike[str]) -> StableHloProgram:
    """Return a program that ``export`` made and ``save`` wrote: ``tenferro.load_exported``."""
    return _loaded(path)


def _compiled(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    platforms: Sequence[str],
) -> StableHloProgram:
    """Compile a function for these arguments.

    Raises UnsupportedError: if a platform is unknown, or the function calls back into Python.
    """
    unknown = sorted({*platforms} - {*PLATFORMS})
    if unknown or not platforms:
        raise UnsupportedError(
            f"export: there is no platform {', '.join(map(repr, unknown)) or '()'}\n"
            f"  need       some of {', '.join(PLATFORMS)}",
            backend="xla",
            feature="platform",
            instead="cpu",
        )
    leaves, structure = jax.tree.flatten((args, kwargs))
    avals = [leaf if isinstance(leaf, Aval) else as_array(leaf).aval for leaf in leaves]
    flat = Flat(function, structure)
    lowered = Lowered.of(flat, avals, "cpu" if "cpu" in platforms else platforms[0])
    _check_callbacks(lowered)

    def program(*args: Any, **kwargs: Any) -> Any:
        found = lowered(*jax.tree.leaves((args, kwargs)))
        return jax.tree.unflatten(flat.structure_of_results, found)

    specs = [shape_dtype(aval.shape, numpy_dtype(aval.dtype)) for aval in avals]
    args, kwargs = jax.tree.unflatten(structure, specs)
    with enable_x64(True):
        made = jax_export.export(jax.jit(program), platforms=tuple(platforms))(*args, **kwargs)
    return StableHloProgram(made)


def _loaded(path: str | os.PathLike[str]) -> StableHloProgram:
    """Read a program.

    Raises SerializationError: if the file holds no exported program, or one of a newer format.
    Raises FileAccessError: if the file does not exist, or cannot be opened.
    """
    with _access("load_exported", path):
        data = bytearray(Path(path).read_bytes())
    return _from_bytes(data, os.fspath(path))


def _from_bytes(data: bytearray, name: str = "a pickle") -> StableHloProgram:
    """Read a program, and compare it with the digest that ``save`` wrote behind it."""
    whole, seal, digest = bytes(data).rpartition(_SEAL)
    if seal and digest != sha256(whole).hexdigest().encode():
        raise SerializationError(
            f"load_exported: {name} holds no exported program: it is not as it was written"
        )
    try:
        return StableHloProgram(jax_export.deserialize(data))
    except Exception as error:  # whatever a parser makes of foreign bytes
        raise SerializationError(
            f"load_exported: {name} holds no exported program: {error}\n"
            "  hint       a newer version of JAX may have written it"
        ) from error


class StableHloProgram(ExportedProgram):
    """A program of StableHLO. Calls take NumPy's or JAX's arrays and give the same.

    ``exported`` is JAX's own object.
    """

    def __init__(self, exported: jax_export.Exported) -> None:
        self.exported = exported
        self._run = jax.jit(exported.call)

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms it runs on."""
        return tuple(self.exported.platforms)

    @property
    def avals(self) -> tuple[Aval, ...]:
        """Shapes and dtypes of the leaves of the arguments."""
        return tuple([Aval(x.shape, x.dtype.name) for x in self.exported.in_avals])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file; one that is there is replaced when the new one is whole.

        Raises UnsupportedError: if the package flatbuffers is not installed.
        """
        with _access("save", path):
            target = Path(path).absolute()
        data = self._serialized()
        with _access("save", path):
            handle, partial = tempfile.mkstemp(".part", target.name[:16], target.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.chmod(partial, 0o644)
                os.replace(partial, target)
            except BaseException:
                os.unlink(partial)
                raise

    def _serialized(self) -> bytes:
        """Return the bytes of a file."""
        try:
            data = bytes(self.exported.serialize())
        except ImportError as error:
            raise UnsupportedError(
                f"save: JAX needs a package to write programs: {error}\n"
                '  hint       pip install "tenferro-xla[export]"',
                backend="xla",
                feature="files of exported programs",
                instead="",
            ) from error
        return data + _SEAL + sha256(data).hexdigest().encode()

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (bytearray(self._serialized()),)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Raises OperandError: if an argument has another structure, shape or dtype.
        Raises UnsupportedError: inside a transform of tenferro.
        """
        leaves, structure = jax.tree.flatten((args, kwargs))
        expected: Any = self.exported.in_tree
        leaves = [_value(leaf) for leaf in leaves]
        needed = self.avals if len(leaves) == len(self.avals) else (None,) * len(leaves)
        found = [_aval(leaf, need) for leaf, need in zip(leaves, needed, strict=True)]
        if structure != expected or tuple(found) != self.avals:
            got = f"{jax.tree.unflatten(structure, list(map(str, found)))}"
            need = f"{jax.tree.unflatten(expected, list(map(str, self.avals)))}"
            raise OperandError(
                "an exported program takes what it was exported for\n"
                f"  got        {got}\n  need       {need}",
                got=got,
                need=need,
            )
        arrays = [
            leaf if is_array(leaf) else np.asarray(leaf, numpy_dtype(aval.dtype))
            for leaf, aval in zip(leaves, self.avals, strict=True)
        ]
        self._check_platform()
        args, kwargs = jax.tree.unflatten(structure, arrays)
        with enable_x64(True):
            result = self._run(*args, **kwargs)
        if any(map(is_array, leaves)):
            return result
        return jax.tree.map(lambda x: np.array(x)[()], result)  # arrays of JAX are read-only

    def _check_platform(self) -> None:
        """Raise DeviceUnavailableError on a platform that the program was not exported for."""
        own = self.platforms
        here = {"gpu": "cuda"}.get(jax.default_backend(), jax.default_backend())
        if here not in own and not (here == "cuda" and "rocm" in own):
            reason = f"it was exported for {', '.join(own)}, and JAX uses {here}"
            raise DeviceUnavailableError(
                f"an exported program cannot run here: {reason}\n"
                f'  hint       `tn.export(f, …, platforms=("{here}", …))`',
                backend="xla",
                device=here,
                reason=reason,
            )

    def __str__(self) -> str:
        """Return the StableHLO, without the places in our source that JAX notes."""
        text = re.sub(r" loc\([^()]*(\([^()]*\)[^()]*)*\)", "", self.exported.mlir_module())
        return "\n".join([line for line in text.splitlines() if not line.startswith("#loc")])

    def __repr__(self) -> str:
        return f"<StableHloProgram for {', '.join(self.platforms)}>"


def _value(leaf: Any) -> Any:
    """Return an argument as a value of NumPy or JAX; evaluate one that is recorded.

    Raises UnsupportedError: inside a transform, which would need the equations of the program.
    """
    if not isinstance(leaf, Array):
        return leaf
    try:
        return np.asarray(leaf)
    except TracedConversionError as error:
        raise UnsupportedError(
            "an exported program takes values: it is compiled, and has no derivative\n"
            "  hint       export the derivative, `tn.export(tn.grad(f), …)`, or save the graph:"
            " `tn.save_graph`",
            backend="xla",
            feature="derivatives of exported programs",
            instead="tn.export(tn.grad(f), …)",
        ) from error


@contextmanager
def _access(function: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in complaints of the system."""
    try:
        yield
    except OSError as error:
        name = os.fspath(path)
        text = f"{function}: {name}: {error.strerror or error}"
        raise FileAccessError(text, path=name) from None
    except ValueError as error:
        if "embedded null" not in str(error):  # "null byte" or "null character", by the release
            raise
        raise FileAccessError(f"{function}: {path!r}: {error}", path=repr(path)) from None


def _aval(leaf: Any, need: Aval | None) -> Aval:
    """Return the aval of an argument; a Python number takes the dtype that is needed."""
    if need is not None and not need.shape and type(leaf) in (bool, int, float, complex):
        dtype = numpy_dtype(need.dtype)
        if type(leaf) is int and dtype.kind in "iu":
            range_of = np.iinfo(dtype)
            if range_of.min <= leaf <= range_of.max:
                return need
        elif np.can_cast(np.min_scalar_type(leaf), dtype, "same_kind"):
            return need
    return as_array(leaf).aval


def _check_callbacks(lowered: Lowered) -> None:
    """Raise UnsupportedError for a program that calls back into Python."""
    for instruction in lowered.program.instructions:
        key = getattr(instruction.operation, "key", "")
        if key in ("std::host_callback", "std::debug_callback"):
            raise UnsupportedError(
                f"export: {key} calls back into Python, which a file cannot hold\n"
                "  hint       leave it out of what is exported",
                backend="xla",
                feature="callbacks in exported programs",
                instead="",
            )
