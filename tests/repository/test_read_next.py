"""Files that a module or a document tells the reader to read exist."""

import ast
import inspect
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (
    "README.md", "GLOSSARY.md", "CONTRIBUTING.md", "docs/reading_order.md", "docs/how_it_works.md",
)  # fmt: skip
NAME = re.compile(r"`{1,2}([\w./-]+)`{1,2}")
ADVICE = re.compile(r"\bRead (?:next:|in this order:|(?=`))(.*?)(?:\.\s|\.$|\Z)", re.DOTALL)
#: Files of other projects, files that a reader will write, and files that are made.
ELSEWHERE = {
    "tracer.py", "core.py", "_solver/", "src/pluggy/", "utils/backends.py",
    "src/tox/plugin/spec.py", "tensor/linalg/decomposition/cholesky.py",
    "12.bugfix.md", "12.feature.md", "docs/compatibility.md",
}  # fmt: skip


def tracked(pattern="*"):
    listed = subprocess.run(
        ["git", "ls-files", "-z", pattern], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def is_path(name):
    return name.endswith((".py", ".md", ".toml", ".txt", "/"))


def exists(folder, name):
    """A path from the folder or from one around it; a module may be named without its suffix."""
    dotted = re.fullmatch(r"[a-z]\w*(\.\w+)+", name) and not is_path(name)
    relative = name.replace(".", "/") if dotted else name
    places = [folder, *folder.parents, Path("core/src")]
    paths = [ROOT / place / relative for place in places]
    return any(path.exists() or path.with_name(f"{path.name}.py").exists() for path in paths)


def advised(docstring):
    """Names that a sentence such as "Read next: …" begins with, and every path."""
    for sentence in ADVICE.findall(docstring):
        plain = re.sub(r"\([^)]*\)", "", sentence)
        yield from NAME.findall(re.split(r"\bfor\b|\bwh\w+\b|;", plain)[0])
    yield from filter(is_path, NAME.findall(docstring))


def docstring_of(path):
    """Read no further than the first statement: parsing every file takes seconds."""
    before = (tokenize.ENCODING, tokenize.COMMENT, tokenize.NL)
    with path.open("rb") as file:
        first = next(t for t in tokenize.tokenize(file.readline) if t.type not in before)
    return inspect.cleandoc(ast.literal_eval(first.string)) if first.type == tokenize.STRING else ""


def missing_in(path):
    docstring = docstring_of(ROOT / path)
    places = [path.parent]
    if path.parts[0] in ("docs", "tools"):
        places.append(Path("core/src/tenferro"))
    for name in advised(docstring):
        if name not in ELSEWHERE and not any(exists(place, name) for place in places):
            yield f"{path}: {name}"


def test_what_a_module_says_to_read_next_exists():
    assert sorted({line for path in tracked("*.py") for line in missing_in(path)}) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_says_to_read_exists(name):
    paths = [f"/{path}" for path in tracked()]
    named = set(filter(is_path, NAME.findall((ROOT / name).read_text("utf-8")))) - ELSEWHERE
    missing = [n for n in named if not any(f"/{n.lstrip('./')}" in path for path in paths)]
    assert sorted(missing) == []


def test_a_file_that_does_not_exist_is_noticed():
    text = "Keys.\n\nRead next: ``_keys`` and `a/b.py`, which do `more`. See `c.py` (`so`)."
    assert list(advised(text)) == ["_keys", "a/b.py", "a/b.py", "c.py"]
    folder = Path("core/src/tenferro/computegraph")
    assert exists(folder, "_keys")
    assert exists(folder, "tenferro.random")
    assert not exists(folder, "_keyz.py")
