"""MkDocs hooks: pages made from files that live elsewhere, so that nothing is written twice.

The tutorial is a program; its comments become the text of the page and its code the snippets. So
are the pages of the gallery, with what they print and draw, and their first page with all pictures;
the reference comes from docstrings. GLOSSARY and the other files of the repository's root appear as
they are. Nothing is written to the source tree.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
COPIED = {
    "glossary.md": "GLOSSARY.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
TUTORIAL = "tutorial/from_scratch"
# Factors of a page's rank in a search: tables of measurements name everything, and explain little.
BOOSTS = {
    "benchmarks.md": 0.1,
    "compatibility.md": 0.1,
    "plan_passes.md": 0.3,
    "xla_primitives.md": 0.1,
    "getting_started.md": 2,
    "reference/transforms.md": 2,
    "which_transform.md": 3,
}
GALLERY = ROOT / "examples/gallery"
NETWORKS = ROOT / "examples/tensor_networks"
# In these files a path is written as seen from the root; in the site it is a page.
LINK = re.compile(r"\]\(docs/([^)]+)\)")
CELL = re.compile(r"^# %%( \[markdown\])?$", re.MULTILINE)
ENDING = 'if sys.argv[1:2] == ["--plot"]:'


def split(source: str) -> tuple[str, str, str]:
    """The title, the introduction and the body of a program with a docstring."""
    title, intro = re.fullmatch(r'"""(.+?)\n(.*?)"""\n.*', source, re.DOTALL).groups()
    return title.rstrip("."), intro.strip("\n"), source.partition('"""\n')[2]


# ---- the tutorial --------------------------------------------------------------------------------


def page_of_program(source: str) -> str:
    """Turn a program into a page: docstring and margin comments are text, the rest code."""
    title, intro, body = split(source)
    runs: list[tuple[bool, list[str]]] = []
    for line in body.splitlines():
        is_text = line == "#" or line.startswith("# ")
        if not runs or (is_text != runs[-1][0] and line.strip()):
            runs.append((is_text, []))
        runs[-1][1].append(line)
    rendered = [f"# {title}", intro, *(render(run, is_text) for is_text, run in runs)]
    return "\n\n".join(text for text in rendered if text)


def render(run: list[str], is_text: bool) -> str:
    if is_text:
        return "\n".join(line[2:] for line in run).strip()
    code = "\n".join(run).strip("\n")
    return f"```py\n{code}\n```" if code.strip() else ""


# ---- the gallery ---------------------------------------------------------------------------------


def page_of_cells(source: str, name: str, printed: str) -> str:
    """Turn a program of cells into a page; the picture stands where the code draws it."""
    title, intro, body = split(source)
    parts = [f"# {title}", intro]
    head, *cells = CELL.split(body)  # then a mark and the text of each cell, by turns
    for mark, text in zip(cells[::2], cells[1::2], strict=True):
        if ENDING in text:
            parts.append(f"![{title}]({name}.svg)")
        else:
            parts.append(render(text.strip("\n").splitlines(), is_text=mark is not None))
    where = f"`examples/gallery/{name}.py`"
    parts.append(
        f"## What it prints\n\n```text\n{printed.rstrip()}\n```\n\nThe program is {where}."
    )
    return "\n\n".join(part for part in (*parts[:2], head.strip(), *parts[2:]) if part)


def gallery(program: Path) -> tuple[str, str]:
    """The page of a program and its picture; the program runs."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.svg"
        printed = run(program, "--plot", picture)
        drawn = picture.read_text("utf-8")
    return page_of_cells(program.read_text("utf-8"), program.stem, printed), drawn


def page_of_module(source: str, name: str) -> str:
    """Turn a module into a page: its docstring is text, the picture follows, then all code."""
    title, intro, body = split(source)
    where = f"Run it by `python examples/tensor_networks/{name}.py`."
    code = f"```py\n{body.strip()}\n```"
    return "\n\n".join([f"# {title}", intro, f"![{title}]({name}.svg)", code, where])


def page_of_pictures(sections: dict[str, list[Path]]) -> str:
    """Return the first page of the gallery: for each program its picture and its first sentence."""
    parts = ["# Gallery", "Programs that check what they claim. Each picture leads to its program."]
    for heading, programs in sections.items():
        cards = "\n\n".join(map(card, programs))
        parts.append(f'## {heading}\n\n<div class="grid cards" markdown>\n\n{cards}\n\n</div>')
    return "\n\n".join(parts)


def card(program: Path) -> str:
    """Return one entry of the gallery's first page."""
    title, intro, _ = split(program.read_text("utf-8"))
    text = next(part for part in intro.split("\n\n") if not part.startswith("    "))  # no formula
    first = re.match(r".+?[.?!:](?=\s|$)", " ".join(text.split()))[0]
    page = f"{program.stem}.md"
    return (
        f"-   [![{title}]({program.stem}.svg)]({page})\n\n    **[{title}]({page})**\n\n    {first}"
    )


def drawn_by(script: str, *arguments: object) -> dict[str, str]:
    """The pictures that a script writes into the folder of its last argument, by name."""
    with tempfile.TemporaryDirectory() as folder:
        run(Path(__file__).parent / script, *arguments, folder)
        return {picture.name: picture.read_text("utf-8") for picture in Path(folder).glob("*.svg")}


def run(*command: object) -> str:
    """What a program of Python prints."""
    finished = subprocess.run(
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    return finished.stdout


# ---- all pages -----------------------------------------------------------------------------------


def reference() -> dict[str, str]:
    """The pages of the reference, by path."""
    spec = importlib.util.spec_from_file_location(
        "reference", Path(__file__).parent / "reference.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    program = Path(config.docs_dir) / f"{TUTORIAL}.py"
    pages = {f"{TUTORIAL}.md": page_of_program(program.read_text("utf-8"))}
    for name, source in COPIED.items():
        pages[name] = LINK.sub(r"](\1)", (ROOT / source).read_text("utf-8"))
    examples = sorted(GALLERY.glob("*.py"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        shown = list(pool.map(gallery, examples))
    for example, (page, picture) in zip(examples, shown, strict=True):
        pages |= {f"gallery/{example.stem}.md": page, f"gallery/{example.stem}.svg": picture}
    drawn = drawn_by("tensor_pictures.py")
    networks = [NETWORKS / name.replace(".svg", ".py") for name in sorted(drawn)]
    for network in networks:
        page = page_of_module(network.read_text("utf-8"), network.stem)
        pages[f"gallery/{network.stem}.md"] = page
        pages[f"gallery/{network.stem}.svg"] = drawn[f"{network.stem}.svg"]
    sections = {"Programs": examples, "Tensor networks": networks}
    pages["gallery/index.md"] = page_of_pictures(sections)
    pages |= drawn_by("run_page.py", Path(config.docs_dir) / "looking.md")
    for name, text in (pages | reference()).items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(_markdown: str, page: Page, **_: object) -> None:
    if page.file.src_uri in BOOSTS:
        page.meta.setdefault("search", {"boost": BOOSTS[page.file.src_uri]})
