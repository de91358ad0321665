"""MkDocs hooks: pages made from files that live elsewhere, so that nothing is written twice.

The tutorial is a program; its comments become the text of the page and its code the snippets.
GLOSSARY and the other files of the repository's root appear as they are. Nothing is written to the
source tree.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[2]
COPIED = {
    "glossary.md": "GLOSSARY.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
TUTORIAL = "tutorial/from_scratch"
# In these files a path is written as seen from the root; in the site it is a page.
LINK = re.compile(r"\]\(docs/([^)]+)\)")


def page_of_program(source: str) -> str:
    """Turn a program into a page: docstring and margin comments are text, the rest code."""
    title, body = re.fullmatch(r'"""(.+?)\n(.*?)"""\n.*', source, re.DOTALL).groups()
    lines = source.partition('"""\n')[2].splitlines()
    runs: list[tuple[bool, list[str]]] = []
    for line in lines:
        is_text = line == "#" or line.startswith("# ")
        if not runs or (is_text != runs[-1][0] and line.strip()):
            runs.append((is_text, []))
        runs[-1][1].append(line)
    heading = f"# {title.rstrip('.')}"
    rendered = [heading, body.strip(), *(render(run, is_text) for is_text, run in runs)]
    return "\n\n".join(text for text in rendered if text)


def render(run: list[str], is_text: bool) -> str:
    if is_text:
        return "\n".join(line[2:] for line in run).strip()
    code = "\n".join(run).strip("\n")
    return f"```py\n{code}\n```" if code.strip() else ""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    program = Path(config.docs_dir) / f"{TUTORIAL}.py"
    if program.exists():
        text = page_of_program(program.read_text("utf-8"))
        files.append(File.generated(config, f"{TUTORIAL}.md", content=text))
    for name, source in COPIED.items():
        text = LINK.sub(r"](\1)", (ROOT / source).read_text("utf-8"))
        files.append(File.generated(config, name, content=text))
    return files
