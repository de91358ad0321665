"""The text of a kernel: a function of one element, and a loop of threads over the elements.

Names are generated and numbers are passed, so nothing of the user's reaches the text, and regions
that differ in sizes or constants share it. Read next: ``device/types.cuh`` and the other headers.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import resources

from tenferro.backend.extend import NamedTuple
from tenferro_cupy.kernels.kernel import Kernel, c_type
from tenferro_cupy.kernels.layout import BLOCK, Layout
from tenferro_cupy.kernels.reads.read import Names

__all__ = [
    "Parameter", "accumulation", "body_text", "coordinates", "element_call", "element_text",
    "fold_type", "header", "indented", "kernel_name", "map_loop", "offset", "parameters",
    "strides_of", "threads_of_one_result", "translation_unit",
]  # fmt: skip

_HEADERS = (
    "types", "arithmetic", "functions", "special", "gamma", "powers", "complex",
    "complex_functions", "complex_inverses", "complex_powers", "indexing", "folds",
)  # fmt: skip


class Parameter(NamedTuple):
    """A parameter of a kernel: its C type and name."""

    type: str
    name: str


@cache
def header() -> str:
    """Return what every kernel is compiled with: types, functions and reductions."""
    folder = resources.files("tenferro_cupy.kernels") / "device"
    return "".join([(folder / f"{name}.cuh").read_text("utf-8") for name in _HEADERS])


def translation_unit(*bodies: str) -> str:
    """Return a program of these kernels, which a compiler takes as it is."""
    return "namespace tenferro {\n" + header() + "\n".join(bodies) + "}  // namespace tenferro\n"


def kernel_name(kernel: Kernel, layout: Layout) -> str:
    """Return a name that follows from the structure.

    The digest covers the text, so a change of the generator changes the name.
    """
    digest = sha256(_text(kernel, layout, "NAME").encode()).hexdigest()
    return f"tenferro_{layout.kind}_{digest[:16]}"


def body_text(kernel: Kernel, layout: Layout) -> str:
    """Return the text of one kernel, without the headers."""
    return _text(kernel, layout, kernel_name(kernel, layout))


def parameters(kernel: Kernel, layout: Layout) -> list[Parameter]:
    """Return the parameters in order: arrays, constants, results, partial results, integers."""
    found = [Parameter(f"const {c_type(d)}*", f"in{i}") for i, d in enumerate(kernel.operands)]
    for read, names in zip(kernel.reads, _reads(kernel, layout), strict=True):
        arrays = enumerate(read.arrays)
        found += [Parameter(f"const {c_type(d)}*", names.array(j)) for j, d in arrays]
    found += [Parameter(c_type(d), f"k{i}") for i, d in enumerate(kernel.constants)]
    found += [
        Parameter(f"{c_type(kernel.dtype(v))}*", f"out{i}") for i, v in enumerate(kernel.outputs)
    ]
    found += [
        Parameter(f"{c_type(kernel.dtype(f.value))}*", f"result{i}")
        for i, f in enumerate(kernel.folds)
    ]
    if kernel.folds:
        found += [Parameter(f"{fold_type(kernel, i)}::part*", f"parts{i}") for i in _folds(kernel)]
        found.append(Parameter("u32*", "counters"))
    return found + [Parameter(layout.integer, name) for name in _integers(kernel, layout)]


def _integers(kernel: Kernel, layout: Layout) -> list[str]:
    """Return the names of counts, extents and strides, in the order of ``Sizes.arguments``."""
    names = ["results", "length", "lanes"] if kernel.folds else ["count"]
    names += [f"kept{j}" for j in range(1, layout.kept)]
    names += [f"reduced{j}" for j in range(1, layout.reduced)]
    names += strides_of(layout)
    for read, given in zip(kernel.reads, _reads(kernel, layout), strict=True):
        names += [given.number(m) for m in range(read.numbers)]
        names += [given.stride(j, d) for j, rank in enumerate(read.ranks) for d in range(rank)]
    return names


def strides_of(layout: Layout) -> list[str]:
    """Return the names of the strides of arrays that are walked by strides."""
    axes = range(layout.kept + layout.reduced)
    strided = [i for i, access in enumerate(layout.access) if access == "strided"]
    return [f"s{i}_{j}" for i in strided for j in axes]


def _reads(kernel: Kernel, layout: Layout) -> list[Names]:
    """Return the names of the reads at computed positions."""
    return [
        Names(f"r{k}", c_type(read.dtype), layout.integer) for k, read in enumerate(kernel.reads)
    ]


def _read_lines(kernel: Kernel, layout: Layout) -> list[str]:
    """Return statements that define the values of all reads, from the coordinates."""
    at = [f"c{place}" for place in layout.places]
    pairs = zip(kernel.reads, _reads(kernel, layout), strict=True)
    return [line for read, names in pairs for line in read.code(names, at)]


def _folds(kernel: Kernel) -> range:
    return range(len(kernel.folds))


def fold_type(kernel: Kernel, i: int) -> str:
    """Return the type of a reduction."""
    fold = kernel.folds[i]
    return f"{fold.function}<{c_type(kernel.dtype(fold.value))}>"


def _text(kernel: Kernel, layout: Layout, name: str) -> str:
    declared = ", ".join([f"{p.type} {p.name}" for p in parameters(kernel, layout)])
    lines = [
        element_text(kernel, name),
        f'extern "C" __global__ void {name}({declared}) {{',
        *(
            indented(
                _reduction(kernel, layout, name) if kernel.folds else _map(kernel, layout, name)
            )
        ),
        "}\n",
    ]
    return "\n".join(lines)


def indented(lines: list[str]) -> list[str]:
    """Return lines of an inner block."""
    return [f"  {line}" if line else line for line in lines]


# ---- one element ---------------------------------------------------------------------------------


def element_text(kernel: Kernel, name: str) -> str:
    """Return the function that computes one element; what is kept is written to references."""
    given = kernel.given
    takes = [f"{c_type(d)} v{i}" for i, d in enumerate(given)]
    kept = [*kernel.outputs, *[f.value for f in kernel.folds]]
    takes += [f"{c_type(kernel.dtype(v))}& y{i}" for i, v in enumerate(kept)]
    lines = [f"__device__ inline void {name}_element({', '.join(takes)}) {{"]
    for i, line in enumerate(kernel.lines, len(given)):
        call = line.call.format(*[f"v{j}" for j in line.operands])
        lines.append(f"  const {c_type(line.dtype)} v{i} = {call};")
    lines += [f"  y{i} = v{v};" for i, v in enumerate(kept)]
    return "\n".join([*lines, "}"])


def _call(kernel: Kernel, name: str, read: list[str], kept: list[str]) -> str:
    constants = [f"k{i}" for i in range(len(kernel.constants))]
    reads = [f"r{k}" for k in range(len(kernel.reads))]
    return element_call(name, [*read, *constants, *reads, *kept])


def element_call(name: str, given: list[str]) -> str:
    """Return the call of the function of one element."""
    return f"{name}_element({', '.join(given)});"


# ---- maps ----------------------------------------------------------------------------------------


def _map(kernel: Kernel, layout: Layout, name: str) -> list[str]:
    index = layout.integer
    lines = [
        f"const {index} first = {index}(blockIdx.x) * blockDim.x + threadIdx.x;",
        f"const {index} step = {index}(gridDim.x) * blockDim.x;",
    ]
    return lines + map_loop(kernel, layout, name)


def map_loop(kernel: Kernel, layout: Layout, name: str) -> list[str]:
    """Return the loop of one thread over its elements, from ``first`` in steps of ``step``."""
    index, lines = layout.integer, []
    begin = "first"
    if layout.vector > 1:
        lines += _packed_loop(kernel, layout, name, f"count / {layout.vector}", [])
        begin = f"count / {layout.vector} * {layout.vector} + first"
    lines.append(f"for ({index} i = {begin}; i < count; i += step) {{")
    lines += indented(coordinates(layout))
    lines += indented(_read_lines(kernel, layout))
    read = [f"in{i}[{offset(layout, i, 'i')}]" for i in range(len(kernel.operands))]
    kept = [f"out{i}[i]" for i in range(len(kernel.outputs))]
    return [*lines, f"  {_call(kernel, name, read, kept)}", "}"]


def _packed_loop(
    kernel: Kernel, layout: Layout, name: str, packs: str, folded: list[str]
) -> list[str]:
    """Return the loop in which a thread reads and writes several neighbouring elements at once."""
    vector, index = layout.vector, layout.integer
    lines = [f"for ({index} p = first; p < {packs}; p += step) {{"]
    read = []
    for i, dtype in enumerate(kernel.operands):
        if layout.access[i] == "scalar":
            read.append(f"in{i}[0]")
            continue
        pack = f"pack<{c_type(dtype)}, {vector}>"
        lines.append(f"  const {pack} p{i} = reinterpret_cast<const {pack}*>(in{i})[p];")
        read.append(f"p{i}.at[j]")
    packs_of = [
        (i, f"pack<{c_type(kernel.dtype(v))}, {vector}>") for i, v in enumerate(kernel.outputs)
    ]
    lines += [f"  {pack} q{i};" for i, pack in packs_of]
    lines += ["  #pragma unroll", f"  for (int j = 0; j < {vector}; ++j) {{"]
    lines += [f"    {c_type(kernel.dtype(f.value))} y{i};" for i, f in enumerate(kernel.folds)]
    kept = [f"q{i}.at[j]" for i, _ in packs_of] + [f"y{i}" for i in _folds(kernel)]
    lines += [f"    {_call(kernel, name, read, kept)}", *[f"    {line}" for line in folded], "  }"]
    lines += [f"  reinterpret_cast<{pack}*>(out{i})[p] = q{i};" for i, pack in packs_of]
    return [*lines, "}"]


def _places(layout: Layout, index: str, group: str, first: int, count: int) -> list[str]:
    """Return declarations of the position along each axis of a group, from a running index."""
    if not (layout.places or "strided" in layout.access) or not count:
        return []
    lines, rest = [], index
    for j in range(count - 1, 0, -1):
        at = first + j
        lines.append(f"const {layout.integer} c{at} = {rest} % {group}{j};")
        lines.append(f"const {layout.integer} rest{at} = {rest} / {group}{j};")
        rest = f"rest{at}"
    return [*lines, f"const {layout.integer} c{first} = {rest};"]


def coordinates(layout: Layout) -> list[str]:
    """Return declarations of the position of element ``i`` of a map along each axis."""
    return _places(layout, "i", "kept", 0, layout.kept)


def offset(layout: Layout, array: int, linear: str) -> str:
    """Return the offset of the current element in an array."""
    access = layout.access[array]
    if access != "strided":
        return linear if access == "linear" else "0"
    axes = range(layout.kept + layout.reduced)
    return " + ".join([f"c{j} * s{array}_{j}" for j in axes])


# ---- reductions ----------------------------------------------------------------------------------


def _reduction(kernel: Kernel, layout: Layout, name: str) -> list[str]:
    index, folds = layout.integer, _folds(kernel)
    group, lane, stride = threads_of_one_result(layout)
    lines = [
        f"const int groups = blockDim.x / lanes, lane = {lane}, stride = {stride};",
        f"const {index} o = {index}(blockIdx.x) * groups + {group};",
        f"const {index} first = {index}(blockIdx.y) * lanes + lane;",
        f"const {index} step = {index}(gridDim.y) * lanes;",
        *[f"__shared__ {fold_type(kernel, i)}::part shared{i}[{BLOCK}];" for i in folds],
        *[f"{fold_type(kernel, i)}::part a{i} = {fold_type(kernel, i)}::start();" for i in folds],
        "if (o < results) {",
        *indented(accumulation(kernel, layout, name)),
        "}",
    ]
    across = [
        f"a{i} = across<{fold_type(kernel, i)}>(a{i}, shared{i}, threadIdx.x, lane, lanes, stride);"
        for i in folds
    ]
    written = [f"result{i}[o] = {fold_type(kernel, i)}::result(a{i});" for i in folds]
    return [
        *lines,
        *across,
        "const bool writes = lane == 0 && o < results;",
        "if (gridDim.y == 1) {",
        *[f"  if (writes) {line}" for line in written],
        "  return;",
        "}",
        *[f"if (writes) parts{i}[blockIdx.y * results + o] = a{i};" for i in folds],
        "__threadfence();",
        "__shared__ bool is_last;",
        "__syncthreads();",
        "if (threadIdx.x == 0) {",
        "  is_last = atomicAdd(&counters[blockIdx.x], 1u) == gridDim.y - 1;",
        "  if (is_last) counters[blockIdx.x] = 0;",
        "}",
        "__syncthreads();",
        "if (!is_last) return;",
        "__threadfence();",
        *[f"a{i} = {fold_type(kernel, i)}::start();" for i in folds],
        f"for ({index} part = lane; o < results && part < gridDim.y; part += lanes) {{",
        *[
            f"  a{i} = {fold_type(kernel, i)}::combine(a{i}, parts{i}[part * results + o]);"
            for i in folds
        ],
        "}",
        *across,
        *[f"if (writes) {line}" for line in written],
    ]


def threads_of_one_result(layout: Layout) -> tuple[str, str, str]:
    """Return a thread's group and its lane, and the distance between the lanes of a group."""
    if layout.kind == "columns":
        return "threadIdx.x % groups", "threadIdx.x / groups", "groups"
    return "threadIdx.x / lanes", "threadIdx.x % lanes", "1"


def accumulation(kernel: Kernel, layout: Layout, name: str) -> list[str]:
    """Return the loop of one lane over its share of the elements."""
    index = layout.integer
    folded = [
        f"a{i} = {fold_type(kernel, i)}::combine(a{i}, {fold_type(kernel, i)}::of(y{i}));"
        for i in _folds(kernel)
    ]
    lines, begin = [], "first"
    if layout.vector > 1:
        lines += _packed_loop(kernel, layout, name, f"length / {layout.vector}", folded)
        begin = f"length / {layout.vector} * {layout.vector} + first"
    lines += _places(layout, "o", "kept", 0, layout.kept)
    lines.append(f"for ({index} r = {begin}; r < length; r += step) {{")
    lines += indented(_places(layout, "r", "reduced", layout.kept, layout.reduced))
    lines += indented(_read_lines(kernel, layout))
    lines += [f"  {c_type(kernel.dtype(f.value))} y{i};" for i, f in enumerate(kernel.folds)]
    arrays = len(kernel.operands)
    read = [f"in{i}[{offset(layout, i, 'r')}]" for i in range(arrays)]
    kept = [f"out{i}[{offset(layout, arrays + i, 'r')}]" for i in range(len(kernel.outputs))]
    kept += [f"y{i}" for i in _folds(kernel)]
    return [*lines, f"  {_call(kernel, name, read, kept)}", *[f"  {x}" for x in folded], "}"]
