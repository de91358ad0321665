"""Gradients of scalar functions, by the reverse sweep.

Convention for complex arguments: the gradient of a real f is the vector g with
df = Re Σ conj(g) dz, so grad |z|² = 2z, as in PyTorch; ``convention="jax"`` gives its conjugate.
Read next: ``derivatives/jvp.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.convert import aval_of_operand
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle, TensorPrimitive, constant
from tenferro.primitives._aval import Aval
from tenferro.primitives._source import caller, source_text
from tenferro.primitives.complex import conj
from tenferro.tidu import ADContext, Value, pullback
from tenferro.transforms.errors import (
    DifferentiationInputError,
    NonScalarOutputError,
    check_function,
)
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.argnums import Argnames, Argnums, choose
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.record import Recording, record
from tenferro.transforms.recording.run_or_record import key_of, run_or_record

_P = ParamSpec("_P")
_R = TypeVar("_R")


def grad(
    function: Callable[_P, Any],
    argnums: Argnums = 0,
    *,
    argnames: Argnames = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    convention: str = "hermitian",
    allow_int: bool = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> Callable[_P, Any]:
    """Return a function that computes the gradient of ``function``.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers that returns a real scalar.
    argnums : int or tuple of int, default 0
        Positions of the arguments to differentiate with respect to.
    argnames : str or tuple of str, optional
        Names of these arguments, instead of ``argnums``.
    has_aux : bool, default False
        If True, ``function`` returns (value, aux), and the result is (gradient, aux).
    holomorphic : bool, default False
        If True, compute the complex derivative f′(z) of a function with a complex value.
    convention : {"hermitian", "jax"}, default "hermitian"
        Convention for complex arguments. With "hermitian", the gradient of |z|² is 2z.
    allow_int : bool, default False
        If True, integers and bools among the arguments have the gradient None.
    backend : str or Backend, optional
        Backend that runs the computation.
    context : ADContext, optional
        Derivative rules that replace those of the primitives.

    Returns
    -------
    callable
        Function with the arguments of ``function``. Its result has the structure of the chosen
        argument, or is a tuple of such structures if ``argnums`` or ``argnames`` is a tuple.

    Raises
    ------
    NonScalarOutputError
        If the value is not a real scalar (a complex scalar with ``holomorphic``).
    DifferentiationInputError
        If an argument holds integers or bools and ``allow_int`` is False.

    Examples
    --------
    >>> import tenferro as tn
    >>> found = tn.grad(lambda p: p["x"] ** p["n"], allow_int=True)({"n": 3, "x": 2.0})
    >>> print(found["x"], found["n"])
    12.0 None
    >>> print(tn.trace(tn.grad(lambda x: tn.sin(x)), tn.Aval((), "float64")))
    graph(x: f64[]) {
      %1 = cos %0                          : f64[]                 ct_x
      return %1
    }
    """
    options = _Options(
        argnums, argnames, has_aux, holomorphic, convention, allow_int, backend, context
    )
    return _gradient("grad", function, options)


def value_and_grad(
    function: Callable[_P, _R],
    argnums: Argnums = 0,
    *,
    argnames: Argnames = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    convention: str = "hermitian",
    allow_int: bool = False,
    backend: Any = None,
    context: ADContext | None = None,
) -> Callable[_P, tuple[_R, Any]]:
    """Return a function that computes the value and the gradient in one program.

    The parameters and errors are those of ``grad``.

    Returns
    -------
    callable
        Function that returns (value, gradient), or ((value, aux), gradient) with ``has_aux``.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.value_and_grad(lambda x: x * x)(3.0)
    (np.float64(9.0), np.float64(6.0))
    """
    options = _Options(
        argnums, argnames, has_aux, holomorphic, convention, allow_int, backend, context
    )
    return _gradient("value_and_grad", function, options)


class _Options(NamedTuple):
    """Keyword arguments of ``grad`` and ``value_and_grad``."""

    argnums: Argnums
    argnames: Argnames
    has_aux: bool
    holomorphic: bool
    convention: str
    allow_int: bool
    backend: Any
    context: ADContext | None


def _gradient(name: str, function: Callable[..., Any], options: _Options) -> Callable[..., Any]:
    """Return the function that ``grad`` or ``value_and_grad`` returns."""
    check_function(function, name, options.backend, options.context)
    gives_value = name == "value_and_grad"
    compute = _computed(function, options, value=gives_value)
    has_aux = options.has_aux

    @derived(name, function, **options._asdict())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        with Loans() as loans:
            value, aux, found = compute(args, kwargs, loans)
        if gives_value:
            return ((value, aux) if has_aux else value), found
        return (found, aux) if has_aux else found

    return gradient


_Compute = Callable[[tuple[Any, ...], dict[str, Any], Loans], tuple[Any, Any, Any]]


def _computed(function: Callable[..., Any], options: _Options, *, value: bool) -> _Compute:
    """Compute (value if wanted, aux, gradients) for ``grad`` and ``value_and_grad``."""
    argnums, argnames, has_aux, holomorphic, convention, allow_int, backend, context = options
    chosen = choose(argnums, argnames)
    if convention not in ("hermitian", "jax"):
        text = f"convention is 'hermitian' or 'jax', not {convention!r}"
        raise at_user_line(ValueError(text))
    conjugate = holomorphic or convention == "jax"
    kind = ("value_and_grad" if value else "grad", conjugate, allow_int, context)

    def compute(args: tuple[Any, ...], kwargs: dict[str, Any], loans: Loans) -> Any:
        recording = record(*chosen.arrange(function, args, kwargs), loans, has_aux)
        wrt = varying(recording.wrt, holomorphic, allow_int)
        value_key = scalar_output(recording, holomorphic)
        aux = recording.aux
        count = len(aux.keys) + value

        def emit(primal: Sequence[ValueKey]) -> list[ValueKey]:
            outputs = primal if value else primal[1:]
            return [*outputs, *gradient_keys(primal[0], wrt, conjugate, context)]

        inputs = recording.wrt
        found = run_or_record(kind, [value_key, *aux.keys], inputs, emit, recording.plain, backend)
        leaves = found[count:]
        if len(wrt) < len(inputs):
            rest = iter(leaves)
            leaves = [next(rest) if key.aval.dtype.is_inexact else None for key in inputs]
        trees = regroup(leaves, recording.specs)
        return (
            found[0] if value else None,
            aux.with_values(found[count - len(aux.keys) : count]),
            trees[0] if chosen.single else trees,
        )

    return compute


def gradient_keys(
    output: ValueKey, wrt: Sequence[ValueKey], conjugate: bool, context: ADContext | None
) -> list[ValueKey]:
    """Return the keys of the gradients; zeros if the output does not depend on an argument."""
    one = constant(1, output.aval.dtype)
    found = pullback([output], wrt, [one], space=TensorPrimitive.space, context=context)
    return [gradient_key(key.aval, value, conjugate) for key, value in zip(wrt, found, strict=True)]


def gradient_key(aval: Aval, value: Value | None, conjugate: bool) -> ValueKey:
    """Return one gradient as a key, conjugated if asked; a structural zero becomes zeros."""
    handle = constant(0, aval.dtype, aval.shape) if value is None else value
    if conjugate and aval.dtype.is_complex:
        return conj(Array(handle.key)).key
    return handle.key


def regroup(leaves: Sequence[Any], specs: Sequence[Any]) -> tuple[Any, ...]:
    """Restore the structures of the arguments from their leaves."""
    trees, start = [], 0
    if len(specs) == 1:
        return (_tree.unflatten(specs[0], leaves),)
    for spec in specs:
        trees.append(_tree.unflatten(spec, leaves[start : start + spec.num_leaves]))
        start += spec.num_leaves
    return tuple(trees)


def varying(keys: Sequence[ValueKey], holomorphic: bool, allow_int: bool) -> list[ValueKey]:
    """Return the leaves that have a gradient; with ``allow_int``, integers and bools have none.

    Raises DifferentiationInputError: for a leaf that has none and is not allowed to be there.
    """
    found = []
    for key in keys:
        if allow_int and not key.aval.dtype.is_inexact:
            continue
        check_differentiable(key)
        if holomorphic and not key.aval.dtype.is_complex:
            raise DifferentiationInputError(
                f"holomorphic=True needs complex arguments, got {key.aval}",
                argument=str(key.input_key),
                aval=key.aval,
            )
        found.append(key)
    return found


def check_differentiable(key: ValueKey) -> None:
    """Raise DifferentiationInputError for integers and bools."""
    if key.aval.dtype.is_inexact:
        return
    name = repr(key) if key.identity is None else str(key.identity)
    raise DifferentiationInputError(
        f"the derivative with respect to {name} was requested, but it holds no floats\n"
        f"  got        {key.aval}\n"
        "  need       floats or complex numbers: integers and bools cannot vary\n"
        f"  from       {source_text(caller())}\n"
        f"  hint       {_to_exclude(name)}",
        argument=name,
        aval=key.aval,
    )


def _to_exclude(name: str) -> str:
    """Suggest what to write if an argument, or a leaf of one, is not meant to vary."""
    if name.isidentifier():
        return (
            "pass `x.astype(float)` (or 3.0 instead of 3), or leave the argument\n"
            "             out of argnums"
        )
    return (
        f"make {name} a float; or, if it is not meant to vary, take it out of the\n"
        "             argument: close over it, pass it as another argument, or write\n"
        "             `grad(f, allow_int=True)`, whose gradient for it is None"
    )


def scalar_output(recording: Recording, holomorphic: bool) -> ValueKey:
    """Return the key of the only result; a gradient needs a scalar."""
    outputs = recording.outputs
    if len(outputs) != 1 or not _is_numeric(outputs[0]):
        got = f"{len(outputs)} values" if len(outputs) != 1 else type(outputs[0]).__name__
        got = got if outputs else "None, or an empty container"
        raise _not_scalar(got, None, holomorphic)
    key = key_of(outputs[0])
    aval = key.aval
    wanted = aval.dtype.is_complex if holomorphic else aval.dtype.is_float
    if aval.shape or not wanted:
        raise _not_scalar(str(aval), aval, holomorphic)
    return key


def _is_numeric(x: Any) -> bool:
    if isinstance(x, (Handle, bool, int, float, complex)):
        return True
    try:
        aval_of_operand(x)
    except TypeError:
        return False
    return True


def _not_scalar(got: str, aval: Aval | None, holomorphic: bool) -> NonScalarOutputError:
    need = "one complex number" if holomorphic else "one real floating number"
    return NonScalarOutputError(
        "the function under grad does not return a scalar that can be differentiated\n"
        f"  got        {got}\n"
        f"  need       {need}, of shape ()\n"
        f"  from       {source_text(caller())}\n"
        f"  hint       {_to_a_scalar(got, aval)}",
        aval=aval,
    )


def _to_a_scalar(got: str, aval: Aval | None) -> str:
    """Suggest what to write so that the function returns a scalar."""
    if got.startswith("None"):
        return "the function ends without a value: is a `return` missing?"
    if aval is not None and not aval.dtype.is_inexact:
        kind = "a comparison" if aval.dtype.is_bool else "an integer"
        return f"{kind} has no derivative: return the floating number itself"
    if aval is None:
        return (
            "return the number alone, or a pair (number, anything) with has_aux=True;\n"
            "             `tenferro.jacobian` and `tenferro.vjp` take several results"
        )
    if aval.shape:
        return "sum the result, or use `tenferro.jacobian`, `tenferro.vjp` or `tenferro.jvp`"
    return "of a complex number take `.real` or `abs`, or pass holomorphic=True"
