"""Kernels as NumPy computes them, line by line: plans are tested without compiling each kernel.

`test_kernels_on_cpu.py` proves that the text of each line means this.
"""

import re
from functools import cache

import fake_cupy
import numpy as np
from scipy import special

from tenferro.backend import LoweringTable
from tenferro.primitives import Aval
from tenferro_cupy.kernels.chain import Chain
from tenferro_cupy.kernels.element_loop import ElementLoop
from tenferro_cupy.kernels.loop import Loop
from tenferro_cupy.kernels.region import Region
from tenferro_cupy.lowerings import lowerings
from tenferro_cupy.plan import chains, element_loops, loops, regions

_CALL = re.compile(r"(\w+)(?:<(.*?)>)?\(.*\)$")


def _by_squaring(x, n):
    if int(n) < 0:
        return 1 / _by_squaring(x, -int(n))
    result, n = None if int(n) else np.ones_like(x), int(n)
    while True:
        if n & 1:
            result = x if result is None else result * x
        n >>= 1
        if not n:
            return result
        x = np.square(x)


def _power(x, y):
    if x.dtype.kind != "i":
        return np.power(x, y)
    kept = np.where(np.abs(x) == 1, np.abs(y) % 2, 0)  # a negative power is truncated
    return np.where(y < 0, np.power(x, kept) * (kept | (x == 1)), np.power(x, np.abs(y)))


def _logistic(x):
    return np.exp(np.minimum(x, 0)) / (np.exp(-abs(x)) + 1)


def _divided(x, y):
    if x.dtype.kind not in "iu":
        return x / y
    divisor = np.where(y == 0, 1, y)
    quotient = x // divisor
    truncated = quotient + ((quotient < 0) & (quotient * divisor != x))
    return np.where(y == 0, 0, truncated).astype(x.dtype)


def _shifted(shift):
    def function(x, count):
        outside = (count < 0) | (count >= 8 * x.itemsize)
        moved = shift(x, np.where(outside, 0, count).astype(x.dtype))
        gone = np.where(x < 0, -1, 0) if shift is np.right_shift and x.dtype.kind == "i" else 0
        return np.where(outside, gone, moved).astype(x.dtype)

    return function


def _make_complex(re_, im):
    out = np.empty(np.broadcast_shapes(re_.shape, im.shape), f"complex{16 * re_.itemsize}")
    out.real, out.imag = re_, im
    return out


FUNCTIONS = {
    "positive": lambda x: x.copy(), "add": np.add, "sub": np.subtract, "mul": np.multiply,
    "div": _divided, "neg": np.negative, "square": np.square, "abs": np.abs, "sign": np.sign,
    "maximum": np.maximum, "minimum": np.minimum,
    "clamp": lambda lo, x, hi: np.minimum(np.maximum(x, lo), hi),
    "pow": _power, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "logaddexp": np.logaddexp, "logistic": _logistic,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "atan2": np.arctan2, "hypot": np.hypot, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "erf": special.erf, "erfc": special.erfc, "erfinv": special.erfinv, "lgamma": special.gammaln,
    "digamma": special.digamma, "floor": np.floor, "ceil": np.ceil, "rint": np.rint,
    "rem": np.fmod, "copysign": np.copysign, "nextafter": np.nextafter, "is_finite": np.isfinite,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "select": np.where, "logical_and": np.logical_and,
    "logical_or": np.logical_or, "logical_xor": np.logical_xor, "logical_not": np.logical_not,
    "bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor,
    "bit_not": np.invert, "shift_left": _shifted(np.left_shift),
    "shift_right": _shifted(np.right_shift), "make_complex": _make_complex, "real": np.real,
    "imag": np.imag, "conj": np.conjugate, "convert": np.ndarray.astype,
    "bitcast": lambda x, dtype: np.array(x, order="C").view(dtype),
    "by_squaring": _by_squaring, "fixed_power": lambda x, n: np.power(x, x.dtype.type(int(n))),
    "reciprocal": lambda x: 1 / x,
}  # fmt: skip
FOLDS = {
    "sum": np.sum, "product": np.prod, "largest": np.max, "smallest": np.min, "all": np.all,
    "any": np.any,
}  # fmt: skip


def _line(line, operands):
    name, parameter = _CALL.match(line.call).groups()
    if name in ("convert", "bitcast"):  # C's i8 has 8 bits, NumPy's 8 bytes
        parameter = line.dtype
    return FUNCTIONS[name](*operands, *([] if parameter is None else [parameter]))


@cache
def _lowered():
    fake = fake_cupy.Fake()
    records = lowerings(fake, fake_cupy.special, fake_cupy.scipy_linalg)
    return fake, LoweringTable("cupy", records)


def read(sized, arrays):
    """The value of a read at computed positions: what the lowering on CuPy gives."""
    fake, table = _lowered()
    avals = [Aval(x.shape, x.dtype.name) for x in arrays]
    operands = [fake.wrap(x) for x in arrays]
    return table.lookup(sized.operation, avals)(sized.operation, *operands)._a


def given(region, arrays):
    """The values that a kernel is given: operands, constants and reads."""
    count = len(region.kernel.operands)
    values, rest = [*arrays[:count], *map(np.asarray, region.constants)], iter(arrays[count:])
    return [*values, *[read(x, [next(rest) for _ in x.read.arrays]) for x in region.reads]]


def computed(kernel, shape, axes, given):
    """The outputs of a kernel and its reductions, from operands, constants and reads."""
    values = [*given]
    with np.errstate(all="ignore"):
        for line in kernel.lines:
            found = _line(line, [values[i] for i in line.operands])
            values.append(np.asarray(found).astype(line.dtype, copy=False))
        full = [np.array(np.broadcast_to(values[v], shape)) for v in kernel.outputs]
        folds = [(f.function, np.broadcast_to(values[f.value], shape)) for f in kernel.folds]
        return [*full, *[_reduced(function, value, axes) for function, value in folds]]


def _reduced(function, value, axes):
    wide = value.astype("float32") if value.dtype == np.float16 else value
    return np.asarray(FOLDS[function](wide, axes)).astype(value.dtype)


class ChainOnNumpy(Chain):
    """A chain that computes its regions with NumPy, and notes one launch."""

    def __call__(self, *operands):
        """Return the targets."""
        cupy, arrays = self.modules.cupy, []

        def again():
            slots, arrays[:] = dict(zip(self.operands, operands, strict=True)), []
            for member in self.members:
                given_arrays = [slots[i] for i in member.operands]
                found = evaluated(member, given_arrays)
                if member.region is not None:
                    arrays.extend([*given_arrays, *found])
                slots.update(zip(member.targets, found, strict=True))
            return [slots[i]._a for i in self.targets], [slots[i] for i in self.targets]

        _, results = again()
        cupy.launch("kernel", arrays, [], None)
        if cupy.captured is not None:
            cupy.captured[-1] = (results, lambda: again()[0])
        return results


class LoopOnNumpy(Loop):
    """A loop that computes its regions with NumPy, step by step, and notes one launch."""

    def __call__(self, *operands):
        """Return the outputs."""
        cupy = self.modules.cupy
        results = [cupy.wrap(x) for x in self.evaluated(operands)]
        cupy.launch("kernel", operands, results, lambda: self.evaluated(operands))
        return results

    def evaluated(self, operands):
        """The outputs, as NumPy arrays."""
        consts, carried, length, reverse, results, outputs = self.stepping
        carry, rows = [x._a for x in operands[consts:][:carried]], operands[consts + carried :]
        stacks = [np.empty((length, *aval.shape), aval.dtype.name) for aval in self.avals]
        for k in range(length)[:: -1 if reverse else 1]:
            slots = dict(self.literals) | dict(enumerate(operands[:consts]))
            given_rows = [*carry, *[x._a[k] for x in rows]]
            slots |= {i: self.modules.cupy.wrap(x) for i, x in enumerate(given_rows, consts)}
            for member in self.members:
                found = evaluated(member, [slots[i] for i in member.operands])
                slots.update(zip(member.targets, found, strict=True))
            for stack, slot in zip(stacks, results, strict=True):
                stack[k] = slots[slot]._a
            carry = [slots[slot]._a for slot in results[:carried]]
        return [np.array(stacks[i] if i >= carried else carry[i]) for i in outputs]


class ElementLoopOnNumpy(LoopOnNumpy, ElementLoop):
    """A loop with elementwise steps, computed in the same way."""


def evaluated(member, given_arrays):
    """The results of a region or a view."""
    if member.region is None:
        return member.call(*given_arrays)
    return [member.call.modules.cupy.wrap(x) for x in member.region.evaluated(given_arrays)]


class RegionOnNumpy(Region):
    """A region that computes its kernel with NumPy, and notes each launch."""

    def __call__(self, *operands, into=None):
        """Return the outputs, then the results of reductions."""
        cupy = self.modules.cupy
        results = [cupy.wrap(x) for x in self.evaluated(operands)]
        for i, memory in (into or {}).items():
            memory._a[...], results[i] = results[i]._a, memory
        cupy.launch("kernel", operands, results, lambda: self.evaluated(operands))
        return results

    def evaluated(self, operands):
        """The outputs and the results of reductions, as NumPy arrays."""
        for value in self.kernel.outputs:
            self.modules.cupy.allocate(self.shape, self.kernel.dtype(value))
        values = given(self, [self.modules.cupy.unwrap(x) for x in operands])
        return computed(self.kernel, self.shape, self.axes, values)


def exchanged(grid, block, arguments):
    """`tenferro_exchanged`: rows exchanged one after the other, for each row of pivots."""
    pivots, order, count, exchanges, size = arguments
    assert grid[0] * block[0] >= count
    assert pivots.shape[-1] == exchanges
    rows = order._a.reshape(int(count), int(size))
    rows[...] = np.arange(size)
    for row, pivot in zip(rows, pivots._a.reshape(int(count), int(exchanges)), strict=True):
        for i, other in enumerate(pivot):
            row[[i, other]] = row[[other, i]]


RAW = {"tenferro_exchanged": exchanged}

#: where plans find the classes of their steps: module, name, class, stand-in
_CLASSES = (
    (regions, "Region", Region, RegionOnNumpy),
    (chains, "Chain", Chain, ChainOnNumpy),
    (loops, "Loop", Loop, LoopOnNumpy),
    (element_loops, "ElementLoop", ElementLoop, ElementLoopOnNumpy),
)


def install():
    """Let plans compute with NumPy instead of compiled kernels."""
    fake_cupy.RAW_ON_NUMPY.update(RAW)
    for module, name, _, stand_in in _CLASSES:
        setattr(module, name, stand_in)


def uninstall(monkeypatch):
    """Let the plans of a test have kernels, not their stand-ins."""
    for module, name, own, _ in _CLASSES:
        monkeypatch.setattr(module, name, own)
