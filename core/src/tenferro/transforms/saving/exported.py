"""``export`` and ``load_exported``: programs compiled into files that run without tenferro.

Core compiles nothing: a backend that can implements ``tenferro_backend_exporter``, as the XLA
backend does. An exported program is data and has no derivative; ``save_graph`` keeps a function
that has. Read next: ``save.py``, and ``backend/exporting.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.backend import ExportedProgram, Exporter, UnsupportedError, host

__all__ = ["export", "load_exported"]


def export(
    function: Callable[..., Any],
    *args: Any,
    platforms: Sequence[str] = ("cpu",),
    backend: str | None = None,
    **kwargs: Any,
) -> ExportedProgram:
    """Compile a function, for given shapes and dtypes, to a program that runs without tenferro.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays: lists, tuples, dictionaries. Derivative rules of the user are
        applied. The program itself cannot be differentiated: export the gradient as well.
    *args, **kwargs
        Arguments, or an ``Aval`` instead of an array.
    platforms : sequence of str, default ("cpu",)
        The platforms it shall run on. The XLA backend knows "cpu", "cuda", "rocm" and "tpu".
    backend : str, optional
        The backend that compiles; by default the only one that exports.

    Returns
    -------
    ExportedProgram
        The program. Call it, or write it to a file with its method ``save``.

    Raises
    ------
    UnsupportedError
        If no backend exports programs, a platform is unknown, or the function calls back into
        Python.
    ConcretizationError
        If the function asks for the value of an argument.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> program = tn.export(tn.grad(lambda x: np.sum(x**3)), tn.Aval((2,), "f64"))  # doctest: +SKIP
    >>> program.save("gradient.hlo")  # doctest: +SKIP
    """
    exporter = _exporter("export", backend)
    if not callable(function):
        raise at_user_line(TypeError(f"export: needs a function, got {function!r:.60}"))
    if isinstance(platforms, str):
        platforms = (platforms,)
    return exporter.export(function, args, kwargs, tuple(platforms))


def load_exported(path: str | os.PathLike[str], *, backend: str | None = None) -> ExportedProgram:
    """Return a program that ``export`` made and ``save`` wrote.

    Parameters
    ----------
    path : str or path
        The file.
    backend : str, optional
        The backend that runs it; by default the only one that exports.

    Returns
    -------
    ExportedProgram
        The program. It takes values: transforms refuse it.

    Raises
    ------
    SerializationError
        If the file holds no exported program, or one of a newer format.
    FileAccessError
        If the file does not exist, or cannot be opened.
    UnsupportedError
        If no backend exports programs.

    Examples
    --------
    >>> import tenferro as tn
    >>> gradient = tn.load_exported("gradient.hlo")  # doctest: +SKIP
    """
    return _exporter("load_exported", backend).load(path)


def _exporter(who: str, backend: str | None) -> Exporter:
    """Return what exports, of the backend of a name or of the only one that can."""
    plugins = host()
    if backend is not None:
        return plugins.exporter(backend)
    able = plugins.implementing("tenferro_backend_exporter")
    if len(able) == 1:
        return plugins.exporter(able[0])
    hint = "name one by `backend=`" if able else "pip install tenferro-xla"
    raise at_user_line(
        UnsupportedError(
            f"{who}: {'several backends export' if able else 'no backend exports'} programs\n"
            f"  got        {', '.join(able or plugins.backends()) or 'no backend'}\n"
            f"  hint       {hint}; `tn.save_graph` saves a function that every backend runs",
            backend="",
            feature="export",
            instead="xla",
        )
    )
