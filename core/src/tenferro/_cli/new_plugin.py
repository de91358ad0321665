"""``tenferro new-plugin``: write a distribution of primitives, or of a backend, that works at once.

The distributions in ``templates/`` are copied with their names replaced: ``acme`` by the new name,
and ``softplus`` by each primitive. They are linted and tested as they stand, so what an author gets
is what the tests have run. Read next: ``templates/primitives/src/tenferro_acme/plugin.py``.
"""

from __future__ import annotations

import io
import keyword
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenferro._cli.errors import CommandError
from tenferro._cli.plugins import Data

KINDS = ("primitives", "backend")
_TEMPLATES = Path(__file__).parent / "templates"
_NOT_COPIED = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox"})
#: New names by names of the template.
NewNames = dict[str, str]
#: The primitive of the template.
_SOFTPLUS = "softplus"
#: Packages that the generated code or its tests import.
_IMPORTED = frozenset(
    {"jax", "numpy", "pytest", "tenferro", "tenferro_conformance", "tenferro_numpy", "tenferro_xla"}
)


@dataclass(frozen=True)
class Names:
    """Names of a new distribution: its namespace or backend, its own, and its primitives'."""

    plugin: str
    distribution: str
    primitives: tuple[str, ...] = (_SOFTPLUS,)

    @property
    def package(self) -> str:
        """Return the name by which Python imports it.

        >>> Names("own", "My-Kernels.Fast").package
        'my_kernels_fast'
        """
        return re.sub(r"[-.]+", "_", self.distribution).lower()


def collect_new_plugin(options: Any) -> tuple[Data, int]:
    """Write the distribution, and return its names, its folder and its files.

    Raises CommandError: if a name cannot be that of a plugin, a distribution or a primitive, or the
    folder has files.
    """
    names = checked_names(options)
    folder = Path(options.folder or names.distribution)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} exists already; name an empty folder by --folder")
    files = [
        write_file(folder / target, text)
        for source in template_files(options.kind)
        for target, text in written(options.kind, source, names)
    ]
    return {
        "kind": options.kind,
        "name": names.plugin,
        "distribution": names.distribution,
        "folder": str(folder),
        "files": [path.relative_to(folder).as_posix() for path in files],
    }, 0


# ---- names ---------------------------------------------------------------------------------------


def checked_names(options: Any) -> Names:
    """Return the names that the command line gives; raise CommandError if one cannot be used."""
    check_plugin_name(options.name)
    distribution = options.distribution or f"tenferro-{options.name.replace('_', '-')}"
    names = Names(options.name, distribution, tuple(options.primitive) or (_SOFTPLUS,))
    check_distribution(names)
    if options.primitive and options.kind != "primitives":
        raise CommandError(f"a backend has no primitives of its own: leave {options.primitive} out")
    check_primitives(names.primitives)
    return names


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


def check_distribution(names: Names) -> None:
    """Raise CommandError unless an index accepts the name, and Python that of its package."""
    if not re.fullmatch(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", names.distribution, re.ASCII):
        raise CommandError(
            f"the name of a distribution has letters, digits, `-`, `_` and `.`, "
            f"and not {names.distribution!r}"
        )
    if not is_plugin_name(names.package):
        raise CommandError(f"the package of that distribution cannot be called {names.package!r}")
    if names.package in sys.stdlib_module_names | _IMPORTED:
        raise CommandError(
            f"another package is called {names.package!r}; name another distribution"
        )


def check_primitives(primitives: Sequence[str]) -> None:
    """Raise CommandError unless each name can be that of a function that the template lacks."""
    for name in primitives:
        if not is_plugin_name(name):
            raise CommandError(f"the name of a primitive is a lower-case identifier, not {name!r}")
        if primitives.count(name) > 1:
            raise CommandError(f"the primitive {name} is named twice")
        if not taken_names().isdisjoint(spellings(name)):
            raise CommandError(
                f"the generated modules use the name {name} already: name the primitive otherwise, "
                "and rename it when you have written its rule"
            )


def taken_names() -> frozenset[str]:
    """Return the names in the code of the template, and those of its modules."""
    found: set[str] = set()
    for source in template_files("primitives"):
        if source.suffix == ".py":
            found.add(source.stem)
            text = (_TEMPLATES / "primitives" / source).read_text("utf-8")
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            found |= {token.string for token in tokens if token.type == tokenize.NAME}
    return frozenset(found - set(spellings(_SOFTPLUS)))


def spellings(name: str) -> tuple[str, str, str]:
    """Return the names of a function, its class and its table.

    >>> spellings("my_bell")
    ('my_bell', 'MyBell', 'MY_BELL')
    """
    return name, "".join(part.capitalize() for part in name.split("_")), name.upper()


# ---- files ---------------------------------------------------------------------------------------


def template_files(kind: str) -> Iterator[Path]:
    """Return the files of a template, sorted, as paths below its folder."""
    root = _TEMPLATES / kind
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.is_file() and _NOT_COPIED.isdisjoint(relative.parts):
            yield relative


def written(kind: str, source: Path, names: Names) -> Iterator[tuple[str, str]]:
    """Return the names and texts of the files that a file of the template becomes.

    A file that is called like the primitive is written once for each primitive.
    """
    path, text = source.as_posix(), (_TEMPLATES / kind / source).read_text("utf-8")
    new = [new_names(names, primitive) for primitive in names.primitives]
    if _SOFTPLUS not in path:
        yield replaced(path, new[0]), repeated(text, new)
        return
    for each in new:
        yield replaced(path, each), replaced(text, each)


def new_names(names: Names, primitive: str) -> NewNames:
    """Return the new name of each name of the template, where it speaks of one primitive."""
    return {
        "tenferro-acme": names.distribution,
        "tenferro_acme": names.package,
        "Acme": spellings(names.plugin)[1],
        "acme": names.plugin,
        **dict(zip(spellings(_SOFTPLUS), spellings(primitive), strict=True)),
    }


def replaced(text: str, new: NewNames) -> str:
    """Replace all names in one pass, so that a new name is not replaced again.

    >>> replaced("acme::softplus", {"acme": "softplus", "softplus": "bell"})
    'softplus::bell'
    """
    return re.sub("|".join(new), lambda found: new[found[0]], text)


def repeated(text: str, new: Sequence[NewNames]) -> str:
    """Replace names, and repeat for each primitive what the text says of the template's.

    >>> print(repeated("import softplus, x", [{"softplus": "voigt"}, {"softplus": "bell"}]), end="")
    import voigt, x
    import bell, x
    """
    paragraphs = text.rstrip("\n").split("\n\n")
    return "\n\n".join(repeated_part(part, new) for part in paragraphs) + "\n"


def repeated_part(paragraph: str, new: Sequence[NewNames]) -> str:
    """Repeat a function or a table as a whole, of another paragraph the lines."""
    if paragraph.lstrip("\n").startswith((f"def {_SOFTPLUS}(", f"{_SOFTPLUS.upper()} =")):
        return "\n\n".join(replaced(paragraph, each) for each in new)
    return "\n".join(repeated_line(line, new) for line in paragraph.split("\n"))


def repeated_line(line: str, new: Sequence[NewNames]) -> str:
    """Repeat a line that names the primitive, of a list its items.

    >>> repeated_line("ALL = (softplus,)", [{"softplus": "voigt"}, {"softplus": "bell"}])
    'ALL = (voigt, bell)'
    """
    if not any(name in line for name in spellings(_SOFTPLUS)):
        return replaced(line, new[0])
    a_list = re.fullmatch(r"(\w+ = [(\[])(.+?)(,?)([)\]])", line)
    if a_list is None:
        return "\n".join(replaced(line, each) for each in new)
    opening, items, comma, closing = a_list.groups()
    all_items = ", ".join(replaced(items, each) for each in new)
    return opening + all_items + (comma if len(new) == 1 else "") + closing


def write_file(path: Path, text: str) -> Path:
    """Write a file, and the folders above it; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


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
