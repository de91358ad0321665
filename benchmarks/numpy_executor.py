"""What one step of the NumPy executor costs beside the same line written by hand.

Each row is a program of 100 equal steps, and the same 100 lines as a Python function. The generated
source, and the interpreter that runs a program until compiling it pays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness.measure import by_turns
from benchmarks.harness.workload import Call, Figure, Goal, Options, Workload
from tenferro import primitives as tp
from tenferro.computegraph import KeyView, compile_program, materialize_merge

W = Workload(
    "numpy_executor",
    "one step of the NumPy executor",
    cases=[],
    quick=[],
    goals=[Goal(1.1, contestant="source", figure="÷ by hand")],
)

LENGTH = 100
V, M, S = np.linspace(0.5, 0.9, 10), np.eye(3) + 0.1, np.array(0.7)
STACK, INDEX = np.ones((4, 3, 3)) / 3, np.array([[1], [0], [2]])
ROWS = [
    # name, one step on handles, the line by hand, the operands
    ("add", lambda x, y: x + y, "x = np.add(x, y)", (V, V)),
    ("add, as written", lambda x, y: x + y, "x = x + y", (V, V)),
    ("mul by a constant", lambda x: x * 0.99, "x = x * 0.99", (V,)),
    ("sin", lambda x: tp.sin(x), "x = np.sin(x)", (V,)),
    ("select", lambda x, y: tp.select(tp.lt(x, y), x, y), "x = np.where(x < y, x, y)", (V, V)),
    (
        "bias",
        lambda x, b: x + tp.broadcast_in_dim(b, (3, 3), (1,)),
        "x = x + b",
        (M, M[0]),
    ),
    (
        "sum and expand",
        lambda x: x * tp.broadcast_in_dim(tp.reduce_sum(x, (0,)), (10,), ()),
        "x = x * x.sum()",
        (V,),
    ),
    ("matrix product", lambda x, y: tp.dot_general(x, y, (1,), (0,)), "x = x @ y", (M, M / 3)),
    (
        "stacked product",
        lambda x, y: tp.dot_general(x, y, (2,), (1,), (0,), (0,)),
        "x = np.matmul(x, y)",
        (STACK, STACK),
    ),
    (
        "rows",
        lambda x, i: tp.gather(
            x, i, offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,),
            slice_sizes=(1, 3), mode="clip",
        ),
        "x = x[y]",
        (M, INDEX),
    ),
    ("rank 0: add", lambda x, y: x + y, "x = x + y", (S, S)),
    ("rank 0: sin", lambda x: tp.sin(x), "x = np.sin(x)", (S,)),
]  # fmt: skip


def program_of(step, operands):
    """A program that applies a step LENGTH times to its first operand."""
    dtypes = [operand.dtype.name for operand in operands]
    handles = [
        tp.variable(f"x{i}", o.shape, d)
        for i, (o, d) in enumerate(zip(operands, dtypes, strict=True))
    ]
    x = handles[0]
    for _ in range(LENGTH):
        x = step(x, *handles[1:])
    graph = materialize_merge(KeyView(), [x.key], inputs=[handle.key for handle in handles])
    return compile_program(graph)


def by_hand(line, operands):
    """The function that somebody would write: LENGTH lines."""
    names = ["x", "b" if "b" in line.split() else "y"][: len(operands)]
    text = f"def by_hand({', '.join(names)}):\n" + f"    {line}\n" * LENGTH + "    return x\n"
    scope = {"np": np}
    exec(text, scope)
    return scope["by_hand"]


def calls(step: Any, line: str, operands: tuple[Any, ...], indexed: bool) -> dict[str, Call]:
    """The same program in three ways."""
    from tenferro.backend import host

    program, backend = program_of(step, operands), host().backend("numpy")
    run = {
        executor: backend.compile(program, program.input_avals, {"executor": executor})
        for executor in ("source", "interpret")
    }
    given = (operands[0], INDEX[:, 0]) if indexed else operands
    if operands[0] is S:
        given = tuple(operand[()] for operand in operands)  # by hand: NumPy's scalars
    function = by_hand(line, operands)
    return {
        "by hand": lambda: function(*given),
        "source": lambda: run["source"](*operands),
        "interpret": lambda: run["interpret"](*operands),
    }


def figures(options: Options) -> Iterator[Figure]:
    """Seconds of a step, and the ratio to the line by hand; the shortest of some."""
    for name, step, line, operands in ROWS:
        made = calls(step, line, operands, indexed=name == "rows")
        times = by_turns(made, Options(quick=options.quick, budget=2.0))
        shortest = {contestant: min(found["cpu"]) for contestant, found in times.items()}
        for contestant, seconds in shortest.items():
            yield Figure(name, contestant, "step", seconds / LENGTH, "s")
            yield Figure(name, contestant, "÷ by hand", seconds / shortest["by hand"])


W.figures = figures
