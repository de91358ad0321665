"""Lowerings: which one is chosen, what is decomposed, and what is missing."""

import pytest

from tenferro.backend import (
    DecompositionCycleError,
    Lowering,
    LoweringConflictError,
    LoweringError,
    Lowerings,
    LoweringTable,
    MissingLoweringError,
    PluginBrokenError,
)
from tenferro.backend.lowering import decompose
from tenferro.primitives import (
    STANDARD,
    Add,
    Aval,
    Constant,
    Elementwise,
    Exp,
    Mixed,
    Mul,
    Select,
    Sin,
    bind,
    bind_all,
    exp,
    float32,
    sin,
)

F64, F32 = Aval((), "float64"), Aval((), "float32")


def fake(name):
    """A lowering whose result is its own name."""
    return lambda operation, *operands: name


def table(*lowerings, **named):
    return LoweringTable("toy", lowerings, **named)


def native(*keys):
    return table(*[Lowering(key, fake(key)) for key in keys])


def names(program):
    return [instruction.operation.name for instruction in program.instructions]


class Double(Elementwise):
    """2x"""

    key = "test::double"

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return x + x


class Quadruple(Elementwise):
    """4x"""

    key = "test::quadruple"

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return bind(Double(), bind(Double(), x))


class Two(Mixed):
    """x, exp sin x"""

    key = "test::two"
    output_count = 2

    def abstract_eval(self, x):
        return x, x

    def decompose(self, x):
        return x, exp(sin(x))


class Countdown(Mixed):
    """A decomposition into itself that ends."""

    key = "test::countdown"
    n: int

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return x if self.n == 0 else bind(Countdown(self.n - 1), x) + x


class Loop(Mixed):
    """A decomposition into itself that does not end."""

    key = "test::loop"
    n: int

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return bind(Loop(1 - self.n), x)


class Grows(Mixed):
    """A decomposition into ever larger ones."""

    key = "test::grows"
    n: int

    def abstract_eval(self, x):
        return x

    def decompose(self, x):
        return bind(Grows(self.n + 1), x)


class Wrong(Elementwise):
    """A decomposition of another dtype."""

    key = "test::wrong"

    def abstract_eval(self, x):
        return x.with_dtype("float32")

    def decompose(self, x):
        return x + x


# ---- the collector ---------------------------------------------------------------------------


def test_the_collector_yields_records_of_key_dtypes_priority_and_version():
    lowerings = Lowerings()
    lowerings.register(Sin, dtypes=[float32, "float64"], priority=2)(fake("s"))
    (record,) = lowerings
    assert (record.primitive, record.priority, record.for_version) == ("std::sin", 2, 1)
    assert record.dtypes == {"float32", "float64"}


def test_a_lowering_needs_a_key_and_names_of_dtypes():
    with pytest.raises(ValueError, match="not a primitive key"):
        Lowering("sin", fake("s"))
    with pytest.raises(TypeError, match="collection of names"):
        Lowering("std::sin", fake("s"), dtypes="float32")


# ---- the choice of one -----------------------------------------------------------------------


def test_lookup_gives_the_function():
    assert native("std::sin").lookup(Sin(), (F64,))(Sin(), 1.0) == "std::sin"


def test_lookup_without_avals_ignores_dtypes():
    one = table(Lowering("std::sin", fake("f32"), dtypes={"float32"}))
    assert one.lookup(Sin())(Sin()) == "f32"


def test_the_dtypes_of_all_inputs_must_fit():
    limited = table(Lowering("std::add", fake("f32"), dtypes={"float32"}))
    assert limited.is_native(Add(), (F32, F32))
    assert not limited.is_native(Add(), (F64, F64))


def test_one_input_of_another_dtype_is_enough_to_rule_a_lowering_out():
    limited = table(Lowering("std::select", fake("f32"), dtypes={"float32"}))
    assert not limited.is_native(Select(), (Aval((), "bool"), F32, F32))


def test_without_inputs_the_dtypes_of_the_outputs_must_fit():
    limited = table(Lowering("std::constant", fake("c"), dtypes={"float32"}))
    assert limited.is_native(Constant(1.0, "float32"), ())
    assert not limited.is_native(Constant(1.0, "float64"), ())


def test_each_dtype_has_its_own_lowering():
    two = table(
        Lowering("std::sin", fake("32"), dtypes={"float32"}),
        Lowering("std::sin", fake("64"), dtypes={"float64"}),
    )
    assert two.lookup(Sin(), (F32,))(Sin()) == "32"
    assert two.lookup(Sin(), (F64,))(Sin()) == "64"


def test_the_order_of_registration_decides_nothing():
    low, high = Lowering("std::sin", fake("low")), Lowering("std::sin", fake("high"), priority=1)
    assert table(low, high).lookup(Sin())(Sin()) == table(high, low).lookup(Sin())(Sin()) == "high"


def test_priority_ranks_nothing_across_distributions():
    low = Lowering("std::sin", fake("a"), provider="dist-a 1")
    high = Lowering("std::sin", fake("b"), provider="dist-b 2", priority=5)
    with pytest.raises(LoweringConflictError) as caught:
        table(low, high).lookup(Sin())
    assert caught.value.providers == ("dist-a 1", "dist-b 2")


class Owners:
    """A registry that knows who owns which namespace, and nothing else."""

    def __init__(self, **owners):
        self.owner = lambda key: owners.get(key.partition("::")[0], "")
        self.provider, self.note = self.owner, lambda key: ""
        self.backends_with = lambda operation, avals: ()


def owned(*lowerings, **named):
    registry = Owners(std="core 1", test="acme 1")
    return table(*lowerings, registry=registry, home="toy 3", **named)


@pytest.mark.parametrize(
    "key, operation, providers, runs",
    [
        ("std::sin", Sin, ["toy 3", "stranger 1"], "toy 3"),
        ("std::sin", Sin, ["toy 3", "stranger 1", "other 1"], "toy 3"),
        ("test::double", Double, ["toy 3", "acme 1"], "acme 1"),
        ("test::double", Double, ["stranger 1", "acme 1"], "acme 1"),
        ("test::double", Double, ["toy 3"], "toy 3"),
        ("test::double", Double, ["stranger 1"], ""),
    ],
)
def test_the_owner_of_a_primitive_lowers_it_then_the_backend_and_a_stranger_never(
    key, operation, providers, runs
):
    one = owned(*[Lowering(key, fake(p), provider=p, priority=i) for i, p in enumerate(providers)])
    assert (one.provider_of(operation()), one.runs(operation)) == (runs, runs)
    assert set(one.offers(operation)) == {p.split()[0] for p in providers if p != runs}


def test_a_preferred_stranger_runs():
    one = owned(
        Lowering("std::sin", fake("toy"), provider="toy 3"),
        Lowering("std::sin", fake("stranger"), provider="stranger 1"),
        preferred={"std::sin": "Stranger"},
    )
    assert one.lookup(Sin())(Sin()) == "stranger"


def test_the_lowering_of_a_stranger_closes_no_gap_and_is_named(variable, program):
    one = owned(Lowering("std::sin", fake("stranger"), provider="stranger 1"))
    assert one.status(Sin) == "missing"
    x = variable("x")
    with pytest.raises(MissingLoweringError, match=r'prefer\("std::sin", "toy", "stranger"\)') as e:
        one.close(program([x], [sin(x)]))
    assert e.value.gaps[0].offered_by == ("stranger",)


def test_two_strangers_for_one_gap_are_a_conflict(variable, program):
    strangers = [Lowering("std::sin", fake(p), provider=f"{p} 1") for p in ("one", "two")]
    x = variable("x")
    with pytest.raises(LoweringConflictError) as caught:
        owned(*strangers).close(program([x], [sin(x)]))
    assert caught.value.providers == ("one", "two")


def test_a_tie_is_an_error_only_where_it_is_used():
    tied = table(
        Lowering("std::sin", fake("a"), provider="a 1"),
        Lowering("std::sin", fake("b"), provider="b 2"),
        Lowering("std::exp", fake("exp")),
    )
    assert tied.lookup(Exp())(Exp()) == "exp"
    with pytest.raises(LoweringConflictError) as caught:
        tied.lookup(Sin(), (F64,))
    assert caught.value.providers == ("a 1", "b 2")
    assert caught.value.primitive == "std::sin"


def test_prefer_decides_between_distributions_and_renews_the_generation():
    tied = table(
        Lowering("std::sin", fake("a"), provider="dist-a 1"),
        Lowering("std::sin", fake("b"), provider="dist-b 2", priority=5),
    )
    before = tied.generation
    tied.prefer("std::sin", "Dist_A")
    assert tied.lookup(Sin())(Sin()) == "a"
    assert tied.generation > before


def test_preferring_somebody_without_a_lowering_changes_nothing():
    one = table(Lowering("std::sin", fake("a"), provider="a 1"), preferred={"std::sin": "nobody"})
    assert one.lookup(Sin())(Sin()) == "a"


@pytest.mark.parametrize(
    "target", ["no_such_module:f", "tenferro.backend:no_such", "tenferro.backend:API_VERSION"]
)
def test_a_target_that_cannot_be_used_names_its_provider(target):
    one = table(Lowering("std::sin", target, provider="dist 1.0"))
    with pytest.raises(PluginBrokenError, match=r"(?s)std::sin for toy.*dist 1\.0.*") as caught:
        one.lookup(Sin())
    assert caught.value.__cause__ is not None


def test_lookup_of_a_missing_one_lists_it():
    with pytest.raises(MissingLoweringError) as caught:
        native("std::sin").lookup(Exp(), (F64,))
    (gap,) = caught.value.gaps
    assert (gap.primitive, gap.dtypes) == ("std::exp", ("float64",))


# ---- whole programs --------------------------------------------------------------------------


def test_a_program_that_runs_is_left_as_it_is(variable, program):
    x = variable("x")
    one = program([x], [sin(x)])
    assert native("std::sin").close(one) is one


def test_decompositions_are_spliced_and_merged(variable, program):
    x = variable("x")
    before = program([x], [bind(Quadruple(), x), bind(Double(), x)])
    after = native("std::add").close(before)
    assert [line.split() for line in str(after).splitlines()] == [
        ["program(x:", "f64[])", "{"],
        ["%1", "=", "add", "%0", "%0", ":", "f64[]"],
        ["%2", "=", "add", "%1", "%1", ":", "f64[]"],
        ["return", "%2,", "%1"],
        ["}"],
    ]


def test_a_lowering_is_preferred_to_a_decomposition(variable, program):
    x = variable("x")
    after = native("test::double").close(program([x], [bind(Quadruple(), x)]))
    assert names(after) == ["double", "double"]


def test_the_input_order_and_repeated_outputs_are_kept(variable, program):
    x, y = variable("x"), variable("y")
    double = bind(Double(), y)
    after = native("std::add").close(program([x, y], [double, double, x]))
    assert after.input_names == ("x", "y")
    assert after.outputs == (2, 2, 0)


def test_an_output_may_be_an_input_of_the_decomposition(variable, program):
    x = variable("x")
    first, _ = bind_all(Two(), x)
    after = native("std::add", "std::sin", "std::exp").close(program([x], [first]))
    assert (names(after), after.outputs) == ([], (0,))


def test_structure_tells_closed_programs_apart(variable, program):
    x, y = variable("x"), variable("y")
    adds = native("std::add")
    one = adds.close(program([x], [bind(Double(), x)]))
    assert one.structure == adds.close(program([y], [bind(Double(), y)])).structure
    assert one.structure != adds.close(program([x], [bind(Quadruple(), x)])).structure


def test_slots_are_freed_after_their_last_use(variable, program):
    x = variable("x")
    after = native("std::add").close(program([x], [bind(Quadruple(), x)]))
    assert [instruction.frees for instruction in after.instructions] == [(0,), (1,)]


def test_a_decomposition_is_traced_once_per_operation_and_avals(variable, program, monkeypatch):
    traced = []
    monkeypatch.setattr(Double, "decompose", lambda self, x: traced.append(x.aval) or x * 3)
    x, y, z = variable("x", (7,)), variable("y", (7,)), variable("z", (8,))
    outputs = [bind(Double(), v) for v in (x, y, z)]
    table = native("std::mul", "std::constant", "std::broadcast_in_dim")
    table.close(program([x, y, z], outputs))
    table.close(program([x, y, z], outputs))
    assert traced == [Aval((7,), "float64"), Aval((8,), "float64")]


def test_deep_decompositions_need_no_recursion(variable, program):
    x = variable("x")
    after = native("std::add").close(program([x], [bind(Countdown(150), x)]))
    assert len(after) == 150


def test_long_programs_need_no_recursion(variable, program):
    x = y = variable("x")
    for _ in range(5000):
        y = bind(Double(), y)
    assert len(native("std::add").close(program([x], [y]))) == 5000


def test_every_gap_of_the_program_is_listed_once(variable, program):
    x = variable("x")
    _, second = bind_all(Two(), x)
    outputs = [exp(exp(x)), second, x * x, exp(variable("s", (), "float32"))]
    one = program([x], outputs)
    with pytest.raises(MissingLoweringError) as caught:
        native("std::mul").close(one)
    gaps = {(g.primitive, g.dtypes, g.within) for g in caught.value.gaps}
    assert gaps == {
        ("std::exp", ("float64",), ""),
        ("std::exp", ("float32",), ""),
        ("std::sin", ("float64",), "test::two"),
        ("std::exp", ("float64",), "test::two"),
    }


def test_the_text_of_gaps_is_complete(variable, program):
    x = variable("x")
    limited = table(
        Lowering("std::sin", fake("s"), dtypes={"float32"}),
        Lowering("std::exp", fake("e"), for_version=3),
    )
    with pytest.raises(MissingLoweringError) as caught:
        limited.close(program([x], [sin(x), exp(x)]))
    assert str(caught.value) == (
        "toy cannot run 2 operations of this program\n"
        "  missing    std::sin version 1 on (float64)\n"
        "    provider       tenferro.primitives.trigonometric\n"
        "    decomposition  none\n"
        "    lowered on     no installed backend\n"
        "    but            lowerings exist for float32\n"
        "  missing    std::exp version 1 on (float64)\n"
        "    provider       tenferro.primitives.elementwise\n"
        "    decomposition  none\n"
        "    lowered on     no installed backend\n"
        "    but            lowerings exist for version 3\n"
        "  hint       how to write a lowering or a decomposition: docs/add_a_primitive.md"
    )


@pytest.mark.parametrize(
    "operation, cycle",
    [
        (Loop(0), ("test::loop", "test::loop", "test::loop")),
        (Grows(0), ("test::grows",) * 11),
    ],
)
def test_a_cycle_through_parameters_is_found_when_it_is_used(variable, program, operation, cycle):
    x = variable("x")
    with pytest.raises(DecompositionCycleError) as caught:
        native("std::add").close(program([x], [bind(operation, x)]))
    assert caught.value.cycle == cycle


def test_a_decomposition_of_another_aval_is_refused(variable, program):
    x = variable("x")
    with pytest.raises(LoweringError, match=r"test::wrong: .* gives f64\[\], need f32\[\]"):
        native("std::add").close(program([x], [bind(Wrong(), x)]))


def test_a_decomposition_may_not_close_over_values(variable, program, monkeypatch):
    x, other = variable("x", (3,)), variable("other", (3,))
    monkeypatch.setattr(Double, "decompose", lambda self, x: x + other)
    with pytest.raises(LoweringError, match="its decomposition reads"):
        native("std::add").close(program([x], [bind(Double(), x)]))


# ---- status ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "primitive, lowerings, status",
    [
        (Sin, ("std::sin",), "native"),
        (Sin, (), "missing"),
        (Double, ("std::add",), "decomposed"),
        (Double, (), "missing"),
        (Quadruple, ("std::add",), "decomposed"),
        (Quadruple, ("test::double",), "decomposed"),
        (Countdown, (), "decomposed"),  # needs a parameter, so nothing is known better
        (Mul, ("std::add",), "missing"),
    ],
)
def test_status(primitive, lowerings, status):
    assert native(*lowerings).status(primitive) == status


def test_the_standard_set_has_no_cycles(monkeypatch):
    """A process takes this for granted; here it is judged as that of a stranger is."""
    monkeypatch.setattr(decompose, "_is_judged", decompose.has_decomposition)
    decompose.check_cycles(STANDARD, lambda cls: cls.key)
    loop = {Double: (Double,)}
    assert decompose.find_cycle(loop) == (Double, Double)
