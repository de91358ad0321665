"""The additions that `CONTRIBUTING.md` shows work: each diff, in a copy, passes its tests."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCES = (
    "core/src",
    "conformance/src",
    "plugins/numpy_backend/src",
    "plugins/xla_backend/src",
)
COPIED = (*SOURCES, "core/tests", "plugins/numpy_backend/tests", "tools", "pyproject.toml")
# a file of bytecode has a number behind its name until it is whole, and may be gone then
IGNORED = shutil.ignore_patterns(".hypothesis", "*.egg-info", "*.pyc.*")
SECTION = re.compile(r"^## Add (.*?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ON_XLA = """
import numpy as np
import tenferro as tn
from tenferro.primitives import softplus

x = np.array([-2.0, 0.0, 700.0])
loss = lambda x: tn.sum(softplus(tn.asarray(x)))
for function in (loss, tn.grad(loss)):
    np.testing.assert_allclose(tn.jit(function, backend="xla")(x), function(x), rtol=1e-14)
"""


def additions(root):
    """(what is added, the diff, the commands) of each section of the page with a diff."""
    page = (root / "CONTRIBUTING.md").read_text("utf-8")
    for title, text in SECTION.findall(page):
        diffs = re.findall(r"^```diff\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        commands = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if diffs:
            yield title, "".join(diffs), "".join(commands).splitlines()


def patch(folder, diff):
    """Apply a diff by the text of its hunks, wherever in a file they stand; return the files."""
    files = []
    for part in re.split(r"^--- \S+\n\+\+\+ ", diff, flags=re.MULTILINE)[1:]:
        name, *hunks = re.split(r"^@@ .*\n|\n(?=@@ )", part, flags=re.MULTILINE)
        path = folder / name.strip()
        text = path.read_text("utf-8") if path.exists() else ""
        for hunk in filter(None, hunks):
            lines = [(line[:1], line[1:] + "\n") for line in hunk.splitlines()]
            old = "".join(line for mark, line in lines if mark != "+")
            new = "".join(line for mark, line in lines if mark != "-")
            assert (text.count(old) == 1) if text else not old, f"{path}:\n{hunk}"
            text = text.replace(old, new, 1) if text else new
        path.write_text(text, "utf-8")
        files.append(name.strip())
    return files


@pytest.fixture
def copy(root, tmp_path):
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, tmp_path / name, ignore=IGNORED)
        else:
            shutil.copy(root / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def run(copy):
    """Run a command in the copy, with the packages of the copy."""

    def run(words):
        known = {"python": [], "pytest": ["-m", "pytest", "-q", "-p", "no:cacheprovider"]}
        path = os.pathsep.join(str(copy / name) for name in SOURCES)
        tool = Path(sys.executable).parent / words[0]
        start = [sys.executable, *known[words[0]]] if words[0] in known else [str(tool)]
        done = subprocess.run(
            [*start, *words[1:]],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    return run


def test_three_additions_are_shown(root):
    files = {title: re.findall(r"^\+\+\+ (\S+)", diff, re.M) for title, diff, _ in additions(root)}
    sources = {
        title: [name for name in found if "tests/" not in name] for title, found in files.items()
    }
    assert {title: len(names) for title, names in sources.items()} == {
        "a primitive": 5,
        "a NumPy function": 2,  # the function, and the hint that stood for it
        "a graph pass": 2,
    }


@pytest.mark.parametrize("title", ["a primitive", "a NumPy function", "a graph pass"])
def test_an_addition_passes_its_tests(root, copy, run, title):
    found = {name: (diff, commands) for name, diff, commands in additions(root)}
    diff, commands = found[title]
    before = {path: (copy / path).exists() for path in patch(copy, diff)}
    assert before
    for command in commands:
        words = shlex.split(command)
        said = run(words)
        if words[0] != "python":
            assert re.search(r"\b[1-9]\d* (passed|pass)\b|wrote", said), said
    if title == "a primitive" and find_spec("jax"):
        run(["python", "-c", ON_XLA])


def test_a_diff_that_fits_no_more_is_noticed(tmp_path):
    (tmp_path / "x.py").write_text("a\nb\n")
    with pytest.raises(AssertionError):
        patch(tmp_path, "--- x.py\n+++ x.py\n@@ -1,2 +1,2 @@\n a\n-c\n+d\n")
