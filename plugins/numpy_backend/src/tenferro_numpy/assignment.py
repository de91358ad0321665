"""Memory, registers and results of the steps of a program: what makes a plan of them.

A small program runs a few times before that is worth it; see `draft.py`. Read next:
`memory/reuse.py`, `memory/registers.py`.
"""

from __future__ import annotations

from importlib import import_module

from tenferro.backend.extend import CollectorPaused
from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram
from tenferro_numpy.ir.literals import Literals
from tenferro_numpy.ir.liveness import dying_after
from tenferro_numpy.ir.peak import peak_of
from tenferro_numpy.ir.plan import Plan, Result
from tenferro_numpy.memory.ownership import Memory
from tenferro_numpy.memory.registers import Registers
from tenferro_numpy.memory.reuse import reuse
from tenferro_numpy.plan_options import PlanOptions
from tenferro_numpy.planner import MEMORY_REUSE, Planner, planner_of

__all__ = ["make_plan", "plan_of"]


def make_plan(
    program: CompiledProgram,
    table: LoweringTable,
    how: PlanOptions = PlanOptions(),  # noqa: B008
) -> Plan:
    """Make the plan of a closed program.

    Raises MissingLoweringError: if the table lacks an operation of the program.
    """
    return plan_of(planner_of(program, table, how))


def plan_of(planner: Planner) -> Plan:
    """Choose memory and registers for the steps of a planner, which become part of the plan."""
    with CollectorPaused():
        return _planned(planner)


def _planned(planner: Planner) -> Plan:
    """Assign buffers and then registers to the steps, and return the plan.

    The peak is read after blocks have added the memory that they work in.
    """
    steps, avals, outputs = planner.steps, planner.avals, planner.outputs
    dying = dying_after(steps, (*outputs, *planner.literals), len(avals))
    memory = Memory(avals, dying, planner.donated)
    if MEMORY_REUSE in planner.how.without:
        memory.follow(steps)
    else:
        reuse(steps, memory, any_order=bool(planner.donated))
        planner.passes.append((MEMORY_REUSE, len(steps)))
    regions = [step for step in steps if step.is_region] if planner.has_regions else []
    if regions:
        build = import_module("tenferro_numpy.plan_passes.fusion.build")
        build.share_equal(regions)
    blocks = set(planner.blocks.values())
    for position, step in enumerate(steps):
        if step in blocks:
            memory.works(position, step.expression.bound[0].working_bytes)
    literals = Literals(planner.literals, planner.table)
    inputs = planner.program.inputs
    registers = Registers(len(inputs), avals, literals, planner.numbers)
    lines = registers.lines(steps, dying)
    results = [
        Result(
            literals.index(slot, "array")
            if slot in planner.literals
            else registers.register_of[slot],
            copied,
            not avals[slot].shape,
        )
        for slot, copied in zip(outputs, memory.shared(outputs), strict=True)
    ]
    return Plan(
        input_count=len(inputs),
        register_count=registers.count,
        unboxed=planner.unboxed_inputs(),
        literals=tuple(literals.values),
        lines=tuple(lines),
        results=tuple(results),
        peak=peak_of(memory.changes),
        raises=planner.raises(),
        donated=planner.donated,
        passes=tuple(planner.passes),
    )
