"""Ability of a backend to compile a program into a file that runs without tenferro.

Core knows no format and no compiler: ``tenferro.export`` finds the backend that implements the hook
``tenferro_backend_exporter`` and hands it the function. Read next: ``spec.py``, and
``../transforms/saving/exported.py``.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tenferro.primitives._aval import Aval


class ExportedProgram(ABC):
    """A compiled program for given shapes and dtypes. It takes values and has no derivative."""

    @property
    @abstractmethod
    def platforms(self) -> tuple[str, ...]:
        """The platforms it runs on."""

    @property
    @abstractmethod
    def avals(self) -> tuple[Aval, ...]:
        """Shapes and dtypes of the leaves of the arguments."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file; one that is there is replaced when the new one is whole.

        Raises UnsupportedError: if a package that writes the file is not installed.
        """

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Raises OperandError: if an argument has another structure, shape or dtype.
        Raises UnsupportedError: inside a transform.
        """


class Exporter(ABC):
    """Compiles functions into programs that are data, and reads them again."""

    @abstractmethod
    def export(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        platforms: Sequence[str],
    ) -> ExportedProgram:
        """Compile a function of pytrees for these arguments; an aval stands for an array.

        Raises UnsupportedError: for a platform, or an operation, that a file cannot have.
        """

    @abstractmethod
    def load(self, path: str | os.PathLike[str]) -> ExportedProgram:
        """Read a program that ``ExportedProgram.save`` wrote.

        Raises SerializationError: if the file holds no such program.
        """
