"""Value and gradient of the overlap of two matrix product states, written as one einsum (W5).

⟨A|B⟩ of chains of length 16, 32 and 64, bond dimension 64, physical dimension 2, differentiated
with respect to all tensors of both chains. The peers are NumPy by hand (left and right
environments: what a program must compute, and nothing twice), autograd on the same sweep, and JAX
on the same einsum, compiled. Contestants take turns in one process on one thread; milliseconds of
processor time, median and minimum; the slope is that of log(time) against log(length), to be read
beside that of the operations that the path needs (short chains are cheaper per site, since the path
uses their open ends). The value alone is timed too: a gradient must cost the same multiple of it at
any length. Values and gradients are compared before a time counts; peers that are not installed are
left out. The first call (reading the expression, its path, compiling) is a column.

    python benchmarks/einsum.py [--lengths 16 32 64] [--bond 64] [--rounds 15] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tenferro as tn

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
Chain = list[np.ndarray]
Result = tuple[Any, tuple[list[Any], list[Any]]]
PHYSICAL = 2


def chains(length: int, bond: int) -> tuple[Chain, Chain]:
    """Two random chains whose overlap is of the order of 1."""
    rng = np.random.default_rng(length)
    ends = [1, *[bond] * (length - 1), 1]

    def one() -> Chain:
        shapes = [(ends[i], PHYSICAL, ends[i + 1]) for i in range(length)]
        # the same positive part in all tensors keeps the overlap away from 0
        return [(0.3 + rng.standard_normal(s)) / math.sqrt(s[0] * 3) for s in shapes]

    return one(), one()


def arguments(a: Any, b: Any) -> list[Any]:
    """The operands of the interleaved form: bonds of A are 3i, of B 3i+1, physical axes 3i+2."""
    found: list[Any] = []
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        found += [x, [3 * i, 3 * i + 2, 3 * i + 3], y, [3 * i + 1, 3 * i + 2, 3 * i + 4]]
    return [*found, []]


def by_hand(a: Chain, b: Chain) -> Result:
    """Left environments forwards, right environments backwards, six products per site."""
    n = len(a)
    left, halves = [np.ones((1, 1))], []
    for x, y in zip(a, b, strict=True):
        half = left[-1].T @ x.reshape(x.shape[0], -1)  # b, p a'
        halves.append(half.reshape(-1, x.shape[2]))
        left.append(halves[-1].T @ y.reshape(-1, y.shape[2]))
    right = np.ones((1, 1))
    grad_a: list[Any] = [None] * n
    grad_b: list[Any] = [None] * n
    for i in reversed(range(n)):
        x, y = a[i], b[i]
        grad_b[i] = (halves[i] @ right).reshape(y.shape)
        half = (y.reshape(-1, y.shape[2]) @ right.T).reshape(y.shape[0], -1)  # b, p a'
        grad_a[i] = (left[i] @ half).reshape(x.shape)
        right = x.reshape(x.shape[0], -1) @ half.T
    return left[-1][0, 0], (grad_a, grad_b)


def with_tenferro(a: Chain, b: Chain) -> Callable[[], Result]:
    """Recorded, transformed and run at every call."""
    f = tn.value_and_grad(lambda a, b: tn.einsum(*arguments(a, b)), argnums=(0, 1))
    return lambda: f(a, b)


def with_jit(a: Chain, b: Chain) -> Callable[[], Result]:
    """The same, recorded once."""
    f = tn.jit(tn.value_and_grad(lambda a, b: tn.einsum(*arguments(a, b)), argnums=(0, 1)))
    return lambda: f(a, b)


def with_autograd(a: Chain, b: Chain) -> Callable[[], Result]:
    """The sweep from the left, differentiated by autograd."""
    import autograd.numpy as anp
    from autograd import value_and_grad

    def overlap(chains: Any) -> Any:
        left = anp.ones((1, 1))
        for x, y in zip(*chains, strict=True):
            half = anp.reshape(left.T @ anp.reshape(x, (x.shape[0], -1)), (-1, x.shape[2]))
            left = half.T @ anp.reshape(y, (-1, y.shape[2]))
        return left[0, 0]

    f = value_and_grad(overlap)
    return lambda: f((a, b))


def with_jax(a: Chain, b: Chain) -> Callable[[], Result]:
    """The same einsum, compiled by XLA; the result is waited for."""
    import jax

    jax.config.update("jax_enable_x64", True)

    def overlap(a: Any, b: Any) -> Any:
        return jax.numpy.einsum(*arguments(a, b), precision="highest")

    f = jax.jit(jax.value_and_grad(overlap, argnums=(0, 1)))
    a, b = jax.tree.map(jax.numpy.asarray, (a, b))
    return lambda: jax.block_until_ready(f(a, b))


def value_by_hand(a: Chain, b: Chain) -> Any:
    """The sweep from the left."""
    left = np.ones((1, 1))
    for x, y in zip(a, b, strict=True):
        half = (left.T @ x.reshape(x.shape[0], -1)).reshape(-1, x.shape[2])
        left = half.T @ y.reshape(-1, y.shape[2])
    return left[0, 0]


def value_with_jit(a: Chain, b: Chain) -> Callable[[], Any]:
    """The einsum alone, recorded once."""
    f = tn.jit(lambda a, b: tn.einsum(*arguments(a, b)))
    return lambda: f(a, b)


VALUES: dict[str, Callable[[Chain, Chain], Callable[[], Any]]] = {
    "value by hand": lambda a, b: lambda: value_by_hand(a, b),
    "value, jit": value_with_jit,
}
CONTESTANTS: dict[str, tuple[str, Callable[[Chain, Chain], Callable[[], Result]]]] = {
    "numpy by hand": ("numpy", lambda a, b: lambda: by_hand(a, b)),
    "tenferro": ("tenferro", with_tenferro),
    "tenferro.jit": ("tenferro", with_jit),
    "autograd": ("autograd", with_autograd),
    "jax.jit": ("jax", with_jax),
}


def agree(name: str, found: Result, want: Result) -> None:
    """Value and all gradients are those by hand."""
    np.testing.assert_allclose(found[0], want[0], rtol=1e-9, err_msg=name)
    for ours, theirs in zip(found[1], want[1], strict=True):
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10 * np.abs(y).max(), err_msg=name)


def measure(length: int, bond: int, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each contestant."""
    a, b = chains(length, bond)
    calls: dict[str, Callable[[], Any]] = {}
    first: dict[str, float] = {}
    want = by_hand(a, b)
    for name, (package, make) in CONTESTANTS.items():
        if importlib.util.find_spec(package) is None:
            continue
        start = time.perf_counter()
        calls[name] = make(a, b)
        found = calls[name]()
        first[name] = 1e3 * (time.perf_counter() - start)
        agree(name, found, want)
    for name, alone in VALUES.items():
        start = time.perf_counter()
        calls[name] = alone(a, b)
        np.testing.assert_allclose(calls[name](), want[0], rtol=1e-9, err_msg=name)
        first[name] = 1e3 * (time.perf_counter() - start)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds + 2):
        for name, call in calls.items():
            start = time.process_time()
            call()
            if turn > 1:
                times[name].append(1e3 * (time.process_time() - start))
    return {
        name: {"first": first[name], "median": statistics.median(t), "minimum": min(t)}
        for name, t in times.items()
    }


def slope(times: Mapping[int, float]) -> float:
    """The slope of log(time) against log(length), by least squares."""
    points = [(math.log(n), math.log(t)) for n, t in times.items()]
    if len(points) < 2:
        return math.nan
    x0, y0 = (statistics.mean(axis) for axis in zip(*points, strict=True))
    return sum((x - x0) * (y - y0) for x, y in points) / sum((x - x0) ** 2 for x, _ in points)


def operations(length: int, bond: int) -> int:
    """What the path of the value needs, as einsum_path says."""
    _, info = tn.einsum_path(*arguments(*chains(length, bond)))
    return int(info.flops)


def show(results: dict[int, dict[str, dict[str, float]]]) -> None:
    """One table: a row per contestant."""
    lengths = list(results)
    print("milliseconds of processor time: median (minimum) [ratio to numpy by hand], first call")
    print(f"{'':15}" + "".join(f"{f'L = {n}':>34}" for n in lengths) + f"{'slope':>8}")
    for name in results[lengths[0]]:
        cells = []
        for n in lengths:
            t, hand = results[n][name], results[n]["numpy by hand"]["median"]
            ratio = t["median"] / hand
            cells.append(f"{t['median']:8.2f} ({t['minimum']:.2f}) [{ratio:.2f}] {t['first']:7.0f}")
        medians = {n: results[n][name]["median"] for n in lengths}
        print(f"{name:15}" + "".join(f"{x:>34}" for x in cells) + f"{slope(medians):8.2f}")
    for value, both in (("value by hand", "numpy by hand"), ("value, jit", "tenferro.jit")):
        ratios = [results[n][both]["median"] / results[n][value]["median"] for n in lengths]
        print(f"{both}: value and gradient ÷ value", *[f"{ratio:.2f}" for ratio in ratios])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[16, 32, 64])
    parser.add_argument("--bond", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    counts = {n: operations(n, given.bond) for n in given.lengths}
    text = ", ".join(f"{count:.2e} for L = {n}" for n, count in counts.items())
    print(f"operations of the value: {text}; slope {slope(counts):.2f}")
    results = {n: measure(n, given.bond, given.rounds) for n in given.lengths}
    show(results)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1), "utf-8")


if __name__ == "__main__":
    if any(name not in os.environ for name in ONE_THREAD):  # read when the libraries are loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**ONE_THREAD, **os.environ})
    main()
