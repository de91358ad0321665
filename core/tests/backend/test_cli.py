"""The command line: text for people, the same as JSON, and exit codes."""

import json
import types

import pytest

from tenferro._cli.plugins import write_plugins


def test_plugins_prints_one_line_each(site):
    site.backend()
    site.backend("bad", source="1/0")
    done = site.cli("plugins")
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["name", "kind", "distribution", "version", "API", "status", "reason"]
    assert lines[1][:6] == ["bad", "backends", "tenferro-bad", "1.0", "-", "broken"]
    assert lines[2] == ["toy", "backends", "tenferro-toy", "1.0", "1.0", "loaded"]
    assert lines[3] == ["std", "primitives", "tenferro", "0.1.0", "1.0", "loaded"]


def test_plugins_verbose_adds_hooks_and_tracebacks(site):
    site.backend()
    site.backend("bad", source="1/0")
    text = site.cli("plugins", "-v").stdout
    assert "tenferro_backend_create, tenferro_backend_info, tenferro_backend_probe" in text
    assert "Traceback (most recent call last):" in text
    assert "ZeroDivisionError: division by zero" in text


def test_plugins_as_json(site):
    site.backend()
    data = json.loads(site.cli("plugins", "--json").stdout)
    assert data["plugins"][0].pop("load_seconds") > 0
    assert data["plugins"][0] == {
        "name": "toy",
        "group": "tenferro.backends",
        "distribution": "tenferro-toy",
        "version": "1.0",
        "api": "1.0",
        "status": "loaded",
        "reason": "",
        "missing_library": "",
        "libraries": [],
    }


def test_plugins_say_what_a_module_that_is_not_light_imports(site):
    (site.distributions / "heavy_library.py").write_text("")
    site.backend(extra="\nimport heavy_library, wave\n")
    data = json.loads(site.cli("plugins", "--json").stdout)
    assert {p["name"]: p["libraries"] for p in data["plugins"]}["toy"] == ["heavy_library"]
    assert "loaded in" in site.cli("plugins", "-v").stdout


@pytest.mark.parametrize(
    "name, seconds, is_named", [("toy", 0.25, True), ("toy", 0.05, False), ("std", 0.25, False)]
)
def test_a_plugin_that_loads_slowly_is_named_with_what_it_imports(name, seconds, is_named):
    row = dict.fromkeys(("distribution", "version", "api", "status", "reason"), "")
    plugin = {**row, "name": name, "group": "tenferro.backends", "load_seconds": seconds}
    options = types.SimpleNamespace(verbose=False)
    data = {"plugins": [{**plugin, "libraries": ["heavy_library"]}], "lowerings": []}
    text = write_plugins(data, options)
    assert (f"{name}: 250 ms; it imports heavy_library" in text) is is_named


def test_primitives_by_backends(site):
    site.backend()
    site.primitives("acme", body="def decompose(self, x): return x + x")
    data = json.loads(site.cli("primitives", "--json").stdout)
    rows = {row["key"]: row for row in data["primitives"]}
    assert data["backends"] == ["toy"]
    assert rows["std::add"]["backends"] == {"toy": "native"}
    assert rows["std::sin"]["backends"] == {"toy": "missing"}
    assert rows["acme::twice"]["backends"] == {"toy": "decomposed"}
    assert rows["acme::twice"]["provider"] == "tenferro-acme 1.0"


def test_primitives_of_one_backend_as_text(site):
    site.backend("a")
    site.backend("b")
    lines = site.cli("primitives", "--backend", "b").stdout.splitlines()
    assert lines[0].split() == ["primitive", "version", "provider", "b"]
    assert "native" in next(line for line in lines if line.startswith("std::add "))


def test_a_backend_without_its_library_has_a_note_and_no_column(site):
    site.backend("bad", manifest='requires_libs=("no_such",), install_hint="pip install it"')
    site.backend("toy")
    data = json.loads(site.cli("primitives", "--json").stdout)
    assert data["backends"] == ["toy"]
    assert data["unusable"] == {"bad": "no_such is not installed"}


def test_an_unknown_backend_is_an_error_on_stderr(site):
    done = site.cli("primitives", "--backend", "nunpy")
    assert done.returncode == 2
    assert "did you mean 'numpy'" in done.stderr
    assert done.stdout == ""


def test_doctor_finds_nothing_wrong(site):
    site.backend()
    done = site.cli("doctor")
    assert done.returncode == 0
    assert done.stdout.endswith("Nothing is wrong.\n")
    assert "toy  nothing was named; it is the only available one" in done.stdout
    assert "tenferro-toy 1.0  tenferro>=0.1,<0.2: fits" in done.stdout


@pytest.mark.parametrize(
    "parts, problem",
    [
        ({"source": "1/0"}, "toy is broken: ZeroDivisionError: division by zero"),
        ({"source": "import sys; sys.exit(3)"}, "toy is broken: SystemExit: 3"),
        ({"requires": ["tenferro>=5"]}, "tenferro-toy does not fit this core: requires "),
        ({"probe": "import os; os._exit(4)"}, "toy: its probe ended with code 4: no output"),
        ({"create": "import os; os._exit(5)"}, "making it ended with code 5: no output"),
        ({"lowerings": "1/0"}, "its lowerings hook raised ZeroDivisionError: division by zero"),
        ({"lowerings": "[]"}, "toy is broken: a sum of two numbers raised MissingLoweringError"),
    ],
)
def test_doctor_names_everything_that_is_wrong(site, parts, problem):
    site.backend(**parts)
    site.backend("good")
    done = site.cli("doctor")
    assert done.returncode == 1
    assert problem in done.stdout.partition("\nWrong:\n")[2]


@pytest.mark.parametrize("part", ["probe", "create", "lowerings"])
def test_a_library_that_is_not_installed_is_wrong_only_if_its_backend_is_named(site, part):
    imported = "__import__('no_such')" if part == "lowerings" else "import no_such"
    manifest = 'requires_libs=("no_such",), install_hint="pip install such"'
    site.backend("bare", manifest=manifest, **{part: imported})
    site.backend("toy")
    done = site.cli("doctor", "--json")
    data = json.loads(done.stdout)
    (plugin,) = [p for p in data["plugins"] if p["name"] == "bare"]
    assert (done.returncode, data["problems"]) == (0, [])
    assert (plugin["status"], plugin["missing_library"]) == ("broken", "no_such")
    assert plugin["reason"].startswith("no_such is not installed")
    end = site.cli("doctor").stdout.partition("\nNothing is wrong.\n")[2]
    assert end.startswith("bare cannot be used until no_such is installed")
    named = site.cli("doctor", TENFERRO_BACKEND="bare")
    assert named.returncode == 1
    assert "TENFERRO_BACKEND names bare, which is broken: no_such is not" in named.stdout


def test_doctor_names_a_conflict_once(site):
    site.backend("toy", "first-toy")
    site.backend("toy", "second-toy")
    site.backend("good")
    done = site.cli("doctor")
    assert done.returncode == 1
    assert done.stdout.partition("\nWrong:\n")[2].splitlines() == [
        "  toy is in conflict: the name 'toy' is claimed by first-toy 1.0 and second-toy 1.0"
    ]


@pytest.mark.parametrize(
    "name, problem",
    [
        ("tooy", "no backend 'tooy' is installed (from TENFERRO_BACKEND)"),
        ("gone", "TENFERRO_BACKEND names gone, which is unavailable: no driver"),
        ("bad", "TENFERRO_BACKEND names bad, which is broken: RuntimeError: oh"),
    ],
)
def test_a_named_backend_that_cannot_run_is_wrong(site, name, problem):
    site.backend()
    site.backend("gone", probe="return Probe(available=False, reason='no driver')")
    site.backend("bad", source="raise RuntimeError('oh')")
    done = site.cli("doctor", "--json", TENFERRO_BACKEND=name)
    assert done.returncode == 1
    assert problem in json.loads(done.stdout)["problems"]


def test_nothing_to_evaluate_with_is_wrong(site):
    done = site.cli("doctor", "--json")
    assert done.returncode == 1
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem == "no backend is installed, so nothing can be evaluated; install one"


def test_doctor_reports_where_the_environment_is_strict(site):
    site.backend()
    site.backend("bad", source="1/0")
    done = site.cli("doctor", "--json", TENFERRO_STRICT_PLUGINS="1")
    assert json.loads(done.stdout)["problems"] == [
        "bad is broken: ZeroDivisionError: division by zero"
    ]


NOISY = "import os; print('one'); os.write(1, b'two\\n')"


@pytest.mark.parametrize("command", ["plugins", "primitives", "doctor"])
def test_what_a_plugin_prints_is_not_in_the_answer(site, command):
    site.backend(probe=f"{NOISY}; return Probe(available=True)", extra=f"\n{NOISY}\n")
    done = site.cli(command, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)
    assert {"one", "two"} <= set(done.stderr.split())


def test_the_interrupt_of_the_user_passes(site):
    site.backend(source="raise KeyboardInterrupt")
    assert "KeyboardInterrupt" in site.cli("plugins").stderr


def test_plugins_and_primitives_show_which_lowering_runs(site):
    site.backend()
    lowering = "__import__('tenferro').backend.Lowering"
    site.primitives(
        body="def decompose(self, x): return x + x",
        lowerings=f"[{lowering}('acme::twice', lambda op, x: x + x), "
        f"{lowering}('std::add', min)] if backend == 'toy' else []",
    )
    said = json.loads(site.cli("plugins", "--json").stdout)["lowerings"]
    assert [(x["primitive"], x["by"], x["runs"], x["why"]) for x in said] == [
        ("acme::twice", "tenferro-acme 1.0", True, "it owns the primitive"),
        (
            "std::add",
            "tenferro-acme 1.0",
            False,
            'tenferro.prefer("std::add", "toy", "tenferro-acme") allows it',
        ),
    ]
    assert said == json.loads(site.cli("doctor", "--json").stdout)["lowerings"]
    lines = site.cli("primitives").stdout.splitlines()
    shown = {line.split()[0]: line.split(maxsplit=3)[3] for line in lines[1:]}
    assert shown["acme::twice"].endswith("native (by tenferro-acme 1.0)")
    assert shown["std::add"].endswith("native (not used: tenferro-acme)")


def test_an_absent_device_is_nothing_wrong(site):
    site.backend(probe="return Probe(available=False, reason='no driver')")
    site.backend("other")
    done = site.cli("doctor", "--json")
    data = json.loads(done.stdout)
    assert done.returncode == 0
    assert data["probes"]["toy"]["status"] == "unavailable"
    assert data["probes"]["toy"]["reason"] == "no driver"
    assert data["backend"]["name"] == "other"


@pytest.mark.parametrize(
    "probe, seconds, reason",
    [
        ("import time; time.sleep(100)", "8", "its probe did not answer within 8 s"),
        ("import os; os._exit(3)", "60", "its probe ended with code 3: no output"),
        ("raise OSError('old driver')", "60", "its probe raised OSError: old driver"),
    ],
)
def test_doctor_survives_any_probe(site, probe, seconds, reason):
    """The seconds count from the start of a process, which takes some on a busy machine."""
    site.backend(probe=probe)
    data = json.loads(site.cli("doctor", "--json", "--timeout", seconds).stdout)
    assert data["probes"]["toy"]["status"] == "unavailable"
    assert data["probes"]["toy"]["reason"] == reason


def test_doctor_lists_variables_and_what_is_wrong_with_them(site):
    site.backend()
    environment = {
        "TENFERRO_BACKEND": "toy",
        "TENFERRO_BAKEND": "toy",
        "TENFERRO_DISABLE_PLUGINS": "tenferro-tou",
    }
    data = json.loads(site.cli("doctor", "--json", **environment).stdout)
    notes = {v["name"]: v["note"] for v in data["variables"]}
    assert notes["TENFERRO_BAKEND"] == "unknown: nothing reads it"
    assert {v["name"]: v["value"] for v in data["variables"]}["TENFERRO_BAKEND"] is None
    assert notes["TENFERRO_DISABLE_PLUGINS"] == "matches nothing: tenferro-tou"
    assert data["backend"] == {"name": "toy", "why": "set by TENFERRO_BACKEND"}


def test_doctor_verbose_shows_the_chained_traceback(site):
    source = "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ImportError('no') from e\n"
    site.backend("bad", source=source)
    text = site.cli("doctor", "-v").stdout
    assert "ZeroDivisionError: division by zero" in text
    assert "The above exception was the direct cause" in text


def test_a_reader_that_stops_early_is_no_error(site):
    site.backend()
    code = (
        "import os, sys; from tenferro._cli import main; r, w = os.pipe(); os.close(r); "
        "os.dup2(w, 1); sys.exit(main(['plugins']))"
    )
    done = site.python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
