"""Compare sparse derivatives of random functions with the dense ones, direction by direction.

    python tests/fuzz/sparse.py --functions 1000 --seed 20261122

prints each difference with its seed and the function's text, and ends with 1 if there is one.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from compare import difference, quietly
from programs import Program
from vectors import vector_function

import tenferro as tn

__all__ = ["compare_sparse", "main"]

BOUND = 1e-8


def compare_sparse(made: Program) -> list[str]:
    """Return what differs between sparse derivatives of a function and dense ones."""
    function = made.function()
    rng = np.random.default_rng(made.seed)
    (x,) = made.arguments
    points = [x, rng.normal(size=x.shape), np.abs(x)]
    dense = tn.jacobian(function, compress=False, mode="forward")
    found: list[str] = []
    try:
        _first_derivatives(found, function, dense, points)
        _inside_programs(found, function, dense, points[:1], rng)
        _second_derivatives(found, function, points)
    except Exception as error:
        found.append(f"{type(error).__name__}: {str(error)[:300]}")
    return found


def _first_derivatives(
    found: list[str], function: Callable[..., Any], dense: Callable[..., Any], points: list[Any]
) -> None:
    sparse = tn.jacobian(function, sparse=True)
    jitted = tn.jit(sparse)
    ways = {
        "reverse": tn.jacobian(function, compress=False, mode="reverse"),
        "compressed": tn.jacobian(function),
        "compressed, jitted": tn.jit(tn.jacobian(function)),
        "sparse": lambda x: sparse(x).toarray(),
        "sparse, jitted": lambda x: jitted(x).toarray(),
        "in a program": tn.jit(lambda x: sparse(x).toarray()),
    }
    for x in points:
        want = quietly(dense, x)
        for name, way in ways.items():
            _compare(found, name, quietly(way, x), want)
        holds = quietly(tn.sparsity(function), x).toarray()
        if np.any((want != 0) & ~holds.astype(bool)):
            found.append("the pattern lacks an entry")


def _inside_programs(
    found: list[str],
    function: Callable[..., Any],
    dense: Callable[..., Any],
    points: list[Any],
    rng: np.random.Generator,
) -> None:
    sparse = tn.jacobian(function, sparse=True)
    for x in points:
        want = quietly(dense, x)
        w, v = rng.normal(size=want.shape[0]), rng.normal(size=want.shape[1])
        right, left = quietly(tn.jit(lambda x, v, w: (sparse(x) @ v, w @ sparse(x))), x, v, w)
        _compare(found, "J v", right, want @ v)
        _compare(found, "w J", left, w @ want)
        weights = rng.normal(size=want.shape)
        slope = quietly(tn.grad(lambda x, k=weights: np.sum(k * dense(x))), x)
        one = tn.grad(lambda x, k=weights: np.sum(k * sparse(x).toarray()))
        _compare(found, "gradient of J", quietly(one, x), slope)
        _compare(found, "gradient of J, jitted", quietly(tn.jit(one), x), slope)


def _second_derivatives(found: list[str], function: Callable[..., Any], points: list[Any]) -> None:
    def energy(x: Any) -> Any:
        y = function(x)
        return np.sum(np.sin(y) * y)

    sparse = tn.hessian(energy, sparse=True)
    jitted = tn.jit(sparse)
    ways = {
        "Hessian": tn.hessian(energy),
        "sparse Hessian": lambda x: sparse(x).toarray(),
        "sparse Hessian, jitted": lambda x: jitted(x).toarray(),
    }
    for x in points:
        want = quietly(tn.jacobian(tn.grad(energy), compress=False), x)
        for name, way in ways.items():
            _compare(found, name, quietly(way, x), want)


def _compare(found: list[str], name: str, got: Any, want: Any) -> None:
    text = quietly(difference, got, want, BOUND)
    if text:
        found.append(f"{name}: {text}")


def main(arguments: list[str] | None = None) -> int:
    """Compare the functions of the command line; return 1 if a derivative differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; others follow it")
    options = parser.parse_args(arguments)
    faults = 0
    for seed in range(options.seed, options.seed + options.functions):
        made = vector_function(seed)
        texts = compare_sparse(made)
        if texts:
            print(f"seed {seed}:", *texts, made.text, repr(made.arguments[0]), sep="\n")
        faults += bool(texts)
        if seed % 100 == 0:
            gc.collect()
    print(f"{options.functions} functions: {faults} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
