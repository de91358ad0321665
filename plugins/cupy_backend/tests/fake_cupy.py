"""A stand-in for CuPy that computes with NumPy, restricted to what CuPy has.

Names, parameters, and the dtypes of ufuncs are read from `cupy_names.json`, which `write_names`
takes from a real CuPy (a test compares the two where CuPy is installed). Behaviour that differs
from NumPy's is imitated: no implicit conversion to the host, indices wrap, `take` has no mode,
ufuncs reduce only sums, `add.at` has CUDA's types, repeated indices in an assignment are
undefined (here: an error), and whatever would wait for the device is counted.
"""

import contextlib
import inspect
import json
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
from fake_cusolver import BLAS_HANDLE, SOLVER_HANDLE, CupyxCusolver, cublas, cusolver

NAMES = Path(__file__).with_name("cupy_names.json")
_ATOMIC = {"float32", "float64", "int32", "uint32", "uint64"}
SPECIAL = (
    "betainc", "digamma", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "gamma", "gammainc",
    "gammaincc", "gammaln", "i0", "i0e", "i1", "i1e", "log_ndtr", "ndtr", "ndtri", "zeta",
)  # fmt: skip
_NEW = {"arange", "empty", "full", "ones", "zeros"}  # functions that take no array


class Fake:
    """The module `cupy`: attribute access finds what a real one has, and nothing else."""

    def __init__(self, devices=1):
        names = json.loads(NAMES.read_text())
        self.__version__ = names["cupy"]
        self._functions, self._ufuncs = names["functions"], names["ufuncs"]
        self._types = set(names["types"])
        self.synchronizations = 0
        self.launches = []
        self.captured = None  # launches since a capture began
        self.bytes_left = float("inf")  # of the device's memory
        self.device = 0  # the current one
        self.ndarray = type(
            "ndarray", (_Array,), {"_module": self, "_names": set(names["attributes"])}
        )
        self.cuda = _Cuda(self, devices)
        self.generic = np.generic
        self.inf, self.nan, self.pi, self.newaxis = np.inf, np.nan, np.pi, None
        self.RawModule = partial(_RawModule, self)
        self.RawKernel = partial(_RawKernel, self)
        self.fft, self.linalg = _Namespace(self, "fft"), _Namespace(self, "linalg")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._ufuncs:
            found = _Ufunc(self, name, self._ufuncs[name])
        elif name in self._functions:
            found = _function(self, name, self._functions[name])
        elif name in self._types:
            found = getattr(np, name)
        else:
            raise AttributeError(f"cupy (or the list of names that we use) has no {name!r}")
        setattr(self, name, found)
        return found

    def wrap(self, value, *sources):
        """A NumPy result as an array of the stand-in that knows whose memory it uses."""
        value = np.asarray(value)
        base = next((s.root for s in sources if np.may_share_memory(value, s._a)), None)
        return self.ndarray._make(value, base, self.device if base is None else base.device.id)

    def unwrap(self, value):
        if isinstance(value, self.ndarray):
            if value.device.id != self.device:
                raise ValueError(
                    "Array device must be same as the current device: array device = "
                    f"{value.device.id} while current = {self.device}"
                )
            return value._a
        if isinstance(value, np.ndarray):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        if isinstance(value, (tuple, list)):
            return type(value)(self.unwrap(v) for v in value)
        return value

    def launch(self, name, operands, results, again=None):
        """Note that a kernel runs on the device, and the bytes that it reads and writes.

        `again` computes the results anew, which a captured graph does when it is launched.
        """
        if self.captured is not None:
            self.captured.append((results, again))
        arrays = [x for x in (*operands, *results) if isinstance(x, self.ndarray)]
        self.launches.append((name, sum(_bytes_of(x._a) for x in arrays)))

    def allocate(self, shape, dtype):
        """Ask for memory as CuPy does, which raises if the device has none for a new array."""
        self.cuda.allocators[-1](int(np.prod(shape)) * np.dtype(dtype).itemsize)

    def wait(self):
        """Note that the host waits for the device; a stream that is captured refuses."""
        assert self.captured is None, "operation not permitted when stream is capturing"
        self.synchronizations += 1

    def host(self, operand):
        self.wait()
        return operand._a.copy()


def _bytes_of(array):
    """Bytes of the elements that differ in their place: a broadcast array is read once."""
    places = [n for n, s in zip(array.shape, array.strides, strict=True) if s or not n]
    return int(np.prod(places)) * array.itemsize


#: Functions that give a view, or memory that holds nothing yet.
_HOST_ONLY = {
    "asarray", "broadcast_to", "diagonal", "dtype", "empty", "expand_dims", "moveaxis", "ravel",
    "reshape", "result_type", "squeeze", "swapaxes", "transpose",
}  # fmt: skip


class _Namespace:
    """A submodule, whose functions have its name in front in the list."""

    def __init__(self, module, name):
        self._module, self._name = module, name

    def __getattr__(self, name):
        return getattr(self._module, f"{self._name}.{name}")


class _Flags:
    """`cupy.ndarray.flags`: nothing is read-only there, so there is no `writeable`."""

    def __init__(self, flags):
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.owndata = flags.owndata


class _Array:
    """`cupy.ndarray`."""

    _module = None
    _names = frozenset()

    @classmethod
    def _make(cls, array, base=None, device=0):
        made = object.__new__(cls)
        made._a, made._base, made.device = array, base, _Device(cls._module, device)
        return made

    @property
    def root(self):
        return self if self._base is None else self._base

    base = property(lambda self: self._base)
    shape = property(lambda self: self._a.shape)
    dtype = property(lambda self: self._a.dtype)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    strides = property(lambda self: self._a.strides)
    itemsize = property(lambda self: self._a.itemsize)
    nbytes = property(lambda self: self._a.nbytes)
    flags = property(lambda self: _Flags(self._a.flags))
    data = property(lambda self: _Pointer(self._a.ctypes.data))
    T = property(lambda self: self._view(self._a.T))

    def _view(self, array):
        return self._module.wrap(array, self)

    @property
    def real(self):
        return self._view(self._a.real)

    @real.setter
    def real(self, value):
        self._a.real = self._module.unwrap(value)

    @property
    def imag(self):
        return self._view(self._a.imag)

    @imag.setter
    def imag(self, value):
        self._a.imag = self._module.unwrap(value)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"cupy.ndarray has no {name!r}")
        raise NotImplementedError(f"the stand-in lacks ndarray.{name}")

    def reshape(self, *shape, order="C"):
        return self._view(self._a.reshape(*shape, order=order))

    def transpose(self, *axes):
        return self._view(self._a.transpose(*axes))

    def swapaxes(self, axis1, axis2):
        return self._view(self._a.swapaxes(axis1, axis2))

    def view(self, dtype=None):
        return self._view(self._a.view(dtype) if dtype is not None else self._a.view())

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        with np.errstate(all="ignore"):
            made = self._view(self._a.astype(dtype, order=order, copy=copy))
        if made.base is None:
            self._module.launch("astype", [self], [made], lambda: [self._a.astype(dtype)])
        return made

    def copy(self, order="C"):
        made = self._view(self._a.copy(order))
        self._module.launch("copy", [self], [made], lambda: [self._a])
        return made

    def _index(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        places, axis = [], 0
        for k in keys:
            if k is None:
                places.append(k)
                continue
            if isinstance(k, _Array):
                assert k.dtype.kind in "iu", "a mask waits for the device"
                places.append(k._a % max(self.shape[axis], 1))
            else:
                assert k is Ellipsis or isinstance(k, (int, slice)), f"index {k!r}"
                places.append(k)
            axis = -(len(keys) - len(places)) if k is Ellipsis else axis + 1
        if not any(k is Ellipsis for k in places):
            places.append(Ellipsis)  # an element is a view of rank 0, not a number
        return tuple(places)

    def __getitem__(self, key):
        made = self._view(self._a[self._index(key)])
        if made.base is None:
            index = self._index(key)
            self._module.launch("take", [made], [made], lambda: [self._a[index]])
        return made

    def __setitem__(self, key, value):
        places = self._index(key)
        counts = np.zeros(self.shape, int)
        np.add.at(counts, places, 1)
        if counts.max(initial=0) > 1:
            raise AssertionError("repeated indices in an assignment: undefined in CuPy")
        written = self._module.unwrap(value)
        self._a[places] = written

        def again():
            self._a[places] = written
            return []

        counted = self._module.wrap(np.asarray(self._a[places]))
        self._module.launch("setitem", [value, counted], [], again)

    def __neg__(self):
        return self._module.negative(self)

    def __len__(self):
        return len(self._a)

    def __abs__(self):
        return self._module.absolute(self)

    def __invert__(self):
        return self._module.invert(self)

    def item(self):
        return self._module.host(self).item()

    def get(self):
        return self._module.host(self)

    def _refuse(self, *_):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    __array__ = _refuse
    __int__ = __bool__ = __float__ = __complex__ = __index__ = __iter__ = _refuse
    __hash__ = object.__hash__


def _operator(name, ufunc, reflected=False):
    def operate(self, other):
        function = getattr(self._module, ufunc)
        return function(other, self) if reflected else function(self, other)

    setattr(_Array, name, operate)


def _in_place(name, ufunc):
    def operate(self, other):
        return getattr(self._module, ufunc)(self, other, out=self)

    setattr(_Array, name, operate)


for _name, _ufunc_name in [
    ("add", "add"),
    ("sub", "subtract"),
    ("mul", "multiply"),
    ("truediv", "true_divide"),
    ("matmul", "matmul"),
    ("floordiv", "floor_divide"),
    ("mod", "remainder"),
    ("pow", "power"),
    ("lt", "less"),
    ("gt", "greater"),
    ("le", "less_equal"),
    ("ge", "greater_equal"),
    ("eq", "equal"),
    ("ne", "not_equal"),
    ("xor", "bitwise_xor"),
    ("lshift", "left_shift"),
    ("rshift", "right_shift"),
    ("and", "bitwise_and"),
    ("or", "bitwise_or"),
]:
    _operator(f"__{_name}__", _ufunc_name)
    _operator(f"__r{_name}__", _ufunc_name, reflected=True)
    _in_place(f"__i{_name}__", _ufunc_name)


class _Ufunc:
    def __init__(self, module, name, types):
        self._module, self._name, self._function = module, name, getattr(np, name)
        self.types = types
        self._loops = {loop.partition("->")[0] for loop in types}

    def __call__(self, *operands, out=None):
        arrays = [self._module.unwrap(operand) for operand in operands]
        with np.errstate(all="ignore"):
            result = self._function(*arrays)
        self._check(arrays)
        sources = [x for x in operands if isinstance(x, self._module.ndarray)]
        made = self._module.wrap(result, *sources)
        if out is not None:
            out._a[...] = made._a
            made = out
        self._module.launch(self._name, sources, [made], lambda: [self._function(*arrays)])
        return made

    def _check(self, arrays):
        """CuPy has a loop that these operands may be cast to safely."""
        dtypes = [a.dtype for a in arrays if isinstance(a, (np.ndarray, np.generic))]
        common = np.result_type(*dtypes)
        for loop in self._loops:
            if all(np.can_cast(common, np.dtype(c)) for c in loop):
                return
        raise TypeError(f"cupy.{self._name} has no loop for {[d.name for d in dtypes]}")

    def at(self, a, indices, b):
        if self._name != "add":
            raise NotImplementedError(f"`{self._name}.at` is not supported yet")
        if a.dtype.name not in _ATOMIC:
            raise TypeError(f"cupy.add.at only supports {sorted(_ATOMIC)}, not {a.dtype}")
        assert b.dtype == a.dtype
        np.add.at(a._a, indices._a % max(a.size, 1), b._a)
        self._module.launch("add.at", [indices, b, b], [])

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        if self._name != "add":
            raise NotImplementedError(f"`{self._name}.reduceat` is not supported yet")
        return self._module.wrap(np.add.reduceat(array._a, indices._a, axis))


def _numpys(name):
    """NumPy's function of that name, if it has one."""
    with contextlib.suppress(AttributeError):
        return attrgetter(name)(np)


def _function(module, name, parameters):
    signature = inspect.Signature([_as_parameter(text) for text in parameters.split()])
    compute = _SPECIAL.get(name) or _numpys(name)

    def call(*args, **kwargs):
        signature.bind(*args, **kwargs)  # TypeError for what CuPy does not take
        arrays = [module.unwrap(a) for a in args]
        named = {key: module.unwrap(value) for key, value in kwargs.items()}
        if name == "nonzero":
            module.wait()

        def again():
            found = compute(*arrays, **named)
            return found if isinstance(found, tuple) else (found,)

        with np.errstate(all="ignore"):
            result = compute(*arrays, **named)
        sources = [a for a in args if isinstance(a, module.ndarray)]
        several = isinstance(result, tuple)
        made = [module.wrap(r, *sources) for r in (result if several else (result,))]
        is_copied = name == "reshape" and made[0].base is None
        if name not in _HOST_ONLY or is_copied:
            read = [x for a in args for x in (a if isinstance(a, (tuple, list)) else (a,))]
            module.launch(name, read, made, again)
        return tuple(made) if several else made[0]

    return _of_the_host(module).get(name, call)


def _of_the_host(module):
    """Functions that move data between host and device, or compute nothing."""
    return {
        "asnumpy": module.host,
        "asarray": lambda a, dtype=None: (
            a if isinstance(a, module.ndarray) else module.wrap(np.array(a, dtype))
        ),
        "get_default_memory_pool": lambda: module.cuda.pools[module.device],
        "iscomplexobj": lambda x: x.dtype.kind == "c",
    }


def _parameters(function):
    return inspect.signature(function).parameters.values()


def _parameter(parameter):
    """`a`, `axis=` with a default, `dtype=!` for a keyword, `args*`, `kwargs**`."""
    star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "=" if parameter.default is not parameter.empty else ""
    return (
        parameter.name + star + default + ("!" if parameter.kind is parameter.KEYWORD_ONLY else "")
    )


def _as_parameter(text):
    name = text.rstrip("*=!")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if "*" in text:
        kind = inspect.Parameter.VAR_KEYWORD if "**" in text else inspect.Parameter.VAR_POSITIONAL
    elif "!" in text:
        kind = inspect.Parameter.KEYWORD_ONLY
    default = None if "=" in text else inspect.Parameter.empty
    return inspect.Parameter(name, kind, default=default)


def _take(a, indices, axis=None):
    if a.shape[axis] == 0 and indices.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return np.take(a, indices, axis, mode="wrap")


def _broadcast_to(array, shape):
    """CuPy's result may be written to, wherever it overlaps itself."""
    view = np.broadcast_to(array, shape)
    return np.lib.stride_tricks.as_strided(array, shape, view.strides)


def _empty(shape, dtype=float):
    """Uninitialised memory holds anything but what is wanted."""
    out = np.empty(shape, dtype)
    out.view("uint8" if out.ndim else dtype)[...] = 171 if out.ndim else 1
    return out


def _reshape(a, newshape):
    """A view also where the shape stays: CuPy never returns the operand itself."""
    return np.reshape(a, newshape)


def _any_nan_wins(find):
    """CuPy compares in parallel, so that any NaN may win; here it is the last."""

    def position(a, axis=None):
        found = find(a, axis)
        if a.dtype.kind != "f":
            return found
        nan = np.isnan(a)
        last = a.shape[axis] - 1 - np.argmax(np.flip(nan, axis), axis)
        return np.where(nan.any(axis), last, found)

    return position


def _transform_of_several_axes(name, a, s=None, axes=None, norm=None):
    """CuPy refuses an array without elements, whatever its axes; one axis is another function."""
    if not a.size:
        raise ValueError("Invalid number of FFT data points (0) specified.")
    return getattr(np.fft, name)(a, s, axes, norm)


_SPECIAL = {
    **{
        f"fft.{name}": partial(_transform_of_several_axes, name)
        for name in ("fftn", "ifftn", "rfftn")
    },
    "argmax": _any_nan_wins(np.argmax),
    "argmin": _any_nan_wins(np.argmin),
    "take": _take,
    "broadcast_to": _broadcast_to,
    "empty": _empty,
    "reshape": _reshape,
}


class _Pointer:
    """`cupy.cuda.MemoryPointer`: the address of the first element."""

    def __init__(self, address):
        self.ptr = address


class _RawModule:
    """`cupy.RawModule`: kernels run on the CPU, and each launch is noted."""

    def __init__(self, module, code=None, *, path=None, options=(), backend="nvrtc"):
        assert (code is None) != (path is None)
        self._module = module
        self._code = Path(path).read_text() if code is None else code

    def get_function(self, name):
        from on_cpu.compiler import compiled

        from tenferro_cupy.kernels.source import header

        body = self._code.partition(header())[2]
        function = compiled((body.rpartition("}  // namespace")[0],))[name]

        def launch(grid, block, arguments):
            self._module.launches.append((name, 0))
            function(grid, block, arguments)

        return launch


class _RawKernel:
    """`cupy.RawKernel`: any kernel, compiled for the CPU."""

    def __init__(self, module, code, name, options=()):
        self._module, self._code, self._name = module, code, name

    def __call__(self, grid, block, args):
        function = RAW_ON_NUMPY.get(self._name) or self._compiled()

        def again():
            function(grid, block, args)
            return []

        again()
        self._module.launch(self._name, [], [], again)

    def _compiled(self):
        from on_cpu.compiler import compiled

        return compiled((self._code,))[self._name]


#: Kernels by name that need no C++ compiler: `(grid, block, arguments)`.
RAW_ON_NUMPY = {}


class _Device:
    """`cupy.cuda.Device`: inside its context new arrays lie there, and no other array is read."""

    compute_capability = "90"

    def __init__(self, module, index=None):
        self._module, self._before = module, []
        self.id = module.device if index is None else index

    def __enter__(self):
        self._before.append(self._module.device)
        self._module.device = self.id
        return self

    def __exit__(self, *exc):
        self._module.device = self._before.pop()

    def synchronize(self):
        self._module.wait()


class _Stream:
    """`cupy.cuda.Stream`: work on it is done at once; what it waits for is noted."""

    def __init__(self, module, ptr=0):
        self._module, self.ptr, self.waited = module, ptr, []

    def synchronize(self):
        self._module.wait()

    def record(self):
        return ("event", self.ptr)

    def wait_event(self, event):
        self.waited.append(event)

    def __enter__(self):
        self._module.cuda.streams.append(self)
        return self

    def __exit__(self, *exc):
        self._module.cuda.streams.pop()

    def begin_capture(self, mode=None):
        assert self.ptr, "the default stream cannot be captured"
        assert self._module.captured is None, "there is a capture already"
        self._module.captured = []

    def end_capture(self):
        captured, self._module.captured = self._module.captured, None
        if captured is _INVALID:
            raise _CUDARuntimeError(901)  # cudaErrorStreamCaptureInvalidated
        return _Graph(self._module, captured)


#: what a capture has recorded after an error of CUDA in it
_INVALID = ()


class _Graph:
    """A captured graph: its launch computes everything again, into the memory of the capture."""

    def __init__(self, module, captured):
        self._module, self._captured = module, captured

    def launch(self, stream=None):
        self._module.launches.append(("graph", 0))
        for results, again in self._captured:
            with np.errstate(all="ignore"):
                for array, value in zip(results, again(), strict=True):
                    array._a[...] = value


class _OutOfMemoryError(MemoryError):
    """`cupy.cuda.memory.OutOfMemoryError`."""

    def __init__(self, size, total, limit=0):
        super().__init__(f"Out of memory allocating {size:,} bytes")


class _CUDARuntimeError(RuntimeError):
    """`cupy.cuda.runtime.CUDARuntimeError`."""

    def __init__(self, status):
        super().__init__(f"an error of CUDA: {status}")
        self.status = status


class _Cuda:
    def __init__(self, module, devices):
        self.runtime = _Runtime(devices)
        self.Device = partial(_Device, module)
        self.cublas, self.cusolver = cublas(module), cusolver(module)
        self.device = _DeviceModule
        self.pools = [_Pool(module) for _ in range(devices if isinstance(devices, int) else 0)]
        self.streams = [_Stream(module)]
        self.get_current_stream = lambda: self.streams[-1]
        self.Stream = partial(self._stream, module)
        self.MemoryPool = partial(_Pool, module)
        self.allocators = [lambda size: self.pools[module.device].malloc(size)]
        self.Memory = partial(_Memory, module)
        self.MemoryPointer = lambda memory, offset: memory
        self.memory = type("memory", (), {"OutOfMemoryError": _OutOfMemoryError})
        self.nvrtc = _Nvrtc()

    @contextlib.contextmanager
    def using_allocator(self, malloc):
        self.allocators.append(malloc)
        try:
            yield
        finally:
            self.allocators.pop()

    def _stream(self, module, *, non_blocking):
        assert non_blocking, "another stream would wait for the default one"
        return _Stream(module, ptr=len(self.streams) + 100)


class _DeviceModule:
    """`cupy.cuda.device`."""

    get_cublas_handle = staticmethod(lambda: BLAS_HANDLE)
    get_cusolver_handle = staticmethod(lambda: SOLVER_HANDLE)


class _Nvrtc:
    """`cupy.cuda.nvrtc`: the code of a program is its text."""

    NVRTCError = type("NVRTCError", (RuntimeError,), {})

    def __init__(self):
        self.compiled, self.programs = [], {}

    def createProgram(self, source, name, headers, include_names):
        assert name.endswith(".cu")
        assert headers == include_names == ()
        self.programs[len(self.compiled)] = source
        return len(self.compiled)

    def compileProgram(self, program, options):
        self.compiled.append(options)
        if "syntax error" in self.programs[program]:
            raise self.NVRTCError("NVRTC_ERROR_COMPILATION (6)")

    def getCUBIN(self, program):
        return self.programs[program].encode()

    def getProgramLog(self, program):
        return "tenferro.cu(1): error"

    def destroyProgram(self, program):
        del self.programs[program]


class _Runtime:
    CUDARuntimeError, errorMemoryAllocation = _CUDARuntimeError, 2

    def __init__(self, devices):
        self._devices = devices

    def getDeviceCount(self):
        if isinstance(self._devices, Exception):
            raise self._devices
        return self._devices

    def runtimeGetVersion(self):
        return 13000

    def getDeviceProperties(self, index):
        return {"name": b"Stand-in GPU"}


class _Memory:
    """`cupy.cuda.Memory`: raises if the device has less memory; what is taken is not counted."""

    def __init__(self, module, size):
        if size > module.bytes_left:
            raise _CUDARuntimeError(_Runtime.errorMemoryAllocation)


class _Pool:
    """The memory pool of a device; tests say what it holds, and how much of it is free."""

    def __init__(self, module, allocator=None):
        self._module, self._allocator = module, allocator or partial(_Memory, module)
        self.used = self.free = self.limit = 0

    def malloc(self, size):
        """Try again after an error of the device, with what the pool could free, as CuPy does."""
        for _ in range(2):
            try:
                return self._allocator(size)
            except _CUDARuntimeError as error:
                if error.status != _Runtime.errorMemoryAllocation:
                    raise
                self.free_all_blocks()
        raise _OutOfMemoryError(size, self.total_bytes())

    def free_all_blocks(self):
        captured = self._module.captured is not None
        assert not captured, "captured kernels may use what is freed"
        self._module.bytes_left += self.free
        self.free = 0

    def set_limit(self, *, size):
        self.limit = size

    def get_limit(self):
        return self.limit

    def used_bytes(self):
        return self.used

    def total_bytes(self):
        return self.used + self.free


class Special:
    """The module `cupyx.scipy.special`: scipy's functions, with the loops that CuPy has."""

    def __init__(self):
        self._ufuncs = json.loads(NAMES.read_text())["special"]

    def __getattr__(self, name):
        if name not in self._ufuncs:
            raise AttributeError(f"cupyx.scipy.special (as far as we use it) has no {name!r}")
        loops = [loop.partition("->") for loop in self._ufuncs[name]]

        def call(*operands):
            from scipy import special

            module = next(x._module for x in operands if isinstance(x, _Array))
            arrays = [module.unwrap(x) for x in operands]
            common = np.result_type(*arrays)
            out = next(o for i, _, o in loops if all(np.can_cast(common, c) for c in i))
            with np.errstate(all="ignore"):
                return module.wrap(np.asarray(getattr(special, name)(*arrays)).astype(out))

        return call


special = Special()


class ScipyLinalg:
    """The module `cupyx.scipy.linalg`: triangular systems, of stacks as well; nothing is raised."""

    def solve_triangular(self, a, b, trans=0, lower=False, unit_diagonal=False):
        module = a._module
        operands = module.unwrap(a), module.unwrap(b)

        def solved():
            return [_solved(*operands, trans, lower, unit_diagonal)]

        made = module.wrap(solved()[0])
        module.launch("solve_triangular", [a, b], [made], solved)
        return made


def _solved(a, b, trans, lower, unit_diagonal):
    from scipy.linalg import get_blas_funcs

    assert a.shape[:-1] == b.shape[:-1]
    (solve,), x = get_blas_funcs(("trsm",), dtype=a.dtype), np.empty_like(b, order="C")
    for place in np.ndindex(a.shape[:-2]):
        x[place] = solve(1, a[place], b[place], 0, lower, trans, unit_diagonal)
    return x


scipy_linalg = ScipyLinalg()
#: What `tenferro_cupy.lowerings` takes of `cupyx`.
cupyx = special, scipy_linalg, CupyxCusolver()


def write_names(names, path=NAMES):
    """Take the parameters and loops of these names from the installed CuPy."""
    path.write_text(json.dumps(read_names(names), indent=1) + "\n")


def read_names(names):
    import cupy
    import cupyx.scipy.special

    found = {"cupy": cupy.__version__, "functions": {}, "ufuncs": {}, "types": []}
    for name in sorted(names):
        value = attrgetter(name)(cupy)
        if type(value).__name__ == "ufunc":
            found["ufuncs"][name] = _loops(value)
        elif isinstance(value, type):
            found["types"].append(name)
        else:
            found["functions"][name] = " ".join(map(_parameter, _parameters(value)))
    found["special"] = {n: _loops(getattr(cupyx.scipy.special, n)) for n in SPECIAL}
    found["attributes"] = sorted(n for n in dir(cupy.ndarray) if not n.startswith("_"))
    return found


def _loops(ufunc):
    """The loops of a ufunc, but for those of bfloat16 (E), which come and go with ml_dtypes."""
    return [loop for loop in ufunc.types if "E" not in loop]


@contextlib.contextmanager
def counted(module):
    """How often the device was waited for inside."""
    before, count = module.synchronizations, [0]
    yield count
    count[0] = module.synchronizations - before
