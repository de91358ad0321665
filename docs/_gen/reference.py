"""Write the reference: every public name by group, with signature, docstring and example.

The pages are made when the site is built (`mkdocs_hooks.py`), so they cannot be stale; run this
file to read them: `python docs/_gen/reference.py FOLDER`. Examples of docstrings run with the
tests of core.
"""

from __future__ import annotations

import argparse
import inspect
import re
import types
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import tenferro as tn
from tenferro import transforms
from tenferro.arrays.registry import FUNCTIONS
from tenferro.backend import BackendError, LoweringTable
from tenferro.primitives import DType

GROUPS = {
    "transforms": ("Transforms", "What a user composes: derivatives, `jit`, batching, looking."),
    "arrays": ("Arrays", "The class, how arrays are made, and when they are evaluated."),
    "functions": (
        "Functions",
        "NumPy's functions under NumPy's names. `np.sin(x)` of an `Array` arrives here too, so a"
        " program written for NumPy needs none of these names.",
    ),
    "linear_algebra": (
        "Linear algebra",
        "The functions of `tenferro.linalg`. `np.linalg` takes Arrays itself, for the functions "
        "that it has; functions of `scipy.linalg` are called here.",
    ),
    "special": (
        "Special functions",
        "The functions of `tenferro.special`, by the names of `scipy.special`. SciPy's ufuncs, "
        "such as `gammaln`, take Arrays themselves.",
    ),
    "fourier": (
        "Fourier transforms",
        "The functions of `tenferro.fft`. `np.fft` takes Arrays itself, `scipy.fft` inside "
        "`with scipy.fft.set_backend(tenferro.fft)`.",
    ),
    "random": (
        "Random numbers",
        "The functions of `tenferro.random`, which take a key. [Random numbers](../random.md) "
        "explains keys.",
    ),
    "distributions": (
        "Distributions",
        "The functions of `tenferro.stats`, by the names and signatures of `scipy.stats`: "
        "differentiable in points and parameters, `logcdf` and `logsf` also where the probability "
        "is below every float. Parameters without a meaning give nan.",
    ),
    "signals": ("Signals", "The functions of `tenferro.signal`, by the names of `scipy.signal`."),
    "samples": (
        "Samples and points",
        "The functions of `tenferro.integrate`, `tenferro.interpolate`, `tenferro.ndimage` and "
        "`tenferro.spatial.distance`, by the names of SciPy.",
    ),
    "processes": (
        "Processes",
        "The functions of `tenferro.distributed`. [Several devices](../scale_out.md) uses them.",
    ),
    "backends": ("Backends", "Which backend runs, and what is installed."),
    "dtypes": ("Dtypes", "The dtypes, by name."),
}
NAMESPACES = {
    "linear_algebra": ["linalg"],
    "special": ["special"],
    "fourier": ["fft"],
    "random": ["random"],
    "distributions": [f"stats.{name}" for name in tn.stats.__all__],
    "signals": ["signal"],
    "samples": ["integrate", "interpolate", "ndimage", "spatial.distance"],
    "processes": ["distributed"],
}
LISTED = {"Parameters", "Returns", "Raises", "Warns"}  # sections that list names or types
LABELS = ("Definition", "JVP", "Transpose", "Convention", "Raises", "Source", "Fields", "Field")
PRIMITIVES = """\
# Primitives

What programs consist of below the functions. `tenferro.explain("std::tan")` says more about one.
A derivative is there unless the result is an integer or a bool, or does not vary.
"""
NUMPY = """\
# NumPy's functions

What of NumPy can be called with arrays of tenferro, what it records, and which backends run that.
All else raises a `TypeError` that names the function. In a program: `tenferro.numpy_functions()`.
"""
WIDTH = 80
ERRORS = "Errors have a page of their own: [Errors](../errors.md)."


def public() -> dict[str, object]:
    """Every public name that is no error and no warning, and the classes that transforms return."""
    names = sorted({*tn.__all__, *FUNCTIONS})
    found = {name: getattr(tn, name) for name in names if hasattr(tn, name)}
    found |= {name: getattr(transforms, name) for name in transforms.__all__}
    return {n: x for n, x in sorted(found.items()) if not is_error(x) and n[0] != "_"}


def members(path: str) -> dict[str, object]:
    """The public functions of a namespace below `tenferro`, by their dotted names."""
    module = attrgetter(path)(tn)
    found = {f"{path}.{name}": getattr(module, name) for name in module.__all__}
    return {name: x for name, x in found.items() if not is_error(x)}


def is_error(x: object) -> bool:
    return isinstance(x, type) and issubclass(x, BaseException)


def group_of(name: str, x: object) -> str:
    """The group of a name, by the layer that it comes from."""
    if isinstance(x, DType):
        return "dtypes"
    found = inspect.unwrap(x) if inspect.isfunction(x) else x  # a public function wraps its own
    module = getattr(found, "__module__", type(found).__module__) or ""
    layer = module.split(".")[1] if "." in module else ""
    if layer in ("transforms", "tidu"):
        return "transforms"
    if layer in ("backend", "computegraph") or name == "API_VERSION":
        return "backends"
    if ".functions" in module:
        return "functions"
    return "arrays"


def signature(name: str, x: object) -> str:
    """How a name is called; one parameter per line where the line would be long."""
    if not callable(x):
        return f"{name} = {x!r}"
    try:
        found = inspect.signature(x)
    except (TypeError, ValueError):
        return f"{name}(...)"
    parts = parameters(found)
    line = f"{name}({', '.join(parts)}){result(found)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *[f"    {part}," for part in parts], f"){result(found)}"])


def parameters(found: inspect.Signature) -> list[str]:
    """The parameters with the marks of those that go by position or by keyword only."""
    parts: list[str] = []
    before = inspect.Parameter.POSITIONAL_ONLY
    for parameter in found.parameters.values():
        kind = parameter.kind
        if before is parameter.POSITIONAL_ONLY and kind is not before and parts:
            parts.append("/")
        if kind is parameter.KEYWORD_ONLY and before < parameter.VAR_POSITIONAL:
            parts.append("*")
        parts.append(readable(str(parameter)))
        before = kind
    return parts


def result(found: inspect.Signature) -> str:
    if found.return_annotation in (found.empty, None, "None"):
        return ""
    return f" -> {readable(inspect.formatannotation(found.return_annotation))}"


def readable(text: str) -> str:
    """Without the quotes and paths that Python adds to annotations."""
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    text = re.sub(r"^(\**\w+: )'([^']+)'", r"\1\2", text)
    return re.sub(r"tenferro[\w.]*[.]", "", text.strip("'"))


def documentation(x: object) -> str:
    """The docstring as Markdown: prose, labelled lines apart, the example as a block."""
    if not callable(x):
        return ""  # a constant has that of its class
    text = inspect.cleandoc(getattr(x, "__doc__", None) or "").replace("``", "`")
    prose, _, example = text.partition(">>>")
    lines = [labelled(line) for line in sections(prose.rstrip().splitlines())]
    block = f"\n\n```pycon\n>>>{example.rstrip()}\n```" if example else ""
    return "\n".join(lines) + block


def sections(lines: list[str]) -> list[str]:
    """Write NumPy's sections as bold titles with lists, since `---` would make headings."""
    found: list[str] = []
    title = ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and set(below.strip()) == {"-"}:
            title = line
            found += [] if title == "Examples" else [f"**{title}**"]
        elif line and set(line) == {"-"}:
            found.append("")
        elif title in LISTED and line and not line.startswith(" "):
            found.append(f"* `{line}`")
        else:
            found.append(line)
    return found


def labelled(line: str) -> str:
    """A line that begins with a label of the house's docstrings stands apart."""
    for label in LABELS:
        if re.match(rf"{label}\b(:|\s{{2,}}| \w+:)", line):
            return f"\n**{label}** {line[len(label) :].lstrip(': ')}"
    return line


def methods(cls: type) -> list[str]:
    """The public methods and properties of a class; those that are functions in one line."""
    found = []
    same = []
    for name, member in sorted(vars(cls).items()):
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not isinstance(function, types.FunctionType):
            continue
        says = documentation(function)
        shown = name if isinstance(member, property) else signature(name, function)
        shown = re.sub(r"\(self(: \w+)?(, )?", "(", shown)
        if says.startswith(f"As `tenferro.{name}`"):
            same.append(f"`{name}`")
        elif says:
            found.append(f"### `{cls.__name__}.{name}`\n\n```py\n{shown}\n```\n\n{says}\n")
    if same:
        found.append(f"Methods that are the functions of the same name: {', '.join(same)}.\n")
    return found


def entry(name: str, x: object, aliases: list[str]) -> str:
    others = f"\n\nAlso `{'`, `'.join(aliases)}`." if aliases else ""
    inner = methods(x) if isinstance(x, type) else []
    text = f"## `{name}`\n\n```py\n{signature(name, x)}\n```\n\n{documentation(x)}{others}\n"
    return "\n".join([text, *inner])


def page(title: str, says: str, members: dict[str, object]) -> str:
    """One page; names of one object are one entry."""
    names: dict[int, list[str]] = {}
    for name, x in members.items():
        names.setdefault(id(x), []).append(name)
    entries = {}
    for group in names.values():
        x = members[group[0]]
        own = getattr(x, "__name__", group[0])
        first = own if own in group else group[0]
        others = [name for name in group if name != first]
        entries[is_result(first), first.lower()] = entry(first, x, others)
    ordered = [entries[place] for place in sorted(entries)]
    return "\n".join([f"# {title}\n", f"{says} {ERRORS}\n", *ordered])


def is_result(name: str) -> bool:
    """Whether a name is that of a class that one gets and does not call; these come last."""
    return name[0].isupper() and name not in ("Array", "Aval", "DType")


def dtypes(members: dict[str, object]) -> str:
    rows = [f"| `{name}` | `{x}` | {x.itemsize} |" for name, x in members.items()]
    head = ["| name | prints as | bytes |", "|---|---|---|"]
    return "\n".join([f"# Dtypes\n\n{GROUPS['dtypes'][1]}\n", *head, *rows, ""])


def tables() -> dict[str, LoweringTable]:
    """The lowerings of each backend that is installed here."""
    found = {}
    for name in tn.host().backends():
        try:
            found[name] = tn.host().table(name)
        except BackendError:  # its library is not installed
            continue
    return found


def primitives() -> str:
    """The table of primitives: what each is, whether it varies, and which backends lower it."""
    rows = []
    for key, cls in tn.host().primitives().items():
        says = inspect.cleandoc(cls.__doc__ or "").split("\n")[0].replace("|", "\\|")
        rules = "yes" if can_vary(cls) else "no"
        runs = [table.status(cls) for table in tables().values()]
        rows.append(f"| `{key}` | {says} | {rules} | {' | '.join(runs)} |")
    head = f"| primitive | meaning | derivative | {' | '.join(tables())} |"
    return "\n".join([PRIMITIVES, head, "|---" * (3 + len(tables())) + "|", *rows, ""])


def numpy_table() -> str:
    """The table of NumPy's functions: what they record, whether they vary, where they run."""
    rows = []
    for name, covered in tn.numpy_functions().items():
        made_of = ", ".join(f"`{primitive}`" for primitive in covered.primitives)
        keywords = ", ".join(f"`{keyword}`" for keyword in covered.keywords)
        varies = "yes" if covered.is_differentiable else "no"
        runs = [b for b, table in tables().items() if runs_all(table, covered.primitives)]
        rows.append(f"| `{name}` | {made_of} | {varies} | {keywords} | {', '.join(runs)} |")
    head = "| NumPy | records | derivative | parameters | backends |"
    return "\n".join([NUMPY, head, "|---|---|---|---|---|", *rows, ""])


def runs_all(table: LoweringTable, names: Sequence[str]) -> bool:
    return all(table.status(f"std::{name}") != "missing" for name in names)


def can_vary(cls: type) -> bool:
    """Whether its author wrote a rule of differentiation."""
    rules = [name for name in dir(cls) if name.startswith(("jvp_", "transpose_"))]
    return hasattr(cls, "derivative") or rules != ["jvp_input"]


def pages() -> dict[str, str]:
    """The pages of the reference, by path below `docs`."""
    groups: dict[str, dict[str, object]] = {group: {} for group in GROUPS}
    for name, x in public().items():
        groups[group_of(name, x)][name] = x
    for group, paths in NAMESPACES.items():
        groups[group] = {name: x for path in paths for name, x in members(path).items()}
    found = {
        f"reference/{group}.md": page(*GROUPS[group], listed)
        for group, listed in groups.items()
        if group != "dtypes"
    }
    return found | {
        "reference/dtypes.md": dtypes(groups["dtypes"]),
        "reference/numpy.md": numpy_table(),
        "reference/primitives.md": primitives(),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the pages of the reference into a folder.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args(arguments).folder
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
