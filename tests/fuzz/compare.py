"""Compare random programs of NumPy with NumPy itself, and gradients with JAX.

    python tests/fuzz/compare.py --programs 10000 --gradients 1000 --seed 20261122

prints each difference with its seed and the program's text, and ends with 1 if there is one.
Differences that are no fault are the classes of `accepted.py`, each with its reason.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from accepted import accepted
from programs import Program, program

import tenferro as tn

__all__ = ["compare_gradient", "compare_values", "main"]

TOLERANCE = {"float16": 2e-2, "float32": 1e-3, "complex64": 1e-3}


def quietly(function: Callable[..., Any], *operands: Any) -> Any:
    """Call a function without NumPy's warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*operands)


def tolerance(values: Any) -> float:
    """Rounding of the least precise dtype among the values of a program."""
    return max([TOLERANCE.get(np.asarray(x).dtype.name, 1e-8) for x in values])


def difference(got: Any, want: Any, bound: float) -> str:
    """Say how two results differ; an empty text if they agree up to rounding."""
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, NumPy's {want.dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape}, NumPy's {want.shape}"
    if want.dtype.kind not in "fc":
        return "" if np.array_equal(got, want) else f"values {got}, NumPy's {want}"
    finite = np.abs(want[np.isfinite(want)])
    scale = bound * max(1.0, float(np.max(finite, initial=0.0)))
    with np.errstate(all="ignore"):
        same = np.isclose(got, want, rtol=bound, atol=scale, equal_nan=True)
    return "" if np.all(same) else f"values {got}, NumPy's {want}"


def compare_values(made: Program) -> list[str]:
    """Run a program eagerly and under `jit`; return what differs from NumPy."""
    function = made.function()
    want = quietly(function, *[x.copy() for x in made.arguments])
    bound = tolerance((*want, *made.arguments))
    found = []
    for mode in ("eager", "jit"):
        ours = [x.copy() for x in made.arguments]
        try:
            if mode == "eager":
                got = quietly(function, *[tn.asarray(x) for x in ours])
            else:
                got = quietly(tn.jit(function), *ours)
            found += [
                f"{mode}: result {i}: {text}"
                for i, pair in enumerate(zip(got, want, strict=True))
                if (text := quietly(difference, *pair, bound))
            ]
        except Exception as error:
            found.append(f"{mode}: {type(error).__name__}: {str(error)[:300]}")
        if any(x.tobytes() != y.tobytes() for x, y in zip(ours, made.arguments, strict=True)):
            found.append(f"{mode}: an argument was changed")
    return [text for text in found if not accepted(made, text)]


_ASSIGNMENT = re.compile(r"^( +)(\w+)\[(.*?)\] ([-+*]?)= (.*)$", re.MULTILINE)


def _functional(line: re.Match[str]) -> str:
    """An assignment as JAX writes it."""
    indent, name, place, sign, value = line.groups()
    value = f"{name}[{place}] {sign} ({value})" if sign else value
    return f"{indent}{name} = {name}.at[{place}].set({value})"


def compare_gradient(made: Program) -> list[str]:
    """Compare the gradient in all arguments with JAX's, eagerly and under `jit`."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    everything = tuple(range(len(made.arguments)))
    try:
        text = _ASSIGNMENT.sub(_functional, made.text)
        function = made._replace(text=text).function(jnp)
        want = jax.grad(function, everything)(*map(jnp.asarray, made.arguments))
    except Exception as error:
        return [f"unsupported by JAX: {type(error).__name__}"]
    found = []
    for mode in ("eager", "jit"):
        gradient = tn.grad(made.function(), argnums=everything)
        try:
            got = quietly(tn.jit(gradient) if mode == "jit" else gradient, *made.arguments)
        except Exception as error:
            found.append(f"{mode}: {type(error).__name__}: {str(error)[:300]}")
            continue
        for i, pair in enumerate(zip(got, want, strict=True)):
            if text := difference(*pair, 1e-7):
                found.append(f"{mode}: gradient {i}: {text}")
    return [text for text in found if not accepted(made, text)]


def main(arguments: list[str] | None = None) -> int:
    """Run the programs of the command line; return 1 if a difference is not accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--gradients", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; others follow it")
    options = parser.parse_args(arguments)
    faults = 0
    for seed in range(options.seed, options.seed + options.programs):
        made = program(seed)
        faults += _report(made, compare_values(made))
        if seed % 500 == 0:
            gc.collect()
    compared, seed, unsupported = 0, options.seed, Counter[str]()
    while compared < options.gradients:
        made = program(seed, "smooth")
        texts = compare_gradient(made)
        if texts and texts[0].startswith("unsupported"):
            unsupported[texts[0]] += 1
        else:
            compared += 1
            faults += _report(made, texts)
        seed += 1
    print(
        f"{options.programs} programs, {compared} gradients: {faults} differ; {dict(unsupported)}"
    )
    return 1 if faults else 0


def _report(made: Program, texts: list[str]) -> int:
    if texts:
        print(f"seed {made.seed}:", *texts, made.text, *map(repr, made.arguments), sep="\n")
    return bool(texts)


if __name__ == "__main__":
    sys.exit(main())
