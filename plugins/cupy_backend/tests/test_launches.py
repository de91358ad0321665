"""Launches and bytes of the benchmarks' workloads on the stand-in, next to one call per operation.

`python tests/test_launches.py` in the folder of this distribution writes the approved table again.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import tenferro as tn

TABLE = Path(__file__).with_name("golden") / "launches.txt"
sys.path.append(str(Path(__file__).parents[3]))
benchmarks = pytest.importorskip("benchmarks", reason="the benchmarks are in the repository")

#: functions of cuBLAS
PRODUCTS = ("matmul", "dot", "tensordot")


def gmm():
    from benchmarks import w01_gmm as w

    given = w.inputs(100)
    return tn.value_and_grad(lambda *xs: w.loss(np, *xs), argnums=(0, 1, 2)), given


def mlp():
    from benchmarks import w02_mlp as w

    parameters, x, labels = w.inputs(8)
    return tn.value_and_grad(lambda p: w.loss(np, p, x, labels)), (parameters,)


def elementwise():
    from benchmarks import w03_elementwise as w

    given = w.inputs(1000)
    return tn.value_and_grad(lambda *xs: w.loss(np, *xs)), given


def recurrence(shape):
    from benchmarks import w04_recurrence as w

    x, steps = w.inputs((shape, 60))
    return tn.value_and_grad(lambda x: w.loss(np, x, steps)), (x,)


def recurrence_as_scan(size):
    from benchmarks import w04_recurrence as w

    _, steps = w.inputs(((10,), 60))
    x = np.linspace(0.5, 1.5, size)
    return tn.value_and_grad(lambda x: w.scanned_loss(np, tn.scan, x, steps)), (x,)


def heat():
    from benchmarks import w07_heat_equation as w

    x, steps = w.inputs((1000, 12))
    return tn.value_and_grad(lambda x: w.loss(np, x, steps)), (x,)


def heat_as_scan():
    from benchmarks import w07_heat_equation as w

    x, steps = w.inputs((1000, 12))
    return tn.value_and_grad(lambda x: w.scanned_loss(np, tn.scan, x, steps)), (x,)


WORKLOADS = {
    "W1 n = 100": gmm,
    "W2 batch 8": mlp,
    "W3": elementwise,
    "W4 shape (), 60 steps": lambda: recurrence(()),
    "W4 shape (10,), 60 steps": lambda: recurrence((10,)),
    "W4 as scan, 60 steps": lambda: recurrence_as_scan(10),
    "W4 as scan, shape (5000,)": lambda: recurrence_as_scan(5000),
    "W7 12 steps": heat,
    "W7 as scan, 12 steps": heat_as_scan,
}


def counted(function, given, backend):
    """Launches of the second call: products, kernels, others, and bytes of all."""
    jitted = tn.jit(function, backend=backend)
    values = jitted(*given)
    del backend.cupy.launches[:]
    jitted(*given)
    names = [name for name, _ in backend.cupy.launches]
    products = sum(name in PRODUCTS for name in names)
    kernels = names.count("kernel")
    moved = sum(n for _, n in backend.cupy.launches)
    return values, [len(names), products, kernels, len(names) - products - kernels, moved]


def row(name, make_backend, interpreted):
    function, given = WORKLOADS[name]()
    values, planned = counted(function, given, make_backend())
    same, single = counted(function, given, interpreted(make_backend()))
    for got, want in zip(_flat(values), _flat(same), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)
    numbers = "".join(f"{n:>9}" for n in [*planned[:4], single[0], planned[4], single[4]])
    return f"{name:26}{numbers}"


def _flat(values):
    if isinstance(values, (tuple, list)):
        return [leaf for value in values for leaf in _flat(value)]
    operand = getattr(values, "operand", values)
    return [getattr(operand, "_a", operand)]


def head():
    columns = ["launches", "products", "kernels", "others", "before", "bytes", "before"]
    return f"{'':26}" + "".join(f"{c:>9}" for c in columns)


@pytest.mark.parametrize("name", WORKLOADS)
def test_launches_are_the_approved_ones(name, make_backend, interpreted):
    """Few launches, and the values and gradients of the interpreter"""
    assert row(name, make_backend, interpreted) in TABLE.read_text("utf-8").splitlines()


def test_a_value_and_its_gradient_are_one_kernel(make_backend):
    function, given = WORKLOADS["W3"]()
    assert counted(function, given, make_backend())[1][:3] == [1, 0, 1]


DOCUMENT = Path(__file__).parents[3] / "docs" / "cuda.md"
IN_WORDS = {
    "W3": "W3 {0} ({4})",
    "W4 shape (10,), 60 steps": "W4 with 60 steps {0} ({4})",
    "W1 n = 100": "W1 {0} ({4}) of which {1} are products",
    "W2 batch 8": "W2 {0} ({4}) of which {1} are products",
    "W4 as scan, 60 steps": "W4 as a scan of 60 steps {0} ({4})",
    "W7 12 steps": "W7 with 12 steps {0} ({4})",
}


def test_the_document_has_the_numbers_of_the_table():
    text = " ".join(DOCUMENT.read_text("utf-8").split())
    rows = {line[:26].strip(): line[26:].split() for line in TABLE.read_text("utf-8").splitlines()}
    assert [
        words for name, words in IN_WORDS.items() if words.format(*rows[name]) not in text
    ] == []


def on_device(values, backend):
    """Arrays, in tuples or lists, as arrays of the backend."""
    if isinstance(values, (tuple, list)):
        return type(values)([on_device(value, backend) for value in values])
    array = np.asarray(values)
    return backend.asoperand(array, tn.Aval(array.shape, array.dtype.name))


@pytest.mark.parametrize("options", [None, {"cuda_graph": True}], ids=["steps", "graph"])
@pytest.mark.parametrize("name", ["W1 n = 100", "W2 batch 8", "W3", "W4 as scan, shape (5000,)"])
def test_the_host_waits_for_nothing(name, options, make_backend, stand_in):
    """The first call compiles, the second captures, and the third replays: none synchronizes"""
    function, given = WORKLOADS[name]()
    backend = make_backend()
    jitted = tn.jit(function, backend=backend, options=options)
    operands = on_device(given, backend)
    with stand_in.counted(backend.cupy) as waited:
        for _ in range(3):
            jitted(*operands)
    assert waited == [0]


if __name__ == "__main__":
    import conftest

    made = conftest.make_backend.__wrapped__(), conftest.interpreted.__wrapped__()
    TABLE.write_text("\n".join([head(), *[row(name, *made) for name in WORKLOADS], ""]), "utf-8")
