"""Report of a program: its source, regions and row blocks, and estimates of work and memory.

Read next: `executable.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tenferro.computegraph import CompiledProgram
from tenferro.primitives import Aval
from tenferro_numpy.ir.plan import Line, Plan
from tenferro_numpy.kernels.region import Region
from tenferro_numpy.row_blocks import RowBlockLoop

__all__ = ["cost_of", "report"]


def report(
    program: CompiledProgram, plan: Plan, state: str, source: str, foreign: Sequence[str] = ()
) -> str:
    """Describe a program; `state` says how it has run so far.

    `foreign` names the lowerings that come from other distributions than the backend.
    """
    flops, moved = cost_of(program, plan)
    head = (
        f"numpy: {len(program)} instructions in {len(plan.lines)} lines, {state}\n"
        f"about {flops:,} floating-point operations, {moved:,} bytes read and written\n"
        f"{_peak(program, plan)}\n{_passes(plan)}\n"
        + "".join(f"lowering of {text}\n" for text in foreign)
        + "\n"
    )
    parts = [text for line in plan.lines if (text := _part(program, line))]
    return "\n".join([head + source, *parts]).rstrip() + "\n"


def _peak(program: CompiledProgram, plan: Plan) -> str:
    """Describe the peak of array memory, and where it occurs."""
    size, line = plan.peak
    position = None if line is None else plan.lines[line].position
    where = "" if position is None else f", at {' '.join(program.equation(position).split())}"
    return f"{size:,} bytes of arrays at once, without inputs and literals{where}"


def _passes(plan: Plan) -> str:
    """Describe the plan passes: those that ran, with the number of steps where it changed."""
    count, texts = None, []
    for name, steps in plan.passes:
        texts.append(name if steps == count or not steps else f"{name} {steps}")
        count = steps
    return f"plan passes, with steps where their number changes: {', '.join(texts)}"


def _part(program: CompiledProgram, line: Line) -> str:
    """Describe a region, a row block, or a loop; empty for other lines."""
    part = line.expression.bound[0] if line.expression.bound else None
    described = getattr(part, "described", None)
    if described is not None:
        return f"\n{described()}"
    if isinstance(part, Region):
        head = _region(part)
    elif isinstance(part, RowBlockLoop):
        head = _row_block(part)
    else:
        return ""
    return "\n".join([head, *(f"    {program.equation(i)}" for i in line.positions)])


def _region(region: Region) -> str:
    elements, size = region.elements, prod(region.shape)
    tiles = 1 if region.at_once else -(-size // elements)
    about = f"{tiles} tiles of about {elements:,} elements" if tiles > 1 else "one tile"
    shape = "×".join(f"{n:,}" for n in region.shape)
    made = f"{len(region.arrays)} arrays and {len(region.folds)} reductions"
    return f"region {shape} in {about}{_threads(region.tiling.threads)}, gives {made}"


def _row_block(loop: RowBlockLoop) -> str:
    count = -(-loop.extent // loop.rows)
    about = f"{count} tiles of {loop.rows:,}{_threads(loop.threads)}"
    made = f"{len(loop.stacked)} arrays and {len(loop.joined)} reductions"
    return f"row block of {loop.extent:,} rows in {about}, gives {made}"


def _threads(count: int) -> str:
    return f", up to {count} threads" if count > 1 else ""


def cost_of(program: CompiledProgram, plan: Plan) -> tuple[int, int]:
    """Estimate elementwise operations, and bytes that lines read and write (not views)."""
    flops = moved = 0
    touching = _lines_of_slots(program, plan)
    for number, line in enumerate(plan.lines):
        if line.expression.shares:
            continue
        touched: set[int] = set()
        for position in line.positions:
            _, inputs, outputs, *_ = program.instructions[position]
            flops += _operations(program, position)
            touched.update((*inputs, *outputs))
        outside = [program.avals[i] for i in touched if touching[i] != {number}]
        moved += sum(aval.size * aval.dtype.itemsize for aval in outside)
    return flops, moved


def _lines_of_slots(program: CompiledProgram, plan: Plan) -> dict[int, set[int]]:
    """Return the numbers of the lines that touch a slot; the caller is line -1."""
    lines: dict[int, set[int]] = {i: {-1} for i in (*program.inputs, *program.outputs)}
    for number, line in enumerate(plan.lines):
        for position in line.positions:
            _, inputs, outputs, *_ = program.instructions[position]
            for slot in (*inputs, *outputs):
                lines.setdefault(slot, set()).add(number)
    return lines


def _operations(program: CompiledProgram, position: int) -> int:
    """Estimate the elementwise operations of one instruction."""
    op, inputs, outputs, *_ = program.instructions[position]
    given: list[Aval] = [program.avals[i] for i in inputs]
    results: list[Aval] = [program.avals[i] for i in outputs]
    contracted = getattr(op, "lhs_contract", None)
    if contracted is not None:
        terms: int = prod(given[0].shape[axis] for axis in contracted)
        return 2 * results[0].size * terms
    return max((a.size for a in (*given, *results)), default=0)
