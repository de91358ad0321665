"""What this repository adds to tox: the last line says in words what has passed.

tox finds this file by its name. It changes no environment and no exit code.
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

from tox.plugin import impl

if TYPE_CHECKING:
    from tox.config.sets import ConfigSet
    from tox.execute import Outcome
    from tox.session.state import State
    from tox.tox_env.api import ToxEnv

states: list[State] = []
passed: set[str] = set()


@impl
def tox_add_core_config(core_conf: ConfigSet, state: State) -> None:
    """Remember the run, which alone knows the environments that were asked for."""
    states.append(state)


@impl
def tox_after_run_commands(tox_env: ToxEnv, exit_code: int, outcomes: list[Outcome]) -> None:
    """Count an environment whose commands all succeeded; one without setup never gets here."""
    if exit_code == 0:
        passed.add(tox_env.conf.name)


@atexit.register
def say_what_passed() -> None:
    """Speak only if nothing that was asked for failed or was left out."""
    asked = list(states[0].envs.iter(only_active=True)) if passed else []
    if asked and passed.issuperset(asked):
        print(f"All of it passed: {', '.join(asked)}.")
