"""The names of autograd, over tenferro: its own test suite runs with them, unchanged.

NumPy is NumPy itself, transforms are tenferro's. Of autograd's source distribution, which
``install`` is given the folder of, only the helpers of its tests are loaded: vector spaces,
numerical checks, and containers as vectors. Nothing of its differentiation or of its wrapped NumPy
runs. Read next: ``run.py``.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections import OrderedDict
from collections.abc import Callable
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any

import numpy as np
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

import tenferro as tn

Function = Callable[..., Any]
THEIR_HELPERS = ("util", "tracer", "core", "extend", "builtins", "numpy.numpy_vspaces")


# ---- transforms ----------------------------------------------------------------------------------


def conjugate(tree: Any) -> Any:
    """Turn cotangents of one convention for complex numbers into those of the other."""
    if isinstance(tree, (list, tuple)):
        parts = [conjugate(x) for x in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    if isinstance(tree, dict):
        return type(tree)((name, conjugate(x)) for name, x in tree.items())
    return np.conj(tree) if np.iscomplexobj(tree) else tree


def make_vjp(function: Function, x: Any) -> tuple[Function, Any]:
    def inexact(x: Any) -> Any:
        """The function; what is true or false, and does not vary, as floats."""
        found = function(x)
        is_decision = getattr(found, "dtype", type(found)) in (bool, np.bool_)
        return found * 1.0 if is_decision else found

    value, pull = tn.vjp(inexact, x)
    return lambda g: conjugate(pull(conjugate(g))[0]), value


def to_number(function: Function) -> Function:
    """A function whose result of one element is a number, which gradients are of."""

    def number(*args: Any, **keywords: Any) -> Any:
        found = function(*args, **keywords)
        return np.reshape(found, ()) if np.ndim(found) and np.size(found) == 1 else found

    return update_wrapper(number, function)


def make_jvp(function: Function, x: Any) -> Function:
    return lambda v: tn.jvp(function, (x,), (v,))


def positions(argnum: Any) -> Any:
    return argnum if isinstance(argnum, int) else tuple(argnum)


def of_argument(make: Function) -> Function:
    """A transform of autograd: it takes the function and the number of its argument."""

    def transform(function: Function, argnum: Any = 0, **options: Any) -> Function:
        return renamed(make(function, positions(argnum), **options), make, function, argnum)

    return update_wrapper(transform, make)


def renamed(found: Function, make: Function, function: Function, argnum: Any) -> Function:
    def call(*args: Any, **keywords: Any) -> Any:
        return found(*args, **keywords)

    call.__name__ = f"{make.__name__}_of_{name_of(function)}_wrt_argnum_{argnum}"
    call.__doc__ = f"{make.__name__} of {name_of(function)}, argument {argnum}"
    return call


def name_of(function: Function) -> str:
    return getattr(function, "__name__", "[unknown name]")


def unary(operator: Function) -> Function:
    """A transform of one argument, of a function with several."""

    def transform(function: Function, argnum: Any = 0, *more: Any) -> Function:
        places = (argnum,) if isinstance(argnum, int) else tuple(argnum)

        def call(*args: Any, **keywords: Any) -> Any:
            def of_one(x: Any) -> Any:
                given = list(args)
                for place, value in zip(places, (x,) if argnum in places else x, strict=True):
                    given[place] = value
                return function(*given, **keywords)

            x = args[argnum] if isinstance(argnum, int) else tuple([args[i] for i in places])
            return operator(of_one, x, *more)

        return renamed(call, operator, function, argnum)

    return update_wrapper(transform, operator)


@of_argument
def grad(function: Function, argnum: Any) -> Function:
    return tn.grad(to_number(function), argnum, convention="jax")


@of_argument
def value_and_grad(function: Function, argnum: Any) -> Function:
    return tn.value_and_grad(to_number(function), argnum, convention="jax")


@of_argument
def grad_and_aux(function: Function, argnum: Any) -> Function:
    return tn.grad(function, argnum, has_aux=True)


@of_argument
def holomorphic_grad(function: Function, argnum: Any) -> Function:
    return tn.grad(lambda *args: np.real(function(*args)), argnum, convention="jax")


@of_argument
def jacobian(function: Function, argnum: Any) -> Function:
    return tn.jacobian(function, argnum)


@of_argument
def hessian(function: Function, argnum: Any) -> Function:
    return tn.hessian(function, argnum)


def grad_named(function: Function, name: str) -> Function:
    return grad(function, list(inspect.signature(function).parameters).index(name))


def ones_like(tree: Any) -> Any:
    return sys.modules["autograd.core"].vspace(value_of(tree)).ones()


def value_of(x: Any) -> Any:
    return x if not isinstance(x, tn.Array) else np.ones(x.shape, str(x.dtype))


@unary
def elementwise_grad(function: Function, x: Any) -> Any:
    pull, value = make_vjp(function, x)
    if np.iscomplexobj(value):
        raise TypeError("elementwise_grad of a complex function")
    return pull(ones_like(value))


@unary
def deriv(function: Function, x: Any) -> Any:
    return make_jvp(function, x)(ones_like(x))[1]


@unary
def make_hvp(function: Function, x: Any) -> Any:
    return make_vjp(grad(function), x)


def hessian_tensor_product(function: Function, argnum: int = 0) -> Function:
    def product(*args: Any, **keywords: Any) -> Any:
        *given, vector = args
        slope = grad(function, argnum)
        of_slope = lambda *xs: np.tensordot(slope(*xs, **keywords), vector, np.ndim(vector))  # noqa: E731
        return grad(of_slope, argnum)(*given)

    return product


def tensor_jacobian_product(function: Function, argnum: int = 0) -> Function:
    def product(*args: Any, **keywords: Any) -> Any:
        *given, vector = args
        of_value = lambda *xs: np.tensordot(vector, function(*xs, **keywords), np.ndim(vector))  # noqa: E731
        return jacobian(of_value, argnum)(*given)

    return product


def half_square(x: Any) -> Any:
    return np.sum(x**2, axis=-1) / 2


def make_ggnvp(function: Function, g: Function = half_square, f_argnum: int = 0) -> Function:
    @unary
    def products(function: Function, x: Any) -> Function:
        def product(v: Any) -> Any:
            value, moved = tn.jvp(function, (x,), (v,))
            return make_vjp(function, x)[0](tn.jvp(tn.grad(g), (value,), (moved,))[1])

        return product

    return products(function, f_argnum)


def multigrad_dict(function: Function) -> Function:
    def gradients(*args: Any, **keywords: Any) -> Any:
        bound = inspect.signature(function).bind(*args, **keywords)
        bound.apply_defaults()

        def of_all(arguments: dict[str, Any]) -> Any:
            bound.arguments.update(arguments)
            return function(*bound.args, **bound.kwargs)

        found = tn.grad(of_all)(dict(bound.arguments))
        return OrderedDict((name, found[name]) for name in bound.arguments)

    return gradients


# ---- primitives ----------------------------------------------------------------------------------


class Primitive:
    """A function with rules of its own, which autograd's ``defvjp`` gives."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.vjps: dict[int, Function | None] | None = None
        self.custom = tn.custom_vjp(self._value, nondiff_argnums=())
        self.custom.defvjp(self._forward, self._backward)
        update_wrapper(self, function)

    def _value(self, *args: Any) -> Any:
        return self.function(*args)

    def _forward(self, *args: Any) -> Any:
        value = self.function(*args)
        return value, (value, args)

    def _backward(self, kept: Any, g: Any) -> Any:
        value, args = kept
        if self.vjps is None:
            raise NotImplementedError(f"VJP of {name_of(self)} wrt argnums (0,) not defined")
        return tuple(
            None if self.vjps.get(i) is None else self.vjps[i](value, *args)(g)
            for i in range(len(args))
        )

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if keywords:
            return Primitive(partial(self.function, **keywords)).with_rules(self, keywords)(*args)
        return self.custom(*args)

    def with_rules(self, other: Primitive, keywords: dict[str, Any]) -> Primitive:
        if other.vjps is not None:
            self.vjps = {i: rule and partial(rule, **keywords) for i, rule in other.vjps.items()}
        return self

    def defvjp(self, rule: Function, argnum: int = 0) -> None:
        """The older form of a rule, with vector spaces among its arguments."""
        self.vjps = self.vjps or {}
        self.vjps[argnum] = lambda ans, *args: lambda g: rule(g, ans, None, None, *args)

    def defvjp_is_zero(self, argnums: tuple[int, ...] = (0,)) -> None:
        self.vjps = (self.vjps or {}) | dict.fromkeys(argnums)

    def defgrad(self, rule: Function, argnum: int = 0) -> None:
        self.vjps = self.vjps or {}
        self.vjps[argnum] = rule


def defvjp(function: Primitive, *rules: Any, argnums: Any = None) -> None:
    function.vjps = dict(zip(argnums or range(len(rules)), rules, strict=False))


# ---- modules -------------------------------------------------------------------------------------


def holds_arrays(x: Any) -> bool:
    return isinstance(x, tn.Array) or (isinstance(x, (list, tuple)) and any(map(holds_arrays, x)))


def array(x: Any, *args: Any, **keywords: Any) -> Any:
    """np.array, which of a list does not ask its elements who they are."""
    return tn.array(x, *args, **keywords) if holds_arrays(x) else np.array(x, *args, **keywords)


def of_lists(name: str) -> Function:
    """A function of NumPy, given a list of Arrays: that of one Array."""

    def call(x: Any, *args: Any, **keywords: Any) -> Any:
        if isinstance(x, (list, tuple)) and holds_arrays(x):
            x, *args = [tn.array(y) if isinstance(y, (list, tuple)) else y for y in (x, *args)]
        return function(x, *args, **keywords)

    function = np
    for part in name.split("."):
        function = getattr(function, part)
    return update_wrapper(call, function)


def make_diagonal(d: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Diagonal matrices of vectors along the last axis, which is what autograd has of them."""
    assert (offset, axis1, axis2) == (0, -1, -2)
    return d[..., None] * np.eye(np.shape(d)[-1])


def odeint(f: Function, y0: Any, t: Any, args: tuple[Any, ...] = (), rtol: float = 1e-8) -> Any:
    """scipy.integrate.odeint, as accurate as SciPy's is by rule."""
    return tn.integrate.odeint(f, y0, t, args, rtol=rtol, atol=rtol)


class Joined:
    """np.r_ and np.c_, of arrays along the first axis or the last one."""

    def __init__(self, axis: int, least_rank: int) -> None:
        self.axis, self.least_rank = axis, least_rank

    def __getitem__(self, parts: Any) -> Any:
        parts = parts if isinstance(parts, tuple) else (parts,)
        parts = [np.r_[x] if isinstance(x, slice) else x for x in parts]
        parts = [x[:, None] if np.ndim(x) < self.least_rank else x for x in parts]
        return np.concatenate(parts, axis=self.axis)


def convolve(a: Any, b: Any, axes: Any = None, dot_axes: Any = ((), ()), mode: str = "full") -> Any:
    """Convolve along pairs of axes, contract others, and take all products of what is left.

    The result has the axes of a that are left, those of b, and then the axes of the convolution.
    """
    if axes is None and dot_axes == ((), ()):
        return tn.signal.convolve(a, b, mode)
    pairs = axes or ([], [])
    left = [
        [d for d in range(np.ndim(x)) if d not in (*along, *dotted)]
        for x, along, dotted in zip((a, b), pairs, dot_axes, strict=True)
    ]
    counts = len(left[0]), len(left[1]), len(dot_axes[0])
    a = np.transpose(a, [*left[0], *dot_axes[0], *pairs[0]])
    b = np.transpose(b, [*left[1], *dot_axes[1], *pairs[1]])
    a = np.reshape(a, (*a.shape[: counts[0]], *[1] * counts[1], *a.shape[counts[0] :]))
    b = np.reshape(b, (*[1] * counts[0], *b.shape))
    first = sum(counts)
    along = tuple(range(first, a.ndim))
    found = tn.signal.fftconvolve(a, b, mode, axes=along) if along else a * b
    return np.sum(found, axis=tuple(range(counts[0] + counts[1], first)))


def is_instance(x: Any, kinds: Any) -> bool:
    """Python's isinstance, for which an Array is an array of NumPy."""
    given = kinds if isinstance(kinds, tuple) else (kinds,)
    return isinstance(x, kinds) or (isinstance(x, tn.Array) and np.ndarray in given)


class Names(types.ModuleType):
    """A module that finds its names in others, the first one that has them."""

    def __init__(self, name: str, *others: Any, path: Any = None, **own: Any) -> None:
        super().__init__(name)
        self.__dict__.update(own)
        self._others = others
        if path is not None:
            self.__path__ = [str(path)]
        sys.modules[name] = self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for other in self._others:
            if hasattr(other, name):
                return getattr(other, name)
        raise AttributeError(f"{self.__name__}.{name}")


def install(sdist: Path) -> None:
    """Put the modules into ``sys.modules``; ``sdist`` is the unpacked source distribution."""
    theirs = sdist / "autograd"
    functions = {name: of_lists(name) for name in ("mean", "std", "var", "append")}
    functions |= {"array": array, "make_diagonal": make_diagonal, "__version__": np.__version__}
    functions |= {"r_": Joined(0, 1), "c_": Joined(-1, 2)}
    numpy = Names("autograd.numpy", np, path=theirs / "numpy", **functions)
    operators = (
        grad, value_and_grad, grad_and_aux, holomorphic_grad, jacobian, hessian, grad_named,
        elementwise_grad, deriv, make_hvp, hessian_tensor_product, tensor_jacobian_product,
        make_ggnvp, multigrad_dict,
    )  # fmt: skip
    named = {operator.__name__: operator for operator in operators}
    named |= {
        "make_vjp": unary(make_vjp), "make_jvp": unary(make_jvp), "checkpoint": tn.checkpoint,
        "hessian_vector_product": hessian_tensor_product, "primitive": Primitive,
        "vector_jacobian_product": tensor_jacobian_product,
    }  # fmt: skip
    plain = {"list": list, "tuple": tuple, "dict": dict, "isinstance": is_instance}
    whole = Names("autograd", path=theirs, numpy=numpy, **named, **plain)
    Names("autograd.differential_operators", **named)
    own = {"linalg": {"norm": of_lists("linalg.norm")}}
    for part in ("random", "fft", "linalg"):
        module = importlib.import_module(f"numpy.{part}")
        numpy.__dict__[part] = Names(f"autograd.numpy.{part}", module, **own.get(part, {}))
    for helper in THEIR_HELPERS:
        importlib.import_module(f"autograd.{helper}")
    core, tracer = sys.modules["autograd.core"], sys.modules["autograd.tracer"]
    core.getval = tracer.getval = lambda x: x
    array_space = sys.modules["autograd.numpy.numpy_vspaces"].ArrayVSpace
    core.VSpace.register(tn.Array, lambda x: array_space(np.zeros(x.shape, str(x.dtype))))
    core.make_vjp, core.make_jvp, core.primitive = make_vjp, make_jvp, Primitive
    core.primitive_with_deprecation_warnings = Primitive
    tracer.primitive, tracer.isbox = Primitive, lambda x: isinstance(x, tn.Array)
    extend = sys.modules["autograd.extend"]
    extend.defvjp, extend.primitive = defvjp, Primitive
    for name, value in plain.items():
        setattr(sys.modules["autograd.builtins"], name, value)
    whole.core, whole.extend, whole.tracer = core, extend, tracer
    install_scipy(whole)
    misc = Names("autograd.misc", path=theirs / "misc")
    misc.const_graph = lambda f, *args, **keywords: tn.jit(partial(f, *args, **keywords))
    misc.flatten = importlib.import_module("autograd.misc.flatten").flatten


def install_scipy(whole: Names) -> None:
    """Put SciPy's names into ``sys.modules``: tenferro's where it has them."""
    ours = {"special": tn.special, "linalg": tn.linalg, "stats": tn.stats, "signal": tn.signal}
    plain = {"signal": scipy.signal, "integrate": scipy.integrate}
    plain |= {"special": scipy.special, "linalg": scipy.linalg}
    parts = {
        name: Names(f"autograd.scipy.{name}", *filter(None, (ours.get(name), plain.get(name))))
        for name in ("special", "linalg", "stats", "signal", "integrate")
    }
    parts["signal"].convolve = convolve
    parts["integrate"].odeint = odeint
    for name in tn.stats.__all__:
        both = getattr(tn.stats, name), getattr(scipy.stats, name)
        setattr(parts["stats"], name, Names(f"autograd.scipy.stats.{name}", *both))
    whole.scipy = Names("autograd.scipy", path="", **parts)
