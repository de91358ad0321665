"""What an instruction costs on tiny arrays: the NumPy backend against NumPy written by hand.

Each row is a program of 100 equal steps and the same 100 lines as a Python function; both are timed
warm and in turns, by processor time. Prints nanoseconds per step and the ratio (goal: ≤ 1.1), for
the generated source and for the interpreter that runs a program until compiling it pays.

    python benchmarks/numpy_executor.py [--rounds 50]
"""

import argparse
import timeit
from time import process_time

import numpy as np

from tenferro import primitives as tp
from tenferro.backend import host
from tenferro.computegraph import KeyView, compile_program, materialize_merge

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


def nanoseconds(calls, rounds):
    """Per step, the best of some rounds, for several functions in turns."""
    timers = [timeit.Timer(call, timer=process_time) for call in calls]
    numbers = [max(int(0.01 / (timer.timeit(3) / 3)), 1) for timer in timers]
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, (timer, number) in enumerate(zip(timers, numbers, strict=True)):
            best[k] = min(best[k], timer.timeit(number) / number / LENGTH * 1e9)
    return best


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    backend = host().backend("numpy")
    print(f"{'':22}{'by hand':>9}{'source':>9}{'ratio':>7}{'interp.':>9}{'ratio':>7}   ns per step")
    for name, step, line, operands in ROWS:
        program = program_of(step, operands)
        run = {
            executor: backend.compile(program, program.input_avals, {"executor": executor})
            for executor in ("source", "interpret")
        }
        index = [INDEX[:, 0]] if name == "rows" else []
        given = (operands[0], *index) if index else operands
        if operands[0] is S:
            given = tuple(operand[()] for operand in operands)  # by hand: NumPy's scalars
        function = by_hand(line, operands)
        hand, source, interpreted = nanoseconds(
            [
                lambda f=function, g=given: f(*g),
                lambda f=run["source"], g=operands: f(*g),
                lambda f=run["interpret"], g=operands: f(*g),
            ],
            rounds,
        )
        print(
            f"{name:22}{hand:9.0f}{source:9.0f}{source / hand:7.2f}"
            f"{interpreted:9.0f}{interpreted / hand:7.2f}"
        )


if __name__ == "__main__":
    main()
