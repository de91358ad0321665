"""What random numbers cost: a million at once, against NumPy's generator and JAX's, in one run.

Rows are timed in turns, by processor time of all cores, the best of some rounds; columns without
their library are left out. NumPy's generator has a state and no parts; JAX draws float64 from
threefry too.

    python benchmarks/random_numbers.py [--count 1000000] [--rounds 10]
"""

import argparse
from time import process_time

import numpy as np

import tenferro as tn

GENERATOR = np.random.default_rng(0)
KEY = np.asarray(tn.random.key(0))
NAMES = ("bits", "uniform", "normal", "exponential", "gamma", "randint", "permutation")


def ours(backend, count):
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


def numpys(count):
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


def jaxs(count):
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


def columns(count):
    """The draws by column and name."""
    found = {"numpy": numpys(count), "tenferro": ours("numpy", count)}
    if tn.host().is_available("xla"):
        found["tenferro xla"] = ours("xla", count)
        found["jax"] = jaxs(count)
    return found


def best(columns, name, rounds):
    """The shortest time of each column, in milliseconds; the first call warms up."""
    times = {column: [] for column in columns}
    for turn in range(rounds + 1):
        for column, rows in columns.items():
            start = process_time()
            rows[name]()
            if turn:
                times[column].append(1e3 * (process_time() - start))
    return {column: min(found) for column, found in times.items()}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    found = columns(options.count)
    print(f"{'milliseconds':<14}" + "".join(f"{column:>14}" for column in found))
    for name in NAMES:
        times = best(found, name, options.rounds)
        print(f"{name:<14}" + "".join(f"{time:>14.2f}" for time in times.values()))


if __name__ == "__main__":
    main()
