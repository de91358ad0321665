"""Run toy graphs, and both forms of both transforms, on numbers."""

from toy_scalars import Const, Scalar, Space

from tenferro.computegraph import (
    Graph,
    KeyView,
    compile_program,
    evaluate,
    input_key,
    materialize_merge,
    resolve,
)
from tenferro.tidu import (
    Trace,
    linear_transpose,
    linearize,
    pin,
    pullback,
    pushforward,
)


def var(name, aval="f"):
    """A value of the user."""
    return Scalar(input_key(name, aval))


def execute(operation, operands):
    whole = getattr(operation, "whole", None)
    if whole is not None:
        return (whole(*operands),)
    sizes = {len(item) for item in operands if isinstance(item, tuple)}
    if not sizes:
        results = operation.run(*operands)
        return results if operation.output_count > 1 else (results,)
    (size,) = sizes
    spread = [item if isinstance(item, tuple) else (item,) * size for item in operands]
    rows = [execute(operation, row) for row in zip(*spread, strict=True)]
    return tuple(zip(*rows, strict=True))


def program(values, inputs, view=None):
    """The compiled program of values with the inputs in order."""
    keys = [value.key for value in values]
    merged = materialize_merge(view or KeyView(), keys, inputs=[v.key for v in inputs])
    return compile_program(merged)


def numbers(values, at, view=None):
    """What values are, ``None`` for a structural zero; ``at`` gives operands by input."""
    flowing = [value for value in values if value is not None]
    made = program(flowing, list(at), view)
    found = iter(evaluate(made, execute, list(at.values())))
    return [None if value is None else next(found) for value in values]


def keys(values):
    return [value.key for value in values]


def view_of(outputs, inputs=()):
    return resolve([Graph.of(keys(inputs), keys(outputs))])


def ends(linear):
    """The inputs and outputs of a linear graph as values; ``None`` where nothing flows."""
    graph = linear.linear
    inputs = [None if i is None else Scalar(graph.keys[i.local]) for i in linear.tangent_inputs]
    outputs = [
        None if reference is None else Scalar(graph.key_of(reference))
        for reference in linear.tangent_outputs
    ]
    return inputs, outputs


def apply(linear, at, operands):
    """A linear graph at operands of the primal inputs, on operands of its own inputs."""
    inputs, outputs = ends(linear)
    own = {i: o for i, o in zip(inputs, operands, strict=True) if i is not None}
    return numbers(outputs, {**at, **own}, resolve([linear.linear]))


class GraphForm:
    """The transforms that make graphs."""

    @staticmethod
    def jvp(outputs, wrt, at, tangents):
        return apply(linearize(view_of(outputs), keys(outputs), keys(wrt)), at, tangents)

    @staticmethod
    def vjp(outputs, wrt, at, cotangents):
        linear = linearize(view_of(outputs), keys(outputs), keys(wrt))
        return apply(linear_transpose(linear), at, cotangents)


class EmittingForm:
    """The transforms that extend the caller's graph."""

    @staticmethod
    def jvp(outputs, wrt, at, tangents):
        seeds = [var(("seed", i), value.aval) for i, value in enumerate(wrt)]
        found = pushforward(keys(outputs), keys(wrt), seeds, space=Space)
        return numbers(found, {**at, **dict(zip(seeds, tangents, strict=True))})

    @staticmethod
    def vjp(outputs, wrt, at, cotangents):
        seeds = [var(("seed", i), value.aval) for i, value in enumerate(outputs)]
        found = pullback(keys(outputs), keys(wrt), seeds, space=Space)
        return numbers(found, {**at, **dict(zip(seeds, cotangents, strict=True))})


FORMS = [GraphForm, EmittingForm]


def pinned(function, x):
    """The output of a function at a fresh identity of x, and that identity."""
    trace = Trace()
    inner = Scalar(pin(x.key, trace))
    y = function(inner)
    trace.open = False
    return y, inner


def forward(function, x, dx=None):
    """The derivative of a function at x along dx, as a value that can be differentiated again."""
    y, inner = pinned(function, x)
    (dy,) = pushforward([y.key], [inner.key], [dx or Const(1.0, x.aval)()], space=Space)
    return Space.zeros(y.aval) if dy is None else dy


def reverse(function, x, ct=None):
    """The same by the other transform."""
    y, inner = pinned(function, x)
    (ct_x,) = pullback([y.key], [inner.key], [ct or Const(1.0, y.aval)()], space=Space)
    return Space.zeros(x.aval) if ct_x is None else ct_x


MODES = {"F": forward, "R": reverse}


def nest(modes, function, seed=None):
    """The derivative of order ``len(modes)``; the first mode is the outermost."""
    for mode in reversed(modes):
        function = (lambda derive, inner: lambda x: derive(inner, x, seed))(MODES[mode], function)
    return function


def differences(function, x, h=1e-3):
    """The derivative of a function of numbers, by five points."""
    near, far = function(x + h) - function(x - h), function(x + 2 * h) - function(x - 2 * h)
    return (8 * near - far) / (12 * h)
