"""``save_graph``: record a function and save its graph.

The file holds the equations, the values that the function closes over, and the structure of its
arguments and results. Read next: ``load.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from types import FunctionType
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.evaluate import to_numpy
from tenferro.computegraph import Definition, SerializationError, ValueKey, postorder
from tenferro.primitives import Aval, DType
from tenferro.primitives._source import source_text
from tenferro.primitives.structural import StopGradient
from tenferro.storage import Codec, StoredArray, to_json, write_npy
from tenferro.transforms.compilation.recorded import RecordedProgram, record_program
from tenferro.transforms.compilation.traced import is_constant
from tenferro.transforms.saving import archive
from tenferro.transforms.saving.structures import to_item

CODECS = {
    "aval": Codec(Aval, lambda x: (x.shape, x.dtype), lambda parts: Aval(*parts)),
    "dtype": Codec(DType, lambda x: x.name, DType.of),
}


def save_graph(path: archive.Path, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Record a function for arguments of these shapes and dtypes, and save it in a file.

    What ``load_graph`` returns computes the same on any backend, and can be differentiated, batched
    and compiled. The file holds the equations of the function, not of its derivatives, and a copy
    of each array that it closes over. It is a zip of JSON and npy; loading it runs no code from it.

    Parameters
    ----------
    path : str or path
        Where to save it. A file that is there is replaced when the new one is complete.
    function : callable
        Function of pytrees of arrays and numbers. Static arguments of a jitted function keep their
        values, and the loaded function does not take them.
    *args, **kwargs
        Arguments, or an ``Aval`` instead of an array.

    Raises
    ------
    SerializationError
        If the function has a derivative rule of the user; if it calls ``custom_root``,
        ``custom_linear_solve``, ``low_rank`` or ``spectral_function``, whose rules are Python code;
        if it calls back into Python or prints; if it takes or returns containers other than lists,
        tuples and dictionaries with names as keys.
    LeakedArrayError
        If it closes over a value of an outer transform.
    ConcretizationError
        If it asks for the value of an argument.
    FileAccessError
        If the file cannot be written there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> import tenferro as tn
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "energy.tng"
    >>> tn.save_graph(path, lambda p: np.sum(np.exp(p["x"])), {"x": tn.Aval((2,), "float64")})
    >>> energy = tn.load_graph(path)
    >>> energy({"x": np.zeros(2)})
    np.float64(2.0)
    >>> tn.grad(energy)({"x": np.zeros(2)})
    {'x': array([1., 1.])}
    """
    program = record_program("save_graph", function, args, kwargs)
    if program.has_effects:
        raise _refused("it prints or calls back for an effect", "leave the effect out")
    _check_rules(program)
    arrays: dict[str, StoredArray] = {}
    try:
        text = to_json(program.graph, codecs=CODECS, arrays=arrays)
        inputs, outputs = (to_item(spec, "save_graph") for spec in (program.spec, program.out_spec))
    except SerializationError as error:
        raise at_user_line(_with_hint(error)) from None
    about = {
        "version": import_module("tenferro").__version__,
        "inputs": inputs,
        "outputs": outputs,
        "captured": [_stored(operand, aval, arrays) for operand, aval in program.captured_pairs()],
        "packages": {op.key: package_of(op) for op in map(_operation, program.graph.nodes)},
    }
    archive.write(path, about, text, arrays)


def package_of(operation: Any) -> str:
    """Return the package that an operation comes from."""
    return type(operation).__module__.partition(".")[0]


def _check_rules(program: RecordedProgram) -> None:
    """Raise SerializationError if a derivative rule of the user is on the way to a result.

    Such a rule is Python code; without it, the derivative of what is loaded would be another one.
    Behind ``stop_gradient`` no derivative is asked for.
    """

    def definition_of(key: ValueKey) -> Definition | None:
        definition = None if is_constant(key) else key.definition
        stops = definition is not None and type(definition[0]) is StopGradient
        return None if stops else definition

    order, definitions, _ = postorder(program.outputs, definition_of)
    for operation, key in _with_rules(order, definitions):
        line = source_text(key.source)
        raise _refused(
            f"{_rule_text(operation)}, which is Python code"
            + (f"\n  from       {line}" if line else ""),
            "save `tn.stop_gradient(f(x))` for the values, and\n"
            "             `tn.stop_gradient(tn.grad(f)(x))` for their derivative",
        )


def _with_rules(
    order: Sequence[ValueKey], definitions: Sequence[Definition]
) -> list[tuple[Any, ValueKey]]:
    """Return the operations with a rule in Python, those first that know whose rule it is."""
    pairs = zip(definitions, order, strict=True)
    found = [(d[0], key) for d, key in pairs if d[0].volatile or d[0].redirects]
    return sorted(found, key=lambda pair: _module_of_rule(pair[0]) == "")


def _rule_text(operation: Any) -> str:
    """Say whose derivative rule an operation carries: that of a function of ours, or another."""
    module = _module_of_rule(operation)
    if not module.startswith("tenferro."):
        return "it has a derivative rule of the user" if module else "it has a derivative rule"
    items = vars(import_module(module)).items()
    public = [name for name, value in items if _is_public_function(name, value, module)]
    named = "` or `".join(public) if len(public) < 3 else module
    return f"`{named}` has a derivative rule"


def _module_of_rule(operation: Any) -> str:
    """Return the module of the function whose rule an operation carries; "" if it carries none."""
    if hasattr(operation, "rule_module"):
        return str(operation.rule_module)
    rule: Any = getattr(operation, "rule", None)
    while hasattr(rule, "call"):  # a batched one holds a recorded one, which holds a call
        rule = rule.call
    function = getattr(getattr(rule, "custom", None), "function", None)
    return getattr(function, "__module__", None) or ""


def _is_public_function(name: str, value: Any, module: str) -> bool:
    """Return True for a function without an underscore that is defined in this module."""
    is_function = type(value) is FunctionType and value.__module__ == module
    return is_function and not name.startswith("_")


def _operation(node: Any) -> Any:
    return node.operation


def _stored(operand: Any, aval: Aval, arrays: dict[str, StoredArray]) -> str:
    """Store a value that the function closes over; return its name."""
    if aval.dtype.name == "bfloat16":
        text = "it closes over an array of bfloat16, which npy files do not know"
        raise _refused(text, "pass the array as an argument")
    found = to_numpy(operand, aval)
    array = StoredArray(found.dtype.str, aval.shape, found.tobytes())
    file = BytesIO()
    write_npy(file, array)
    name = sha256(file.getvalue()).hexdigest()
    arrays[name] = array
    return name


def _with_hint(error: SerializationError) -> SerializationError:
    """Say what to do about an operation whose parameters are no data."""
    text = str(error).split("\n  hint       pass a Codec")[0]
    if "hint" not in text:
        text += "\n  hint       a graph holds no Python code: leave callbacks out"
    return SerializationError(text, **error.fields)


def _refused(text: str, hint: str) -> SerializationError:
    error = SerializationError(
        f"save_graph: the function cannot be saved: {text}\n  hint       {hint}"
    )
    return at_user_line(error)
