"""Forty ways to write a plugin wrong: each gets its state and reason, and harms no other plugin.

The plugins are made of text and found by a host of their own, in this process; what ends or hangs
a process is in `test_cli.py`.
"""

from types import ModuleType

import pytest

from tenferro._trial import try_here
from tenferro.backend import PluginHost, set_host
from tenferro.backend.discovery.scan import (
    Filters,
    Found,
    check_ranges,
    mark_blocked,
    mark_conflicts,
    with_standard,
)
from tenferro.backend.records import BACKENDS, PRIMITIVES, PluginRecord

TOY = '''
from tenferro.backend import *
from tenferro.primitives import Aval, Elementwise, exp

TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="toy", kind="backend")

class Toy(Backend):
    """Python numbers of rank 0."""
    def asoperand(self, value, aval): return float(value)
    def to_numpy(self, operand): return operand
    def aval_of(self, operand): return Aval((), {float: "float64", int: "int64"}[type(operand)])
    def owns(self, value): return isinstance(value, float)

def function(operation, *operands):
    return {"add": sum, "exp": lambda x: 2.5, "constant": lambda _: operation.value}[
        operation.name
    ](operands if operation.name == "add" else operands[0] if operands else None)

@hookimpl
def tenferro_backend_info(): return BackendInfo(name="toy", dtypes={"float64"})
@hookimpl
def tenferro_backend_probe(): return Probe(available=True, devices=("cpu",))
@hookimpl
def tenferro_backend_create(config): return Toy()
@hookimpl
def tenferro_lowerings(backend):
    names = "add exp constant".split()
    return [Lowering(f"std::{name}", function) for name in names if backend == "toy"]
'''
ACME = """
from tenferro.backend import *
from tenferro.primitives import Elementwise, bind, exp

TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="acme", kind="primitives")

class P(Elementwise):
    key = "acme::p"
    def abstract_eval(self, x): return x
    def derivative(self, x, y): return y
    def decompose(self, x): return exp(x)

@hookimpl
def tenferro_primitives(): return [P]
@hookimpl
def tenferro_lowerings(backend):
    return [Lowering("acme::p", lambda op, x: x + 1.0)] if backend == "toy" else []
"""


def found(name, group, source, requires=(), dist=None):
    """The entry point of a plugin whose module has this text."""

    def load():
        module = ModuleType(f"plugin_of_{name}")
        exec(compile(source, f"<{name}>", "exec"), module.__dict__)
        return module

    record = PluginRecord(
        name=name, group=group, dist=dist or f"tenferro-{name}", version="1.0", value=name
    )
    return Found(record, load, tuple(requires))


@pytest.fixture
def installed():
    """Make these entry points, and the standard set, the plugins of this process."""

    def install(*entries, block=()):
        plugins = PluginHost(autoload=False, environment={})
        listed = mark_conflicts(mark_blocked(with_standard(list(entries)), Filters.of({}, block)))
        plugins._store._found = check_ranges(listed)
        before.append(set_host(plugins))
        return plugins

    before = []
    yield install
    for host in reversed(before):
        set_host(host)


def changed(text, *pairs):
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


LIBRARY = "from tenferro.backend import NoSuchThing"
INFO = 'return BackendInfo(name="toy", dtypes={"float64"})'
PROBE = 'return Probe(available=True, devices=("cpu",))'
AT_LOADING = {
    "missing module": ("import acme_nowhere", "broken", "No module named 'acme_nowhere'"),
    "missing name": (LIBRARY, "broken", "ImportError: cannot import name 'NoSuchThing'"),
    "syntax": ("def f(:", "broken", "SyntaxError: invalid syntax"),
    "exit": ("import sys; sys.exit(3)", "broken", "SystemExit: 3"),
    "an error without text": (
        "class E(Exception):\n def __str__(self): 1/0\nraise E",
        "broken",
        "E",
    ),
    "newer API": (changed(TOY, "(1, 0)", "(2, 0)"), "incompatible", "written for API 2.0"),
    "newer minor": (changed(TOY, "(1, 0)", "(1, 7)"), "incompatible", "written for API 1.7"),
    "older API": (changed(TOY, "(1, 0)", "(0, 9)"), "incompatible", "written for API 0.9"),
    "API as text": (changed(TOY, "(1, 0)", '"1.0"'), "incompatible", "api is '1.0', need (major"),
    "API of three": (changed(TOY, "(1, 0)", "(1, 0, 0)"), "incompatible", "api is (1, 0, 0)"),
    "no manifest": (changed(TOY, "TENFERRO_PLUGIN", "P"), "incompatible", "no TENFERRO_PLUGIN"),
    "manifest is a dict": (
        "TENFERRO_PLUGIN = {'api': (1, 0)}",
        "incompatible",
        "no TENFERRO_PLUGIN",
    ),
    "libraries as text": (
        changed(TOY, 'kind="backend"', 'kind="backend", requires_libs="jax"'),
        "broken",
        "requires_libs is 'jax', need a tuple",
    ),
    "surplus argument": (
        changed(TOY, "lowerings(backend)", "lowerings(backend, extra)"),
        "broken",
        "tenferro_lowerings takes the argument 'extra', but core passes 'backend'",
    ),
    "misspelled argument": (
        changed(TOY, "create(config)", "create(configuration)"),
        "broken",
        "tenferro_backend_create takes the argument 'configuration', but core passes 'config'",
    ),
    "default": (
        changed(TOY, "lowerings(backend)", "lowerings(backend='x')"),
        "broken",
        "the parameter backend has a default",
    ),
    "unknown hook": (
        TOY + "\n@hookimpl\ndef tenferro_nothing(): pass",
        "broken",
        "unknown hook 'tenferro_nothing'",
    ),
    "unmarked mandatory hook": (
        changed(TOY, "@hookimpl\ndef tenferro_backend_probe", "def tenferro_backend_probe"),
        "broken",
        "tenferro_backend_probe: not marked with @hookimpl",
    ),
    "unmarked optional hook": (
        changed(TOY, "@hookimpl\ndef tenferro_lowerings", "def tenferro_lowerings"),
        "broken",
        "tenferro_lowerings: not marked with @hookimpl",
    ),
    "absent hook": (
        changed(TOY, "tenferro_backend_probe", "probe").replace(
            "@hookimpl\ndef probe", "def probe"
        ),
        "broken",
        "a backend must implement tenferro_backend_probe",
    ),
    "info raises": (changed(TOY, INFO, "1/0"), "broken", "ZeroDivisionError: division by zero"),
    "info exits": (changed(TOY, INFO, "raise SystemExit(2)"), "broken", "SystemExit: 2"),
    "info is a dict": (
        changed(TOY, INFO, "return {}"),
        "broken",
        "tenferro_backend_info gave {}, need a BackendInfo",
    ),
    "info is None": (changed(TOY, INFO, "pass"), "broken", "tenferro_backend_info gave None"),
    "info of another name": (
        changed(TOY, 'BackendInfo(name="toy"', 'BackendInfo(name="tyo"'),
        "broken",
        "BackendInfo.name is 'tyo', the entry point is 'toy'",
    ),
    "primitives are None": (
        changed(ACME, "return [P]", "return [None]"),
        "broken",
        "gave None, which is not a Primitive",
    ),
    "primitives exit": (changed(ACME, "return [P]", "raise SystemExit"), "broken", "SystemExit"),
    "key of the standard set": (
        changed(ACME, 'key = "acme::p"', 'key = "std::exp"'),
        "broken",
        "NamespaceError: std::exp is outside the namespace 'acme'",
    ),
    "no key": (changed(ACME, 'key = "acme::p"', "pass"), "broken", "need 'acme::…'"),
    "a decomposition into itself": (
        changed(ACME, "return exp(x)", "return bind(P(), x)"),
        "broken",
        "DecompositionCycleError: decompositions form a cycle: acme::p → acme::p",
    ),
}


@pytest.mark.filterwarnings("ignore::tenferro.backend.PluginWarning")
@pytest.mark.parametrize("source, status, reason", AT_LOADING.values(), ids=AT_LOADING)
def test_a_plugin_that_cannot_be_loaded_has_a_reason_and_the_others_run(
    installed, source, status, reason
):
    name, group = ("acme", PRIMITIVES) if '"primitives"' in source else ("bad", BACKENDS)
    source = source.replace('name="toy"', 'name="bad"').replace("'toy'", "'bad'")
    reason = reason.replace("'toy'", "'bad'")
    plugins = installed(found(name, group, source), found("toy", BACKENDS, TOY))
    plugins.load()
    record = next(r for r in plugins.records() if r.name == name)
    assert (record.status, reason in record.reason) == (status, True), record.reason
    assert try_here("toy")["status"] == "loaded"


LOWERING = "lambda op, x: x + 1.0"
WHEN_TRIED = {
    "probe raises": (changed(TOY, PROBE, "1/0"), "unavailable", "its probe raised ZeroDivision"),
    "probe exits": (changed(TOY, PROBE, "raise SystemExit(1)"), "unavailable", "SystemExit: 1"),
    "probe is True": (
        changed(TOY, PROBE, "return True"),
        "unavailable",
        "tenferro_backend_probe gave True, need a Probe",
    ),
    "no reason": (
        changed(TOY, PROBE, "return Probe(available=False)"),
        "unavailable",
        "must give a reason",
    ),
    "create raises": (changed(TOY, "return Toy()", "1/0"), "broken", "its create hook raised Zero"),
    "create exits": (changed(TOY, "return Toy()", "raise SystemExit"), "broken", "SystemExit"),
    "create is None": (
        changed(TOY, "return Toy()", "pass"),
        "broken",
        "tenferro_backend_create gave None, need a Backend",
    ),
    "abstract": (
        changed(TOY, "    def owns(self, value): return isinstance(value, float)\n", ""),
        "broken",
        "Can't instantiate abstract class Toy with",
    ),
    "lowerings raise": (
        changed(TOY, 'names = "add', '1/0; names = "add'),
        "broken",
        "its lowerings hook raised ZeroDivisionError",
    ),
    "lowerings exit": (
        changed(TOY, 'names = "add', 'raise SystemExit; names = "add'),
        "broken",
        "its lowerings hook raised SystemExit",
    ),
    "lowerings are text": (
        changed(TOY, "names = ", "return 'exp'; names = "),
        "broken",
        "tenferro_lowerings gave 'e', which is not a Lowering",
    ),
    "a lowering of two": (
        changed(TOY, "add exp constant", "add exp constant exp"),
        "loaded",
        "2 lowerings of std::exp for toy could run",
    ),
    "wrong kind of sum": (
        changed(TOY, '"add": sum', '"add": lambda _: None'),
        "broken",
        "a sum of two numbers raised",
    ),
}
IN_LOWERINGS = {
    "another dtype": ("lambda op, x: 7", "LoweringError: the lowering of acme::p for toy gave i64"),
    "None": ("lambda op, x: None", "the lowering of acme::p for toy gave NoneType, need f64[]"),
    "a pair": ("lambda op, x: (x, x)", "gave tuple, need f64[]"),
    "raises": ("lambda op, x: 1/0", "tried on f64[2]: ZeroDivisionError: division by zero"),
    "exits": ("lambda op, x: exit(3)", "called sys.exit(3)"),
    "wrong arguments": ("lambda: 3", "takes 0 positional arguments but 2"),
    "no module": ('"acme_nowhere:f"', "acme::p by tenferro-acme 1.0: No module named"),
    "no function": ('"tenferro:nothing"', "has no attribute 'nothing'"),
    "not callable": ("7", "7 is not callable"),
}


@pytest.mark.parametrize("source, status, problem", WHEN_TRIED.values(), ids=WHEN_TRIED)
@pytest.mark.filterwarnings("ignore::tenferro.backend.PluginWarning")
def test_the_trial_of_a_broken_backend_says_what_is_wrong(installed, source, status, problem):
    installed(found("toy", BACKENDS, source))
    trial = try_here("toy")
    assert trial["status"] == status
    assert any(problem in text for text in trial["problems"]), trial["problems"]


@pytest.mark.parametrize("target, problem", IN_LOWERINGS.values(), ids=IN_LOWERINGS)
def test_the_trial_of_a_backend_runs_the_lowerings_of_others(installed, target, problem):
    acme = changed(ACME, LOWERING, target)
    installed(found("acme", PRIMITIVES, acme), found("toy", BACKENDS, TOY))
    trial = try_here("toy")
    assert trial["status"] == "loaded"
    assert any(problem in text for text in trial["problems"]), trial["problems"]


def test_a_working_plugin_has_no_problem(installed):
    installed(found("acme", PRIMITIVES, ACME), found("toy", BACKENDS, TOY))
    trial = try_here("toy")
    assert (trial["status"], trial["problems"], trial["broken"]) == ("loaded", [], [])


@pytest.mark.parametrize("fault", ["raise SystemExit(3)", "1/0"])
@pytest.mark.parametrize("method", ["def decompose(self, x): return exp(x)", "def __post_init__"])
def test_a_primitive_that_fails_while_it_is_judged_harms_nobody(installed, method, fault):
    body = method.partition(":")[0] + "(self)" * ("(" not in method)
    acme = ACME.replace(method, "") if "decompose" in method else ACME
    acme = acme.replace('    key = "acme::p"\n', f'    key = "acme::p"\n    {body}: {fault}\n')
    plugins = installed(found("acme", PRIMITIVES, acme), found("toy", BACKENDS, TOY))
    assert {r.status for r in plugins.load()} == {"loaded"}
    assert try_here("toy")["status"] == "loaded"


def test_a_lowering_of_a_misspelled_primitive_is_a_problem(installed):
    acme = changed(ACME, '"acme::p", l', '"acme::q", l')
    installed(found("acme", PRIMITIVES, acme), found("toy", BACKENDS, TOY))
    (problem,) = try_here("toy")["problems"]
    assert problem.startswith("a lowering of acme::q by tenferro-acme 1.0: there is no such primi")


@pytest.mark.parametrize(
    "entries, block, status",
    [
        ([found("toy", BACKENDS, TOY, dist="one"), found("toy", BACKENDS, TOY)], (), "conflict"),
        ([found("toy", BACKENDS, TOY, requires=["tenferro<0.1"])], (), "incompatible"),
        ([found("toy", BACKENDS, TOY)], ("toy",), "blocked"),
    ],
    ids=["two claimants", "another range", "blocked"],
)
def test_a_plugin_that_metadata_excludes_is_not_imported(installed, entries, block, status):
    plugins = installed(*entries, block=block)
    assert {r.status for r in plugins.load() if r.name == "toy"} == {status}
    (problem,) = try_here("toy")["problems"]
    assert problem


def test_a_second_owner_of_the_standard_set_leaves_neither(installed):
    second = changed(ACME, 'name="acme"', 'name="std"').replace("acme::p", "std::p")
    core = found("std", PRIMITIVES, "1/0", dist="tenferro")
    plugins = installed(found("std", PRIMITIVES, second, dist="tenferro-second"), core)
    assert {r.status for r in plugins.load()} == {"conflict"}


def test_an_interrupt_passes_and_the_plugin_can_be_loaded_later(installed, monkeypatch):
    source = changed(TOY, INFO, f"interrupt(); {INFO}") + "\nfrom builtins import interrupt\n"
    presses = [KeyboardInterrupt]

    def interrupt():
        if presses:
            raise presses.pop()

    monkeypatch.setattr("builtins.interrupt", interrupt, raising=False)
    plugins = installed(found("toy", BACKENDS, source))
    with pytest.raises(KeyboardInterrupt):
        plugins.load()
    assert {r.status for r in plugins.load()} == {"loaded"}
