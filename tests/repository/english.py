"""Check that names, docstrings, comments and messages are plain English.

Four rules, each with the remedy in its message:

* `imperative`: the docstring of a function or method begins with an imperative verb ("Return",
  "Split"). A property and a docstring that is a formula are exempt.
* `headless`: no docstring opens with "What", "Whether", "How" and the like, which leave out who
  does what.
* `coined`: no word is used that only this project uses in that sense.
* `constant`: the name of a constant says its quantity and purpose; it is not a bare adjective.

`python tests/repository/english.py` lists the findings and fails if there are any.
Read next: `verbs.txt`, the verbs that are known here.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VERBS = frozenset((HERE / "verbs.txt").read_text("utf-8").split())
FOLDERS = ("core/src", "plugins/*/src", "conformance/src")

HEADLESS = {
    "What": "name the thing: `Return the …`, or a noun for a class",
    "Whether": "write `Return True if …`, or `True if …` for a property",
    "How": "say who does it: `Return the number of …`, `Plan …`",
    "That": "name the thing instead of `that which`",
    "Which": "write `Return the … that …`",
    "Who": "name the thing: `Return the operations that …`",
    "Whose": "name the thing and its owner",
    "Where": "write `Return the position of …`, or `If …,` after the verb",
    "Why": "write `Return the reason that …`",
}
COINED = {
    r"apart": "separate, each on its own, except",
    r"settle[ds]?": "run, resolve, decide",
    r"turned": "transposed, reversed, converted",
    r"young(?!er? generation| objects| generation)(?:er|est)?": "new, newest, recent",
    r"blind": "unaware of, does not read",
    r"lacking": "missing, without",
    r"sought": "wanted, requested, looked up",
    r"beside": "next to, in addition to, compared with",
    r"(?<!there )is no(?! longer| more| less| other| larger)": "is not, does not, cannot",
    r"nobody": "no other reference, no reader, no caller",
    r"in the place of": "instead of",
    r"(?<!none )(?<!neither )(?<!each )of which": "start a new sentence, or `whose`",
    r"that which": "name the thing",
}
ADJECTIVES = frozenset(
    "ALONE BEST BIG BUSY CHEAP CROWDED DEEP DEEPEST EMPTY ENOUGH FAR FEW FEWEST FREE FULL HEAVY "
    "HIGH HUGE LARGE LARGEST LEAST LITTLE LONG LONGEST LOW MANY MOST MOSTLY MUCH NARROW NEAR OFTEN "
    "RARE SELDOM SHORT SMALL SOON TALL TAME TINY TRIED WIDE WIDEST WORTH YOUNG".split()
)
_COINED = {re.compile(rf"\b{word}\b", re.IGNORECASE): word for word in COINED}
_COINED_NAMES = frozenset(
    "apart settle settled turned young youngest blind lacking sought nobody".split()
)
_CONSTANT = re.compile(r"_?[A-Z][A-Z_0-9]*\Z")
_WORD = re.compile(r"A (?=[a-z]{2,})|[A-Z][a-z]+(?:-[a-z]+)*(?=[\s.,:;]|\Z)")
_FORMULA = frozenset({"Re", "Im"})


@dataclass(frozen=True)
class Finding:
    """One place that a rule objects to, and what to write instead."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def first_word(docstring: str) -> str | None:
    """Return the first word of a docstring; None if it opens with a formula or code."""
    match = _WORD.match(docstring)
    return match[0].strip() if match and match[0] not in _FORMULA else None


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = (ast.unparse(decorator) for decorator in node.decorator_list)
    return any(name.endswith("property") for name in names)


def states_a_law(node: ast.AST, path: str) -> bool:
    """Return True for a law of the kit, whose docstring is its formula."""
    return "/suite/" in path and getattr(node, "name", "").startswith("test_")


def opening(node: ast.AST, path: str) -> Iterator[Finding]:
    docstring = ast.get_docstring(node) if not states_a_law(node, path) else None
    word = first_word(docstring) if docstring else None
    if word is None:
        return
    line = node.body[0].lineno if node.body else 1
    if word in HEADLESS:
        yield Finding(path, line, "headless", f"opens with {word!r}; {HEADLESS[word]}")
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_property(node):
        if word.lower() not in VERBS:
            remedy = "begin with an imperative verb (a verb that is missing belongs in verbs.txt)"
            yield Finding(path, line, "imperative", f"{node.name} opens with {word!r}; {remedy}")


def constants(node: ast.AST, path: str) -> Iterator[Finding]:
    targets = {ast.Assign: lambda: node.targets, ast.AnnAssign: lambda: [node.target]}
    for target in targets.get(type(node), list)():
        for each in target.elts if isinstance(target, ast.Tuple) else [target]:
            yield from constant(getattr(each, "id", ""), node.lineno, path)


def constant(name: str, line: int, path: str) -> Iterator[Finding]:
    if _CONSTANT.match(name) and name.strip("_") in ADJECTIVES:
        remedy = "name the quantity, its unit and its purpose"
        yield Finding(path, line, "constant", f"{name}: {remedy}")


def names(node: ast.AST, path: str) -> Iterator[Finding]:
    name = getattr(node, "name", None)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for part in _COINED_NAMES & set(
            re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_")
        ):
            yield Finding(
                path, node.lineno, "coined", f"the name {name} uses {part!r}; {remedy_for(part)}"
            )


def remedy_for(part: str) -> str:
    remedies = (text for pattern, text in COINED.items() if re.fullmatch(pattern, part))
    return "write " + next(remedies, "the trade's word")


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield every comment and string of a module with the line where it starts."""
    kinds = {
        tokenize.COMMENT,
        tokenize.STRING,
        getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING),
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in kinds:
            yield token.start[0], token.string


def coined(source: str, path: str) -> Iterator[Finding]:
    for start, text in texts(source):
        for pattern, word in _COINED.items():
            for match in pattern.finditer(text):
                line = start + text.count("\n", 0, match.start())
                yield Finding(path, line, "coined", f"{match[0]!r}; write {COINED[word]}")


def check(source: str, path: str) -> list[Finding]:
    """Return the findings in the source of one module."""
    findings = list(coined(source, path))
    for part in _COINED_NAMES & set(Path(path).stem.split("_")):
        findings.append(
            Finding(path, 1, "coined", f"the module's name uses {part!r}; {remedy_for(part)}")
        )
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            findings += opening(node, path)
        findings += constants(node, path)
        findings += names(node, path)
    return sorted(findings, key=lambda finding: (finding.line, finding.rule))


def modules(root: Path) -> list[Path]:
    return [
        file
        for folder in FOLDERS
        for top in sorted(root.glob(folder))
        for file in sorted(top.rglob("*.py"))
    ]


def check_all(root: Path) -> list[Finding]:
    """Return the findings in all modules of all distributions."""
    files = modules(root)
    return [
        f
        for file in files
        for f in check(file.read_text("utf-8"), file.relative_to(root).as_posix())
    ]


def main() -> int:
    findings = check_all(ROOT)
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
