"""``options={"passes": …}``: for one program, for one configuration of a backend, refused."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import BackendConfig, select_backend

X = np.array([1.0, -0.0, 3.0])


def twice_negative(x):
    return -tn.stop_gradient(-x)


def text(function):
    function(X)
    row = next(row for row in function.explain().splitlines() if row.startswith("  passes"))
    return " ".join(row.split()[1:])


def configured(**options):
    name = select_backend().name
    return tn.host().backend(name, BackendConfig(options=options))


def test_the_passes_that_ran_are_explained():
    assert text(tn.jit(twice_negative)) == "simplify: 2 rewritten; 3 equations before, 0 after"


@pytest.mark.parametrize("choice", ["none", (), ["fold"], {"simplify": False}], ids=str)
def test_a_program_may_do_without(choice):
    function = tn.jit(twice_negative, options={"passes": choice})
    assert "simplify" not in text(function)
    np.testing.assert_array_equal(function(X), X)


@pytest.mark.skipif(select_backend().name == "xla", reason="XLA itself drops the negations")
def test_programs_of_other_options_are_other_programs():
    lines = [tn.jit(twice_negative, options={"passes": p}).explain(X) for p in ("all", "none")]
    assert lines[0].splitlines()[-8:] != lines[1].splitlines()[-8:]


def test_a_configuration_says_what_runs_without_jit_too():
    backend = configured(passes="none")
    assert text(tn.jit(twice_negative, backend=backend)) == "none ran"
    with tn.use(backend):
        found = tn.explain(lambda x: -tn.stop_gradient(-x), X)
        assert found.passes == "none ran"
        np.testing.assert_array_equal(tn.grad(tn.sum)(X), np.ones(3))


def test_the_program_overrules_the_configuration():
    function = tn.jit(
        twice_negative, backend=configured(passes="none"), options={"passes": ["simplify"]}
    )
    assert text(function).startswith("simplify")


def test_an_unknown_pass_is_refused_at_once():
    with pytest.raises(tn.UnknownPassError, match="simplify"):
        tn.jit(twice_negative, options={"passes": ["simplifyy"]})


def test_an_unknown_option_names_the_backend():
    with pytest.raises(tn.UnknownOptionError) as caught:
        tn.jit(twice_negative, options={"speed": 3})(X)
    assert caught.value.backend == select_backend().name
    assert caught.value.option == "speed"
    assert "passes" in caught.value.options


def test_options_are_a_mapping_of_hashable_values():
    with pytest.raises(TypeError, match="mapping"):
        tn.jit(twice_negative, options=["passes"])
    with pytest.raises(TypeError, match="hash"):
        tn.jit(twice_negative, options={"passes": {1, 2}, "other": {3}})


def test_debugging_shows_the_equations_of_the_user():
    def f(x):
        return tn.log(-tn.stop_gradient(-x))

    with tn.debug_nans(), pytest.raises(tn.NonFiniteError) as caught:
        tn.jit(f)(np.array([-1.0]))
    assert "%3" in str(caught.value) or "log" in str(caught.value)
