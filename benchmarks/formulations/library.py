"""Holds the names that differ from library to library, and collects the ways to write a function.

A way is a function `loss(lib, *inputs)`. It uses `lib.np` as NumPy and asks `lib` for the rest:
functions that SciPy has, buffers that are filled in parts, `vmap` and `scan`. It knows nothing else
of the library that runs it. Read next: `gmm.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from benchmarks.harness.peers import on_device, ready
from benchmarks.harness.workload import Call, Case

LIBRARIES = {  # the contestants' first word, and the peer that each one needs
    "tenferro": "",
    "tenferro un-jitted": "",
    "tenferro xla": "xla",
    "jax": "jax",
    "autograd": "autograd",
}


class Library(NamedTuple):
    """A namespace like NumPy's, and what lies elsewhere in each library."""

    np: Any
    special: Any  # logsumexp, softmax, log_softmax
    linalg: Any  # solve_triangular, cho_factor, cho_solve
    own: Any  # the library's own namespace, for what NumPy would make as an array of its own
    put: Callable[[Any, Any, Any], Any]  # buffer[index] = value, returning the buffer
    value_and_grad: Callable[..., Any]
    grad: Callable[..., Any]
    jacobian: Callable[..., Any]
    jvp: Callable[..., Any] | None = None
    vmap: Callable[..., Any] | None = None
    scan: Callable[..., Any] | None = None


class Way(NamedTuple):
    """One way to write a function. `other` says that it is another algorithm, not other words."""

    name: str
    function: Callable[[Library], Callable[..., Any]]  # of the inputs, to value and gradient
    without: tuple[str, ...]  # libraries that have no such thing
    other: bool


class Formulations:
    """A function: its cases, its version by hand, and the ways to write it."""

    def __init__(
        self,
        inputs: Callable[[int], tuple[Any, ...]],
        cases: Sequence[Case],
        quick: Sequence[Case],
        argnums: int | tuple[int, ...] = 0,
    ) -> None:
        self.inputs, self.cases, self.quick, self.argnums = inputs, cases, quick, argnums
        self.ways: list[Way] = []
        self.by_hand: Callable[..., Call] = lambda *inputs: lambda: None

    def hand(self, make: Callable[..., Call]) -> Callable[..., Call]:
        """Enter the version by hand."""
        self.by_hand = make
        return make

    def way(
        self, name: str, without: tuple[str, ...] = (), other: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Enter a loss, of which value and gradient are asked."""

        def enter(loss: Callable[..., Any]) -> Callable[..., Any]:
            def function(lib: Library) -> Callable[..., Any]:
                return lib.value_and_grad(lambda *given: loss(lib, *given), self.argnums)

            self.ways.append(Way(name, function, without, other))
            return loss

        return enter

    def task(
        self, name: str, without: tuple[str, ...] = ()
    ) -> Callable[[Callable[[Library], Any]], Callable[[Library], Any]]:
        """Enter a function that asks the library for derivatives itself."""

        def enter(function: Callable[[Library], Any]) -> Callable[[Library], Any]:
            self.ways.append(Way(name, function, without, other=False))
            return function

        return enter


def caller(library: str, way: Way) -> Callable[..., Call]:
    """Return the contestant that runs a way in a library: inputs → a call without arguments."""

    def make(*inputs: Any) -> Call:
        return CALLERS[library](way, *inputs)

    return make


# ---- tenferro ------------------------------------------------------------------------------------


def tenferro() -> Library:
    """Return tenferro's functions; NumPy's own are used by their own names."""
    import tenferro as tn

    return Library(
        np=numpy,
        special=tn.special,
        linalg=tn.linalg,
        own=tn,
        put=assigned,
        value_and_grad=tn.value_and_grad,
        grad=tn.grad,
        jacobian=tn.jacobian,
        jvp=tn.jvp,
        vmap=tn.vmap,
        scan=tn.scan,
    )


def assigned(buffer: Any, index: Any, value: Any) -> Any:
    """Assign as NumPy's users do."""
    buffer[index] = value
    return buffer


def with_tenferro(way: Way, *inputs: Any) -> Call:
    import tenferro as tn

    f = tn.jit(way.function(tenferro()))
    return lambda: f(*inputs)


def with_tenferro_unjitted(way: Way, *inputs: Any) -> Call:
    f = way.function(tenferro())
    return lambda: f(*inputs)


def with_xla(way: Way, *inputs: Any) -> Call:
    import tenferro as tn

    f = tn.jit(way.function(tenferro()), backend="xla")
    arrays = on_device(inputs)
    return lambda: ready(f(*arrays))


# ---- peers ---------------------------------------------------------------------------------------


def with_jax(way: Way, *inputs: Any) -> Call:
    import jax
    import jax.numpy as jnp
    import jax.scipy

    lib = Library(
        np=jnp,
        special=jax.scipy.special,
        linalg=jax.scipy.linalg,
        own=jnp,
        put=lambda buffer, index, value: buffer.at[index].set(value),
        value_and_grad=jax.value_and_grad,
        grad=jax.grad,
        jacobian=jax.jacfwd,
        jvp=jax.jvp,
        vmap=jax.vmap,
        scan=jax.lax.scan,
    )
    f = jax.jit(way.function(lib))
    arrays = on_device(inputs)
    return lambda: ready(f(*arrays))


def with_autograd(way: Way, *inputs: Any) -> Call:
    import autograd
    import autograd.numpy as anp
    import autograd.scipy.linalg
    import autograd.scipy.special

    def refused(*given: Any) -> Any:
        raise NotImplementedError("autograd has no assignment to parts of an array")

    lib = Library(
        np=anp,
        special=autograd.scipy.special,
        linalg=autograd.scipy.linalg,
        own=anp,
        put=refused,
        value_and_grad=autograd.value_and_grad,
        grad=autograd.grad,
        jacobian=autograd.jacobian,
    )
    f = way.function(lib)
    return lambda: f(*inputs)


CALLERS = {
    "tenferro": with_tenferro,
    "tenferro un-jitted": with_tenferro_unjitted,
    "tenferro xla": with_xla,
    "jax": with_jax,
    "autograd": with_autograd,
}
