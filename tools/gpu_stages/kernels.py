"""Stage: generated kernels against NumPy: operations, reductions, and reads at computed positions.

The kernels of a dtype are compiled as one program, which takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import kernel_cases as cases
import kernel_on_numpy
import numpy as np
import read_cases

from gpu_stages.notes import StageNotes
from gpu_stages.setting import Setting
from tenferro_cupy.kernels.modules import OPTIONS, Modules
from tenferro_cupy.kernels.source import body_text, kernel_name, translation_unit
from tenferro_cupy.plan import regions  # a stand-in replaces its `Region`

__all__ = ["kernels"]

ROWS, COLUMNS = 3, 4500  # of the arrays that are reduced: several blocks, and a tail


class Check(NamedTuple):
    """A region, the arrays it is called with, what NumPy gives, and how close that is."""

    name: str
    region: Any
    arrays: list[Any]
    want: Any
    dtype: str
    primitive: type | None = None


class Together(Modules):
    """Kernels that were compiled in one program."""

    def __init__(self, cupy: Any) -> None:
        super().__init__(cupy)
        self._compiled_before: dict[str, Any] = {}

    def compile(self, texts: Mapping[str, str]) -> None:
        """Compile kernels by name and text."""
        source = translation_unit(*texts.values())
        module = self.cupy.RawModule(code=source, options=OPTIONS, backend="nvrtc")
        self._compiled_before |= {name: module.get_function(name) for name in texts}

    def _load(self, name: str, body: str) -> Any:
        found = self._compiled_before.get(name)
        return super()._load(name, body) if found is None else found


def kernels(setting: Setting, notes: StageNotes) -> None:
    """Compare every kernel with NumPy, dtype by dtype; note how many, and which are wrong."""
    modules = Together(setting.cupy)
    wrong: list[str] = []
    count = 0
    for dtype in setting.dtypes or cases.DTYPES:
        checks = [*operations(modules, dtype), *folds(modules, dtype), *reads(modules, dtype)]
        if setting.compiles:
            modules.compile(texts(setting, checks))
        for check in checks:
            (got,) = check.region(*map(setting.cupy.asarray, check.arrays))
            found = setting.cupy.asnumpy(got)
            if not cases.agree(found, check.want, check.dtype, check.primitive):
                wrong.append(check.name)
        count += len(checks)
        notes["kernels"], notes["wrong"] = count, wrong
    assert not wrong, f"{len(wrong)} of {count} are wrong: {', '.join(wrong[:20])}"


def texts(setting: Setting, checks: list[Check]) -> dict[str, str]:
    """Return the texts of kernels by name, as their arrays need them."""
    found = {}
    for check in checks:
        if not check.region.is_empty:
            layout, _ = check.region.layout_for([*map(setting.cupy.asarray, check.arrays)])
            kernel = check.region.kernel
            found[kernel_name(kernel, layout)] = body_text(kernel, layout)
    return found


def operations(modules: Modules, dtype: str) -> Iterator[Check]:
    """Yield all operations on a dtype."""
    shape = (cases.COUNT,)
    for op, operands, result in cases.operations(dtype):
        kernel = cases.kernel_of(op, operands, result)
        arrays = [cases.numbers(a.dtype.name, i) for i, a in enumerate(operands)]
        arrays = cases.defined(op, result, arrays)
        want = kernel_on_numpy.computed(kernel, shape, None, arrays)[0]
        region = regions.Region(modules, kernel, shape, None, ())
        yield Check(f"{op} on {dtype}", region, arrays, want, dtype, type(op))


def folds(modules: Modules, dtype: str) -> Iterator[Check]:
    """Yield all reductions of a dtype, of small integers, whose sums are exact."""
    shape = (ROWS, COLUMNS)
    x = np.random.default_rng(0).integers(-1, 3, shape).astype(dtype)
    x[1] = np.where(x[1] == 0, 1, x[1])
    for primitive in cases.folds(dtype):
        kernel = cases.fold_of(primitive, dtype)
        given = [np.where(abs(x) > 1, 1, x).astype(dtype) if "prod" in primitive.key else x]
        want = kernel_on_numpy.computed(kernel, shape, (1,), given)[0]
        region = regions.Region(modules, kernel, shape, (1,), ())
        yield Check(f"{primitive.key} on {dtype}", region, given, want, dtype)


def reads(modules: Modules, dtype: str) -> Iterator[Check]:
    """Yield all reads for float64, typical ones for other dtypes: y = 2 read(x)."""
    for name in read_cases.ROWS if dtype == "float64" else read_cases.TYPICAL:
        op, *arrays = read_cases.ROWS[name]
        if dtype == "bool" and "Add" in name:
            continue
        arrays = [np.asarray(a) for a in arrays]
        arrays = [a.astype(dtype) if a.dtype == "float64" else a for a in arrays]
        kernel, sized = read_cases.kernel_of(op, arrays)
        shape = read_cases.result_of(op, arrays).shape
        found = kernel_on_numpy.read(sized, arrays)
        want = found if dtype == "bool" else found + found
        region = regions.Region(modules, kernel, shape, None, (), [sized])
        yield Check(f"{name} of {dtype}", region, arrays, want, dtype)
