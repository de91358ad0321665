"""The boundary between the user's program and tenferro: what an error looks like from outside.

An error that our own code raises leaves a public function as a ``TenferroError`` that names this
function and the user's line. Functions below the boundary raise what is natural for them; nested
public calls report the outermost one. An error that the user's own code raises, in a callback, is
left as it is. What no argument explains is reported as a bug in tenferro. Nothing here costs
anything until an error is raised: callers write

    try:
        return function(x)
    except Exception as error:
        if (error := refusal(error, "name")) is not None:
            raise error from None
        raise

``error`` is the one name that Python deletes afterwards; another would keep the error, its
traceback and with it all arguments alive in a cycle.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, MutableMapping
from functools import update_wrapper
from importlib import import_module
from types import FrameType, FunctionType, TracebackType
from typing import Any, TypeVar

from tenferro.computegraph import TenferroError
from tenferro.primitives._errors import (
    ArgumentBufferError,
    ArgumentError,
    ArgumentIndexError,
    ArgumentOverflowError,
    ArgumentTypeError,
    ArgumentValueError,
    AxisError,
    InternalError,
    RefusalError,
)
from tenferro.primitives._source import caller, source_text
from tenferro.primitives._tracebacks import full_traceback, shorten

_E = TypeVar("_E", bound=Exception)
_F = TypeVar("_F", bound=Callable[..., Any])
_LIBRARIES = frozenset(("tenferro", "numpy", "scipy", "optree", "opt_einsum", "jax", "jaxlib"))
_BACKENDS = ("tenferro_numpy", "tenferro_cupy", "tenferro_xla")
_EVALUATION = "tenferro.arrays.evaluation.evaluate"
_FROM = "  from       "
_PREFIX = r"((?:np\.)?[A-Za-z_][\w.]*): "  # compiled with the first error
_NOT_A_SHAPE = r"expected a sequence of integers or a single integer, got 'Array\("
_SIZE_HINT = (
    "  hint       the value of this Array is unknown while a function is traced, and sizes are\n"
    "             part of a program: take them from `x.shape`, or make the argument static\n"
    "             (`static_argnums`)"
)
_NOT_OF_NUMPY = r"argument \d+ must be numpy\.ndarray, not Array"
_CODE_IN_C_HINT = (
    "  hint       this code in C takes arrays of NumPy alone: pass `np.asarray(x)` where the\n"
    "             value is known and no derivative is taken; for a factorized sparse matrix\n"
    "             write `tenferro.linalg.spsolve(S, b)`, which keeps the factorization"
)
_KEYWORDS = {
    "dim": "axis", "dims": "axis", "axes": "axis", "keepdim": "keepdims", "argnum": "argnums",
    "argname": "argnames", "static_argnum": "static_argnums", "in_axis": "in_axes",
    "out_axis": "out_axes", "aux": "has_aux",
}  # fmt: skip
"""Keywords that users of other libraries try, and ours."""

_CALLS = {
    "checkpoint": "checkpoint(f)(x)", "hvp": "hvp(f)(x, v)", "jit": "jit(f)(x)",
    "jvp": "jvp(f, (x,), (v,))",
}  # fmt: skip
"""Transforms that other libraries call another way, and how ours are called."""

_SIGNATURE = r"[\w.<>]+\(\) (?=missing |takes |got )"
_UNEXPECTED = r"unexpected keyword argument '(\w+)'(?:\. Did you mean '(\w+)'\?)?$"
"""From 3.13 on Python says which keyword is nearest."""


def at_user_line(error: _E) -> _E:
    """Return the error as one of tenferro that says where the user was."""
    found: Any = error if isinstance(error, TenferroError) else _typed(error, None) or error
    if found is not error:
        _copy_notes(error, found)
    _add_line(found)
    return found  # type: ignore[no-any-return]


def _add_line(error: Exception) -> None:
    """Note the user's line, unless the text or a note says one."""
    if _FROM in "\n".join((str(error), *getattr(error, "__notes__", ()))):
        return
    line = source_text(caller())
    if line is not None:
        error.add_note(_FROM + line)


def refusal(error: Exception, name: str, *, operator: bool = False) -> Any:
    """Return the error to raise instead of one that leaves the public function ``name``.

    None: raise it as it is. Errors of the user's own code are not touched; those of tenferro are
    completed in place, with the function's name and the user's line. Their tracebacks lose the
    frames of our files. An ``operator`` shows in that line, so its name is not added where the
    text lacks it.
    """
    whole = full_traceback(error)
    below = whole.tb_next if whole is not None else None
    if _passes_users_code(below):
        replaced = _replaced(error) or _dropped(error)
        if replaced is not None:
            shorten(replaced, below, keep_first=False)
            return replaced
        shorten(error, whole, keep_first=True)
        _explain(error)
        return None
    kept: Any = _of_tenferro(error, name, whole)
    if kept is None:
        return None
    _add_line(kept)
    if not _passes(below, _EVALUATION):
        _name(kept, name, operator)
    is_new = kept is not error  # it is raised here, which adds the frame of the boundary
    if isinstance(kept, InternalError):
        kept.__traceback__ = below if is_new else whole  # a report needs all frames
    else:
        shorten(kept, below if is_new else whole, keep_first=not is_new)
    return kept if is_new else None


def _of_tenferro(error: Exception, name: str, whole: TracebackType | None) -> Any:
    """Return the TenferroError to raise for an error; None if its kind is passed on."""
    if isinstance(error, TenferroError):
        return error
    below = whole.tb_next if whole is not None else None
    found: Exception | None
    if whole is not None and _faults().is_a_bug(error, below, whole.tb_frame):
        found = _bug(error, name, below)
    else:
        found = _typed(error, name, call=below is None)
    if found is not None:
        _copy_notes(error, found)
    return found


def bounded(name: str) -> Callable[[_F], _F]:
    """Put the boundary around a method, or around a function that a transform returns."""

    def wrap(function: _F) -> _F:
        inner = getattr(function, "__wrapped__", function)
        made: Any = update_wrapper(_any_shape(name, function), function)
        made.__wrapped__ = inner  # of a derivative: the function that it is the derivative of
        return made  # type: ignore[no-any-return]

    return wrap


def public(name: str, function: _F, namespace: str = "tenferro") -> _F:
    """Return the public form of a function: the same, with the boundary around it."""
    if not isinstance(function, FunctionType) or hasattr(function, "__boundary__"):
        return function
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    shape = _SHAPES.get(names, _any_shape) if _is_plain(function) else _any_shape
    made: Any = update_wrapper(shape(name, function), function)
    made.__module__, made.__name__, made.__qualname__ = namespace, name, name
    made.__boundary__ = name
    return made  # type: ignore[no-any-return]


def publish(namespace: MutableMapping[str, Any], names: Iterable[str]) -> None:
    """Put the boundary around the functions of a public module."""
    module = namespace["__name__"]
    for name in names:
        namespace[name] = public(name, namespace[name], module)


def _is_plain(function: FunctionType) -> bool:
    """Return True if all parameters are positional or keyword and none has a default."""
    code = function.__code__
    return not (code.co_flags & 0x0C or code.co_kwonlyargcount or function.__defaults__) and not (
        code.co_posonlyargcount
    )


def _any_shape(name: str, function: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if (error := refusal(error, name)) is not None:
                raise error from None
            raise

    return call


def _of_x(name: str, function: Any) -> Callable[..., Any]:
    def call(x: Any) -> Any:
        try:
            return function(x)
        except Exception as error:
            if (error := refusal(error, name)) is not None:
                raise error from None
            raise

    return call


def _of_x_y(name: str, function: Any) -> Callable[..., Any]:
    def call(x: Any, y: Any) -> Any:
        try:
            return function(x, y)
        except Exception as error:
            if (error := refusal(error, name)) is not None:
                raise error from None
            raise

    return call


# Calls with keywords cost twice a plain call, and elementwise functions are called most often.
_SHAPES: dict[tuple[str, ...], Any] = {("x",): _of_x, ("x", "y"): _of_x_y}


# ---- where an error comes from -------------------------------------------------------------------


def _passes_users_code(traceback: TracebackType | None) -> bool:
    while traceback is not None:
        if not _is_ours(traceback.tb_frame):
            return True
        traceback = traceback.tb_next
    return False


def _is_ours(frame: FrameType) -> bool:
    """Return True if a frame belongs to tenferro, a library that it calls, or Python itself."""
    package = (frame.f_globals.get("__name__") or "").partition(".")[0]
    return package in _LIBRARIES or package in _BACKENDS or package in sys.stdlib_module_names


def _passes(traceback: TracebackType | None, module: str) -> bool:
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__name__") == module:
            return True
        traceback = traceback.tb_next
    return False


# ---- errors that NumPy raises instead of ours ----------------------------------------------------


def _replaced(error: Exception) -> TenferroError | None:
    """Return our error where code in C raised its own because of it, as NumPy's assignments do.

    What the user raises from an error that was caught passes a frame of the user.
    """
    cause = error.__cause__
    if isinstance(error, TenferroError) or not isinstance(cause, TenferroError):
        return None
    return None if _passes_users_code(full_traceback(cause)) else cause


def _dropped(error: Exception) -> TenferroError | None:
    """Return our error that compiled code dropped before; it loads what few errors need."""
    dropped = import_module("tenferro.primitives._dropped").dropped
    return dropped(error)  # type: ignore[no-any-return]


def _explain(error: Exception) -> None:
    """Note what to write where NumPy or code in C refuses an Array with a text of its own."""
    if not isinstance(error, TypeError):
        return
    for pattern, hint in ((_NOT_A_SHAPE, _SIZE_HINT), (_NOT_OF_NUMPY, _CODE_IN_C_HINT)):
        if re.match(pattern, str(error)) and hint not in getattr(error, "__notes__", ()):
            error.add_note(hint)


def _faults() -> Any:
    """Import what attributes an error; nothing there runs before one is raised."""
    return import_module("tenferro.primitives._faults")


# ---- names and classes ---------------------------------------------------------------------------


def _bug(error: Exception, name: str, traceback: TracebackType | None) -> InternalError:
    """Make the error that reports a bug of ours."""
    said, (package, where) = f"{type(error).__name__}: {error}", _faults().place(traceback)
    return InternalError(
        f"{name}: an error inside {package} that none of the arguments explains\n"
        f"  got        {said}\n"
        f"  at         {where}\n"
        f"  hint       this is a bug in {package}: please report it with the call and the\n"
        "             whole traceback",
        function=name,
        error=said,
        place=where,
    )


def _typed(error: Exception, name: str | None, call: bool = False) -> Any:
    """Return the error of tenferro that stands for a plain one; None for other kinds.

    ``call``: the arguments did not fit the parameters, and the error is Python's.
    """
    kind = _kind_of(error)
    if kind is None:
        return None
    text = str(error)
    if isinstance(error, KeyError):
        text = f"there is no {text}"
    elif isinstance(error, AttributeError):
        text = _readable(text)
    elif (signature := re.match(_SIGNATURE, text)) is not None:
        if call or text.startswith(f"{str(name).rpartition('.')[2]}() "):
            text = f"{name}: {text[signature.end() :]}"
        if call and name in _CALLS and "positional argument" in text:
            text += f"\n  hint       write `{_CALLS[name]}`"
    unexpected = re.search(_UNEXPECTED, text)
    if unexpected is not None:
        text = text[: unexpected.end(1) + 1]
        meant = _KEYWORDS.get(unexpected[1], unexpected[2])
        text += f"\n  hint       did you mean `{meant}`?" if meant else ""
    prefix = re.match(_PREFIX, text)
    return kind(text, function=prefix[1] if prefix is not None else name or "")


def _copy_notes(error: Exception, typed: Exception) -> None:
    for note in getattr(error, "__notes__", ()):
        typed.add_note(note)


def _readable(text: str) -> str:
    missing = re.match(r"'(\w+)' object has no attribute '__index__'", text)
    if missing is not None:
        return f"{missing[1]!r} object cannot be interpreted as an integer"
    return f"an argument has a wrong type: {text}"


def _kind_of(error: Exception) -> Any:
    if isinstance(error, ValueError) and isinstance(error, IndexError):
        return AxisError
    for plain, kind in _KINDS.items():
        if isinstance(error, plain):
            return kind
    return None


_KINDS: dict[type[Exception], type[TenferroError]] = {
    TypeError: ArgumentTypeError,
    ValueError: ArgumentValueError,
    IndexError: ArgumentIndexError,
    OverflowError: ArgumentOverflowError,
    AttributeError: ArgumentTypeError,
    KeyError: ArgumentValueError,
    ZeroDivisionError: ArgumentValueError,
    BufferError: ArgumentBufferError,
}


def _name(error: Any, name: str, operator: bool) -> None:
    """Let the text of an error begin with the public function, in place of one below it."""
    if not error.args or type(error.args[0]) is not str:
        return
    text, last = error.args[0], name.rpartition(".")[2]
    if not isinstance(error, (RefusalError, ArgumentError, InternalError)):
        _add_name(error, text, last if not operator else "")
        return
    below = [getattr(error, field, "") for field in ("operation", "function")]
    for known in below:
        if known and known.rpartition(".")[2] != last:
            text = text.removeprefix(f"{known}: ")
    shown = [f"{said}: " for said in (last, f"np.{last}", *below) if said] + [f"{name} "]
    if (any(below) or not operator) and not text.startswith(tuple(shown)):
        text = f"{name}: {text}"
    error.args = (text, *error.args[1:])
    error.fields["function"] = name
    setattr(error, "function", name)  # noqa: B010  # one more field of a refusal


def _add_name(error: Any, text: str, name: str) -> None:
    """Say the function in a line of its own, where neither the text nor the line shows it."""
    below = str(getattr(error, "function", ""))
    is_shorter = below.endswith(f".{name}")  # `at` of `add.at`
    if name and below and not is_shorter and text.startswith(f"np.{below} "):
        error.args = (f"np.{name}{text[len(below) + 3 :]}", *error.args[1:])
        return
    if name and not any([name in said for said in (text, *getattr(error, "__notes__", ()))]):
        error.add_note(f"  in         {name}")
