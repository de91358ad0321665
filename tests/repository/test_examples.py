"""Property tests draw the same examples at every run, unless HYPOTHESIS_PROFILE asks for others."""

import os
import re
import subprocess
from pathlib import Path

import pytest

hypothesis = pytest.importorskip("hypothesis")


def test_the_profile_of_the_repository_is_in_force():
    fresh = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
    assert hypothesis.settings.default.derandomize is not fresh
    assert (hypothesis.settings.default.database is None) is not fresh


def test_no_test_has_a_profile_of_its_own(root):
    """Otherwise its examples were new at each run, or the same when fresh ones are asked for"""
    listed = subprocess.run(
        ["git", "ls-files", "*test_*.py"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.split()
    word = re.compile(r"derandomize=|\bdatabase=|@seed\(|load_profile")
    others = [root / path for path in listed if root / path != Path(__file__).resolve()]
    assert not [path for path in others if word.search(path.read_text("utf-8"))]
