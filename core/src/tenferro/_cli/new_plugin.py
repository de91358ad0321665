"""``tenferro new-plugin``: write a distribution of primitives, or of a backend, that works at once.

The distributions in ``templates/`` are copied with the word ``acme`` replaced by the new name.
They are linted and tested as they stand, so what an author gets is what the tests have run.
Read next: ``templates/primitives/src/tenferro_acme/plugin.py``.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tenferro._cli.errors import CommandError
from tenferro._cli.plugins import Data

KINDS = ("primitives", "backend")
_TEMPLATES = Path(__file__).parent / "templates"
_NOT_COPIED = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox"})


def collect_new_plugin(options: Any) -> tuple[Data, int]:
    """Write the distribution, and return its name, its folder and its files.

    Raises CommandError: if the name cannot be the name of a plugin, or the folder has files.
    """
    check_plugin_name(options.name)
    dist = f"tenferro-{options.name.replace('_', '-')}"
    folder = Path(options.folder or dist)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} exists already; name an empty folder by --folder")
    files = [write_file(source, folder, options) for source in template_files(options.kind)]
    return {
        "kind": options.kind,
        "name": options.name,
        "distribution": dist,
        "folder": str(folder),
        "files": files,
    }, 0


def check_plugin_name(name: str) -> None:
    """Raise CommandError unless a name can be that of an entry point and of a package."""
    if is_plugin_name(name):
        return
    near = "".join(c if c.isalnum() else "_" for c in name.lower())
    hint = f"; did you mean {near!r}?" if is_plugin_name(near) else ""
    raise CommandError(f"the name of a plugin is a lower-case identifier, not {name!r}{hint}")


def is_plugin_name(name: str) -> bool:
    """Return True if core and Python both accept the name."""
    is_identifier = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
    return is_identifier and name == name.lower()


def template_files(kind: str) -> Iterator[Path]:
    """Return the files of a template, sorted, as paths below its folder."""
    root = _TEMPLATES / kind
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.is_file() and _NOT_COPIED.isdisjoint(relative.parts):
            yield relative


def write_file(relative: Path, folder: Path, options: Any) -> str:
    """Copy a file of the template under its new name, and return that name."""
    target = renamed(relative.as_posix(), options.name)
    text = (_TEMPLATES / options.kind / relative).read_text("utf-8")
    path = folder / target
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(renamed(text, options.name), "utf-8")
    return target


def renamed(text: str, name: str) -> str:
    """Replace the name of the template in its three spellings.

    >>> renamed("tenferro-acme has tenferro_acme.plugin and AcmeArray", "my_kernels")
    'tenferro-my-kernels has tenferro_my_kernels.plugin and MyKernelsArray'
    """
    camel = "".join(part.capitalize() for part in name.split("_"))
    text = text.replace("tenferro-acme", f"tenferro-{name.replace('_', '-')}")
    return text.replace("Acme", camel).replace("acme", name)


def write_new_plugin(data: Data, options: Any) -> str:
    """Write what there is now, and what to do next."""
    return "\n".join(
        [
            f"{data['distribution']} is in {data['folder']}/:",
            *(f"  {name}" for name in data["files"]),
            "",
            f"Test it: cd {data['folder']} && tox",
            "Its README.md says what each file is, and what to check before you publish.",
        ]
    )
