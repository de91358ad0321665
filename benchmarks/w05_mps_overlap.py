"""W5: the overlap of two matrix product states, value and gradient of all tensors of both.

Chains of length L, bond dimension 64, physical dimension 2. By hand: left environments forwards,
right environments backwards, six products per site, and nothing twice. The others get one einsum or
the sweep from the left, whichever their users would write. Where both chains are the same array the
environments are symmetric; the hand version does not use that. Also: what value and gradient cost
over the value alone, which must not grow with L.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness.measure import by_turns
from benchmarks.harness.peers import on_device, ready
from benchmarks.harness.workload import Call, Case, Figure, Goal, Options, Workload

BOND, PHYSICAL = 64, 2
Chain = list[Any]


def inputs(given: tuple[int, bool]) -> tuple[Any, ...]:
    """Two chains whose overlap is of the order of 1, or one chain."""
    length, same = given
    rng = np.random.default_rng(length)
    ends = [1, *[BOND] * (length - 1), 1]

    def one() -> Chain:
        shapes = [(ends[i], PHYSICAL, ends[i + 1]) for i in range(length)]
        # the same positive part in all tensors keeps the overlap away from 0
        return [(0.3 + rng.standard_normal(s)) / math.sqrt(s[0] * 3) for s in shapes]

    return (one(),) if same else (one(), one())


SAME = "⟨A|A⟩, L = 32"
W = Workload(
    "W5",
    "MPS overlap, bond dimension 64: value and gradient of all tensors",
    cases=[
        Case("⟨A|B⟩, L = 16", (16, False), 16),
        Case("⟨A|B⟩, L = 32", (32, False), 32),
        Case("⟨A|B⟩, L = 64", (64, False), 64),
        Case(SAME, (32, True)),
    ],
    quick=[Case("⟨A|B⟩, L = 8", (8, False), 8), Case("⟨A|A⟩, L = 8", (8, True))],
    inputs=inputs,
    goals=[
        Goal(1.1, case="⟨A|B⟩, L = 32"),
        Goal(0.9, case=SAME),
        Goal(1.0, case="⟨A|B⟩, L = 32", contestant="tenferro xla", over="jax"),
    ],
    tolerance=1e-8,
)


@W.contestant("numpy")
def with_numpy(*chains: Chain) -> Call:
    return by_hand(np, *chains)


def by_hand(np: Any, *chains: Chain) -> Call:
    """With the arrays of NumPy, or of a library with its names."""

    def overlap(a: Chain, b: Chain) -> Any:
        n = len(a)
        left, halves = [np.ones((1, 1))], []
        for x, y in zip(a, b, strict=True):
            half = left[-1].T @ x.reshape(x.shape[0], -1)  # b, p a'
            halves.append(half.reshape(-1, x.shape[2]))
            left.append(halves[-1].T @ y.reshape(-1, y.shape[2]))
        right = np.ones((1, 1))
        ct_a, ct_b = [None] * n, [None] * n
        for i in reversed(range(n)):
            x, y = a[i], b[i]
            ct_b[i] = (halves[i] @ right).reshape(y.shape)
            half = (y.reshape(-1, y.shape[2]) @ right.T).reshape(y.shape[0], -1)  # b, p a'
            ct_a[i] = (left[i] @ half).reshape(x.shape)
            right = x.reshape(x.shape[0], -1) @ half.T
        return left[-1][0, 0], (ct_a, ct_b)

    def norm(a: Chain) -> Any:
        value, (ct_a, ct_b) = overlap(a, a)
        return value, ([x + y for x, y in zip(ct_a, ct_b, strict=True)],)

    return lambda: norm(*chains) if len(chains) == 1 else overlap(*chains)


def interleaved(*chains: Any) -> list[Any]:
    """The operands of the einsum: bonds of A are 3i, those of B 3i+1, physical axes 3i+2."""
    a, b = chains[0], chains[-1]
    found: list[Any] = []
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        found += [x, [3 * i, 3 * i + 2, 3 * i + 3], y, [3 * i + 1, 3 * i + 2, 3 * i + 4]]
    return [*found, []]


def sweep(np: Any, *chains: Any) -> Any:
    """The overlap from the left, for those whose einsum takes no hundred operands."""
    left = np.ones((1, 1))
    for x, y in zip(chains[0], chains[-1], strict=True):
        half = np.reshape(left.T @ np.reshape(x, (x.shape[0], -1)), (-1, x.shape[2]))
        left = half.T @ np.reshape(y, (-1, y.shape[2]))
    return left[0, 0]


def value_and_grad(chains: Any) -> Any:
    """tenferro's value and gradient of the einsum."""
    import tenferro as tn

    every = tuple(range(len(chains)))
    return tn.value_and_grad(lambda *chains: tn.einsum(*interleaved(*chains)), argnums=every)


@W.contestant("tenferro")
def with_tenferro(*chains: Chain) -> Call:
    import tenferro as tn

    f = tn.jit(value_and_grad(chains))
    return lambda: f(*chains)


@W.contestant("tenferro un-jitted")
def with_tenferro_unjitted(*chains: Chain) -> Call:
    f = value_and_grad(chains)
    return lambda: f(*chains)


@W.contestant("tenferro xla", needs="xla")
def with_xla(*chains: Chain) -> Call:
    import tenferro as tn

    f = tn.jit(value_and_grad(chains), backend="xla")
    arrays = on_device(chains)
    return lambda: ready(f(*arrays))


@W.contestant("jax", needs="jax")
def with_jax(*chains: Chain) -> Call:
    import jax
    import jax.numpy as jnp

    def overlap(*chains: Any) -> Any:
        return jnp.einsum(*interleaved(*chains), precision="highest")

    f = jax.jit(jax.value_and_grad(overlap, argnums=tuple(range(len(chains)))))
    arrays = jax.tree.map(jnp.asarray, chains)
    return lambda: jax.block_until_ready(f(*arrays))


@W.contestant("torch", needs="torch")
def with_torch(*chains: Chain) -> Call:
    import torch

    arrays = [[torch.as_tensor(x).requires_grad_() for x in chain] for chain in chains]
    leaves = [x for chain in arrays for x in chain]
    one = torch.ones((1, 1), dtype=torch.float64)

    def value_and_gradient() -> Any:
        left = one
        for x, y in zip(arrays[0], arrays[-1], strict=True):
            half = (left.T @ x.reshape(x.shape[0], -1)).reshape(-1, x.shape[2])
            left = half.T @ y.reshape(-1, y.shape[2])
        value = left[0, 0]
        return value, torch.autograd.grad(value, leaves)

    return value_and_gradient


@W.contestant("autograd", needs="autograd")
def with_autograd(*chains: Chain) -> Call:
    import autograd
    import autograd.numpy as anp

    f = autograd.value_and_grad(lambda chains: sweep(anp, *chains))
    return lambda: f(chains)


def over_the_value(options: Options) -> Iterator[Figure]:
    """Value and gradient over the value alone."""
    import tenferro as tn

    short = Options(quick=options.quick, budget=2.0)
    for case in W.quick if options.quick else W.cases:
        chains = inputs(case.given)
        value = tn.jit(lambda *chains: tn.einsum(*interleaved(*chains)))
        calls: dict[str, Call] = {
            "tenferro": with_tenferro(*chains),
            "tenferro value": lambda chains=chains, value=value: value(*chains),
            "numpy": by_hand(np, *chains),
            "numpy value": lambda chains=chains: sweep(np, *chains),
        }
        times = {name: min(t["cpu"]) for name, t in by_turns(calls, short).items()}
        for name in ("numpy", "tenferro"):
            ratio = times[name] / times[f"{name} value"]
            yield Figure(case.name, name, "value and gradient ÷ value", ratio)


W.figures = over_the_value
