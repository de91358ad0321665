"""Lowerings: how they are collected, and which one is chosen."""

import pytest
from toy_lowerings import F32, F64, Countdown, Double, Quadruple, fake, native, table

from tenferro.backend import (
    Lowering,
    LoweringConflictError,
    Lowerings,
    MissingLoweringError,
    PluginBrokenError,
)
from tenferro.backend.lowering import decompose
from tenferro.primitives import (
    STANDARD,
    Add,
    Aval,
    Constant,
    Exp,
    Mul,
    Select,
    Sin,
    float32,
    sin,
)

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
    """A primitive runs natively, by a decomposition that does, or not at all"""
    assert native(*lowerings).status(primitive) == status


def test_the_standard_set_has_no_cycles(monkeypatch):
    """A process takes this for granted; here it is judged as that of a stranger is."""
    monkeypatch.setattr(decompose, "_is_judged", decompose.has_decomposition)
    decompose.check_cycles(STANDARD, lambda cls: cls.key)
    loop = {Double: (Double,)}
    assert decompose.find_cycle(loop) == (Double, Double)
