"""Random functions from a vector to a vector, whose derivatives have zeros: a seed stands for one.

Steps move, repeat, sum, multiply and select elements, and write into copies; many leave nothing.
The text is Python with `np` alone. Read next: `sparse.py`, which compares derivatives.
"""

from __future__ import annotations

from random import Random

import numpy as np
from programs import Program

__all__ = ["vector_function"]

SIZES = [0, 1, 2, 3, 5, 6, 7, 12, 40]
MOST = 80  # elements of a value
LIMIT = 30.0  # of its numbers
UNARY = ["np.sin({x})", "{x} * {x}", "np.exp({x} * 0.2)", "-{x}", "2.0 * {x}", "np.abs({x})",
         "np.tanh({x})", "{x} / (2 + {x} ** 2)", "np.floor({x}) + {x}", "0.0 * {x}",
         "np.where({x} > 0.3, {x} ** 2, -{x})", "np.maximum({x}, 0.2)", "np.clip({x}, -0.5, 0.5)",
         "{x}[::-1]", "np.roll({x}, 1)", "np.concatenate([{x}, {x}])[:7]", "np.pad({x}, 1)",
         "np.repeat({x}, 2)", "np.diff({x})", "np.stack([{x}, 2 * {x}]).T.ravel()",
         "np.diag({x}[:3]).ravel()", "np.outer({x}[:3], {x}[:3]).ravel()", "np.take({x}, [0, -1])",
         "np.outer({x}, {x})[:, 0]", "np.tril(np.outer({x}[:3], {x}[:3])).sum(0)",
         "np.sum({x}) * np.ones(3)", "np.max({x}) * {x}", "np.mean({x}, keepdims=True)",
         "np.prod({x}[:3]) + {x}", "np.var({x}) * {x}", "np.convolve({x}, [1.0, -2.0, 1.0])",
         "np.cumsum({x})", "np.sort({x})", "{x}[np.argsort({x})]", "{x}[np.argmax({x})] * {x}",
         "np.real(np.exp(1j * {x}))", "np.abs(np.exp(1j * {x}) + 1)", "np.full_like({x}, 2.0)",
         "{x}.reshape(-1, 1)[:, 0]", "np.einsum('i,i->', {x}, {x}) * np.ones(2)",
         "np.kron({x}[:2], {x}[:3])", "np.fft.ifft(np.fft.fft({x})).real"]  # fmt: skip
BINARY = ["{x} + {y}", "{x} * {y}", "{x} - {y}", "{x} / (3 + {y} ** 2)", "np.maximum({x}, {y})",
          "np.where({x} > {y}, {x}, {y})", "np.concatenate([{x}, {y}])", "{x}[:1] * {y}",
          "np.stack([{x}, {y}]).ravel()", "np.sum({x} * {y}) + {x}", "{x}[:1] + {y}[:0]",
          "np.outer({x}, {y})[:, 0]"]  # fmt: skip
PLACES = ["::2", "1:", ":-1", "::-1", "2:5", ":0", "[0, -1]", "[1, 1, 0]", "np.arange(3)", "None",
          "np.arange(2)[::-1]", "np.array([False])", "..., :3", "-1:"]  # fmt: skip
SIGNS = ["=", "+=", "*=", "-="]


def vector_function(seed: int, steps: int = 6) -> Program:
    """Make the function that a seed stands for, with the vector that it takes."""
    random = Random(seed)
    numbers = [round(random.gauss(0, 1), 3) for _ in range(random.choice(SIZES))]
    names = {"np": np, "x": np.array(numbers, float)}
    values, lines = ["x"], []
    for _ in range(8 * steps):
        if len(lines) == steps:
            break
        name = f"v{len(lines)}"
        text = _step(random, values, name)
        found = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in names.items()}
        if _runs(text, found) and _is_tame(found[name]):
            names = found
            lines.append(text)
            values.append(name)
    result = f"np.concatenate([{values[-1]}, {random.choice(values)}])"
    body = [line for text in lines for line in text.split("\n")]
    inside = "\n".join(f"    {line}" for line in [*body, f"return {result}"])
    return Program(seed, f"def f(x):\n{inside}\n", (np.array(numbers, float),))


def _step(random: Random, values: list[str], name: str) -> str:
    x, y = random.choice(values[-3:]), random.choice(values)
    kind, place = random.random(), random.choice(PLACES)
    if kind < 0.55:
        return f"{name} = " + random.choice(UNARY).replace("{x}", x)
    if kind < 0.75:
        return f"{name} = " + random.choice(BINARY).replace("{x}", x).replace("{y}", y)
    if kind < 0.88:
        return f"{name} = np.ravel({x}[{place}])"
    written = random.choice(["0.5", y, f"{y}[0]"])
    return f"{name} = np.copy({x})\n{name}[{place}] {random.choice(SIGNS)} {written}"


def _runs(text: str, names: dict[str, object]) -> bool:
    try:
        with np.errstate(all="ignore"):
            exec(text, names)
    except Exception:
        return False
    return True


def _is_tame(value: object) -> bool:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype != float:
        return False
    return value.size <= MOST and bool(np.all(np.abs(value) < LIMIT))
