"""The command line: text for people, the same as JSON, and exit codes."""

import json

import pytest


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
    assert data["plugins"][0] == {
        "name": "toy",
        "group": "tenferro.backends",
        "distribution": "tenferro-toy",
        "version": "1.0",
        "api": "1.0",
        "status": "loaded",
        "reason": "",
    }


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
    assert "No module named 'no_such'" in data["unusable"]["bad"]


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
        ({"source": "1/0"}, "toy is broken"),
        ({"api": "(2, 0)"}, "toy is incompatible"),
        ({"requires": ["tenferro>=5"]}, "toy is incompatible; tenferro-toy does not fit this core"),
        (
            {"manifest": 'requires_libs=("no_such",)', "probe": "import no_such"},
            "toy is broken",
        ),
    ],
)
def test_doctor_fails_when_something_is_wrong(site, parts, problem):
    site.backend(**parts)
    done = site.cli("doctor")
    assert done.returncode == 1
    assert done.stdout.endswith(f"Wrong: {problem}.\n")


def test_doctor_fails_on_a_conflict(site):
    site.backend("toy", "first-toy")
    site.backend("toy", "second-toy")
    assert site.cli("doctor").returncode == 1


def test_an_absent_device_is_nothing_wrong(site):
    site.backend(probe="return Probe(available=False, reason='no driver')")
    done = site.cli("doctor", "--json")
    data = json.loads(done.stdout)
    assert done.returncode == 0
    assert data["probes"]["toy"]["status"] == "unavailable"
    assert data["probes"]["toy"]["reason"] == "no driver"
    assert data["backend"]["name"] is None


@pytest.mark.parametrize(
    "probe, reason",
    [
        ("import time; time.sleep(100)", "its probe did not answer within 2 s"),
        ("import os; os._exit(3)", "its probe ended with code 3: no output"),
        ("raise OSError('old driver')", "its probe raised OSError: old driver"),
    ],
)
def test_doctor_survives_any_probe(site, probe, reason):
    site.backend(probe=probe)
    data = json.loads(site.cli("doctor", "--json", "--timeout", "2").stdout)
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
