"""Directional derivatives, pullbacks and linear maps: ``jvp``, ``vjp``, ``linearize``, ``hvp``.

The inner product is ⟨a, b⟩ = Re Σ conj(a) b, so a pullback is the Hermitian adjoint of the
derivative. Read next: ``compilation/jit.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, evaluate_keys, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS, evaluable, is_weak
from tenferro.arrays.handle.convert import aval_of_operand
from tenferro.arrays.promotion.broadcast import weak
from tenferro.computegraph import UNKNOWN, ValueKey, new_leaf
from tenferro.primitives import Handle, Primitive, constant, convert
from tenferro.primitives._aval import Aval
from tenferro.primitives._boundary import bounded
from tenferro.tidu import ADContext, Linearization, Value, linearize_keys, pushforward
from tenferro.transforms.derivatives.grad import check_differentiable, grad, regroup
from tenferro.transforms.derivatives.pullback import Swept, sweep_once
from tenferro.transforms.errors import TangentMismatchError, check_function
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.record import Loans, Name, Recording, make_known, record
from tenferro.transforms.recording.run_or_record import as_user, key_of, pending, run_or_record

_SCALARS = frozenset(SCALARS)


def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> Any:
    """Compute the value and the derivative in one direction, by forward mode.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers.
    primals : tuple
        Arguments at which ``function`` is differentiated.
    tangents : tuple
        Direction, with the structure of ``primals``. None stands for a zero tangent. A Python
        number is a tangent for any dtype.
    has_aux : bool, default False
        If True, ``function`` returns (value, aux), and aux is a third result.
    backend : str or Backend, optional
        Backend that runs the computation.
    context : ADContext, optional
        Derivative rules that replace those of the primitives.

    Returns
    -------
    tuple
        (f(x), J v), or (f(x), J v, aux) with ``has_aux``.

    Raises
    ------
    TangentMismatchError
        If a tangent has another shape, dtype or structure than its primal.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.jvp(lambda x: x * x, (3.0,), (1.0,))
    (np.float64(9.0), np.float64(6.0))
    """
    check_function(function, "jvp", backend)
    primals, tangents = as_tuple(primals, "primals"), as_tuple(tangents, "tangents")
    with Loans() as loans:
        return _jvp(function, primals, tangents, loans, "tangents[{}]", has_aux, backend, context)


def _jvp(
    function: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    loans: Loans,
    called: str,
    has_aux: bool = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> Any:
    recording = record(function, primals, {}, range(len(primals)), loans, has_aux)
    seeds = _tangent_keys(recording, primals, tangents, loans, called)
    given = [seed for seed in seeds if seed is not None and not _is_literal(seed)]
    outputs = [key_of(x) for x in recording.outputs]
    aux = recording.aux

    def emit() -> list[ValueKey]:
        values = [None if seed is None else Handle(seed) for seed in seeds]
        found = pushforward(outputs, recording.wrt, values, space=Primitive.space, context=context)
        flow = [_flow_key(k, t) for k, t in zip(outputs, found, strict=True)]
        return [*outputs, *flow, *aux.keys]

    known = [seed and seed.operation for seed in seeds]  # of literals, which programs contain
    kind = ("jvp", tuple(known), tuple([s is None for s in seeds]), len(outputs), context)
    plain = recording.plain and not any(isinstance(t, Array) for t in _tree.flatten(tangents)[0])
    inputs = [*recording.wrt, *given]
    if any([is_traced(seed) for seed in given]):
        found = pending(emit())
    else:
        found = run_or_record(kind, [*outputs, *aux.keys], inputs, emit, plain, backend)
    count = len(outputs)
    value = _tree.unflatten(recording.out_spec, found[:count])
    tangent = _tree.unflatten(recording.out_spec, found[count : 2 * count])
    if has_aux:
        return value, tangent, aux.with_values(found[2 * count :])
    return value, tangent


def as_tuple(x: Any, what: str) -> tuple[Any, ...]:
    """Return the arguments' values as a tuple.

    Raises TypeError: for one value alone.
    """
    if isinstance(x, (tuple, list)):
        return tuple(x)
    text = f"{what} is a tuple with one entry per argument; write `(x,)` for one argument"
    raise at_user_line(TypeError(text))


def _flow_key(output: ValueKey, value: Value | None) -> ValueKey:
    """Return the tangent of an output as a key; zeros where nothing flows."""
    return constant(0, output.aval.dtype, output.aval.shape).key if value is None else value.key


def _tangent_keys(
    recording: Recording,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    loans: Loans,
    called: str,
) -> list[ValueKey | None]:
    """Return one key per leaf of the primals; ``None`` where the user gave ``None`` or nothing
    varies.

    ``called`` is what messages call a tangent, with its number instead of braces.
    """
    if len(tangents) != len(primals):
        raise _mismatch(f"{len(tangents)} tangents", f"{len(primals)}, one per argument")
    seeds: list[ValueKey | None] = []
    start = 0
    for number, (spec, tangent) in enumerate(zip(recording.specs, tangents, strict=True)):
        keys = recording.wrt[start : start + spec.num_leaves]
        start += spec.num_leaves
        if tangent is None:
            seeds += [None] * len(keys)
            continue
        leaves, structure = _tree.flatten(tangent)
        if not _tree.same_structure(structure, spec):
            raise _mismatch(f"a tangent of structure {structure}", str(spec))
        for i, (leaf, key) in enumerate(zip(leaves, keys, strict=True)):
            place = Place(tangent, called.format(number), i)
            literal = _unit_key(leaf, key) or _literal_key(leaf, key)
            seeds.append(literal or direction_key(leaf, key, "d", loans, place))
    return seeds


def _unit_key(leaf: Any, like: ValueKey) -> ValueKey | None:
    """Return the literal 1 if the tangent is that number, so that no multiplication is recorded."""
    aval: Aval = like.aval
    if type(leaf) not in _SCALARS or leaf != 1 or aval.shape or not aval.dtype.is_inexact:
        return None
    return constant(1, aval.dtype).key


def _literal_key(leaf: Any, like: ValueKey) -> ValueKey | None:
    """Return the key of a filled Array, as of ``ones_like(x)``, which needs no evaluation."""
    if not isinstance(leaf, Array) or leaf.key.operand is not UNKNOWN:
        return None
    fits = leaf.key.aval is like.aval and leaf.key.aval.dtype.is_inexact
    return leaf.key if fits and _is_literal(leaf.key) else None


def _is_literal(key: ValueKey) -> bool:
    return key.definition is not None and key.definition[0].literal


class Place(NamedTuple):
    """Place of a leaf in a tangent or cotangent that the user gave."""

    tree: Any
    name: str
    number: int

    def __str__(self) -> str:
        return _tree.paths(self.tree, self.name)[self.number]


def direction_key(leaf: Any, like: ValueKey, prefix: str, loans: Loans, place: Place) -> ValueKey:
    """Return the key of a tangent or cotangent that the user gave for a value."""
    aval: Aval = like.aval
    check_differentiable(like)
    name = Name(f"{prefix}{like.input_key if like.is_input else ''}", like.serial)
    if type(leaf) in _SCALARS:
        leaf_key = weak(leaf, aval).key
        if leaf_key.aval is not aval:
            raise _mismatch(f"{leaf!r} for a value {aval}", str(aval), place)
        return _known(name, aval, leaf_key.operand)
    if isinstance(leaf, Array):
        make_known(leaf)
        fitting = _fit(leaf, like, place)
        make_known(fitting)
        operand = fitting.key.operand
        if operand is UNKNOWN or is_traced(fitting.key):
            return fitting.key
        return _known(name, aval, operand)
    found = aval_of_operand(leaf)
    if found is aval:
        key = new_leaf(name, aval)
        loans.lend(key, leaf)
        return key
    fitting = _fit(as_array(leaf), like, place)
    return _known(name, aval, fitting.operand)


def _known(name: Name, aval: Aval, operand: Any) -> ValueKey:
    key = new_leaf(name, aval)
    key.operand = operand
    return key


def _fit(x: Array, like: ValueKey, place: Place) -> Array:
    """Convert a direction to the dtype of its value.

    The width may differ only if either side is a Python number, as in arithmetic.
    """
    aval: Aval = like.aval
    if x.shape == aval.shape:
        if x.dtype is aval.dtype:
            return x
        fits = x.dtype.is_inexact and x.dtype.is_complex <= aval.dtype.is_complex
        if is_weak(x) and x.dtype.is_complex <= aval.dtype.is_complex:
            return convert(x, aval.dtype)
        if fits and is_weak(Array(like)):
            return convert(x, aval.dtype)
    hint = ""
    if x.shape == aval.shape and x.dtype.is_complex <= aval.dtype.is_complex:
        hint = f"convert it: `.astype({str(aval.dtype)!r})`"
    elif x.shape == aval.shape:
        hint = "a real value varies along real numbers: pass `.real`"
    raise _mismatch(str(x.aval), str(aval), place, hint)


def _mismatch(
    got: str, need: str, place: Place | None = None, hint: str = ""
) -> TangentMismatchError:
    lines = ["a tangent or cotangent does not fit"]
    if place is not None:
        lines.append(f"  leaf       {place}")
    lines += [f"  got        {got}", f"  need       {need}"]
    if hint:
        lines.append(f"  hint       {hint}")
    return at_user_line(TangentMismatchError("\n".join(lines), got=got, need=need))


class _Linearized:
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
            return [_flow_key(k, t) for k, t in zip(out, found, strict=True)]

        kind = "vjp" if self._transposed else "linearize", len(outputs), self._context
        places = [key.aval for key in into]
        return sweep_once(kind, wrt, [*outputs, *aux], places, lambda: self.linear, emit)

    @cached_property
    def linear(self) -> Linearization:
        """The derivative, swept here."""
        wrt, context = self.recording.wrt, self._context
        return linearize_keys(self.outputs, wrt, space=Primitive.space, context=context)

    def _evaluate(self) -> None:
        """Compute the values, and what the linear map reads of them."""
        needed = [*self.outputs, *self.linear.residuals, *self.recording.aux.keys]
        if self.known:
            evaluate_keys(needed)  # does nothing the second time

    @cached_property
    def known(self) -> bool:
        """Return True if all values are known and no transform is open on them."""
        values = [*self.outputs, *self.recording.aux.keys]
        needed = [*values, *self.linear.residuals]
        return not any([is_traced(k) for k in needed]) and all([evaluable(k) for k in values])

    def value(self) -> Any:
        """Return the value of the function in the form that the user receives."""
        spec, count = self.recording.out_spec, len(self.outputs)
        if self._swept is not None:
            return _tree.unflatten(spec, self._swept.delivered(self.recording.plain)[:count])
        return _tree.unflatten(spec, self._delivered(self.outputs, True))

    def aux(self) -> Any:
        """Return the function's auxiliary result in the form that the user receives."""
        aux = self.recording.aux
        if self._swept is not None:
            values = self._swept.delivered(self.recording.plain)[len(self.outputs) :]
            return aux.with_values(values)
        return aux.with_values(self._delivered(aux.keys, True))

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

    def _flow(self, found: Sequence[Any], like: Sequence[ValueKey], plain: bool) -> list[Any]:
        return self._delivered([_flow_key(k, t) for k, t in zip(like, found, strict=True)], plain)

    def _delivered(self, keys: Sequence[ValueKey], plain: bool) -> list[Any]:
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
            raise _mismatch(f"structure {structure}", str(spec))
        pairs = enumerate(zip(leaves, keys, strict=True))
        return [
            Handle(direction_key(leaf, key, prefix, loans, Place(tree, called, i)))
            for i, (leaf, key) in pairs
        ]


class LinearMap:
    """The derivative of a function at a point: call it with tangents, transpose it, or look at it.

    >>> import tenferro as tn
    >>> y, df = tn.linearize(lambda x: 3 * x, tn.zeros(2))
    >>> df.transpose.__doc__.split(".")[0]
    'Apply the adjoint to a cotangent of the result; a tuple with one entry per argument'
    """

    def __init__(self, linearized: _Linearized) -> None:
        self._linearized = linearized

    @bounded("linearize")
    def __call__(self, *tangents: Any) -> Any:
        """Apply the map to tangents, one per argument of the function."""
        with Loans() as loans:
            return self._apply(tangents, loans)

    @bounded("vjp")
    def transpose(self, cotangent: Any) -> tuple[Any, ...]:
        """Apply the adjoint to a cotangent of the result; a tuple with one entry per argument."""
        with Loans() as loans:
            return self._transpose(cotangent, loans)

    def _apply(self, tangents: Sequence[Any], loans: Loans) -> Any:
        found = self._linearized
        recording = found.recording
        if len(tangents) != len(recording.specs):
            raise _mismatch(f"{len(tangents)} tangents", f"{len(recording.specs)}")
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
        argument, or ``df.transpose`` with a cotangent of the value.

    Examples
    --------
    >>> import tenferro as tn
    >>> y, df = tn.linearize(lambda x: x * x, 3.0)
    >>> df(1.0)
    np.float64(6.0)
    """
    check_function(function, "linearize")
    with Loans() as loans:
        recording = record(function, primals, {}, range(len(primals)), loans, has_aux)
        linearized = _Linearized(recording, context, transposed=False)
        if has_aux:
            return linearized.value(), LinearMap(linearized), linearized.aux()
        return linearized.value(), LinearMap(linearized)


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
    check_function(function, "vjp")
    with Loans() as loans:
        recording = record(function, primals, {}, range(len(primals)), loans, has_aux)
        linearized = _Linearized(recording, context, transposed=True)
        pullback = LinearMap(linearized).transpose
        if has_aux:
            return linearized.value(), pullback, linearized.aux()
        return linearized.value(), pullback


def hvp(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Return a function that computes products of the Hessian with a vector.

    It runs forward mode over reverse mode, so that it costs a small multiple of ``function``.

    Parameters
    ----------
    function : callable
        Function that returns a real scalar.
    **options
        Keyword arguments of ``grad``.

    Returns
    -------
    callable
        Function (x, v, *args) → H v, where H is the Hessian with respect to the first argument.
        ``scipy.optimize.minimize`` takes it as ``hessp``.

    Examples
    --------
    >>> import tenferro as tn
    >>> product = tn.hvp(lambda x: (x * x * x).sum())
    >>> product(2.0, 1.0)
    np.float64(12.0)
    """
    check_function(function, "hvp")
    gradient = grad(function, **options)

    @derived("hvp", function, **options)
    def product(x: Any, v: Any, *args: Any, **kwargs: Any) -> Any:
        if v is None and x is not None:
            raise at_user_line(_mismatch("v=None", "a vector with the structure of x"))
        with Loans() as loans:
            return _jvp(lambda x: gradient(x, *args, **kwargs), (x,), (v,), loans, "v")[1]

    return product
