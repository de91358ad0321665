"""Linear maps: ``linearize`` and ``vjp``, which sweep once and apply the result many times.

The inner product is ⟨a, b⟩ = Re Σ conj(a) b, so a pullback is the Hermitian adjoint of the
derivative. Read next: ``compilation/jit.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar, overload

from tenferro.arrays import Array, evaluate_keys, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import evaluable
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle, TensorPrimitive
from tenferro.primitives._boundary import bounded
from tenferro.tidu import ADContext, Linearization, in_rule, linearize_keys
from tenferro.transforms.derivatives.directions import (
    LeafPlace,
    direction_key,
    flow_key,
    mismatch,
)
from tenferro.transforms.derivatives.grad import check_differentiable, regroup
from tenferro.transforms.derivatives.partial_transpose import PartialTranspose, Positions, sides_of
from tenferro.transforms.derivatives.pullback import Swept, sweep_once
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.record import Recording, record
from tenferro.transforms.recording.rolling import with_loops
from tenferro.transforms.recording.run_or_record import as_user, key_of, pending

_R = TypeVar("_R")
_Aux = TypeVar("_Aux")


class Linearized:
    """A recorded function with its linear map: swept anew, or by programs of an earlier sweep."""

    def __init__(self, recording: Recording, context: ADContext | None, transposed: bool) -> None:
        for key in recording.wrt:
            check_differentiable(key)
        self.recording = recording
        self.outputs = [key_of(x) for x in recording.outputs]
        self._context = context
        self._transposed = transposed
        self._swept = self._programs()
        if self._swept is None:
            self._evaluate()  # what calls of the map will read

    def _programs(self) -> Swept | None:
        recording = self.recording
        wrt, outputs, aux = recording.wrt, self.outputs, recording.aux.keys
        into, out = (outputs, wrt) if self._transposed else (wrt, outputs)

        def emit(linear: Linearization, given: list[Handle]) -> list[ValueKey]:
            found = linear.transpose(given) if self._transposed else linear.apply(given)
            return [flow_key(k, t) for k, t in zip(out, found, strict=True)]

        kind = "vjp" if self._transposed else "linearize", len(outputs), self._context
        places = [key.aval for key in into]

        def sweep() -> tuple[Sequence[ValueKey], Linearization]:
            return self.primal, self.linear

        return sweep_once(kind, wrt, [*outputs, *aux], places, sweep, emit)

    @cached_property
    def primal(self) -> Sequence[ValueKey]:
        """The outputs and the auxiliary result, with long loops rolled."""
        recording = self.recording
        found = [*self.outputs, *recording.aux.keys]
        return found if in_rule() else with_loops(found, recording.wrt)

    @cached_property
    def linear(self) -> Linearization:
        """The derivative, swept here."""
        of, wrt = self.primal[: len(self.outputs)], self.recording.wrt
        return linearize_keys(of, wrt, space=TensorPrimitive.space, context=self._context)

    def _evaluate(self) -> None:
        """Compute the values, and what the linear map reads of them."""
        needed = [*self.primal, *self.linear.residuals]
        if self.known:
            evaluate_keys(needed)  # does nothing the second time

    @cached_property
    def known(self) -> bool:
        """Return True if all values are known and no transform is open on them."""
        needed = [*self.primal, *self.linear.residuals]
        return not any(map(is_traced, needed)) and all(map(evaluable, self.primal))

    def value(self) -> Any:
        """Return the value of the function in the form that the user receives."""
        spec, count = self.recording.out_spec, len(self.outputs)
        if self._swept is not None:
            return _tree.unflatten(spec, self._swept.delivered(self.recording.plain)[:count])
        return _tree.unflatten(spec, self.delivered(self.primal[:count], True))

    def aux(self) -> Any:
        """Return the function's auxiliary result in the form that the user receives."""
        aux = self.recording.aux
        if self._swept is not None:
            values = self._swept.delivered(self.recording.plain)[len(self.outputs) :]
            return aux.with_values(values)
        return aux.with_values(self.delivered(self.primal[len(self.outputs) :], True))

    def apply(self, values: list[Any], plain: bool) -> list[Any]:
        """Return the leaves of the derivative along tangents."""
        found = None
        if self._swept is not None and not self._transposed:
            found = self._swept.apply([x.key for x in values], plain and self.recording.plain)
        if found is not None:
            return found
        self._evaluate()
        return self._flow(self.linear.apply(values), self.outputs, plain)

    def transpose(self, values: list[Any], plain: bool) -> list[Any]:
        """Return the leaves of the adjoint along cotangents."""
        found = None
        if self._swept is not None and self._transposed:
            found = self._swept.apply([x.key for x in values], plain and self.recording.plain)
        if found is not None:
            return found
        self._evaluate()
        return self._flow(self.linear.transpose(values), self.recording.wrt, plain)

    def both_ways(
        self, tangents: Sequence[Any], cotangents: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return tangents of the outputs, and cotangents of the inputs."""
        self._evaluate()
        return self.linear.apply(tangents), self.linear.transpose(cotangents)

    def _flow(self, found: Sequence[Any], like: Sequence[ValueKey], plain: bool) -> list[Any]:
        return self.delivered([flow_key(k, t) for k, t in zip(like, found, strict=True)], plain)

    def delivered(self, keys: Sequence[ValueKey], plain: bool) -> list[Any]:
        """Return values in the form that the user receives."""
        if self.known and not any([is_traced(key) for key in keys]):
            evaluate_keys([key for key in keys if evaluable(key)])
        plain = plain and self.recording.plain
        return [as_user(x, plain) for x in pending(keys)]

    def directions(
        self,
        tree: Any,
        keys: Sequence[ValueKey],
        spec: Any,
        prefix: str,
        loans: Loans,
        called: str,
    ) -> list[Any]:
        """Return given tangents or cotangents as handles."""
        leaves, structure = _tree.flatten(tree)
        if not _tree.same_structure(structure, spec):
            raise mismatch(f"structure {_tree.describe(structure)}", _tree.describe(spec))
        pairs = enumerate(zip(leaves, keys, strict=True))
        return [
            Handle(direction_key(leaf, key, prefix, loans, LeafPlace(tree, called, i)))
            for i, (leaf, key) in pairs
        ]


_MISSING: Any = object()


class LinearMap:
    """The derivative of a function at a point: call it with tangents, transpose it, or look at it.

    >>> import tenferro as tn
    >>> y, df = tn.linearize(lambda x: 3 * x, tn.zeros(2))
    >>> df.transpose.__doc__.split(".")[0]
    'Apply the adjoint to a cotangent of the result; a tuple with one entry per argument'
    """

    def __init__(self, linearized: Linearized) -> None:
        self._linearized = linearized

    @bounded("linearize")
    def __call__(self, *tangents: Any) -> Any:
        """Apply the map to tangents, one per argument of the function."""
        with Loans() as loans:
            return self._apply(tangents, loans)

    def transpose(
        self,
        cotangent: Any = _MISSING,
        *,
        inputs: Positions | None = None,
        outputs: Positions | None = None,
    ) -> Any:
        """Apply the adjoint to a cotangent of the result; a tuple with one entry per argument.

        Without a cotangent, transpose a part of the map: the blocks between the arguments
        ``inputs`` and the results ``outputs`` are transposed, all others stay.

        Parameters
        ----------
        cotangent : pytree, optional
            Cotangent of the result, in its structure.
        inputs, outputs : int or sequence of int, optional
            Positions of arguments, and of results if the function returns a tuple or list. All if
            only the other one is given.

        Returns
        -------
        tuple or PartialTranspose
            Cotangents of the arguments; or the new map. It takes cotangents of the results
            ``outputs``, then tangents of the other arguments. It returns cotangents of the
            arguments ``inputs``, then tangents of the other results.

        Raises
        ------
        MixedFlowError
            If one of these results depends on another argument, or another result on one of these
            arguments: that block of the map would be lost.

        Examples
        --------
        >>> import tenferro as tn
        >>> y, df = tn.linearize(lambda a, b: (3 * a, 5 * b), 1.0, 1.0)
        >>> df.transpose((1.0, 1.0))
        (np.float64(3.0), np.float64(5.0))
        >>> df.transpose(inputs=[1], outputs=[1])(1.0, 1.0)
        (np.float64(5.0), np.float64(3.0))
        """
        if inputs is None and outputs is None:
            return self._adjoint(cotangent)
        if cotangent is not _MISSING:
            text = (
                "transpose takes a cotangent, or inputs and outputs to transpose\n"
                "  hint       `df.transpose(inputs=0, outputs=0)(cotangent, …)`"
            )
            raise at_user_line(TypeError(text))
        return PartialTranspose(self._linearized, *sides_of(self._linearized)).transpose(
            inputs=inputs, outputs=outputs
        )

    @bounded("vjp")
    def _adjoint(self, cotangent: Any) -> tuple[Any, ...]:
        if cotangent is _MISSING:
            raise at_user_line(TypeError("transpose takes a cotangent of the result"))
        with Loans() as loans:
            return self._transpose(cotangent, loans)

    def _apply(self, tangents: Sequence[Any], loans: Loans) -> Any:
        found = self._linearized
        recording = found.recording
        if len(tangents) != len(recording.specs):
            raise mismatch(f"{len(tangents)} tangents", f"{len(recording.specs)}")
        values: list[Any] = []
        start = 0
        for i, (tangent, spec) in enumerate(zip(tangents, recording.specs, strict=True)):
            keys = recording.wrt[start : start + spec.num_leaves]
            start += spec.num_leaves
            values += found.directions(tangent, keys, spec, "d", loans, f"tangents[{i}]")
        plain = not any([isinstance(t, Array) for t in _tree.flatten(tangents)[0]])
        return _tree.unflatten(recording.out_spec, found.apply(values, plain))

    def _transpose(self, cotangent: Any, loans: Loans) -> tuple[Any, ...]:
        found = self._linearized
        recording = found.recording
        spec = recording.out_spec
        values = found.directions(cotangent, found.outputs, spec, "ct", loans, "cotangent")
        plain = not any([isinstance(t, Array) for t in _tree.flatten(cotangent)[0]])
        return regroup(found.transpose(values, plain), recording.specs)


@overload
def linearize(
    function: Callable[..., _R],
    *primals: Any,
    has_aux: Literal[False] = False,
    context: ADContext | None = None,
) -> tuple[_R, LinearMap]: ...
@overload
def linearize(
    function: Callable[..., tuple[_R, _Aux]],
    *primals: Any,
    has_aux: Literal[True],
    context: ADContext | None = None,
) -> tuple[_R, LinearMap, _Aux]: ...
def linearize(
    function: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    context: ADContext | None = None,
) -> Any:
    """Compute the value at a point, and the derivative there as a linear map.

    The derivative is recorded and its residuals are computed once. Each call of the map reuses
    them.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers.
    *primals
        Arguments at which ``function`` is differentiated.
    has_aux : bool, default False
        If True, ``function`` returns (value, aux), and aux is a third result.
    context : ADContext, optional
        Derivative rules that replace those of the primitives.

    Returns
    -------
    tuple
        (f(x), df), or (f(x), df, aux) with ``has_aux``. Call ``df`` with one tangent per
        argument, or ``df.transpose`` with a cotangent of the value. ``df.transpose(inputs=…,
        outputs=…)`` transposes a part of the map.

    Examples
    --------
    >>> import tenferro as tn
    >>> y, df = tn.linearize(lambda x: x * x, 3.0)
    >>> df(1.0)
    np.float64(6.0)
    """
    check_function(function, "linearize", context=context)
    with Loans(keeps=True) as loans:
        recording = record(function, primals, {}, range(len(primals)), loans, has_aux)
        linearized = Linearized(recording, context, transposed=False)
        if has_aux:
            return linearized.value(), LinearMap(linearized), linearized.aux()
        return linearized.value(), LinearMap(linearized)


@overload
def vjp(
    function: Callable[..., _R],
    *primals: Any,
    has_aux: Literal[False] = False,
    context: ADContext | None = None,
) -> tuple[_R, Callable[..., Any]]: ...
@overload
def vjp(
    function: Callable[..., tuple[_R, _Aux]],
    *primals: Any,
    has_aux: Literal[True],
    context: ADContext | None = None,
) -> tuple[_R, Callable[..., Any], _Aux]: ...
def vjp(
    function: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    context: ADContext | None = None,
) -> Any:
    """Compute the value at a point, and the function that pulls cotangents back.

    Everything that the pullback needs is computed together with the value. Calling the pullback
    recomputes nothing.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers.
    *primals
        Arguments at which ``function`` is differentiated.
    has_aux : bool, default False
        If True, ``function`` returns (value, aux), and aux is a third result.
    context : ADContext, optional
        Derivative rules that replace those of the primitives.

    Returns
    -------
    tuple
        (f(x), pullback), or (f(x), pullback, aux) with ``has_aux``. ``pullback`` takes a
        cotangent of f(x) and returns a tuple with one cotangent per argument.

    Examples
    --------
    >>> import tenferro as tn
    >>> y, pullback = tn.vjp(lambda a, b: a * b, 2.0, 5.0)
    >>> pullback(1.0)
    (np.float64(5.0), np.float64(2.0))
    """
    check_function(function, "vjp", context=context)
    with Loans(keeps=True) as loans:
        recording = record(function, primals, {}, range(len(primals)), loans, has_aux)
        linearized = Linearized(recording, context, transposed=True)
        pullback = LinearMap(linearized).transpose
        if has_aux:
            return linearized.value(), pullback, linearized.aux()
        return linearized.value(), pullback
