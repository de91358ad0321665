"""Nothing recurses over depth: 10^6 operations under the default recursion limit.

Every case runs in a process of its own, so that an overflow of the C stack is a failed test. With a
stack of 1 MiB instead of the usual 8, a chain of 10^4 overflows if each operation takes 100 bytes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PRELUDE = """
import pickle, sys, threading
from toy_graphs import *
from tenferro.computegraph import *
from tenferro.storage import fingerprint, to_json, from_json
assert sys.getrecursionlimit() == 1000
x = input_key("x", "f64")
top = chain(x, {length})
"""
CASES = {
    "compare and print": "assert chain(x, {length}) is top and len(repr(top)) < 40",
    "materialize, compile, evaluate": "assert run([top], [x], 2) == [2]",
    "graph": "assert len(Graph.of([x], [top])) == {length}",
    "text": "assert str(program([top])).count(chr(10)) == {length} + 2",
    "pickle": """
graph = Graph.of([x], [top])
assert pickle.loads(pickle.dumps(graph)).output_keys == (top,)
""",
    "pickle a program": """
made = program([top])
assert pickle.loads(pickle.dumps(made)).structure == made.structure
""",
    "json": """
text = to_json(Graph.of([x], [top]))
assert from_json(text, operations=OPERATIONS).output_keys == (top,)
""",
    "fingerprint": "assert fingerprint(program([top])) == fingerprint(Graph.of([x], [top]))",
    "json of loops in loops": """
x, y = loops(1000)
graph = Graph.of([x], [y])
text = to_json(graph)
assert text.count(chr(10)) < 1100 and text.count('"fragment":') == 1000
assert from_json(text, operations=OPERATIONS).output_keys == (y,)
""",
    "fingerprint of loops in loops": """
(x, y), (x1, y1) = loops(1000), loops(1001)
found = fingerprint(Graph.of([x], [y]))
assert found == fingerprint(program([y])) != fingerprint(Graph.of([x1], [y1]))
""",
    "free": "del top; assert table_size() == 1",
    "retire and free": """
middle = top.inputs[0]
del top
middle.operand = 1
retire(middle)
del middle
assert table_size() == 1
""",
    "free a shared history": """
pair = [neg(top), exp(top)]
del top
pair.clear()
assert table_size() == 1
""",
}
FREE_IN_A_THREAD = """
threading.stack_size({stack} << 10)
held = [top]
del top
worker = threading.Thread(target=held.clear)
worker.start(); worker.join()
assert table_size() == 1
"""


IN_A_SMALL_STACK = """
threading.stack_size(1 << 20)
worker = threading.Thread(target=exec, args=({code!r}, globals()))
worker.start(); worker.join()
"""


def run_alone(code, length):
    here = str(Path(__file__).parent)
    path = os.pathsep.join([here, *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE.format(length=length) + code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("case", CASES)
def test_a_chain_of_10_000(case):
    run_alone(IN_A_SMALL_STACK.format(code=CASES[case].format(length=10_000)), 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["compare and print", "materialize, compile, evaluate", "free"])
def test_a_chain_of_1_000_000(case):
    run_alone(CASES[case].format(length=1_000_000), 1_000_000)


def test_a_chain_is_freed_in_a_thread_with_a_stack_of_1_mib():
    """CPython 3.13 overflows below 768 KiB, 3.11 and 3.12 do not; 8 MiB are the default."""
    run_alone(FREE_IN_A_THREAD.format(stack=1024), 100_000)
