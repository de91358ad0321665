"""What random numbers cost: a million at once, against NumPy's generator and JAX's.

NumPy's generator has a state and no parts; JAX draws float64 from threefry too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tenferro as tn
from benchmarks.harness.measure import by_turns
from benchmarks.harness.workload import Call, Figure, Options, Workload, installed

W = Workload("random_numbers", "a million random numbers", cases=[], quick=[])
GENERATOR = np.random.default_rng(0)
KEY = np.asarray(tn.random.key(0))
NAMES = ("bits", "uniform", "normal", "exponential", "gamma", "randint", "permutation")


def ours(backend: str, count: int) -> dict[str, Call]:
    """One compiled draw per row."""
    draws = {
        "bits": lambda key: tn.random.bits(key, count, "uint64"),
        "uniform": lambda key: tn.random.uniform(key, count),
        "normal": lambda key: tn.random.normal(key, count),
        "exponential": lambda key: tn.random.exponential(key, count),
        "gamma": lambda key: tn.random.gamma(key, 2.5, count),
        "randint": lambda key: tn.random.randint(key, count, 0, 1000, "int32"),
        "permutation": lambda key: tn.random.permutation(key, count),
    }
    compiled = {name: tn.jit(draw, backend=backend) for name, draw in draws.items()}
    return {name: lambda draw=draw: draw(KEY) for name, draw in compiled.items()}


def numpys(count: int) -> dict[str, Call]:
    """The same draws by a generator of NumPy."""
    return {
        "bits": lambda: GENERATOR.integers(0, 2**64, count, np.uint64),
        "uniform": lambda: GENERATOR.random(count),
        "normal": lambda: GENERATOR.normal(size=count),
        "exponential": lambda: GENERATOR.exponential(size=count),
        "gamma": lambda: GENERATOR.gamma(2.5, size=count),
        "randint": lambda: GENERATOR.integers(0, 1000, count, np.int32),
        "permutation": lambda: GENERATOR.permutation(count),
    }


def jaxs(count: int) -> dict[str, Call]:
    """The same draws by JAX, compiled."""
    import jax

    jax.config.update("jax_enable_x64", True)
    key = jax.random.key(0)
    draws = {
        "bits": lambda key: jax.random.bits(key, (count,), "uint64"),
        "uniform": lambda key: jax.random.uniform(key, (count,), "float64"),
        "normal": lambda key: jax.random.normal(key, (count,), "float64"),
        "exponential": lambda key: jax.random.exponential(key, (count,), "float64"),
        "gamma": lambda key: jax.random.gamma(key, 2.5, (count,), "float64"),
        "randint": lambda key: jax.random.randint(key, (count,), 0, 1000, "int32"),
        "permutation": lambda key: jax.random.permutation(key, count),
    }
    compiled = {name: jax.jit(draw) for name, draw in draws.items()}
    return {
        name: lambda draw=draw: draw(key).block_until_ready() for name, draw in compiled.items()
    }


def columns(count: int, peers: tuple[str, ...]) -> dict[str, dict[str, Call]]:
    """The draws by contestant and name."""
    found = {"numpy": numpys(count), "tenferro": ours("numpy", count)}
    if "xla" in peers and installed("xla"):
        found["tenferro xla"] = ours("xla", count)
    if "jax" in peers and installed("jax"):
        found["jax"] = jaxs(count)
    return found


def figures(options: Options) -> Iterator[Figure]:
    """The shortest time of each draw."""
    found = columns(10_000 if options.quick else 1_000_000, options.peers)
    for name in NAMES:
        calls = {contestant: draws[name] for contestant, draws in found.items()}
        for contestant, times in by_turns(calls, Options(quick=options.quick, budget=2.0)).items():
            yield Figure(name, contestant, "draw", min(times["cpu"]), "s")


W.figures = figures
