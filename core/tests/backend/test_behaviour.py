"""The behaviour table of the plugin contract, each row with really installed distributions."""

import pytest

ADD = """
from tenferro.computegraph import Graph, compile_program, input_key, materialize_merge, resolve
from tenferro.primitives import Aval, Handle, add, sin
f64 = Aval((), "float64")
x, y = (Handle(input_key(n, f64)) for n in "xy")

def program(*outputs):
    graph = Graph.of([x.key, y.key], [h.key for h in outputs])
    view = resolve([graph])
    return compile_program(
        materialize_merge(view, graph.output_keys, inputs=graph.input_keys)
    )

def evaluate(backend, *outputs):
    return backend.compile(program(*outputs), (f64, f64))(2.0, 3.0)
"""
HINTS = ["pip install tenferro-numpy", "pip install tenferro-xla"]


def test_without_a_backend_graphs_are_built_and_evaluation_says_what_to_install(site):
    said = site.run(ADD + "say(text=str(program(x + y)), error=failure(tb.select_backend))")
    assert "add %0 %1" in said["text"]
    assert said["error"]["type"] == "NoBackendError"
    assert said["error"]["text"].splitlines() == [
        "no backend is installed, so nothing can be evaluated; install one",
        "  numpy  pip install tenferro-numpy",
        "  xla    pip install tenferro-xla",
        '  cupy   pip install "tenferro-cupy[cuda13]"',
    ]


def test_a_working_backend_evaluates(site):
    site.backend()
    said = site.run(ADD + "say(value=evaluate(tb.select_backend(), x + y * y), states=states())")
    assert said["value"] == [11.0]
    assert said["states"] == {"toy@tenferro-toy": "loaded"}


@pytest.mark.parametrize(
    "name, hint, nearest",
    [("xla", "pip install tenferro-xla", []), ("toi", "", ["toy"]), ("zzz", "", [])],
)
def test_a_backend_that_is_not_installed(site, name, hint, nearest):
    site.backend()
    error = site.run(f"say(error=failure(host().backend, {name!r}))")["error"]
    assert error["type"] == "UnknownBackendError"
    assert (error["hint"], error["nearest"], error["installed"]) == (hint, nearest, ["toy"])
    assert hint in error["text"]


def test_library_missing_at_import(site):
    site.backend("cupy", source="import no_such_library")
    said = site.run("host().load(); say(error=failure(host().backend, 'cupy'), states=states())")
    assert said["states"] == {"cupy@tenferro-cupy": "broken"}
    assert said["error"]["type"] == "PluginBrokenError"
    assert 'pip install "tenferro-cupy[cuda13]"' in said["error"]["text"]
    assert said["error"]["cause"] == "ModuleNotFoundError: No module named 'no_such_library'"


@pytest.mark.parametrize(
    "probe",
    [
        "import no_such_library",
        "return Probe(available=False, reason='no_such_library is not there')",
    ],
)
def test_library_missing_at_the_probe(site, probe):
    manifest = 'requires_libs=("no_such_library",), install_hint="pip install such"'
    site.backend(probe=probe, manifest=manifest)
    said = site.run("say(error=failure(host().backend, 'toy'), states=states())")
    assert said["states"] == {"toy@tenferro-toy": "broken"}
    assert said["error"]["type"] == "PluginBrokenError"
    assert "cannot be used: no_such_library is not installed" in said["error"]["text"]
    assert "pip install such" in said["error"]["text"]
    assert said["error"]["cause"].startswith("ModuleNotFoundError")


def test_a_listing_says_which_library_is_missing_and_warns_of_nothing(site):
    """For lowerings, too: they are the first that need the library"""
    manifest = 'requires_libs=("no_such_library",), install_hint="pip install such"'
    site.backend(manifest=manifest, lowerings="__import__('no_such_library')")
    site.backend("good")
    done = site.cli("primitives")
    assert done.returncode == 0
    assert "toy: no_such_library is not installed" in done.stdout.splitlines()
    assert done.stderr == ""


def test_library_missing_at_create(site):
    manifest = 'requires_libs=("no_such_library",), install_hint="pip install such"'
    site.backend(create="import no_such_library.sub", manifest=manifest)
    said = site.run("say(error=failure(host().backend, 'toy'), states=states())")
    assert said["states"] == {"toy@tenferro-toy": "broken"}
    assert "pip install such" in said["error"]["text"]


def test_no_device(site):
    """A backend whose probe fails is unavailable, for the reason that the probe gives"""
    site.backend(probe="return Probe(available=False, reason='no CUDA driver')")
    said = site.run("""
        host().load()
        before = states()
        say(before=before, error=failure(host().backend, "toy"), after=states(), why=reasons())
    """)
    assert said["before"] == {"toy@tenferro-toy": "loaded"}
    assert said["after"] == {"toy@tenferro-toy": "unavailable"}
    assert said["why"] == {"toy@tenferro-toy": "no CUDA driver"}
    assert said["error"]["type"] == "DeviceUnavailableError"
    assert said["error"]["reason"] == "no CUDA driver"


def test_no_backend_exports(site):
    """One that is named says so, and so does core where none can"""
    site.backend()
    said = site.run("""
        import tenferro as tn
        say(
            named=failure(tn.export, abs, 1.0, backend="toy"),
            none=failure(tn.export, abs, 1.0),
            loading=failure(tn.load_exported, "x.hlo"),
            unknown=failure(tn.load_exported, "x.hlo", backend="tyo"),
        )
    """)
    assert said["named"]["type"] == said["none"]["type"] == said["loading"]["type"]
    assert said["none"]["type"] == "UnsupportedError"
    assert "toy exports no programs" in said["named"]["text"]
    assert "export: no backend exports programs" in said["none"]["text"]
    assert "pip install tenferro-xla" in said["loading"]["text"]
    assert said["unknown"]["type"] == "UnknownBackendError"


def test_two_distributions_with_one_backend_name(site):
    site.backend("toy", "first-toy")
    site.backend("toy", "second-toy")
    site.backend("other")
    said = site.run(
        "say(error=failure(host().backend, 'toy'), states=states(), "
        "other=host().backend('other').name)"
    )
    assert said["error"]["type"] == "BackendConflictError"
    assert said["error"]["distributions"] == ["first-toy", "second-toy"]
    assert "`pip uninstall first-toy` or `pip uninstall second-toy`" in said["error"]["text"]
    assert "TENFERRO_DISABLE_PLUGINS=first-toy" in said["error"]["text"]
    assert said["states"]["toy@first-toy"] == said["states"]["toy@second-toy"] == "conflict"
    assert said["other"] == "other"


@pytest.mark.parametrize("dist", ["first-toy", "First_Toy"])
def test_blocking_one_distribution_ends_the_conflict(site, dist):
    site.backend("toy", "first-toy")
    site.backend("toy", "second-toy")
    said = site.run(
        "say(p=host().backend('toy').provider, s=states())", TENFERRO_DISABLE_PLUGINS=dist
    )
    assert said["p"] == "second-toy 1.0"
    assert said["s"] == {"toy@first-toy": "blocked", "toy@second-toy": "loaded"}


def test_two_distributions_with_one_namespace(site):
    site.primitives("acme", "first-acme")
    site.primitives("acme", "second-acme")
    said = site.run("""
        error = failure(host().require, "acme", "tenferro.primitives")
        say(error=error, states=states(), keys=[k for k in host().primitives() if "acme" in k])
    """)
    assert said["error"]["type"] == "BackendConflictError"
    assert said["error"]["distributions"] == ["first-acme", "second-acme"]
    assert set(said["states"].values()) == {"conflict"}
    assert said["keys"] == []


def _rival(site, dist, priority):
    site.primitives(
        dist,
        f"tenferro-{dist}",
        lowerings=f'[__import__("tenferro").backend.Lowering("std::add", '
        f'lambda op, x, y: "{dist}", priority={priority})] if backend == "toy" else []',
    )


@pytest.mark.parametrize("priority", [0, 1])
def test_a_lowering_of_anothers_primitive_runs_only_after_prefer_and_explain_names_it(
    site, priority
):
    site.backend()
    _rival(site, "rival", priority)
    said = site.run(
        ADD
        + """
backend = host().backend("toy")
def explain():
    return backend.compile(program(x + y), (f64, f64)).explain().splitlines()[1].split("#")[1]
before = evaluate(backend, x + y), explain()
tb.prefer("std::add", "toy", "tenferro-rival")
backend.lowerings.describe = None  # its results are names, which no check accepts
say(before=before, after=(evaluate(backend, x + y), explain()))
"""
    )
    assert said["before"] == [[5.0], " tenferro-toy 1.0"]
    assert said["after"] == [["rival"], " tenferro-rival 1.0"]


@pytest.mark.parametrize(
    "arguments, nearest, error",
    [
        (("std::ad", "toy", "tenferro-toy"), "std::add", "PreferenceError"),
        (("nonsense", "toy", "tenferro-toy"), None, "PreferenceError"),
        (("std::add", "toi", "tenferro-toy"), "toy", "UnknownBackendError"),
        (("std::add", "toy", "tenferro-toi"), "tenferro-toy", "PreferenceError"),
        (("std::sin", "toy", "tenferro-toy"), None, "PreferenceError"),
    ],
)
def test_prefer_refuses_what_nobody_provides(site, arguments, nearest, error):
    site.backend()
    said = site.run(f"say(error=failure(tb.prefer, *{arguments!r}))")["error"]
    assert said["type"] == error
    assert nearest is None or nearest in said["nearest"]


def test_the_first_run_of_anothers_lowering_is_checked(site):
    site.backend()
    lowering = 'Lowering("acme::twice", lambda op, x: "no number")'
    body = "def decompose(self, x): return x + x"
    site.primitives("acme", body=body, lowerings=f"[__import__('tenferro').backend.{lowering}]")
    said = site.run(
        ADD
        + """
from tenferro.primitives import bind
twice = bind(host().primitive("acme::twice")(), x)
backend = host().backend("toy")
backend.lowerings.describe = lambda operand: f64 if isinstance(operand, float) else None
say(error=failure(evaluate, backend, twice))
"""
    )
    assert said["error"]["type"] == "LoweringError"
    assert said["error"]["provider"] == "tenferro-acme 1.0"


def test_a_key_outside_the_namespace_is_rejected(site):
    site.primitives("acme", key="std::twice")
    said = site.run("""
        host().load()
        error = failure(host().require, "acme", "tenferro.primitives")
        say(error=error, states=states(), why=reasons(), known="std::twice" in host().primitives())
    """)
    assert said["states"] == {"acme@tenferro-acme": "broken"}
    assert said["why"]["acme@tenferro-acme"].startswith("NamespaceError: std::twice is outside")
    assert said["error"]["cause"].startswith("NamespaceError")
    assert said["known"] is False


def test_a_lowering_of_a_foreign_primitive_is_allowed_after_prefer(site):
    site.backend()
    lowerings = (
        '[__import__("tenferro").backend.Lowering("std::sin", "tenferro_toy_plugin_rules:sin")]'
    )
    site.primitives("acme", lowerings=lowerings)
    said = site.run(
        ADD
        + """
backend = host().backend("toy")
refused = failure(evaluate, backend, sin(x))
tb.prefer("std::sin", "toy", "tenferro-acme")
backend.lowerings.describe = None  # its result is no number
say(refused=refused, value=evaluate(backend, sin(x)))
"""
    )
    assert said["refused"]["type"] == "MissingLoweringError"
    assert "tenferro-acme, which does not own it" in said["refused"]["text"]
    assert said["value"] == ["sine"]


@pytest.mark.parametrize(
    "parts",
    [
        {"source": "raise RuntimeError('first line\\nsecond line')"},
        {"info": "features={1/0}"},
        {"lowerings": "1/0"},
    ],
)
def test_a_plugin_that_raises_is_alone(site, parts):
    site.backend("bad", **parts)
    site.backend()
    said = site.run(ADD + "say(value=evaluate(host().backend('toy'), x + y), states=states())")
    assert said["value"] == [5.0]
    assert said["states"] == {"bad@tenferro-bad": "broken", "toy@tenferro-toy": "loaded"}
    assert said["stderr"].count("PluginWarning: tenferro-bad 1.0: plugin 'bad' is broken") == 1


def test_a_plugin_that_raises_at_import_tells_all_on_explicit_selection(site):
    site.backend("bad", source="raise RuntimeError('first line\\nsecond line')")
    said = site.run("""
        host().load()
        record = next(r for r in host().records() if r.name == "bad")
        say(error=failure(host().backend, "bad"), reason=record.reason, trace=record.traceback)
    """)
    assert said["reason"] == "RuntimeError: first line"
    assert "raise RuntimeError" in said["trace"]
    assert said["error"]["cause"] == "RuntimeError: first line\nsecond line"
    assert (said["error"]["type"], said["error"]["dist"]) == ("PluginBrokenError", "tenferro-bad")


def test_the_warning_comes_once_per_process(site):
    site.backend("bad", source="1/0")
    said = site.run("""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            host().load(); tb.PluginHost().load(); tb.PluginHost().load()
        say(caught=[str(w.message) for w in caught])
    """)
    assert len(said["caught"]) == 1
    assert "tenferro-bad 1.0" in said["caught"][0]
    assert "ZeroDivisionError: division by zero" in said["caught"][0]


def test_a_probe_that_raises_is_a_reason(site):
    site.backend(probe="raise OSError('driver too old')")
    said = site.run("say(error=failure(host().backend, 'toy'), states=states())")
    assert said["states"] == {"toy@tenferro-toy": "unavailable"}
    assert said["error"]["type"] == "DeviceUnavailableError"
    assert said["error"]["reason"] == "its probe raised OSError: driver too old"


def test_probes_run_once_and_again_on_request(site):
    probe = "global n; n += 1; return Probe(available=n > 1, reason=f'try {n}')"
    site.backend(probe=probe, extra="\nn = 0\n")
    said = site.run("""
        first = [host().probe("toy").reason, host().probe("toy").reason]
        again = host().probe("toy", refresh=True).available
        say(first=first, again=again, states=states(), name=host().backend("toy").name)
    """)
    assert said["first"] == ["try 1", "try 1"]
    assert said["again"] is True
    assert said["states"] == {"toy@tenferro-toy": "loaded"}
    assert said["name"] == "toy"


def test_missing_lowerings_of_a_whole_program_are_listed_together(site):
    site.backend()
    cos = "__import__('tenferro').backend.Lowering('std::cos', 'm:f')"
    site.backend("other", lowerings=f"[{cos}] if backend == 'other' else []")
    site.primitives("acme")
    said = site.run(
        ADD
        + """
from tenferro.primitives import bind, cos, exp
host().load()
twice = host().primitive("acme::twice")()
outputs = [sin(x), cos(y), bind(twice, x), x + y, sin(sin(x))]
try:
    host().backend("toy").compile(program(*outputs), ())
except tb.MissingLoweringError as error:
    gaps = {
        g.primitive: [g.dtypes, g.provider, g.has_decomposition, g.backends] for g in error.gaps
    }
    say(gaps=gaps, count=len(error.gaps), backend=error.backend, text=str(error))
"""
    )
    assert said["backend"] == "toy"
    assert said["count"] == 3
    assert said["gaps"] == {
        "std::sin": [["float64"], "tenferro 0.1.0", False, []],
        "std::cos": [["float64"], "tenferro 0.1.0", False, ["other"]],
        "acme::twice": [["float64"], "tenferro-acme 1.0", False, []],
    }
    assert "docs/add_a_primitive.md" in said["text"]


def test_a_lowering_for_another_version_is_reported_not_used(site):
    site.backend()
    lowerings = '[__import__("tenferro").backend.Lowering("acme::twice", "m:f")]'
    site.primitives("acme", version=2, lowerings=lowerings)
    said = site.run(
        ADD
        + """
from tenferro.primitives import bind
error = failure(evaluate, host().backend("toy"), bind(host().primitive("acme::twice")(), x))
say(error=error)
"""
    )
    assert said["error"]["type"] == "MissingLoweringError"
    assert "acme::twice version 2" in said["error"]["text"]
    assert "lowerings exist for version 1" in said["error"]["text"]


def test_a_third_party_primitive_with_a_decomposition_runs_everywhere(site):
    site.backend()
    site.primitives("acme", body="def decompose(self, x): return x + x")
    said = site.run(
        ADD
        + """
from tenferro.primitives import bind
twice = host().primitive("acme::twice")()
backend = host().backend("toy")
say(value=evaluate(backend, bind(twice, x)), status=backend.lowerings.status("acme::twice"))
"""
    )
    assert said["value"] == [4.0]
    assert said["status"] == "decomposed"


UNREGISTERED = (
    ADD
    + """
from tenferro.primitives import Elementwise, bind
class Thrice(Elementwise):
    key = "mine::thrice"
    def abstract_eval(self, x): return x
    {body}
say(result=failure(evaluate, host().backend("toy"), bind(Thrice(), x)))
"""
)


def test_an_unregistered_primitive_runs_through_its_decomposition(site):
    site.backend()
    said = site.run(UNREGISTERED.format(body="def decompose(self, x): return x + x + x"))
    assert said["result"]["type"] is None


def test_an_unregistered_primitive_without_one_is_told_how_to_register(site):
    site.backend()
    text = site.run(UNREGISTERED.format(body=""))["result"]["text"]
    assert "(not registered)" in text
    assert 'entry point `mine = "…"` in the group tenferro.primitives' in text


@pytest.mark.parametrize(
    "api, reason",
    [
        ("(2, 0)", "written for API 2.0, core offers 1.0; pip install -U tenferro"),
        ("(1, 7)", "written for API 1.7, core offers 1.0; pip install -U tenferro"),
        ("(0, 9)", "written for API 0.9, core offers 1.0; pip install -U tenferro-toy"),
    ],
)
def test_another_api_generation(site, api, reason):
    site.backend(api=api)
    said = site.run("host().load(); say(e=failure(host().backend, 'toy'), s=states(), w=reasons())")
    assert said["s"] == {"toy@tenferro-toy": "incompatible"}
    assert said["w"] == {"toy@tenferro-toy": reason}
    assert (said["e"]["type"], said["e"]["reason"]) == ("PluginIncompatibleError", reason)


def test_no_manifest_is_incompatible(site):
    site.backend(source="x = 1")
    said = site.run("host().load(); say(states=states(), why=reasons())")
    assert said["states"] == {"toy@tenferro-toy": "incompatible"}
    assert "TENFERRO_PLUGIN" in said["why"]["toy@tenferro-toy"]


def test_host_callback_is_opted_in_and_logged_once(site):
    site.backend(
        "numpy",
        lowerings='[__import__("tenferro").backend.Lowering("std::sin", '
        '"tenferro_numpy_plugin_rules:sin")] if backend == "numpy" else []',
    )
    site.backend(
        extra="",
        create="import tenferro_toy_plugin_rules as r; return type('B', (r.Toy,), "
        "{'asoperand': lambda self, v, a: v})()",
    )
    said = site.run(
        ADD
        + """
refused = failure(evaluate, host().backend("toy"), sin(x))
allowed = host().backend("toy", tb.BackendConfig(allow_host_callback=True))
say(refused=refused["type"], value=evaluate(allowed, sin(x)), more=evaluate(allowed, sin(y)))
"""
    )
    assert said["refused"] == "MissingLoweringError"
    assert said["value"] == said["more"] == ["sine"]
    assert said["stderr"].count("std::sin runs as a host callback on numpy") == 1


def test_metadata_that_is_no_text_harms_nobody(site):
    site.backend()
    folder = site.distributions / "garbage-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_bytes(
        b"Name: \xff\xfe\nVersion: \xff\nRequires-Dist: \xff >\xff\n\n"
    )
    (folder / "entry_points.txt").write_bytes(b"[tenferro.backends]\nbad = \xff\n\xff\n= x\n")
    said = site.run(ADD + "say(value=evaluate(host().backend('toy'), x + y), states=states())")
    assert said["value"] == [5.0]
    assert said["states"].pop("toy@tenferro-toy") == "loaded"
    assert set(said["states"].values()) == {"broken"}
