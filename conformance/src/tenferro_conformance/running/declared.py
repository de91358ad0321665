"""Plugins, profiles and cases that no installed distribution publishes, named by options of a run.

`--plugin mine.plugin --declare mine=mine.profile:PROFILE` tests a plugin that is being written.
Read `backends.py` and `selection.py` next.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec

from tenferro_conformance.errors import ProfileError
from tenferro_conformance.profile import Profile
from tenferro_conformance.running.backends import register_profile
from tenferro_conformance.running.selection import register_cases

__all__ = ["declare", "load_also"]


def load_also(modules: Iterable[str]) -> None:
    """Let this process and its children load plugins that no entry point names.

    The working folder is searched for them, as by `python -m`.

    Raises ProfileError: if there is no such module.
    """
    there = filter(None, [os.environ.get("TENFERRO_PLUGINS", "")])
    found = ",".join([*there, *modules])
    if modules:
        sys.path.insert(0, os.getcwd())
    for module in modules:
        if not _is_there(module):
            raise ProfileError(f"there is no module {module!r}")
    if modules:
        os.environ["TENFERRO_PLUGINS"] = found


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it would be in
        return False


def declare(text: str) -> None:
    """Register what `NAME=MODULE:OBJECT` names: a profile, or else cases.

    Raises ProfileError: if the text has another form, there is no such object, or its module
    raises.
    """
    name, _, place = text.partition("=")
    module, _, attribute = place.partition(":")
    if not (name and module and attribute):
        raise ProfileError(f"{text!r} does not have the form NAME=MODULE:OBJECT")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ProfileError(f"{text!r} cannot be imported: {error}") from error
    except Exception as error:
        kind = type(error).__name__
        raise ProfileError(f"{text!r}: its module raises {kind}: {error}") from error
    if isinstance(found, Profile):
        register_profile(name, found)
    else:
        register_cases(found)
