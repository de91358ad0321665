"""``load_graph``: a saved function as a function.

Each call writes the equations into the program that is being recorded, so that transforms see them
as if the user had written them there. Read next: ``archive.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro._runtime import CollectorPaused
from tenferro.arrays import Array, as_array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.convert import operand_key, weak_kind
from tenferro.backend import host, select_backend
from tenferro.computegraph import (
    MaterializedGraph,
    OperandError,
    SerializationError,
    ValueKey,
    derive,
)
from tenferro.primitives import STANDARD, Aval, convert
from tenferro.storage import StoredArray, from_json
from tenferro.transforms.compilation.jit import jit
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.saving import archive
from tenferro.transforms.saving.save import CODECS
from tenferro.transforms.saving.structures import from_item


def load_graph(path: archive.Path, *, backend: Any = None) -> SavedFunction:
    """Return a function that ``save_graph`` saved.

    Parameters
    ----------
    path : str or path
        The file.
    backend : str or Backend, optional
        Backend that runs the function.

    Returns
    -------
    SavedFunction
        A function of the arguments for which it was saved: the same structure, shapes and dtypes.
        It can be differentiated to any order, batched and compiled. Print it to see its graph.

    Raises
    ------
    SerializationError
        If the file is damaged, is not a saved graph, was written by a newer version, or needs a
        primitive that no installed package provides.
    FileAccessError
        If the file does not exist, or cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import tenferro as tn
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "square.tng"
    >>> tn.save_graph(path, lambda x: x * x, 2.0)
    >>> square = tn.load_graph(path)
    >>> square(3.0), tn.grad(square)(3.0)
    (np.float64(9.0), np.float64(6.0))
    >>> print(square)
    graph(x: f64[]) {
      %1 = mul %0 %0                       : f64[]
      return %1
    }
    """
    about, text, arrays = archive.read(path)
    operations: dict[str, Any] = {cls.key: cls for cls in STANDARD}
    operations.update(host().primitives())
    try:
        graph = from_json(text, operations=operations, codecs=CODECS, arrays=arrays)
    except SerializationError as error:
        raise at_user_line(_with_package(error, about)) from None
    captured = about.get("captured")
    if type(captured) is not list or not {"inputs", "outputs"} <= about.keys():
        raise at_user_line(SerializationError(f"load_graph: {path}: a description is missing"))
    if not all([type(name) is str and name in arrays for name in captured]):
        raise at_user_line(SerializationError(f"load_graph: {path}: an array is missing"))
    avals = graph.avals[: len(graph.inputs)][-len(captured) :] if captured else ()
    if [arrays[name].shape for name in captured] != [aval.shape for aval in avals]:
        raise at_user_line(SerializationError(f"load_graph: {path}: graph and arrays do not fit"))
    values = [_value(arrays[name], aval) for name, aval in zip(captured, avals, strict=True)]
    return SavedFunction(graph, values, about["inputs"], about["outputs"], backend)


class SavedFunction:
    """A function that was saved; calls take what it was saved for.

    ``graph`` is its graph; the last inputs are the values that it closes over.
    """

    def __init__(
        self,
        graph: MaterializedGraph,
        captured: Sequence[Any],
        inputs: Any,
        outputs: Any,
        backend: Any = None,
    ) -> None:
        self.graph = graph
        self._parts = captured, inputs, outputs, backend
        self._captured = [operand_key(x) for x in captured]
        self._spec, count = from_item(inputs, "load_graph")
        self._out_spec, results = from_item(outputs, "load_graph")
        if count + len(captured) != len(graph.inputs) or results != len(graph.outputs):
            raise at_user_line(SerializationError("load_graph: graph and arguments do not fit"))
        self._avals = graph.avals[:count]
        self._run = jit(self._recorded, backend=backend)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the results.

        Raises OperandError: if the arguments are not those for which the function was saved.
        """
        return self._run(*args, **kwargs)

    def _recorded(self, *args: Any, **kwargs: Any) -> Any:
        leaves, spec = _tree.flatten(([*args], kwargs))
        if not _tree.same_structure(spec, self._spec):
            raise self._refused(_tree.unflatten(spec, ["*"] * len(leaves)), self._shown())
        names = self.graph.input_names
        keys = [
            self._fitting(leaf, aval, name)
            for leaf, aval, name in zip(leaves, self._avals, names, strict=False)
        ]
        values = [*keys, *self._captured]
        with CollectorPaused():
            for operation, inputs, *_ in self.graph.nodes:
                values += derive(operation, [values[i] for i in inputs])
        found = [Array(values[i]) for i in self.graph.outputs]
        return _tree.unflatten(self._out_spec, found)

    def _fitting(self, leaf: Any, aval: Aval, name: str) -> ValueKey:
        """Return an argument of the aval; a Python number takes the dtype that was saved."""
        array: Array = as_array(leaf)
        if array.aval == aval:
            return array.key
        if weak_kind(leaf) is not None and array.aval.shape == aval.shape:
            if not (array.dtype.is_inexact and aval.dtype.is_integer):
                converted: Array = convert(array, aval.dtype)
                return converted.key
        raise self._refused(f"{name}: {array.aval}", f"{name}: {aval}")

    def _shown(self) -> Any:
        return _tree.unflatten(self._spec, [str(aval) for aval in self._avals])

    def _refused(self, got: Any, need: Any) -> OperandError:
        return at_user_line(
            OperandError(
                "a saved function takes what it was saved for\n"
                f"  got        {got}\n"
                f"  need       {need}",
                got=str(got),
                need=str(need),
            )
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.graph, *self._parts)

    def __str__(self) -> str:
        return str(self.graph)

    def __repr__(self) -> str:
        return f"<SavedFunction of {len(self.graph)} equations>"


class _Held:
    """A stored array as others read arrays: NumPy's interface of arrays."""

    def __init__(self, array: StoredArray) -> None:
        self.__array_interface__ = {
            "shape": array.shape,
            "typestr": array.descr,
            "data": array.data,
            "version": 3,
        }


def _value(array: StoredArray, aval: Aval) -> Any:
    """Return a stored array as one of NumPy, made by the backend that is there."""
    backend = select_backend()
    return backend.to_numpy(backend.asoperand(_Held(array), aval))


def _with_package(error: SerializationError, about: Any) -> SerializationError:
    """Name the package that has an operation which is not installed here."""
    operation = error.fields.get("operation")
    packages = about.get("packages")
    package = packages.get(operation) if isinstance(packages, dict) else None
    text = str(error).split("\n")[0]
    hint = (
        f"install the package {package}"
        if package and package != "tenferro"
        else ("load it with the version of tenferro that saved it: " + str(about.get("version")))
    )
    return SerializationError(f"load_graph: {text}\n  hint       {hint}", **error.fields)
