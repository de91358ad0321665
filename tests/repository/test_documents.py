"""Documents name files that exist, and nothing that only the author's machine knows."""

import re
import subprocess

import pytest

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "docs/reading_order.md")
PATH = re.compile(r"`((?:core|plugins|conformance|docs|tests|examples|benchmarks)/[\w./-]+)`")
GENERATED = {"docs/compatibility.md"}


def tracked(root):
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [root / name for name in listed.stdout.split("\0") if name]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_paths_in_a_document_exist(root, name):
    named = set(PATH.findall((root / name).read_text("utf-8"))) - GENERATED
    assert sorted(path for path in named if not (root / path).exists()) == []


def test_no_file_is_left_with_conflict_marks(root):
    marks = re.compile(rb"^(<{7} |>{7} )", re.MULTILINE)
    assert [
        path for path in tracked(root) if path.is_file() and marks.search(path.read_bytes())
    ] == []


def test_words_of_the_glossary_are_defined_once(root):
    rows = re.findall(r"^\| ([^|]+) \|", (root / "GLOSSARY.md").read_text("utf-8"), re.MULTILINE)
    words = [word.strip() for row in rows[1:] for word in row.split(",")]
    assert len(words) == len(set(words))


def test_the_engine_is_read_in_an_evening(root):
    """Σ lines of the files between `tn.grad` and the numbers ≤ 2,000"""
    text = (root / "docs/reading_order.md").read_text("utf-8")
    (section,) = re.findall(r"^## The engine: .*?(?=^## )", text, re.MULTILINE | re.DOTALL)
    files = re.findall(r"^\| `(\S+)` \|", section, re.MULTILINE)
    assert "Eleven files, fewer than 2,000 lines." in section
    assert len(files) == 11
    assert sum(len((root / name).read_text("utf-8").splitlines()) for name in files) < 2000
