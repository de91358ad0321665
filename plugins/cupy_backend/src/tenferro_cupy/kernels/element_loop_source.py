"""The text of a loop over steps in which each thread computes one element, from step to step.

Carried values stay in registers; a step reads the element of its rows, and writes that of its
results. No thread reads what another one wrote, so threads never meet. A value of one number is
computed by every thread, and written by the first. No array that is written is read, and short
steps are unrolled, so that the rows of the next steps are read early. Read next:
``element_loop.py``.
"""

from __future__ import annotations

from hashlib import sha256

from tenferro.backend.extend import NamedTuple
from tenferro_cupy.kernels.kernel import Kernel, c_type
from tenferro_cupy.kernels.layout import BLOCK, Layout
from tenferro_cupy.kernels.source import (
    coordinates,
    element_call,
    element_text,
    indented,
    offset,
    strides_of,
)

__all__ = ["ElementCall", "ElementSteps", "Output", "element_loop_text"]


_UNROLLED_STEPS = 4
_MAX_UNROLLED_LINES = 32


class ElementCall(NamedTuple):
    """A region of the body: its kernel, and the numbers of the values it reads and makes."""

    kernel: Kernel
    operands: tuple[int, ...]
    results: tuple[int, ...]


class Output(NamedTuple):
    """An array that is written: a value, and whether it is one number."""

    value: int
    is_number: bool


class ElementSteps(NamedTuple):
    """A loop over elements. Values are numbered: arrays that are read first, then results of calls.

    consts     dtypes of the arrays that are read once
    carried    dtypes of the arrays that hold the carried values before the first step
    rows       dtypes of the arrays with one row for each step
    calls      the regions of the body, in order
    next       the values that become the carried ones
    last       carried values that are written after the last step: numbers of ``next``
    stacks     values that are written in each step
    """

    consts: tuple[str, ...]
    carried: tuple[str, ...]
    rows: tuple[str, ...]
    calls: tuple[ElementCall, ...]
    next: tuple[int, ...]
    last: tuple[Output, ...]
    stacks: tuple[Output, ...]

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of the arrays that are read, in the order of their values."""
        return (*self.consts, *self.carried, *self.rows)

    def dtypes(self) -> dict[int, str]:
        """Return the dtype of each value."""
        found = dict(enumerate(self.arrays))
        for call in self.calls:
            found |= {n: call.kernel.dtype(v) for n, v in _kept(call)}
        return found


def _kept(call: ElementCall) -> list[tuple[int, int]]:
    """Return the numbers of the results of a call, each with its value in the kernel."""
    return [*zip(call.results, call.kernel.outputs, strict=True)]


def element_loop_text(steps: ElementSteps, layout: Layout) -> tuple[str, str]:
    """Return the name of a kernel, which follows from its text, and the text."""
    digest = sha256(_text(steps, layout, "NAME").encode()).hexdigest()[:16]
    name = f"tenferro_elements_{digest}"
    return name, _text(steps, layout, name)


def _text(steps: ElementSteps, layout: Layout, name: str) -> str:
    kernels = dict.fromkeys(call.kernel for call in steps.calls)
    functions = {kernel: f"{name}_{i}" for i, kernel in enumerate(kernels)}
    declared = ", ".join([*_parameters(steps), *_integers(layout)])
    return "\n".join(
        [
            *[element_text(kernel, function) for kernel, function in functions.items()],
            f'extern "C" __launch_bounds__({BLOCK}) __global__ void {name}({declared}) {{',
            *indented(_body(steps, layout, functions)),
            "}\n",
        ]
    )


def _parameters(steps: ElementSteps) -> list[str]:
    """Return declarations: arrays, constants of the calls, last values, and stacks."""
    dtypes = steps.dtypes()
    first_row = len(steps.consts) + len(steps.carried)
    found = []
    for i, dtype in enumerate(steps.arrays):
        found.append(f"const {c_type(dtype)}* __restrict__ in{i}")
        if i >= first_row:
            found.append(f"i64 in{i}_row")
    for n, call in enumerate(steps.calls):
        found += [f"{c_type(d)} k{n}_{i}" for i, d in enumerate(call.kernel.constants)]
    found += [
        f"{c_type(dtypes[steps.next[output.value]])}* __restrict__ last{i}"
        for i, output in enumerate(steps.last)
    ]
    for i, output in enumerate(steps.stacks):
        found += [f"{c_type(dtypes[output.value])}* __restrict__ out{i}", f"i64 out{i}_row"]
    return found


def _integers(layout: Layout) -> list[str]:
    """Return declarations of counts, extents and strides, and of the first and last step."""
    names = ["count", *[f"kept{j}" for j in range(1, layout.kept)], *strides_of(layout)]
    return [*[f"{layout.integer} {name}" for name in names], "i64 begin", "i64 end"]


def _body(steps: ElementSteps, layout: Layout, functions: dict[Kernel, str]) -> list[str]:
    index, consts, carried = layout.integer, len(steps.consts), len(steps.carried)
    types = [c_type(dtype) for dtype in steps.arrays]
    at = [offset(layout, i, "i") for i in range(len(types))]
    const_lines = [f"const {types[i]} v{i} = in{i}[{at[i]}];" for i in range(consts)]
    carried_lines = [f"{types[i]} v{i} = in{i}[{at[i]}];" for i in range(consts, consts + carried)]
    row_lines = [
        f"const {types[i]} v{i} = (in{i} + k * in{i}_row)[{at[i]}];"
        for i in range(consts + carried, len(types))
    ]
    step = [
        *row_lines,
        *[line for n, call in enumerate(steps.calls) for line in _call(n, call, functions)],
        *[
            _written(f"(out{i} + k * out{i}_row)", output, f"v{output.value}")
            for i, output in enumerate(steps.stacks)
        ],
        *_carry_on(steps),
    ]
    last = [
        _written(f"last{i}", output, f"v{consts + output.value}")
        for i, output in enumerate(steps.last)
    ]
    return [
        f"const {index} first = {index}(blockIdx.x) * blockDim.x + threadIdx.x;",
        f"const {index} step = {index}(gridDim.x) * blockDim.x;",
        f"for ({index} i = first; i < count; i += step) {{",
        *indented(coordinates(layout)),
        *indented([*const_lines, *carried_lines]),
        *([f"  #pragma unroll {_UNROLLED_STEPS}"] if _is_short(steps) else []),
        "  for (i64 k = begin; k < end; ++k) {",
        *indented(indented(step)),
        "  }",
        *indented(last),
        "}",
    ]


def _is_short(steps: ElementSteps) -> bool:
    """Return True if unrolling lets rows be read early, at little cost in text."""
    lines = sum([len(call.kernel.lines) for call in steps.calls])
    return bool(steps.rows) and lines <= _MAX_UNROLLED_LINES


def _call(n: int, call: ElementCall, functions: dict[Kernel, str]) -> list[str]:
    """Return the declarations of the results of a region, and the call that fills them."""
    constants = [f"k{n}_{i}" for i in range(len(call.kernel.constants))]
    given = [*[f"v{i}" for i in call.operands], *constants, *[f"v{i}" for i in call.results]]
    declared = [f"{c_type(call.kernel.dtype(v))} v{i};" for i, v in _kept(call)]
    return [*declared, element_call(functions[call.kernel], given)]


def _carry_on(steps: ElementSteps) -> list[str]:
    """Return the assignments of carried values, and copies of those that others still need."""
    first = len(steps.consts)
    own = range(first, first + len(steps.carried))
    moves = [(to, value) for to, value in zip(own, steps.next, strict=True) if to != value]
    changed = {to for to, _ in moves}
    copied = [value for _, value in moves if value in changed]
    types = {i: c_type(dtype) for i, dtype in enumerate(steps.arrays)}
    copies = [f"const {types[i]} before{i} = v{i};" for i in dict.fromkeys(copied)]
    return copies + [
        f"v{to} = {'before' if value in changed else 'v'}{value};" for to, value in moves
    ]


def _written(array: str, output: Output, value: str) -> str:
    """Return the statement that writes the current element of a value."""
    return f"if (i == 0) {array}[0] = {value};" if output.is_number else f"{array}[i] = {value};"
