"""Broken versions of the loopback backend and of core's rules, each with the law that must catch
it.

`apply(name)` breaks the running process. A mutant of a lowering replaces one entry of the
loopback's table; a mutant of a rule patches core, which the kit tests too. `MUTANTS` says where to
look: the file of the law, and which cases are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

_lowerings: dict[str, Callable] = {}  # key → mutated lowering on NumPy arrays


class Mutant(NamedTuple):
    """What is broken, and where it must be seen."""

    law: str  # name of the law in the report
    file: str  # of the suite
    primitive: str  # whose cases are enough; empty: those of all
    apply: Callable[[], None]
    select: str = ""  # pytest -k


def _lowering(key):
    """Replace the lowering of a primitive; the function gets the old one first."""

    def register(function):
        def apply():
            import tenferro_loopback

            old = tenferro_loopback.numpy_lowerings()[key]
            _lowerings[key] = lambda operation, *xs: function(old, operation, *xs)
            tenferro_loopback.numpy_lowerings = lambda base=tenferro_loopback.numpy_lowerings: {
                **base(),
                **_lowerings,
            }

        return apply

    return register


@_lowering("std::sqrt")
def wrong_dtype(old, operation, x):
    return old(operation, x).astype("float32") if x.dtype == "float64" else old(operation, x)


@_lowering("std::reduce_sum")
def off_by_one_axis(old, operation, x):
    from tenferro.primitives import ReduceSum

    return old(ReduceSum(tuple((axis + 1) % x.ndim for axis in operation.axes)), x)


@_lowering("std::conj")
def conjugate_forgotten(old, operation, x):
    return x.copy()


@_lowering("std::neg")
def mutates_its_input(old, operation, x):
    x *= -1
    return x.copy()


@_lowering("std::mul")
def silently_float32(old, operation, x, y):
    if x.dtype != "float64":
        return old(operation, x, y)
    return (x.astype("float32") * y.astype("float32")).astype("float64")


@_lowering("std::maximum")
def drops_nan(old, operation, x, y):
    import numpy as np

    return np.fmax(x, y)


@_lowering("std::sin")
def not_reproducible(old, operation, x):
    import numpy as np

    return old(operation, x) * (
        1 + np.random.default_rng().integers(2) * np.finfo(x.real.dtype).eps
    )


@_lowering("std::add")
def not_linear(old, operation, x, y):
    return old(operation, x, y) + x.dtype.type(1)


@_lowering("std::clamp")
def bounds_swapped(old, operation, lo, x, hi):
    import numpy as np

    return np.maximum(np.minimum(x, hi), lo)


@_lowering("std::cos")
def depends_on_a_neighbour(old, operation, x):
    import numpy as np

    return np.roll(old(operation, x), 1, axis=-1) if x.ndim else old(operation, x)


def returns_host_arrays():
    import numpy as np
    import tenferro_loopback

    wrapped = tenferro_loopback.wrapped

    def leaking(function):
        lowering = wrapped(function)
        return lambda operation, *xs: (
            lowering(operation, *xs)._data if operation.name == "exp" else lowering(operation, *xs)
        )

    tenferro_loopback.wrapped = leaking
    tenferro_loopback.LoopbackBackend.aval_of = (
        lambda self, x, old=tenferro_loopback.LoopbackBackend.aval_of: old(
            self, tenferro_loopback.Opaque(x) if isinstance(x, np.ndarray) else x
        )
    )
    tenferro_loopback.LoopbackBackend.to_numpy = lambda self, x: (
        x if isinstance(x, np.ndarray) else x._data
    ).copy()


def swallows_unsupported():
    import numpy as np
    import tenferro_loopback

    from tenferro.backend import Executable, MissingLoweringError

    class Zeros(Executable):
        def __init__(self, avals):
            self.avals = avals

        def __call__(self, *operands):
            return tuple(
                tenferro_loopback.Opaque(np.zeros(a.shape, a.dtype.name)) for a in self.avals
            )

    tenferro_loopback.LoopbackBackend.lacks_operands = False
    compile_ = tenferro_loopback.LoopbackBackend.compile

    def lenient(self, program, avals, options=None):
        try:
            return compile_(self, program, avals, options)
        except MissingLoweringError:
            return Zeros(program.output_avals)

    tenferro_loopback.LoopbackBackend.compile = lenient


def loses_the_sign_of_zero():
    import tenferro_loopback

    asoperand = tenferro_loopback.LoopbackBackend.asoperand

    def adding(self, value, aval):
        found = asoperand(self, value, aval)
        return tenferro_loopback.Opaque(found._data + 0) if aval.dtype.is_inexact else found

    tenferro_loopback.LoopbackBackend.asoperand = adding


def transposed_gradient():
    from tenferro.primitives import DotGeneral, transpose

    right = DotGeneral.transpose_rhs

    def mutated(self, ct, lhs, rhs):
        found = right(self, ct, lhs, rhs)
        return (
            transpose(found, (1, 0))
            if found.ndim == 2 and found.shape[0] == found.shape[1]
            else found
        )

    DotGeneral.transpose_rhs = mutated


def seed_overwritten():
    from tenferro.tidu._pull import Cotangents

    def last(self, key):
        found = self.terms.pop(key, None)
        return found[-1] if type(found) is list else found

    Cotangents.take = last


def tie_to_one_side():
    from tenferro.primitives import Maximum, ge, gt, select

    def share(d, wins):
        return select(wins, d, d * 0.0)

    Maximum.jvp_x = lambda self, dx, x, y, z: share(dx, ge(x, y))
    Maximum.jvp_y = lambda self, dy, x, y, z: share(dy, gt(y, x))


def takes_no_leading_axes():
    from tenferro.primitives import Concatenate, bind_all, in_front

    def applies_itself(self, size, batched, *xs):
        return bind_all(self, *[in_front(x, on, size) for x, on in zip(xs, batched, strict=True)])

    Concatenate.batch = applies_itself


def wrong_derivative():
    from tenferro.primitives import Sin, cos

    Sin.derivative = lambda self, x, y: cos(x) * 1.000001


def derivative_held_constant():
    from tenferro.primitives import Tanh, stop_gradient

    Tanh.derivative = lambda self, x, y: stop_gradient(1 - y * y)


def reverse_mode_holds_a_residual_constant():
    from tenferro.primitives import Mul, conj, stop_gradient

    Mul.transpose_y = lambda self, ct, x, y: stop_gradient(conj(x)) * ct


def wrong_decomposition():
    from tenferro.primitives import Square

    Square.decompose = lambda self, x: x * x * 1.001


def primitive_without_cases():
    import tenferro_loopback

    from tenferro.backend import PluginManifest, hookimpl, host
    from tenferro.primitives import Elementwise

    class Extra(Elementwise):
        key = "extra::forgotten"

        def abstract_eval(self, x):
            return x

    class Plugin:
        TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="extra", kind="primitives")
        __name__ = "extra_plugin"

        @hookimpl
        def tenferro_primitives(self):
            return [Extra]

    del tenferro_loopback
    host().register(Plugin())


MUTANTS = {
    "wrong dtype": Mutant("aval", "test_aval.py", "std::sqrt", wrong_dtype),
    "off-by-one axis": Mutant("value", "test_value.py", "std::reduce_sum", off_by_one_axis),
    "conjugate forgotten": Mutant("adjoint", "test_adjoint.py", "std::mul", conjugate_forgotten),
    "transposed gradient": Mutant(
        "adjoint", "test_adjoint.py", "std::dot_general", transposed_gradient
    ),
    "seed overwritten": Mutant("golden", "test_golden_upstream.py", "", seed_overwritten, "g_m1_"),
    "mutates its input": Mutant("purity", "test_purity.py", "std::neg", mutates_its_input),
    "silently float32": Mutant("fidelity", "test_fidelity.py", "std::mul", silently_float32),
    "returns host arrays": Mutant("fidelity", "test_fidelity.py", "std::exp", returns_host_arrays),
    "tie given to one side": Mutant(
        "derivative", "test_derivative.py", "std::maximum", tie_to_one_side, "tie"
    ),
    "swallows an unsupported case": Mutant(
        "errors", "test_unsupported.py", "std::mul", swallows_unsupported
    ),
    "drops NaN": Mutant("value", "test_value.py", "std::maximum", drops_nan),
    "not reproducible": Mutant("purity", "test_purity.py", "std::sin", not_reproducible),
    "not linear": Mutant("linearity", "test_linearity.py", "std::add", not_linear),
    "bounds swapped": Mutant("value", "test_value.py", "std::clamp", bounds_swapped),
    "loses the sign of zero": Mutant(
        "round trip", "test_round_trip.py", "std::neg", loses_the_sign_of_zero, "negative_zero"
    ),
    "depends on a neighbour": Mutant(
        "batching", "test_batching.py", "std::cos", depends_on_a_neighbour
    ),
    "takes no leading axes": Mutant(
        "batching", "test_batching.py", "std::concatenate", takes_no_leading_axes
    ),
    "wrong derivative": Mutant("derivative", "test_derivative.py", "std::sin", wrong_derivative),
    "derivative held constant": Mutant(
        "order 2", "test_higher_order.py", "std::tanh", derivative_held_constant
    ),
    "residual held constant": Mutant(
        "mode agreement",
        "test_mode_agreement.py",
        "std::mul",
        reverse_mode_holds_a_residual_constant,
    ),
    "wrong decomposition": Mutant(
        "lowering", "test_lowering.py", "std::square", wrong_decomposition
    ),
    "primitive without cases": Mutant(
        "completeness", "test_completeness.py", "", primitive_without_cases, "cases"
    ),
}


def apply(name: str) -> None:
    """Break the running process."""
    if name:
        MUTANTS[name].apply()
