"""The list of names that vulture shall not report: reasons, and nothing that is gone."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = ROOT / "tools/vulture_allowed.py"


def listed():
    text = ALLOWED.read_text("utf-8")
    return [node.value for node in ast.parse(text).body[1:]], text.splitlines()


def test_each_name_has_a_reason():
    names, lines = listed()
    assert [n.id for n in names if not re.search(r"  # \w+", lines[n.lineno - 1])] == []


def test_each_name_still_exists():
    names, _ = listed()
    for name in (n.id for n in names):
        found = subprocess.run(
            ["git", "grep", "-qw", name, "--", "*.py", ":!tools/vulture_allowed.py"],
            cwd=ROOT,
            check=False,
        ).returncode
        if found > 1:
            pytest.skip("not a git checkout")
        assert found == 0, name
