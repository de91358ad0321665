"""Graph passes of plugins: when they run, on what, and who is named if one breaks a program."""

import types

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import GraphPass, PluginBrokenError, PluginManifest, hookimpl
from tenferro.computegraph import MaterializedGraph
from tenferro.passes import PassRules, swept
from tenferro.primitives import Linear, Neg, accepted, bind, constant, pointwise

X = np.array([1.0, -0.0, 3.0])
SEEN = []


class Twice(Linear):
    """y = 2 x"""

    key = "acmepass::twice"
    accepts = "inexact"
    batch = pointwise

    def abstract_eval(self, x):
        return accepted(self, x)

    def transpose_x(self, ct, x):
        return twice(ct)

    def decompose(self, x):
        return x + x


class FourTimes(Twice):
    """y = 4 x"""

    key = "acmepass::four_times"

    def transpose_x(self, ct, x):
        return bind(FourTimes(), ct)

    def decompose(self, x):
        return (x + x) + (x + x)


def twice(x):
    return bind(Twice(), x)


def four(x):
    return twice(twice(x))


PAIRS = PassRules("acmepass::pairs")


@PAIRS.of(Twice, reads=[Twice])
def _pair(rewriter, operation, operands):
    (x,) = rewriter.operands[operands[0]]
    return rewriter.emit(FourTimes(), x)


def pairs(graph):
    return swept(graph, PAIRS)


def watch(graph):
    SEEN.append([node.operation.name for node in graph.nodes])
    return graph


def plugin_of(*passes, name="acmepass"):
    module = types.ModuleType(f"{name}_plugin")
    module.TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name=name, kind="primitives")
    module.tenferro_primitives = hookimpl(lambda: [Twice, FourTimes])
    module.tenferro_passes = hookimpl(lambda: list(passes))
    return module


@pytest.fixture
def registered():
    """Register passes for one test."""

    def register(*passes):
        tn.host().register(plugin_of(*passes))

    yield register
    if any(record.name == "acmepass" for record in tn.host().records()):
        tn.host().unregister("acmepass")


BOUND = GraphPass(name="acmepass::pairs", rewrite=pairs, primitives={Twice.key})
FREE = GraphPass(name="acmepass::watch", rewrite=watch)


def passes_of(function, *args):
    rows = function.explain(*args).splitlines()
    return next(row for row in rows if row.startswith("  passes"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 2)], ids=str)
def test_a_pass_bound_to_its_own_primitives_runs_unasked(registered, dtype, shape):
    """4 x, by one equation instead of two"""
    registered(BOUND)
    x = np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape)
    function = tn.jit(four)
    found = function(x)
    np.testing.assert_array_equal(found, 4 * x, strict=True)
    assert "acmepass::pairs: 1 rewritten; 2 equations before, 1 after" in passes_of(function, x)


@pytest.mark.parametrize(
    "transformed",
    [
        tn.grad(lambda x: tn.sum(four(x) * x)),
        tn.grad(lambda x: tn.sum(tn.grad(lambda y: tn.sum(four(y) * y * y))(x))),
        tn.vmap(four),
        lambda x: tn.jvp(four, (x,), (x,))[1],
        lambda x: tn.scan(lambda c, row: (four(row), c), tn.asarray(0.0), x)[1],
    ],
    ids=["grad", "grad of grad", "vmap", "jvp", "scan"],
)
def test_it_runs_on_what_transforms_make_and_in_bodies(registered, transformed):
    unchanged = np.asarray(transformed(tn.asarray(X)))
    registered(BOUND)
    function = tn.jit(transformed)
    np.testing.assert_array_equal(function(X), unchanged)
    assert "acmepass::pairs" in passes_of(function, X)


@pytest.mark.parametrize(
    "choice, runs",
    [
        (None, True),
        ("all", True),
        ({"simplify": False}, True),
        ({"acmepass::pairs": False}, False),
        (["simplify"], False),
        ("none", False),
        (["acmepass::pairs"], True),
    ],
    ids=str,
)
def test_the_option_passes_chooses_it(registered, choice, runs):
    registered(BOUND)
    function = tn.jit(four, options=None if choice is None else {"passes": choice})
    np.testing.assert_array_equal(function(X), 4 * X)
    assert ("acmepass::pairs: 1" in passes_of(function, X)) is runs


@pytest.mark.parametrize("passes", [None, {"acmepass::watch": True}], ids=["unasked", "asked"])
def test_a_pass_about_the_primitives_of_others_runs_if_it_is_asked_for(registered, passes):
    """An installation alone changes nothing that other programs compute."""
    registered(FREE)
    SEEN.clear()
    tn.jit(lambda x: tn.sin(-x), options=passes and {"passes": passes})(X)
    assert SEEN == ([["neg", "sin"]] if passes else [])


def test_passes_run_in_the_order_of_the_list(registered):
    registered(BOUND, GraphPass(name="acmepass::after", rewrite=watch, primitives={FourTimes.key}))
    SEEN.clear()
    tn.jit(four)(X)
    assert SEEN == [["four_times"]]


def test_a_name_that_no_plugin_has_is_refused(registered):
    registered(BOUND)
    with pytest.raises(tn.UnknownPassError, match="did you mean 'acmepass::pairs'") as caught:
        tn.jit(four, options={"passes": {"acmepass::pair": True}})(X)
    assert "acmepass::pairs" in caught.value.names


def test_without_the_plugin_its_pass_is_gone(registered):
    registered(BOUND)
    tn.host().unregister("acmepass")
    assert "acmepass" not in passes_of(tn.jit(four), X)


# --- what breaks a program -----------------------------------------------------------------------


def rebuilt(graph, nodes=None, outputs=None, avals=None, inputs=None):
    return MaterializedGraph(
        graph.inputs if inputs is None else inputs,
        graph.nodes if nodes is None else nodes,
        graph.outputs if outputs is None else outputs,
        graph.avals if avals is None else avals,
    )


def raising(graph):
    raise KeyError("voigt")


def in_float32(graph):
    return rebuilt(graph, avals=[aval.with_dtype("float32") for aval in graph.avals])


def renamed(graph):
    first = graph.nodes[0]
    return rebuilt(graph, nodes=[first._replace(inputs=(len(graph.avals) - 1,)), *graph.nodes[1:]])


BROKEN = [
    (raising, "it raised KeyError"),
    (lambda graph: None, "it returned NoneType"),
    (in_float32, "the avals of the inputs changed"),
    (lambda graph: rebuilt(graph, inputs=()), "the inputs of the graph changed"),
    (lambda graph: rebuilt(graph, outputs=()), "the outputs were"),
    (lambda graph: rebuilt(graph, outputs=(99,)), "an output is not among the values"),
    (lambda graph: rebuilt(graph, avals=graph.avals[:-1]), "gives"),
    (lambda graph: rebuilt(graph, nodes=graph.nodes[1:]), "reads a value"),
    (renamed, "reads a value that is not made before it"),
    (lambda graph: rebuilt(graph, nodes=[*graph.nodes, graph.nodes[0]]), "not the next numbers"),
]


@pytest.mark.parametrize("rewrite, problem", BROKEN)
def test_a_pass_that_breaks_a_program_is_named(registered, rewrite, problem):
    registered(GraphPass(name="acmepass::bad", rewrite=rewrite, primitives={Twice.key}))
    with pytest.raises(tn.BrokenPassError, match="acmepass::bad of acmepass_plugin") as caught:
        tn.jit(four)(X)
    assert problem in caught.value.problem
    assert caught.value.name == "acmepass::bad"
    assert (caught.value.__cause__ is not None) is (rewrite is raising)
    off = tn.jit(four, options={"passes": {"acmepass::bad": False}})
    np.testing.assert_array_equal(off(X), 4 * X)


def test_a_pass_that_drops_an_effect_is_named(registered):
    """A call that prints is never dropped in silence."""
    calls = []

    def noisy(x):
        tn.debug.callback(calls.append, x)
        return twice(x)

    def silent(graph):
        operation = constant(False, "bool").key.operation  # stands for what the call returns
        nodes = [
            node._replace(operation=operation, inputs=())
            if node.operation.key == "std::debug_callback"
            else node
            for node in graph.nodes
        ]
        return rebuilt(graph, nodes=nodes)

    registered(GraphPass(name="acmepass::silent", rewrite=silent, primitives={Twice.key}))
    with pytest.raises(tn.BrokenPassError, match="is gone"):
        tn.jit(noisy)(X)
    assert calls == []


@pytest.mark.parametrize(
    "given, reason",
    [
        ([GraphPass(name="other::pairs", rewrite=pairs)], "is not named 'acmepass::…'"),
        ([GraphPass(name="pairs", rewrite=pairs)], "is not named 'acmepass::…'"),
        ([BOUND, BOUND], "twice"),
        ([pairs], "need a GraphPass"),
    ],
)
def test_what_the_hook_gives_is_checked_at_load(given, reason):
    with pytest.raises(PluginBrokenError, match=reason):
        tn.host().register(plugin_of(*given))
    assert all(record.name != "acmepass" for record in tn.host().records())


def test_a_function_that_cannot_be_imported_names_the_provider(registered):
    registered(GraphPass(name="acmepass::gone", rewrite="no_such:f", primitives={Twice.key}))
    with pytest.raises(PluginBrokenError, match=r"acmepass::gone cannot be used\n  provider"):
        tn.jit(four)(X)


@pytest.mark.parametrize(
    "wrong",
    [{"rewrite": 3}, {"rewrite": pairs, "primitives": "acmepass::twice"}],
    ids=["rewrite", "primitives"],
)
def test_a_record_of_wrong_types_is_refused(wrong):
    with pytest.raises(TypeError):
        GraphPass(name="acmepass::x", **wrong)


def test_a_rule_that_never_applies_returns_the_same_graph():
    rules = PassRules("acmepass::none")
    rules.of(Neg)(lambda rewriter, operation, operands: None)
    graph = tn.trace(tn.sin, X).graph
    assert swept(graph, rules) is graph
