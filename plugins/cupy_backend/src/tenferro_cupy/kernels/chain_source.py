"""The text of a chain: small regions that one block of threads computes one after the other.

Each region is a function of all threads; between two of them the threads meet, and what one wrote
the next one reads. In a loop, pointers move on by one row in each step, and one launch does the
steps from ``begin`` to ``end``. Read next: ``chain.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256

from tenferro.backend.extend import NamedTuple
from tenferro_cupy.kernels.kernel import Kernel
from tenferro_cupy.kernels.layout import Layout
from tenferro_cupy.kernels.source import (
    Parameter,
    accumulation,
    element_text,
    fold_type,
    indented,
    map_loop,
    parameters,
    threads_of_one_result,
)

__all__ = ["CHAIN_BLOCK", "Looped", "Structure", "chain_text", "link_parameters"]

CHAIN_BLOCK = 512  # threads
_BYTES_OF_PART = 16  # of the largest part of a reduction

#: the links of a chain: kernels with their layouts
Structure = tuple[tuple[Kernel, Layout], ...]


class Looped(NamedTuple):
    """Links that run once for each step of a loop.

    before   count of the links that run before step 0; the others run in each step
    moves    for each parameter of each link whether it is a pointer that moves with the step
    """

    before: int
    moves: tuple[tuple[bool, ...], ...]


def link_parameters(kernel: Kernel, layout: Layout) -> list[Parameter]:
    """Return the parameters of a link: those of the kernel, without partial results."""
    found = parameters(kernel, layout)
    return [p for p in found if not p.name.startswith(("parts", "counters"))]


def chain_text(links: Structure, looped: Looped | None = None) -> tuple[str, str]:
    """Return the name of a chain, which follows from its text, and the text."""
    digest = sha256(_text(links, looped, "NAME").encode()).hexdigest()[:16]
    name = f"tenferro_chain_{digest}"
    return name, _text(links, looped, name)


def _text(links: Structure, looped: Looped | None, name: str) -> str:
    functions = {link: f"{name}_{i}" for i, link in enumerate(dict.fromkeys(links))}
    declared, calls = [], []
    for n, link in enumerate(links):
        moves = looped.moves[n] if looped else ()
        given = []
        for i, parameter in enumerate(link_parameters(*link)):
            own = f"l{n}_{parameter.name}"
            declared.append(f"{parameter.type} {own}")
            if moves and moves[i]:
                declared.append(f"i64 {own}_row")
                own = f"{own} + k * {own}_row"
            given.append(own)
        calls.append([f"{functions[link]}({', '.join([*given, 'scratch'])});", "__syncthreads();"])
    if looped:
        declared += ["i64 begin", "i64 end"]
    lines = [
        *[_link(*link, function) for link, function in functions.items()],
        f'extern "C" __launch_bounds__({CHAIN_BLOCK}) __global__ void {name}('
        f"{', '.join(declared)}) {{",
        f"  alignas({_BYTES_OF_PART}) __shared__ u8 scratch[{CHAIN_BLOCK * _BYTES_OF_PART}];",
        *indented(_body(calls, looped)),
        "}\n",
    ]
    return "\n".join(lines)


def _body(calls: Sequence[list[str]], looped: Looped | None) -> list[str]:
    if looped is None:
        return [line for call in calls for line in call]
    first = [line for call in calls[: looped.before] for line in call]
    repeated = [line for call in calls[looped.before :] for line in call]
    return [
        *["if (begin == 0) {", *indented(first), "}"],
        *["for (i64 k = begin; k < end; ++k) {", *indented(repeated), "}"],
    ]


@cache
def _link(kernel: Kernel, layout: Layout, name: str) -> str:
    """Return the function of one link."""
    declared = [f"{p.type} {p.name}" for p in link_parameters(kernel, layout)]
    body = _reduction(kernel, layout, name) if kernel.folds else _map(kernel, layout, name)
    return "\n".join(
        [
            element_text(kernel, name),
            f"__device__ inline void {name}({', '.join([*declared, 'u8* scratch'])}) {{",
            *indented(body),
            "}",
        ]
    )


def _map(kernel: Kernel, layout: Layout, name: str) -> list[str]:
    index = layout.integer
    return [
        f"const {index} first = threadIdx.x, step = blockDim.x;",
        *map_loop(kernel, layout, name),
    ]


def _reduction(kernel: Kernel, layout: Layout, name: str) -> list[str]:
    """Return the loop of a block over results; each group of lanes computes one at a time."""
    index, folds = layout.integer, range(len(kernel.folds))
    group, lane, stride = threads_of_one_result(layout)
    types = [fold_type(kernel, i) for i in folds]
    across = [
        f"a{i} = across<{t}>(a{i}, reinterpret_cast<{t}::part*>(scratch), "
        "threadIdx.x, lane, lanes, stride);"
        for i, t in enumerate(types)
    ]
    inner = [
        f"const {index} o = begin + {group};",
        *[f"{t}::part a{i} = {t}::start();" for i, t in enumerate(types)],
        "if (o < results) {",
        *indented(accumulation(kernel, layout, name)),
        "}",
        *across,
        *[
            f"if (lane == 0 && o < results) result{i}[o] = {t}::result(a{i});"
            for i, t in enumerate(types)
        ],
    ]
    return [
        f"const int groups = blockDim.x / lanes, lane = {lane}, stride = {stride};",
        f"const {index} first = lane, step = lanes;",
        f"for ({index} begin = 0; begin < results; begin += groups) {{",
        *indented(inner),
        "}",
    ]
