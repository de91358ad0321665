"""``as_jax``: a function of tenferro inside programs of JAX.

The function is recorded for the shapes that JAX traces it with, and its equations are lowered where
JAX stands. Its derivative is a rule that does the same for tenferro's derivative, so that custom
rules, ties and masks mean the same in ``jax.grad``, at every order. Read next: ``_from_jax.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp

import tenferro as tn
from tenferro.backend import UnsupportedError
from tenferro.backend.extend import rewritten
from tenferro.computegraph import CompiledProgram, compile_program
from tenferro.primitives import Aval
from tenferro.transforms import record_program
from tenferro_xla._backend import check_readable
from tenferro_xla._bridge import Bridged
from tenferro_xla._jax import setting
from tenferro_xla._segments import plan_segments
from tenferro_xla._trace import SegmentFunction


def as_jax(function: Callable[..., Any], *, reverse_only: bool = False) -> Callable[..., Any]:
    """Return a function of tenferro as one that JAX can trace.

    It can be called in ``jax.jit``, ``jax.vmap``, ``jax.grad`` and the other transforms of JAX, and
    on arrays of JAX outside of them. Derivatives are those of tenferro: custom rules, ties and
    masks keep their meaning.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays. Values of its arguments are not known while it is traced.
    reverse_only : bool, default False
        Give JAX the derivative in reverse mode alone. Else it gets the one in forward mode and
        transposes what that was lowered to, which it cannot do for derivatives of matrix functions
        such as ``expm``, nor, from JAX 0.12 on, for loops; and a rule by ``custom_vjp`` that is not
        linear has no forward mode.

    Returns
    -------
    callable
        Function of pytrees of JAX's arrays. It can be pickled by its name, or with ``function``.

    Raises
    ------
    UnknownOperandError
        At a call, if an argument is neither an array nor a number, such as a string.
    UnsupportedError
        At a call, if JAX's 64-bit mode is off, in which JAX would narrow derivatives.
    ConcretizationError
        At a call, if the function asks for the value of an argument.
    MissingLoweringError
        At a call, if the XLA backend has no lowering for an operation.

    Examples
    --------
    >>> import jax, numpy as np
    >>> jax.config.update("jax_enable_x64", True)
    >>> from tenferro_xla import as_jax
    >>> energy = as_jax(lambda x: np.sum(np.sin(x) ** 2))
    >>> print(jax.jit(jax.grad(energy))(jax.numpy.zeros(3)))
    [0. 0. 0.]
    """

    def in_jax(*args: Any, **kwargs: Any) -> Any:
        check_width("as_jax")
        leaves, structure = jax.tree.flatten((args, kwargs))
        flat = Flat(function, structure)
        avals = tuple([_aval(leaf) for leaf in leaves])
        program = (_reversible if reverse_only else _differentiable)(flat, avals)
        pairs = zip(leaves, avals, strict=True)
        found = program(*[jnp.asarray(leaf, aval.dtype.name) for leaf, aval in pairs])
        return jax.tree.unflatten(flat.structure_of_results, found)

    options = {"reverse_only": True} if reverse_only else {}
    return Bridged("as_jax", function, options, in_jax)


def check_width(function: str) -> None:
    """Raise UnsupportedError in JAX's 32-bit mode, in which it narrows what it derives itself."""
    if not setting("jax_enable_x64"):
        raise UnsupportedError(
            f"{function}: JAX is in its 32-bit mode, and would narrow derivatives\n"
            '  hint       `jax.config.update("jax_enable_x64", True)` when the program starts;\n'
            "             arrays of float32 stay float32",
            backend="xla",
            feature="32-bit mode",
            instead='jax.config.update("jax_enable_x64", True)',
        )


def _aval(leaf: Any) -> Aval:
    """Return the aval of an array or number; numbers have the dtype that JAX's mode gives them."""
    if not isinstance(leaf, (str, bytes, type, np.dtype)):  # of a name JAX would take the dtype
        with suppress(TypeError):
            return Aval(np.shape(leaf), jnp.result_type(leaf).name)
    raise tn.UnknownOperandError(
        f"as_jax: cannot make an array of {type(leaf).__name__}\n"
        f"  got        {str(leaf)[:60]!r}\n"
        "  need       an array or a number; close over other values",
        value=leaf,
    )


class Flat:
    """A function of the leaves of its arguments, which returns the leaves of its results."""

    def __init__(self, function: Callable[..., Any], structure: Any) -> None:
        self._function = function
        self._structure = structure
        self.structure_of_results: Any = None

    def __call__(self, *leaves: Any) -> list[Any]:
        args, kwargs = jax.tree.unflatten(self._structure, leaves)
        found, self.structure_of_results = jax.tree.flatten(self._function(*args, **kwargs))
        return found


def _differentiable(
    flat: Callable[..., Sequence[Any]], avals: Sequence[Aval]
) -> Callable[..., Any]:
    """Return a flat function, lowered for these avals, with the rule that differentiates it."""
    lowered = Lowered.of(flat, avals, jax.default_backend())
    program: jax.custom_jvp[Any] = jax.custom_jvp(lowered.__call__)
    active = tuple([i for i, aval in enumerate(avals) if aval.dtype.is_inexact])
    moving = tuple([i for i, aval in enumerate(lowered.avals) if aval.dtype.is_inexact])

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        pushed = _differentiable(
            partial(_pushforward, flat, len(avals), active, moving),
            (*avals, *[avals[i] for i in active]),
        )
        values = program(*primals)  # of their own: JAX must know them without the tangents
        found = pushed(*primals, *[tangents[i] for i in active])
        given = dict(zip(moving, found, strict=True))
        return values, tuple(
            [
                given[i] if i in given else np.zeros(aval.shape, jax.dtypes.float0)
                for i, aval in enumerate(lowered.avals)
            ]
        )

    program.defjvp(rule)
    return program


def _reversible(flat: Callable[..., Sequence[Any]], avals: Sequence[Aval]) -> Callable[..., Any]:
    """Return a flat function, lowered for these avals, with the rule of reverse mode.

    Cotangents of JAX are conjugates of those of tenferro.
    """
    lowered = Lowered.of(flat, avals, jax.default_backend())
    program: jax.custom_vjp[Any] = jax.custom_vjp(lowered.__call__)
    active = tuple([i for i, aval in enumerate(avals) if aval.dtype.is_inexact])
    moving = tuple([i for i, aval in enumerate(lowered.avals) if aval.dtype.is_inexact])

    def forward(*xs: Any) -> tuple[Any, Any]:
        return program(*xs), xs

    def backward(xs: Sequence[Any], cts: Sequence[Any]) -> tuple[Any, ...]:
        pulled = _reversible(
            partial(_pullback, flat, len(avals), active, moving),
            (*avals, *[lowered.avals[i] for i in moving]),
        )
        found = pulled(*xs, *[jnp.conj(cts[i]) for i in moving])
        given = dict(zip(active, found, strict=True))
        return tuple(
            [
                jnp.conj(given[i]) if i in given else np.zeros(aval.shape, jax.dtypes.float0)
                for i, aval in enumerate(avals)
            ]
        )

    program.defvjp(forward, backward)
    return program


def _pushforward(
    flat: Callable[..., Sequence[Any]],
    count: int,
    active: Sequence[int],
    moving: Sequence[int],
    *xs: Any,
) -> list[Any]:
    """Return the tangents of the results that have any."""
    primals, tangents = xs[:count], xs[count:]
    of_active = _of_active(flat, primals, active)
    _, found = tn.jvp(of_active, tuple([primals[i] for i in active]), tuple(tangents))
    return [found[i] for i in moving]


def _pullback(
    flat: Callable[..., Sequence[Any]],
    count: int,
    active: Sequence[int],
    moving: Sequence[int],
    *xs: Any,
) -> list[Any]:
    """Return cotangents of the arguments that have any."""
    primals, cts = xs[:count], xs[count:]
    whole = _of_active(flat, primals, active)

    def of_active(*given: Any) -> list[Any]:
        found = whole(*given)
        return [found[i] for i in moving]

    _, pull = tn.vjp(of_active, *[primals[i] for i in active])
    return list(pull(list(cts)))


def _of_active(
    flat: Callable[..., Sequence[Any]], primals: Sequence[Any], active: Sequence[int]
) -> Callable[..., list[Any]]:
    """Return the function of the arguments that have tangents."""

    def of_active(*given: Any) -> list[Any]:
        whole = list(primals)
        for i, x in zip(active, given, strict=True):
            whole[i] = x
        return list(flat(*whole))

    return of_active


class Lowered(NamedTuple):
    """A program of tenferro as a function of JAX's arrays."""

    program: CompiledProgram
    run: SegmentFunction
    slots: Sequence[int]  # of the results
    captured: Sequence[tuple[Any, str]]  # values that the function closes over, and their dtypes
    avals: Sequence[Aval]  # of the results

    @classmethod
    def of(
        cls, flat: Callable[..., Sequence[Any]], avals: Sequence[Aval], platform: str
    ) -> Lowered:
        """Record a function for these avals, and choose its lowerings for a platform.

        Raises SpansProcessesError: if it closes over an array that is partly in other processes.
        """
        backend = tn.host().backend("xla")
        recorded = record_program("xla", flat, avals, {})
        graph, _ = rewritten(recorded.graph, backend)
        program = backend.lowerings.close(compile_program(graph))
        plan = plan_segments(program, frozenset(), 0)
        run = SegmentFunction(backend, program, plan.segments[0], platform)
        results = [key.aval for key in recorded.outputs]
        held = [(x, aval.dtype.name) for x, aval in recorded.captured_pairs()]
        for captured, _ in held:
            check_readable(captured)
        return cls(program, run, plan.results, held, results)

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Lower the equations where JAX stands."""
        captured = [jnp.asarray(x, dtype) for x, dtype in self.captured]
        given = dict(zip(self.program.inputs, (*operands, *captured), strict=True))
        segment = self.run.segment
        found = self.run(*[given[slot] for slot in segment.inputs])
        outputs = [kept for _, kept in segment.outputs]
        made = {**given, **dict(zip(outputs, found, strict=True))}
        return tuple([made[slot] for slot in self.slots[: len(self.avals)]])
