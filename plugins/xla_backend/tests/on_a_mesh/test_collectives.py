"""What devices exchange, as XLA made it: a program that moves more than it must shows here."""

import re
from pathlib import Path

import numpy as np
import pytest

import tenferro as tn

GOLDEN = Path(__file__).parent.parent / "golden" / "collectives.txt"
X, W1, W2 = tn.Aval((32, 16), "float64"), tn.Aval((16, 8), "float64"), tn.Aval((8, 4), "float64")


def network(w, x):
    hidden = np.tanh(x @ w["first"])
    return np.mean((hidden @ w["second"]) ** 2)


WEIGHTS = {"first": W1, "second": W2}
#: the program, how its arguments are split, how its results are
ROWS = {
    "sum of rows": (lambda x: np.sum(x), (("data", None),), (), (X,)),
    "elementwise": (lambda x: np.sin(x) * 2, (("data", "model"),), ("data", "model"), (X,)),
    "matmul, rows split": (
        lambda x, w: x @ w,
        (("data", None), (None, None)),
        ("data", None),
        (X, W1),
    ),
    "matmul, columns split": (
        lambda x, w: x @ w,
        ((None, None), (None, "model")),
        (None, "model"),
        (X, W1),
    ),
    "matmul, contracted dimension split": (
        lambda x, w: x @ w,
        ((None, "model"), ("model", None)),
        (None, None),
        (X, W1),
    ),
    "gather": (lambda x: x, (("data", None),), (None, None), (X,)),
    "another dimension": (lambda x: x, (("data", None),), (None, "data"), (X,)),
    "constraint under vmap": (
        tn.vmap(lambda row: np.sin(tn.sharding_constraint(np.cos(row), (None,)))),
        (("data", None),),
        ("data", None),
        (X,),
    ),
    "gradient, data parallel": (
        tn.grad(network),
        ({"first": (), "second": ()}, ("data", None)),
        {"first": (), "second": ()},
        (WEIGHTS, X),
    ),
    "gradient, tensor parallel": (
        tn.grad(network),
        ({"first": (None, "model"), "second": ("model", None)}, ()),
        {"first": (None, "model"), "second": ("model", None)},
        (WEIGHTS, X),
    ),
    "gradient, both": (
        tn.grad(network),
        ({"first": (None, "model"), "second": ("model", None)}, ("data", None)),
        {"first": (None, "model"), "second": ("model", None)},
        (WEIGHTS, X),
    ),
}


def line(mesh, name):
    """The collectives of one program, as `explain` shows them."""
    function, inputs, outputs, avals = ROWS[name]
    program = tn.jit(function, backend="xla", mesh=mesh, in_shardings=inputs, out_shardings=outputs)
    text = program.explain(*avals)
    return f"{name:<36} {re.search(r'collectives +(.*)', text)[1]}"


@pytest.mark.parametrize("name", ROWS)
def test_devices_exchange_what_they_must_and_no_more(mesh, name):
    """Lowered from shapes alone"""
    golden = {row[:36].strip(): row for row in GOLDEN.read_text().splitlines()}
    assert line(mesh, name) == golden.get(name)


def test_the_golden_text_has_no_other_rows():
    assert {row[:36].strip() for row in GOLDEN.read_text().splitlines()} == set(ROWS)


if __name__ == "__main__":
    made = tn.mesh({"data": 4, "model": 2})
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text("".join(f"{line(made, name)}\n" for name in ROWS))
