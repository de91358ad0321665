"""The error of a command that cannot be carried out; the command line prints it and returns 2."""

from __future__ import annotations


class CommandError(ValueError):
    """The arguments of a command cannot be used; the message says what to write."""
