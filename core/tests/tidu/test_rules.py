"""Rules: found or missed with a typed error, overridden by a context, their results checked."""

import sys

import pytest
from toy_functions import NoRules, NoTranspose, Opaque, one, square
from toy_running import (
    FORMS,
    EmittingForm,
    GraphForm,
    forward,
    keys,
    nest,
    numbers,
    reverse,
    var,
    view_of,
)
from toy_scalars import Add, Const, Dup, Exp, Mul, Neg, Scalar, Space, Toy

import tenferro.tidu
from tenferro.computegraph import derive_one
from tenferro.tidu import (
    ADContext,
    FlowInput,
    MissingRuleError,
    NotLinearError,
    NotRulesError,
    Residual,
    RuleResultError,
    Rules,
    _emit,
    linear_transpose,
    linearize,
    linearize_keys,
    missing_rule,
    pullback,
    pushforward,
)

both_forms = pytest.mark.parametrize("form", FORMS)


class Count:
    """Rules that count their calls and otherwise do what the operation does."""

    def __init__(self):
        self.jvps, self.transposes, self.notes = [], [], []

    def context(self, *classes):
        rules = Rules(jvp=self.jvp, transpose=self.transpose)
        return ADContext(dict.fromkeys(classes, rules), note="from the caller")

    def jvp(self, operation, rule, *args):
        self.jvps.append(operation)
        self.notes.append(rule.context.extras["note"])
        return operation.jvp(rule, *args)

    def transpose(self, operation, rule, *args):
        self.transposes.append(operation)
        self.notes.append(rule.context.extras["note"])
        return operation.transpose(rule, *args)


def made(name, **rules):
    """A primitive with the given rules."""
    return type(name, (Toy,), {"key": f"toy::{name.lower()}", "linear": ((0,),), **rules})()


def two_operations():
    x = var("x")
    return x, -(x + x)


def test_the_context_reaches_every_rule():
    x, y = two_operations()
    count = Count()
    context = count.context(Add, Neg)
    linear = linearize(view_of([y]), [y.key], [x.key], context=context)
    assert (count.jvps, count.transposes) == ([Add(), Neg()], [])
    linear_transpose(linear, context=context)
    assert (count.jvps, count.transposes) == ([Add(), Neg()], [Neg(), Add()])
    assert count.notes == ["from the caller"] * 4


def test_the_context_reaches_every_rule_of_the_emitting_form():
    x, y = two_operations()
    count = Count()
    options = {"space": Space, "context": count.context(Add, Neg)}
    pushforward([y.key], [x.key], [one()], **options)
    pullback([y.key], [x.key], [one()], **options)
    assert (len(count.jvps), len(count.transposes)) == (4, 2)


def test_an_override_replaces_the_rule():
    double = Rules(
        jvp=lambda operation, rule, primals, outputs, tangents: [tangents[0] + tangents[0]]
    )
    x = var("x")
    y = Exp()(x)
    (dy,) = pushforward(
        [y.key], [x.key], [var("dx")], space=Space, context=ADContext({Exp: double})
    )
    assert numbers([dy], {x: 5, var("dx"): 3}) == [6]
    (dy,) = pushforward([y.key], [x.key], [var("dx")], space=Space)
    assert numbers([dy], {x: 0, var("dx"): 3}) == [3]


@pytest.mark.parametrize("rules", [3, "a", [], [(Exp, Rules())], {Exp: None}, {"exp": Rules()}])
def test_a_context_takes_a_mapping_from_classes_to_rules(rules):
    with pytest.raises(NotRulesError, match=r"such as \{Sin: Rules") as error:
        ADContext(rules)
    assert error.value.rules is rules


def test_a_rule_for_an_operation_of_a_stranger():
    rules = Rules(
        jvp=lambda op, rule, primals, outputs, tangents: [-tangents[0]],
    )
    x = var("x")
    y = Scalar(derive_one(Opaque(), (x.key,)))
    found = pullback([y.key], [x.key], [one()], space=Space, context=ADContext({Opaque: rules}))
    assert numbers(found, {}) == [-1]


@both_forms
@pytest.mark.parametrize("transform", ["jvp", "vjp"])
def test_a_missing_jvp_is_an_error(form, transform):
    x = var("x")
    y = NoRules()
    output = Scalar(derive_one(y, (x.key,)))
    with pytest.raises(MissingRuleError) as error:
        getattr(form, transform)([output], [x], {x: 1}, [1])
    assert (error.value.primitive, error.value.rule) == ("toy::no_rules", "jvp")
    assert (error.value.provider, error.value.input) == ("toy_functions", 0)


@both_forms
def test_a_missing_transpose_is_an_error(form):
    x = var("x")
    output = Scalar(derive_one(NoTranspose(), (x.key,)))
    with pytest.raises(MissingRuleError) as error:
        form.vjp([output], [x], {x: 1}, [1])
    assert (error.value.primitive, error.value.rule) == ("toy::no_transpose", "transpose")
    assert error.value.provider == "toy_functions"


@both_forms
@pytest.mark.parametrize("after", [lambda y: y, lambda y: y * y])
def test_an_operation_that_is_no_primitive_is_an_error(form, after):
    x = var("x")
    y = after(Scalar(derive_one(Opaque(), (x.key,))))
    with pytest.raises(MissingRuleError) as error:
        form.jvp([y], [x], {x: 1}, [1])
    assert (error.value.primitive, error.value.rule) == ("opaque", "jvp")


def test_a_missing_rule_beside_the_path_is_none_of_our_business():
    x, y = var("x"), var("y")
    z = x * Scalar(derive_one(Opaque(), (y.key,)))
    linear = linearize(view_of([z]), [z.key], [x.key])
    assert linear.tangent_outputs[0] is not None


def test_a_missing_rule_prints_who_and_what(golden):
    golden("error_missing_rule", missing_rule(NoRules(), "jvp", 0))


WRONG = {
    "too few": {"turn": None, "transpose": lambda self, rule, cts, inputs: ()},
    "no value": {"transpose": lambda self, rule, cts, inputs: (1.0,)},
    "no flow": {"transpose": lambda self, rule, cts, inputs: (one(),)},
    "other aval": {"transpose": lambda self, rule, cts, inputs: (To("c")(cts[0]),)},
}


class To(Toy):
    key = "toy::to"
    linear = ((0,),)
    aval: str

    def abstract_eval(self, x):
        return self.aval


@both_forms
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_result_of_a_transpose_is_an_error(form, case):
    x = var("x")
    y = made("Wrong", **WRONG[case])(x)
    with pytest.raises(RuleResultError) as error:
        form.vjp([y], [x], {x: 1}, [1])
    assert (error.value.primitive, error.value.rule) == ("toy::wrong", "transpose")


@both_forms
@pytest.mark.parametrize(
    "tangents",
    [
        lambda dx: (),
        lambda dx: (dx, dx),
        lambda dx: (1.0,),
        lambda dx: (one(),),
        lambda dx: (To("c")(dx),),
    ],
)
def test_a_wrong_result_of_a_jvp_is_an_error(form, tangents):
    x = var("x")
    y = made("Wrong", jvp=lambda self, rule, xs, ys, dxs: tangents(dxs[0]))(x)
    with pytest.raises(RuleResultError) as error:
        form.jvp([y], [x], {x: 1}, [1])
    assert (error.value.primitive, error.value.rule) == ("toy::wrong", "jvp")


def test_a_cotangent_of_a_fixed_input_is_an_error():
    x, y = var("x"), var("y")
    wrong = made("Wrong", input_count=2, transpose=lambda self, rule, cts, inputs: (cts[0], cts[0]))
    with pytest.raises(RuleResultError, match="fixed input"):
        GraphForm.vjp([wrong(x, y)], [x], {x: 1, y: 1}, [1])


def test_a_rule_may_say_that_nothing_flows():
    x = var("x")
    stop = made("Stop", jvp=lambda self, rule, xs, ys, dxs: (None,))
    zero = made("Zero", jvp=lambda self, rule, xs, ys, dxs: (rule.zeros("f"),))
    for form in FORMS:
        assert form.jvp([stop(x), zero(x), x], [x], {x: 1}, [1]) == [None, None, 1]
        assert form.vjp([stop(x), zero(x)], [x], {x: 1}, [1, 1]) == [None]


def test_transposes_see_typed_inputs():
    seen = []

    def look(self, rule, cts, inputs):
        seen.extend(inputs)
        return (cts[0] * inputs[1].value, None)

    x, y = var("x"), var("y")
    scaled = made("Scaled", input_count=2, transpose=look, run=lambda self, x, y: x * y)
    assert EmittingForm.vjp([scaled(x, y)], [x], {x: 2, y: 3}, [1]) == [3]
    flow, coefficient = seen
    assert (type(flow), flow.aval, flow.primal) == (FlowInput, "f", x.key)
    assert (type(coefficient), coefficient.value.key) == (Residual, y.key)


def test_a_jvp_may_use_inputs_and_outputs():
    def rule_of(self, rule, primals, outputs, tangents):
        return [primals[0] * outputs[0] * tangents[0]]

    x = var("x")
    y = made("Own", jvp=rule_of, run=lambda self, x: 10 * x)(x)
    for form in FORMS:
        assert form.jvp([y], [x], {x: 2}, [1]) == [40]


def test_a_jvp_sees_none_where_no_tangent_flows():
    seen = []

    def look(self, rule, primals, outputs, tangents):
        seen.append([tangent is not None for tangent in tangents])
        return [tangents[1]]

    x, y = var("x"), var("y")
    z = made("Look", input_count=2, jvp=look)(x, y)
    GraphForm.jvp([z], [y], {x: 1, y: 1}, [1])
    assert seen == [[False, True]]


def test_rules_are_called_only_on_the_way():
    x, y = var("x"), var("y")
    count = Count()
    beside, unused = Exp()(y), -x
    z = Mul()(beside, x)
    view = view_of([z, unused])
    linearize(view, [z.key], [x.key], context=count.context(Add, Mul, Neg, Exp))
    assert count.jvps == [Mul()]


def test_transposes_are_called_only_where_something_flows():
    x = var("x")
    first, second = Dup()(x)
    count = Count()
    linear = linearize_keys(
        [(-first).key, (second * second).key],
        [x.key],
        space=Space,
        context=count.context(Dup, Neg, Mul),
    )
    linear.transpose([one(), None])
    assert count.transposes == [Neg(), Dup()]


def test_a_rule_that_calls_a_transform_passes_its_flow_on():
    """y = d/dx x³ by a rule of its own, then differentiated from outside."""

    def cube(x):
        return x * square(x)

    def jvp(self, rule, primals, outputs, tangents):
        slope = forward(lambda u: forward(cube, u), primals[0])
        return [slope * tangents[0]]

    slope = made("Slope", jvp=jvp, run=lambda self, x: 3 * x * x)
    x = var("x")
    for mode in "FR":
        assert numbers([nest(mode, slope)(x)], {x: 5}) == [30]
        assert numbers([nest(2 * mode, slope)(x)], {x: 5}) == [6]


def test_a_rule_may_push_its_own_tangents_through_a_transform():
    """Several sweeps are open at once: what is emitted belongs to each of them."""

    def jvp(self, rule, primals, outputs, tangents):
        inner = square(primals[0])
        return pushforward([inner.key], [primals[0].key], [tangents[0]], space=Space)

    own = made("Own", jvp=jvp, run=lambda self, x: x * x)
    x = var("x")
    for form in FORMS:
        assert form.jvp([own(x)], [x], {x: 3}, [1]) == [6]
        assert form.vjp([own(x)], [x], {x: 3}, [1]) == [6]
    assert numbers([reverse(lambda u: forward(own, u), x)], {x: 3}) == [2]


def test_a_rule_may_pull_its_cotangents_through_a_transform():
    def jvp(self, rule, primals, outputs, tangents):
        return [self(tangents[0])]

    def transpose(self, rule, cts, inputs):
        y = Const(5.0)() * (other := var("other"))
        return pullback([y.key], [other.key], [cts[0]], space=Space)

    own = made("Own", jvp=jvp, transpose=transpose, run=lambda self, x: 5 * x)
    x = var("x")
    assert GraphForm.vjp([own(-own(x))], [x], {x: 3}, [1]) == [-25]
    assert EmittingForm.vjp([own(-own(x))], [x], {x: 3}, [1]) == [-25]


def own_jvp(slope):
    """x ↦ x² (say), whose tangent is ``slope(x, dx)``."""

    def jvp(self, rule, primals, outputs, tangents):
        return [slope(primals[0], tangents[0])]

    return made("Own", jvp=jvp, run=lambda self, x: x * x)


CLOSURES = {
    "the tangent": (lambda x, dx: forward(lambda u: u * u * dx, x), 6),
    "what was made of it": (lambda x, dx: forward(lambda u: u * (x * dx), x), 3),
    "by reverse": (lambda x, dx: reverse(lambda u: u * u * dx, x), 6),
    "by reverse, what was made of it": (lambda x, dx: reverse(lambda u: u * -(x * dx), x), -3),
    "twice": (lambda x, dx: forward(lambda u: reverse(lambda v: v * u * dx, u), x), 1),
    "twice by reverse": (
        lambda x, dx: reverse(lambda u: reverse(lambda v: v * v * u * dx, u), x),
        12,
    ),
}


@pytest.mark.parametrize("name", CLOSURES)
@pytest.mark.parametrize("transform", ["jvp", "vjp"])
def test_a_rule_may_close_over_its_tangent_inside_a_transform(transform, name):
    """The flow of the outer sweep comes into the inner sweep by key, and is recorded in both."""
    slope, value = CLOSURES[name]
    x = var("x")
    assert getattr(GraphForm, transform)([own_jvp(slope)(x)], [x], {x: 3}, [1]) == [value]


@pytest.mark.parametrize(
    "slope",
    [
        lambda x, dx: forward(lambda u: u * dx, x, dx),
        lambda x, dx: forward(lambda u: u * (x * dx), x, dx),
    ],
)
def test_linearity_is_checked_inside_an_inner_transform(slope):
    x = var("x")
    with pytest.raises(NotLinearError):
        GraphForm.jvp([own_jvp(slope)(x)], [x], {x: 3}, [1])


def test_sweeps_are_closed_after_an_error():
    x = var("x")
    with pytest.raises(ZeroDivisionError):
        GraphForm.jvp([own_jvp(lambda x, dx: 1 // 0)(x)], [x], {x: 3}, [1])
    assert _emit._open.sweeps == ()


def test_both_slots_of_an_operation_are_pushed_at_once():
    x = var("x")
    count = Count()
    first, second = Dup()(x)
    linearize(
        view_of([first * second]), keys([first * second]), keys([x]), context=count.context(Dup)
    )
    assert count.jvps == [Dup()]


def test_what_wrt_does_not_reach_needs_no_rule():
    x, y = var("x"), var("y")
    outputs = [x, Scalar(derive_one(Opaque(), (y.key,)))]
    for form in FORMS:
        assert form.jvp(outputs, [x], {x: 1, y: 2}, [1])[0] == 1


def test_public_names_are_the_objects_of_their_modules():
    modules = [m for name, m in sys.modules.items() if name.startswith("tenferro.tidu._")]
    for name in tenferro.tidu.__all__:
        public = getattr(tenferro.tidu, name)
        assert any(vars(module).get(name) is public for module in modules)


def test_a_value_is_its_key_and_its_flow():
    x = var("x")
    assert (x.key.input_key, x.aval, x.flow) == ("x", "f", ())
    assert Scalar(x.key).key is x.key
    assert repr(x) == "Scalar(<x: f>)"
    assert keys([x, -x])[1].inputs == (x.key,)
