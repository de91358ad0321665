"""``JaxCall``: the primitive that calls a function of JAX.

The function takes and returns a flat list of arrays. What JAX makes of it, its pushforward, the
transpose of that and its batch, are functions of the same kind. Read next: ``lowerings/calls.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
from jax import numpy as jnp

from tenferro.primitives import Aval, Handle, Mixed, bind_all, zeros_like
from tenferro.tidu import FlowInput, Residual, RuleBuilder, Value, emit
from tenferro_xla._jax import shape_dtype

Function = Callable[..., Any]  # of arrays, to a sequence of arrays


class JaxCall(Mixed):
    """ys = function(xs), jointly linear in the inputs that are marked"""

    key = "jax::call"
    linear = ()
    input_count = None
    fixed_rules = False
    function: Any  # a Function
    results: tuple[Aval, ...]
    marks: tuple[bool, ...] = ()

    @property
    def output_count(self) -> int:
        """As many as there are results."""
        return len(self.results)

    def abstract_eval(self, *xs: Aval) -> tuple[Aval, ...]:
        return self.results

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return the one group of inputs that are marked."""
        found = tuple([i for i, on in enumerate(self.marks) if on])
        return (found,) if found else ()

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Push the tangents that flow through the function, all at once."""
        active = tuple([i for i, tangent in enumerate(tangents_in) if tangent is not None])
        for group in self.groups(len(primals_in)):
            if {*active} <= {*group}:
                return rule.apply_linear(self, group, primals_in, tangents_in)
        moving = tuple([i for i, aval in enumerate(self.results) if aval.dtype.is_inexact])
        if not moving:
            return [None] * len(self.results)
        pushed = JaxCall(
            _Pushforward(self.function, len(primals_in), active, moving),
            tuple([self.results[i] for i in moving]),
            (False,) * len(primals_in) + (True,) * len(active),
        )
        given = [*primals_in, *[tangents_in[i] for i in active]]
        found = dict(zip(moving, emit(pushed, given, Handle), strict=True))
        return [found.get(i) for i in range(len(self.results))]

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Sequence[Value | None],
        inputs: Sequence[Residual | FlowInput],
    ) -> Sequence[Value | None]:
        """Pull the cotangents back through the function, all at once."""
        flow = {i: x.aval for i, x in enumerate(inputs) if isinstance(x, FlowInput)}
        active, avals = tuple(flow), tuple(flow.values())
        known = [x.value for x in inputs if isinstance(x, Residual)]
        pairs = zip(cotangents_out, self.results, strict=True)
        cts = [zeros_like(aval) if ct is None else ct for ct, aval in pairs]
        pulled = JaxCall(
            _Pullback(self.function, len(inputs), active, avals),
            avals,
            (False,) * len(known) + (True,) * len(cts),
        )
        found = dict(zip(active, emit(pulled, [*known, *cts], Handle), strict=True))
        return [found.get(i) for i in range(len(inputs))]

    def batch(self, size: int, batched: Sequence[bool], *xs: Handle) -> tuple[Handle, ...]:
        """Call the function on the batch, as ``jax.vmap`` does."""
        results = tuple([aval.with_shape((size, *aval.shape)) for aval in self.results])
        function = _Batch(self.function, tuple(batched))
        return bind_all(JaxCall(function, results, self.marks), *xs)


class _Pushforward(NamedTuple):
    """Primals and tangents that flow   →   tangents of the results that have any."""

    function: Function
    inputs: int
    active: tuple[int, ...]
    moving: tuple[int, ...]

    def __call__(self, *xs: Any) -> tuple[Any, ...]:
        primals, tangents = xs[: self.inputs], xs[self.inputs :]

        def of_active(*given: Any) -> tuple[Any, ...]:
            found = self.function(*_filled(primals, self.active, given))
            return tuple([found[i] for i in self.moving])

        _, pushed = jax.jvp(of_active, tuple([primals[i] for i in self.active]), tuple(tangents))
        return tuple(pushed)


class _Pullback(NamedTuple):
    """Inputs without flow and cotangents of the results   →   cotangents of the inputs with flow.

    JAX transposes under Re(a·b), tenferro under Re(conj(a)·b).
    """

    function: Function
    inputs: int
    active: tuple[int, ...]
    avals: tuple[Aval, ...]

    def __call__(self, *xs: Any) -> tuple[Any, ...]:
        count = self.inputs - len(self.active)
        known, cts = xs[:count], xs[count:]
        others = [i for i in range(self.inputs) if i not in self.active]
        given = _filled([None] * self.inputs, others, known)

        def of_active(*flow: Any) -> tuple[Any, ...]:
            return tuple(self.function(*_filled(given, self.active, flow)))

        specs = [shape_dtype(aval.shape, aval.dtype.name) for aval in self.avals]
        pull = jax.linear_transpose(of_active, *specs)
        return tuple([jnp.conj(x) for x in pull(tuple([jnp.conj(ct) for ct in cts]))])


class _Batch(NamedTuple):
    """The function of a batch, along the first axis of the inputs that are marked."""

    function: Function
    batched: tuple[bool, ...]

    def __call__(self, *xs: Any) -> tuple[Any, ...]:
        axes = tuple([0 if on else None for on in self.batched])
        mapped: Any = jax.vmap(lambda *given: tuple(self.function(*given)), in_axes=axes)
        found: tuple[Any, ...] = mapped(*xs)
        return found


def _filled(xs: Sequence[Any], places: Sequence[int], given: Sequence[Any]) -> list[Any]:
    """Return a list with other values at some places."""
    found = list(xs)
    for i, x in zip(places, given, strict=True):
        found[i] = x
    return found
