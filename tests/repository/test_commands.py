"""The README, the script and tox name the same commands, and the README's example runs."""

import re
import subprocess
import sys
from configparser import ConfigParser

TEST_COMMAND = "python -m tox -m quick"
DEMO_COMMAND = "python -m pip install tox && python -m tox -e demo"


def commands_of(text):
    return {line.partition("#")[0].strip() for line in text.splitlines()}


def tox_of(root):
    parser = ConfigParser(interpolation=None)
    parser.read(root / "tox.ini", "utf-8")
    return parser


def labels_of(root):
    rows = (row.split("=") for row in tox_of(root)["tox"]["labels"].strip().splitlines())
    return {name.strip(): {part.strip() for part in parts.split(",")} for name, parts in rows}


def python_snippets(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_readme_and_script_contain_the_same_test_command(root):
    for name in ("README.md", ".ci/run"):
        assert TEST_COMMAND in commands_of((root / name).read_text("utf-8")), name


def test_the_script_is_executable(root):
    assert (root / ".ci/run").stat().st_mode & 0o111 == 0o111


def test_the_first_screen_of_the_readme_says_how_to_install(root):
    head = "\n".join((root / "README.md").read_text("utf-8").splitlines()[:45])
    for needed in (
        "pip install tenferro",
        "`pip install -e .`",
        "does **not** work",
        DEMO_COMMAND,
        TEST_COMMAND,
    ):
        assert needed in head


def test_what_is_installed_without_tox_has_the_libraries_of_the_tests(root):
    """The README names the file; tests of core compare with mpmath, an extra of the kit"""
    (numpy,) = [s for s in tox_of(root).sections() if s.startswith("testenv:{numpy,")]
    (extras,) = re.findall(r"conformance(\[.*\])", tox_of(root)[numpy]["deps"])
    assert f'-e "./conformance{extras}"' in (root / "dev-requirements.txt").read_text("utf-8")


def test_quick_covers_core_two_backends_and_the_kit(root):
    quick = labels_of(root)["quick"]
    assert quick == {"core", "numpy", "xla"}
    for name in quick - {"core"}:
        (section,) = [s for s in tox_of(root).sections() if s.startswith(f"testenv:{{{name},")]
        assert "tenferro-conformance run --backend" in tox_of(root)[section]["commands"]


def test_the_script_runs_everything_that_full_lists(root):
    labels = labels_of(root)
    script = (root / ".ci/run").read_text("utf-8")
    run = re.findall(r"^python -m tox .*-m (\S+)$", script, re.MULTILINE)
    assert run == ["quick", "rest", "rest-short", "rest-static"]
    assert labels["quick"] | labels["rest"] == labels["full"]
    slow = {"conformance", "golden-check"}
    assert labels["rest-short"] - {"conformance-short"} == labels["rest"] - slow
    assert labels["rest-static"] <= labels["rest-short"]


def test_every_label_names_environments_that_exist(root):
    sections = " ".join(name for name in tox_of(root).sections())
    for environment in set().union(*labels_of(root).values()):
        assert re.search(rf"testenv:\{{?{environment}\b", sections), environment


def test_what_tox_leaves_out_exists_and_deep_runs_it(root):
    left_out = re.findall(r"--ignore[ =](\S+)", (root / "tox.ini").read_text("utf-8"))
    assert left_out
    for path in left_out:
        assert (root / path.replace("{tox_root}/", "")).exists(), path
    assert {"xla-deep", "xla-whole", "golden-check-whole"} <= labels_of(root)["deep"]


def test_the_example_of_the_readme_runs(root, tmp_path):
    (example,) = python_snippets((root / "README.md").read_text("utf-8"))
    assert len([line for line in example.splitlines() if line]) <= 10
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    residual, entries = done.stdout.split()
    assert float(residual) < 1e-12
    assert entries == "299,998"
