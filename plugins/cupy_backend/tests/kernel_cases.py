"""Kernels of single operations: every primitive that `device` computes, with every dtype."""

from inspect import signature
from itertools import chain

import numpy as np

from tenferro import primitives as tp
from tenferro.primitives import Aval
from tenferro_cupy.kernels.expressions import _FUNCTIONS, FOLDS, call_of
from tenferro_cupy.kernels.kernel import Fold, Kernel, Line

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
COUNT = 1031  # elements: whole packs, and a tail

#: primitives with parameters, or with operands of several dtypes
_SPECIAL = {
    tp.Convert: lambda dtype: [tp.Convert(to) for to in DTYPES],
    tp.Bitcast: lambda dtype: [
        tp.Bitcast(to) for to in DTYPES if tp.DType.of(to).bits == tp.DType.of(dtype).bits
    ],
    tp.IntegerPow: lambda dtype: [tp.IntegerPow(n) for n in (1, 2, 3, 7, -1, -5)],
    tp.Conj: lambda dtype: [tp.Conj()],
}

#: dtype → what a function of the library may differ by from NumPy's, relatively
_CLOSE = {"float16": 2**-10, "float32": 2**-20, "float64": 2**-49, "complex64": 2**-20}
#: SciPy's errors are larger, and so is NumPy's of a function of three roundings in float16
_LESS_CLOSE = {tp.Erfc: 64, tp.Erfinv: 16, tp.Digamma: 1024, tp.Lgamma: 256, tp.Logistic: 4}


def operations(dtype):
    """Operations with avals of their operands, where the kernel has them."""
    x = Aval((COUNT,), dtype)
    for op in chain(
        *[make(dtype) for make in _SPECIAL.values()], [primitive() for primitive in _FUNCTIONS]
    ):
        operands = (x,) * _operands_of(op)
        if type(op) is tp.Select:
            operands = (Aval((COUNT,), "bool"), x, x)
        try:
            result = op.abstract_eval(*operands)
        except (tp.DTypeMismatchError, tp.InvalidParameterError):
            continue
        if call_of(op, operands, result) is not None:
            yield op, operands, result


def _operands_of(op):
    return len(signature(op.abstract_eval).parameters)


def kernel_of(op, operands, result):
    """The kernel of one operation."""
    places = tuple(range(len(operands)))
    line = Line(call_of(op, operands, result), places, result.dtype.name)
    return Kernel(tuple(a.dtype.name for a in operands), (), (line,), (len(places),))


def fold_of(primitive, dtype):
    """The kernel of one reduction."""
    return Kernel((dtype,), (), (), (), (Fold(FOLDS[primitive][0], 0),))


def folds(dtype):
    """Reductions that kernels have for a dtype."""
    category = tp.DType.of(dtype).category
    return [p for p, (_, categories) in FOLDS.items() if category in categories]


def numbers(dtype, seed, count=COUNT):
    """Numbers of a dtype with its edges first."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = rng.integers(-9 if dtype.kind == "i" else 0, 10, count).astype(dtype)
        edges = np.array([0, 1, 2, info.max, info.min, info.max - 1], dtype)
        small[: len(edges)] = rng.permutation(edges)
        return small
    if dtype.kind == "c":
        part = f"float{4 * dtype.itemsize}"
        made = np.empty(count, dtype)
        made.real, made.imag = rng.normal(size=(2, count)).astype(part)
        return made
    made = (rng.normal(size=count) * rng.choice([0.3, 1.0, 3.0], count)).astype(dtype)
    info = np.finfo(dtype)
    edges = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, info.tiny, 2.5, -3.5, 0.5]
    made[: len(edges)] = rng.permutation(np.array(edges, dtype))
    return made


def defined(op, result, arrays):
    """The arrays without numbers for which C or CuPy defines no result."""
    x, *others = arrays
    if type(op) is tp.Convert and result.dtype.is_integer and x.dtype.kind in "fc":
        info = np.iinfo(result.dtype.name)
        x = np.clip(np.nan_to_num(x, posinf=1, neginf=0), max(info.min, -100), min(info.max, 100))
    if type(op) in (tp.Div, tp.Rem) and result.dtype.is_integer:
        others = [np.where(others[0] == 0, 1, others[0]).astype(others[0].dtype)]
    if type(op) is tp.Pow and result.dtype.is_integer:
        others = [np.maximum(others[0], 0)]
    if type(op) is tp.Lgamma:
        x = np.where(np.isneginf(x), x.dtype.type(-2.5), x)  # C's limit is inf, SciPy's is -inf
    return [x, *others]


def agree(got, want, dtype, primitive=None):
    """Whether results are equal, or as close as two libraries' functions are."""
    if want.dtype.kind in "biu":
        return np.array_equal(got, want)
    close = _CLOSE.get(dtype, 2**-49) * _LESS_CLOSE.get(primitive, 1)
    tiny = 8 * np.finfo(want.dtype).tiny if want.dtype.itemsize > 2 else 2**-24
    with np.errstate(all="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        return bool(np.all(same | (abs(got - want) <= close * abs(want) + tiny)))
