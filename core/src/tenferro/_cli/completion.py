"""``tenferro completion``: a script that makes a shell complete commands and options.

The words come from the parser, so the script says what this version understands. Put
``eval "$(tenferro completion bash)"`` into the shell's start-up file. Read next: ``commands.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from tenferro._cli.plugins import Data

SHELLS = ("bash", "zsh")
_SCRIPT = """\
_tenferro() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}"
    case "${{COMP_WORDS[1]}}" in
{cases}
        *) COMPREPLY=($(compgen -W "{commands}" -- "$word")) ;;
    esac
}}
complete -o default -F _tenferro tenferro"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def words_of(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """Return the options and fixed arguments of each command that the help lists."""
    (commands,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    listed = [action.dest for action in commands._choices_actions]
    return {name: sorted(_words(commands.choices[name]._actions)) for name in listed}


def _words(actions: Sequence[argparse.Action]) -> list[str]:
    long = [o for action in actions for o in action.option_strings if o.startswith("--")]
    return long + [str(c) for a in actions if not a.option_strings for c in a.choices or ()]


def collect_completion(options: Any) -> tuple[Data, int]:
    """Collect the words and the script."""
    words = words_of(options.parser())
    return {"shell": options.shell, "words": words, "script": script(options.shell, words)}, 0


def script(shell: str, words: Mapping[str, Sequence[str]]) -> str:
    """Return the script of a shell."""
    cases = "\n".join(
        f'        {name}) COMPREPLY=($(compgen -W "{" ".join(found)}" -- "$word")) ;;'
        for name, found in words.items()
    )
    text = _SCRIPT.format(cases=cases, commands=" ".join(words))
    return _ZSH + text if shell == "zsh" else text


def write_completion(data: Data, options: Any) -> str:
    """Write the script."""
    return str(data["script"])
