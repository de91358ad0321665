"""The options of one compilation: what the user may ask of this backend.

``segment_size``      instructions per segment, instead of what ``_policy.py`` chooses; 0 never cuts
``cache_bytes``       bytes of cache for which rows are divided into blocks, instead of those of the
                      processors; 0 divides none (``_row_blocks.py``)
``compiler_options``  a mapping handed to XLA; names it does not know are dropped with a warning
``donated``           numbers of inputs that are not read afterwards; core sets it
``check_errors``      True: raise for what raises on NumPy, see ``_checks.py``

Unknown names are dropped with a warning too, because options are shared between backends. Read
next: ``_policy.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tenferro.backend import InvalidOptionError, UnsupportedError
from tenferro.backend.extend import donated_inputs
from tenferro.backend.records import BackendConfig
from tenferro_xla._errors import CompilerOptionWarning

_KNOWN = ("segment_size", "cache_bytes", "compiler_options", "check_errors", "donated")
_OF_MESH = ("mesh", "in_shardings", "out_shardings")  # see `_sharded.py`


class CompileOptions(NamedTuple):
    """Options after checking; the ones of the call win over those of the configuration."""

    segment_size: int | None = None
    compiler_options: Mapping[str, object] = {}
    check_errors: bool = False
    donated: tuple[int, ...] = ()
    cache_bytes: int | None = None


def checked_options(
    config: BackendConfig, options: Mapping[str, object] | None, platform: str, inputs: int
) -> CompileOptions:
    """Merge the options of a configuration and of one call, for a program of so many inputs.

    Raises InvalidOptionError: if a value is of the wrong kind.
    Raises UnsupportedError: for checks of a program that runs on a mesh.
    """
    merged = {**config.options, **(options or {})}
    if merged.get("check_errors") and merged.get("mesh"):
        raise _unsupported("check_errors", "checks on a mesh")
    for name in ("passes", *_OF_MESH):  # core's
        merged.pop(name, None)
    unknown = sorted(set(merged) - set(_KNOWN))
    if unknown:
        warn_dropped(unknown)
    size = _count(merged, "segment_size", "a number of instructions")
    cache = _count(merged, "cache_bytes", "a number of bytes")
    own = merged.get("compiler_options") or {}
    if not isinstance(own, Mapping):
        raise InvalidOptionError.of("xla", "compiler_options", own, "a mapping of names to values")
    checks = merged.get("check_errors", False)
    if not isinstance(checks, bool):
        raise InvalidOptionError.of("xla", "check_errors", checks, "True or False")
    donated = donated_inputs("xla", merged.get("donated", ()), inputs)
    compiler = {**_implied(config, platform), **own}
    return CompileOptions(size, compiler, checks, donated, cache)


def _count(options: Mapping[str, object], name: str, needed: str) -> int | None:
    """Return an option that is a natural number, or None where it is not given."""
    value = options.get(name)
    if value is not None and (type(value) is not int or value < 0):
        raise InvalidOptionError.of("xla", name, value, needed)
    return value


def _implied(config: BackendConfig, platform: str) -> dict[str, object]:
    """Return what a configuration means to XLA; the CPU is deterministic by default."""
    if config.deterministic and platform in ("gpu", "cuda", "rocm"):
        return {"xla_gpu_deterministic_ops": True}
    return {}


def warn_dropped(names: list[str]) -> None:
    """Warn that options have no effect here."""
    warnings.warn(
        f"xla: dropped unknown options {', '.join(names)}", CompilerOptionWarning, stacklevel=2
    )


def check_offload(operations: Iterable[Any], platform: str) -> None:
    """Raise UnsupportedError if a loop stores rows outside the memory of a device.

    On the CPU that is the memory in which they lie anyway.
    """
    if platform == "cpu":
        return
    waiting = [*operations]
    while waiting:
        operation = waiting.pop()
        if getattr(operation, "offloaded", ()):
            raise UnsupportedError(
                f"xla: a loop cannot store its rows outside the memory of {platform}\n"
                '  hint       `checkpoint="sqrt"` or `tn.revolve(slots)` store fewer rows',
                backend="xla",
                feature="offload",
                instead='checkpoint="sqrt"',
            )
        for _, body in getattr(operation, "bodies", ()):
            waiting += [inner for inner, _ in body.equations]


def _unsupported(name: str, feature: str) -> UnsupportedError:
    return UnsupportedError(
        f"xla: {name} cannot be used, because this version of the backend has no {feature}\n"
        "  hint       leave it out; the program then runs unchecked",
        backend="xla",
        feature=feature,
        instead="",
    )
