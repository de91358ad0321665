"""A backend whose arrays are opaque: NumPy inside, and any accidental conversion to NumPy fails.

It serves the tests of the kit: it must pass every law, and each mutant of it (`mutants.py`) must
fail the law that is named for it. A light plugin module, as a third party would write it.
"""

from __future__ import annotations

from functools import partial

from tenferro.backend import UnsupportedError
from tenferro.backend.base import Backend
from tenferro.backend.lowering import Lowering, takes_table
from tenferro.backend.records import BackendInfo, PluginManifest, Probe
from tenferro.backend.spec import hookimpl
from tenferro.primitives import Aval

TENFERRO_PLUGIN = PluginManifest(
    api=(1, 0), name="loopback", kind="backend", summary="NumPy behind an opaque type"
)
_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
           "complex64", "complex128")  # fmt: skip
_INFO = BackendInfo(
    name="loopback",
    dtypes=frozenset(_DTYPES),
    features=frozenset({"f64", "complex", "int64", "f16", "ints", "special"}),
    operand_types=("tenferro_loopback.Opaque",),
)
#: Lowerings that take the table: bodies are made of other lowerings.
LOOPS = ("std::checkpoint", "std::scan", "std::switch", "std::while_loop")
#: Dtypes that the lowerings refuse, set by tests that need an unsupported case.
WITHOUT: set[str] = set()


class Opaque:
    """An array that nothing but this backend can read."""

    __slots__ = ("_data",)

    def __init__(self, data):
        self._data = data

    def copy(self):
        return Opaque(self._data.copy())

    def _refuse(self, *args, **kwargs):
        raise TypeError("an opaque array was converted by accident")

    __array__ = __bool__ = __int__ = __float__ = __complex__ = __index__ = __len__ = __iter__ = (
        __getitem__
    ) = _refuse
    __array_interface__ = property(_refuse)


class LoopbackBackend(Backend):
    """Interprets programs; operands are `Opaque`."""

    lacks_operands = True  # refuses operands of what it is without

    def asoperand(self, value, aval):
        import numpy as np

        if isinstance(value, Opaque):
            return value
        array = np.asarray(value)
        if self.lacks_operands and aval.dtype.name in WITHOUT:
            raise UnsupportedError("loopback lacks it", backend="loopback", feature="complex")
        return Opaque(array.astype(aval.dtype.name, copy=True))

    def to_numpy(self, operand):
        return operand._data.copy()

    def aval_of(self, operand):
        return Aval(operand._data.shape, operand._data.dtype)

    def owns(self, value):
        return isinstance(value, Opaque)


def wrapped(function):
    """A lowering on NumPy arrays as one on opaque arrays."""

    def lowering(operation, *operands):
        import numpy as np

        with np.errstate(all="ignore"):
            result = function(operation, *[x._data for x in operands])
        if operation.output_count != 1:
            return tuple(opaque(x) for x in result)
        return opaque(result)

    return lowering


class NumpyTable:
    """The table as the bodies of loops and branches see it: lowerings on NumPy arrays."""

    def __init__(self, table):
        self.close = table.close

    def lookup(self, operation, avals):
        function = resolved(numpy_lowerings()[operation.key])
        return partial(function, self) if getattr(function, "takes_table", False) else function


def resolved(function):
    """A lowering that a family has promised, or the lowering itself."""
    return function.function() if hasattr(function, "function") else function


def wrapped_with_table(function):
    """A lowering on NumPy arrays that takes the table as one on opaque arrays."""

    @takes_table
    def lowering(table, operation, *operands):
        return wrapped(partial(resolved(function), NumpyTable(table)))(operation, *operands)

    return lowering


def opaque(result):
    """A result of NumPy as the backend's own."""
    import numpy as np

    found = np.asarray(result)
    if found.dtype.name in WITHOUT:
        raise UnsupportedError(
            f"loopback has no {found.dtype}", backend="loopback", feature="complex"
        )
    return Opaque(found)


def numpy_lowerings():
    """Key → lowering on NumPy arrays."""
    import numpy as np
    from scipy import special

    from tenferro.backend.numpy_like import SPECIAL, family, lowerings

    table = lowerings(np)
    for name in SPECIAL:
        family(name).register(table, np, lambda function: getattr(special, function))
    return {record.primitive: record.target for record in table}


@hookimpl
def tenferro_backend_info():
    return _INFO


@hookimpl
def tenferro_backend_probe():
    return Probe(available=True, devices=("loopback",))


@hookimpl
def tenferro_backend_create(config):
    return LoopbackBackend()


@hookimpl
def tenferro_lowerings(backend):
    if backend != "loopback":
        return ()
    dtypes = frozenset(_DTYPES) - WITHOUT
    return [
        Lowering(key, (wrapped_with_table if key in LOOPS else wrapped)(function), dtypes=dtypes)
        for key, function in numpy_lowerings().items()
    ]
