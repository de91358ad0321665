"""Write `docs/errors.md` from the error classes of core; `--check` only compares.

A class states itself: its docstring says what it reports and which fields it carries, its bases
what else it may be caught as. Nothing about them is written by hand.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import checked_page

import tenferro
from tenferro.computegraph import TenferroError

PAGE = Path(__file__).resolve().parents[2] / "docs/errors.md"
LAYERS = {
    "arrays": "Arrays",
    "transforms": "Transforms",
    "primitives": "Shapes, dtypes, parameters",
    "tidu": "Derivative rules",
    "backend": "Backends and plugins",
    "passes": "Graph passes",
    "computegraph": "Graphs",
}
PLUGINS = {"tenferro_numpy": "The NumPy backend", "tenferro_xla": "The XLA backend"}
INTRODUCTION = """\
# Errors

*Written by `python docs/_gen/errors.py` from the classes.*

Every error that a function of tenferro raises is a `tenferro.TenferroError`, and also the built-in
error that one expects: shapes, values and parameters are a `ValueError`, dtypes and unsupported
kinds a `TypeError`, indices an `IndexError`, a missing backend, lowering or device a
`RuntimeError`. It names the function that you called, even where another one below it refused, and
the line of your program. Two kinds of errors are not tenferro's: what Python says of a call whose
arguments do not fit the signature (`tn.sin()`), and what your own functions raise while a
transform calls them; these pass unchanged. What happened is in its
*fields*, as attributes and together in `error.fields`, so a program need not read the text:

```python
import numpy as np
import tenferro as tn

try:
    tn.grad(lambda w: np.sum(np.zeros((3, 4)) @ w))(np.zeros(5))
except ValueError as error:
    print(type(error).__name__, error.shapes)
    print(error)
```

```text
ShapeMismatchError ((3, 4), (5,))
matmul: ...
  got        ...
  need       ...
```

The text says what came, what is needed and, where one is certain, what to write instead. An error
in an equation carries the equation and the line of your program that recorded it as notes, which
a traceback shows below the text; so does an error while a program runs, with the lowering that
failed and the plugin that it came from.

An error that no argument explains is a bug of ours: `tenferro.InternalError` names the function
that you called and the place in our files, and asks for a report.

A traceback shows the frames of your program and the function of tenferro that you called; frames
of tenferro's own files are left out. `tenferro.debug.full_traceback(error)` has all frames, and
with `TENFERRO_TRACEBACKS=full` in the environment every traceback has them. The variable is read
when an error is raised, so `os.environ["TENFERRO_TRACEBACKS"] = "full"` works in a running
program. The traceback of an `InternalError` is never shortened.
"""


def classes(of: type = TenferroError) -> list[type]:
    """The class and all below it that belong to core or its own backends, parents first."""
    found = [of] if of.__module__.split(".")[0] in ("tenferro", *PLUGINS) else []
    for below in sorted(of.__subclasses__(), key=lambda cls: cls.__name__):
        found += [cls for cls in classes(below) if cls not in found]
    return found


def section_of(cls: type) -> str:
    """Its layer in core, or the package of its plugin."""
    package, second = cls.__module__.split(".")[:2]
    return second if package == "tenferro" else package


def place(cls: type) -> str:
    """The shortest public place that it can be imported from."""
    section = section_of(cls)
    if section in PLUGINS:
        is_public = hasattr(importlib.import_module(section), cls.__name__)
        return f"{section if is_public else cls.__module__}.{cls.__name__}"
    inner = "" if hasattr(tenferro, cls.__name__) else f"{section}."
    return f"tenferro.{inner}{cls.__name__}"


def documentation(cls: type) -> tuple[str, list[str]]:
    """What the docstring says, and the fields that it names (`also`: besides the parent's)."""
    text = inspect.cleandoc(cls.__doc__ or "").partition(">>>")[0]
    says, _, rest = text.partition("Fields:" if "Fields:" in text else "Field:")
    names = re.findall(r"``(\w+)``", rest.partition(".")[0])
    inherits = rest.lstrip().startswith(("also", "as its parent")) or not names
    parents = [base for base in cls.__bases__ if issubclass(base, TenferroError)]
    above = documentation(parents[0])[1] if parents and inherits else []
    summary = says.split(".")[0].split(";")[0].removeprefix("Report ").replace("``", "`")
    return " ".join(summary.split()), [*above, *(name for name in names if name not in above)]


def caught_as(cls: type) -> list[str]:
    """The tenferro classes right above, and the most special built-in ones."""
    ours = [base for base in cls.__bases__ if issubclass(base, TenferroError)]
    known = [base for base in cls.__mro__ if base in vars(builtins).values()]
    special = [base for base in known if not any(issubclass(o, base) for o in known if o != base)]
    found = [*ours, *(special if special != [Exception] else [])]
    return [base.__name__ for base in found if base is not TenferroError]


def row(cls: type) -> str:
    says, fields = documentation(cls)
    lists = (", ".join(f"`{name}`" for name in names) for names in (caught_as(cls), fields))
    cells = [f"`{place(cls)}`", says, *lists]
    return f"| {' | '.join(cells)} |"


def warning_rows() -> list[str]:
    """The warnings of core and its own backends, and what they say."""
    found = []
    for cls in classes(UserWarning):
        says = " ".join(inspect.cleandoc(cls.__doc__ or "").partition(".")[0].split())
        found.append(f"| `{place(cls)}` | {re.sub('^(Say|Warn) that ', '', says)} |")
    return found


def page() -> str:
    for layer in LAYERS:  # whatever is imported only when it is asked for
        package = importlib.import_module(f"tenferro.{layer}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in PLUGINS:
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__, f"{name}."):
            if module.name.endswith("errors"):
                importlib.import_module(module.name)
    found = [cls for cls in classes() if cls is not TenferroError]
    parts = [INTRODUCTION]
    for section, title in (LAYERS | PLUGINS).items():
        rows = [row(cls) for cls in found if section_of(cls) == section]
        head = ["| error | reports | is also a | fields |", "|---|---|---|---|"]
        parts.append("\n".join([f"## {title}\n", *head, *rows, ""]))
    head = ["| warning | says that |", "|---|---|"]
    parts.append("\n".join(["## Warnings\n", *head, *warning_rows(), ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(checked_page.main(PAGE, page()))
