"""Options of a run, declared once for the command line and for pytest.

`tenferro-conformance run --law adjoint` and `pytest --tenferro-law adjoint` are the same option.
Only the standard library is imported, since every pytest run of the environment reads this file.
Read next: `../cli.py` and `../pytest_plugin.py`, which add the few options that only one of them
has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["OF_THE_PARENT", "OPTIONS", "Option", "add_options", "forwarded"]


class Option(NamedTuple):
    """Option of a run: its name without prefix, and how `argparse` declares it."""

    name: str
    settings: dict[str, Any]

    def forward(self, value: Any) -> list[str]:
        """Return the arguments by which pytest gets a value of this option."""
        flag = f"--tenferro-{self.name}"
        if self.settings.get("action") == "store_true":
            return [flag] if value else []
        values = value if isinstance(value, list) else [value]
        return [f"{flag}={item}" for item in values if item is not None]


def _repeatable(name: str, metavar: str, help: str) -> Option:
    settings = {"action": "append", "default": [], "metavar": metavar, "help": help}
    return Option(name, settings)


#: Options of the process that starts one process per backend; those do not inherit them.
OF_THE_PARENT = (
    _repeatable(
        "backend",
        "NAME",
        "backend to test, repeatable; `all` (the default) is every available one",
    ),
    _repeatable("require", "NAME", "fail if this backend is unavailable here, repeatable"),
    Option("report", {"default": "", "metavar": "PATH", "help": "write the JSON report here"}),
)

#: Options of the process that runs the suite on one backend.
OPTIONS = (
    Option(
        "level",
        {
            "type": int,
            "metavar": "N",
            "help": "test up to this level instead of the claimed one",
        },
    ),
    Option(
        "laws",
        {
            "choices": ("all", "graph", "backend"),
            "default": "all",
            "help": "`graph`: only laws that run without a backend; `backend`: only the others",
        },
    ),
    Option(
        "tier",
        {
            "choices": ("quick", "rest", "full", "deep"),
            "default": "deep",
            "help": "`quick`: a typical case of each law; `full`: all but declared slow cases; "
            "`rest`: full without quick; `deep` (the default): all",
        },
    ),
    _repeatable(
        "primitive",
        "KEY",
        "run the cases of this primitive alone, or of all that match `acme::*`; repeatable",
    ),
    _repeatable(
        "case",
        "ID",
        "run this case alone, or all that match `std::sin/*/float64`; repeatable",
    ),
    _repeatable("law", "NAME", "ask this law alone, by the name in the report; repeatable"),
    _repeatable(
        "declare",
        "NAME=MODULE:OBJECT",
        "the profile of the backend NAME, or the cases of the namespace NAME, which no "
        "installed distribution publishes; repeatable",
    ),
    Option(
        "mesh",
        {
            "type": int,
            "metavar": "N",
            "help": "split the inputs of every program over N devices; needs the feature "
            "`sharding`",
        },
    ),
    Option("strict-new", {"action": "store_true", "help": "count provisional cases, too"}),
)


def add_options(add: Callable[..., object], prefix: str) -> None:
    """Declare the options of both tables through `add`, which is argparse's or pytest's.

    `prefix` stands before each name: `--` or `--tenferro-`.
    """
    for option in (*OF_THE_PARENT, *OPTIONS):
        add(prefix + option.name, **option.settings)


def forwarded(values: dict[str, Any]) -> list[str]:
    """Return parsed options of the command line as arguments of pytest.

    >>> forwarded({"level": 2, "laws": "all", "tier": "quick", "primitive": ["acme::f"],
    ...            "case": [], "law": [], "declare": [], "mesh": None, "strict_new": True})
    ['--tenferro-level=2', '--tenferro-laws=all', '--tenferro-tier=quick', \
'--tenferro-primitive=acme::f', '--tenferro-strict-new']
    """
    found = []
    for option in OPTIONS:
        found += option.forward(values[option.name.replace("-", "_")])
    return found
