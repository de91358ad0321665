"""Scanning and loading, step by step, with really installed distributions."""

import pytest


def test_the_standard_set_is_a_plugin_like_any_other(site):
    said = site.run("""
        (record,) = host().load()
        say(record=[record.name, record.dist, record.status, record.value],
            keys=len(host().primitives()), provider=host().provider("std::add"))
    """)
    assert said["record"] == ["std", "tenferro", "loaded", "tenferro.backend.standard"]
    assert said["keys"] > 60
    assert said["provider"] == "tenferro 0.1.0"


def test_the_standard_set_is_there_without_metadata(site):
    said = site.run("""
        plugins = tb.PluginHost(autoload=False)
        say(names=[r.name for r in plugins.load()], known="std::add" in plugins.primitives())
    """)
    assert said["names"] == ["std"]
    assert said["known"] is True


def test_one_distribution_seen_twice_is_one_plugin(site, tmp_path):
    site.backend()
    editable = tmp_path / "editable"
    editable.mkdir()
    entries = {"tenferro.backends": {"toy": "tenferro_toy_plugin"}}
    site.add("Tenferro_Toy", "1.0", entries, {}, folder=editable)
    said = site.run("say(name=host().backend('toy').name, s=states())", path=[str(editable)])
    assert said["name"] == "toy"
    assert list(said["s"].values()) == ["loaded"]


def test_identical_entries_are_dropped_and_different_ones_are_not():
    """Whatever the metadata library merges already, the scan does by (name, dist, value)."""
    from tenferro.backend.discovery.scan import Found, _unique, mark_conflicts
    from tenferro.backend.records import BACKENDS, PluginRecord

    def found(dist, value):
        record = PluginRecord(name="toy", group=BACKENDS, dist=dist, version="1", value=value)
        return Found(record, lambda: None)

    same = _unique([found("tenferro-toy", "m"), found("Tenferro_Toy", "m")])
    both = _unique([found("tenferro-toy", "m"), found("tenferro-toy", "n")])
    assert [f.record.status for f in mark_conflicts(same)] == ["discovered"]
    assert [f.record.status for f in mark_conflicts(both)] == ["conflict", "conflict"]


@pytest.mark.parametrize(
    "variable, value, blocked",
    [
        ("TENFERRO_DISABLE_PLUGINS", "a", {"a"}),
        ("TENFERRO_DISABLE_PLUGINS", "Dist_A, dist-b", {"a", "b"}),
        ("TENFERRO_DISABLE_PLUGINS", "std, tenferro", set()),
        ("TENFERRO_LOAD_PLUGINS", "dist-a", {"b"}),
        ("TENFERRO_LOAD_PLUGINS", "", {"a", "b"}),
        ("TENFERRO_LOAD_PLUGINS", "a", {"a", "b"}),
    ],
)
def test_block_and_allow_lists(site, variable, value, blocked):
    site.backend("a", "dist-a")
    site.backend("b", "dist-b")
    said = site.run(
        "host().load(); say(s=states(), std=host().records()[-1].status)", **{variable: value}
    )
    assert {name[0] for name, status in said["s"].items() if status == "blocked"} == blocked
    assert said["std"] == "loaded"


def test_use_of_a_blocked_plugin_names_the_variable(site):
    site.backend()
    code = "say(error=failure(host().backend, 'toy'))"
    error = site.run(code, TENFERRO_DISABLE_PLUGINS="tenferro-toy")["error"]
    assert error["type"] == "PluginBlockedError"
    assert error["reason"] == "blocked by TENFERRO_DISABLE_PLUGINS"


def test_lists_of_a_call(site):
    site.backend("a")
    site.backend("b")
    said = site.run("""
        by_call = tb.PluginHost(block=["a"]).load()
        allowed = tb.PluginHost(allow=["tenferro-a"]).load()
        later = host()
        first = later.backend("a").name
        later.block("tenferro-a")
        say(call=[r.status for r in by_call], allow=[r.status for r in allowed],
            first=first, after=failure(later.backend, "a")["type"])
    """)
    assert said["call"] == ["blocked", "loaded", "loaded"]
    assert said["allow"] == ["loaded", "blocked", "loaded"]
    assert (said["first"], said["after"]) == ("a", "PluginBlockedError")


def test_a_backend_that_breaks_leaves_the_others_as_they_were(site):
    site.backend("bad", manifest='requires_libs=("no_such",)')
    site.backend("toy")
    said = site.run("""
        before = host().backend("toy")
        error = failure(host().table, "bad")
        say(same=host().backend("toy") is before, error=error["type"], s=states())
    """)
    assert (said["same"], said["error"]) == (True, "PluginBrokenError")
    assert said["s"] == {"bad@tenferro-bad": "broken", "toy@tenferro-toy": "loaded"}


def test_strict_mode_raises_at_the_first_broken_plugin(site):
    site.backend("bad", source="1/0")
    code = "say(error=failure(host().load))"
    error = site.run(code, TENFERRO_STRICT_PLUGINS="1")["error"]
    assert (error["type"], error["name"]) == ("PluginBrokenError", "bad")
    assert error["cause"] == "ZeroDivisionError: division by zero"
    assert site.run(code, TENFERRO_STRICT_PLUGINS="0")["error"]["type"] is None


@pytest.mark.parametrize(
    "requirement, status",
    [
        ("tenferro>=0.1,<0.2", "discovered"),
        ("tenferro>=0.2", "incompatible"),
        ("tenferro<0.1", "incompatible"),
        ("Tenferro~=0.1", "discovered"),
        ("tenferro==0.3.*", "incompatible"),
        ('tenferro>=9; python_version < "3"', "discovered"),
        ("tenferro-other>=9", "discovered"),
        ("numpy>=99", "discovered"),
    ],
)
def test_version_ranges_are_compared_without_import(site, requirement, status):
    site.backend(source="1/0", requires=[requirement])
    said = site.run("say(s=states(), loaded='tenferro_toy_plugin' in sys.modules)")
    assert said["s"] == {"toy@tenferro-toy": status}
    assert said["loaded"] is False


def test_a_range_that_does_not_fit_is_named_on_use(site):
    site.backend(requires=["tenferro>=0.2,<0.3"])
    error = site.run("say(error=failure(host().backend, 'toy'))")["error"]
    assert error["type"] == "PluginIncompatibleError"
    assert error["reason"] == "requires tenferro>=0.2,<0.3, installed is tenferro 0.1.0"


BROKEN = {
    "unknown hook": (
        {"extra": "\n@hookimpl\ndef tenferro_backend_inof(): pass\n"},
        "unknown hook 'tenferro_backend_inof'; mark it optionalhook=True",
    ),
    "default": (
        {"extra": "\n@hookimpl\ndef tenferro_on_lowered(report=None): pass\n"},
        "tenferro_on_lowered: the parameter report has a default, which hooks ignore",
    ),
    "surplus argument": (
        {"extra": "\n@hookimpl\ndef tenferro_on_lowered(report, more): pass\n"},
        "tenferro_on_lowered takes the argument 'more', but core passes 'report'",
    ),
    "manifest of another name": (
        {"manifest_name": "yot"},
        "the manifest says 'yot', the entry point 'toy'",
    ),
    "info of another type": (
        {"extra": "\n@hookimpl\ndef tenferro_backend_info(): return {}\n"},
        "tenferro_backend_info gave {}, need a BackendInfo",
    ),
    "unknown feature": (
        {"info": "features={'fast'}"},
        "ValueError: unknown features fast; the words are bf16, checks, complex, "
        "control_flow, dynamic_shape, f16, f64, inplace, int64, ints, sharding, special",
    ),
    "no primitive": (
        {"extra": "\n@hookimpl\ndef tenferro_primitives(): return [int]\n"},
        "tenferro_primitives gave <class 'int'>, which is not a Primitive",
    ),
}


@pytest.mark.parametrize("parts, reason", BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_gives_its_reason_and_is_dropped(site, parts, reason):
    site.backend(**parts)
    said = site.run("""
        host().load()
        modules = host()._store.loader.manager.list_name_plugin()
        say(s=states(), why=reasons(), modules=[name for name, _ in modules])
    """)
    assert said["s"] == {"toy@tenferro-toy": "broken"}
    assert said["why"] == {"toy@tenferro-toy": reason}
    assert said["modules"] == ["tenferro.primitives:std"]


def test_a_newer_hook_that_is_optional_is_no_fault(site):
    site.backend(extra="\n@hookimpl(optionalhook=True)\ndef tenferro_of_2_0(x): pass\n")
    assert site.run("host().load(); say(s=states())")["s"] == {"toy@tenferro-toy": "loaded"}


def test_a_backend_must_implement_its_three_hooks(site):
    source = """
from tenferro.backend import PluginManifest
TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="toy", kind="backend")
"""
    site.backend(source=source)
    reason = site.run("host().load(); say(why=reasons())")["why"]["toy@tenferro-toy"]
    assert reason == (
        "a backend must implement tenferro_backend_info, tenferro_backend_probe, "
        "tenferro_backend_create"
    )


def test_one_module_serves_one_entry_point(site):
    site.backend()
    site.add("second", "1.0", {"tenferro.backends": {"yot": "tenferro_toy_plugin"}}, {})
    said = site.run("host().load(); say(s=states(), why=reasons())")
    assert said["s"] == {"toy@tenferro-toy": "loaded", "yot@second": "broken"}


@pytest.mark.parametrize("name", ["Toy", "my-toy", "2toy"])
def test_names_are_lower_case_identifiers(site, name):
    site.add("dist", "1.0", {"tenferro.backends": {name: "nothing"}}, {})
    said = site.run("host().load(); say(s=states(), why=reasons())")
    assert said["s"] == {f"{name}@dist": "broken"}
    assert "lower-case identifier" in said["why"][f"{name}@dist"]


def test_a_plugin_of_the_wrong_kind_is_refused(site):
    site.backend()
    site.add("second", "1.0", {"tenferro.primitives": {"toy": "tenferro_toy_plugin"}}, {})
    said = site.run("host().load(); say(why=reasons())")
    assert "kind 'backend' in the group tenferro.primitives" in said["why"]["toy@second"]


def test_the_module_of_a_conflict_or_a_blocked_plugin_is_never_imported(site):
    site.backend("toy", "first-toy", source="raise SystemExit(7)")
    site.backend("toy", "second-toy", source="raise SystemExit(8)")
    assert set(site.run("host().load(); say(s=states())")["s"].values()) == {"conflict"}


CYCLE = """
from tenferro.backend import PluginManifest, hookimpl
from tenferro.primitives import Elementwise, bind
TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="ring", kind="primitives")
class A(Elementwise):
    key = "ring::a"
    def abstract_eval(self, x): return x
    def decompose(self, x): return bind(B(), x) + 1
class B(Elementwise):
    key = "ring::b"
    def abstract_eval(self, x): return x
    def decompose(self, x): return bind(A(), x) - 1
@hookimpl
def tenferro_primitives(): return [A, B]
"""


def test_a_decomposition_cycle_is_refused_at_load_naming_the_cycle(site):
    site.add("ring", "1.0", {"tenferro.primitives": {"ring": "ring"}}, {"ring.py": CYCLE})
    said = site.run("""
        host().load()
        error = failure(host().require, "ring", "tenferro.primitives")
        say(s=states(), error=error, known="ring::a" in host().primitives())
    """)
    assert said["s"] == {"ring@ring": "broken"}
    assert "ring::a → ring::b → ring::a" in said["error"]["cause"]
    assert said["known"] is False


def test_late_registration_fills_the_tables_that_are_there(site):
    site.backend()
    site.primitives(
        "acme",
        lowerings='[__import__("tenferro").backend.Lowering("acme::twice", '
        '"tenferro_toy_plugin_rules:sin")]',
    )
    said = site.run("""
        import tenferro_acme_plugin as module
        plugins = tb.PluginHost(block=["tenferro-acme"])
        table = plugins.backend("toy").lowerings
        before = table.status("acme::twice"), table.generation
        plugins.register(module)
        say(before=before, after=[table.status("acme::twice"), table.generation],
            key="acme::twice" in plugins.primitives(), again=failure(plugins.register, module))
    """)
    assert said["before"] == ["missing", 1]
    assert said["after"] == ["native", 2]
    assert said["key"] is True
    assert said["again"]["type"] == "BackendConflictError"


def test_late_registration_raises_and_leaves_nothing_behind(site):
    site.backend(api="(3, 0)")
    site.primitives("acme", key="other::twice")
    said = site.run("""
        import tenferro_acme_plugin, tenferro_toy_plugin
        plugins = tb.PluginHost(autoload=False)
        say(bare=failure(plugins.register, json)["type"],
            api=failure(plugins.register, tenferro_toy_plugin)["type"],
            key=failure(plugins.register, tenferro_acme_plugin)["type"],
            records=[r.name for r in plugins.records()])
    """)
    assert said["bare"] == said["api"] == "PluginIncompatibleError"
    assert said["key"] == "NamespaceError"
    assert said["records"] == ["std"]


def test_an_observer_hears_of_programs_and_its_errors_are_logged(site):
    site.backend(
        extra="""
seen = []
@hookimpl
def tenferro_on_lowered(report):
    seen.append([report.backend, list(report.native), report.instructions])
    1 / 0
"""
    )
    said = site.run("""
        import tenferro.computegraph as cg
        from tenferro.primitives import Aval, Handle
        x = Handle(cg.input_key("x", Aval((), "float64")))
        graph = cg.Graph.of([x.key], [(x + x).key])
        program = cg.compile_program(cg.materialize_merge(cg.resolve([graph]), graph.output_keys))
        host().backend("toy").compile(program, ())
        import tenferro_toy_plugin
        say(seen=tenferro_toy_plugin.seen)
    """)
    assert said["seen"] == [["toy", ["std::add"], 1]]
    assert "tenferro_on_lowered raised ZeroDivisionError" in said["stderr"]


def test_hook_calls_can_be_traced(site):
    site.backend()
    said = site.run("""
        lines = []
        stop = host().trace_hooks(lines.append)
        host().load(); count = len(lines)
        stop(); host().probe("toy")
        say(text="".join(lines), same=count == len(lines))
    """)
    assert "tenferro_backend_info" in said["text"]
    assert said["same"] is True
