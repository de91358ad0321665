"""Errors about values that are asked for while a function is differentiated or traced.

Each names the operation that asked, by the name that the user wrote, and what to write instead.
``tenferro.stop_gradient`` is named only where it helps: a value under ``jit`` is unknown, constant
or not. Read next: ``diagnosis/asking.py``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module

from tenferro.arrays.diagnosis.asking import Asker, asker, asker_in, callee
from tenferro.arrays.diagnosis.scipy_cures import cure_of_scipy, otherwise
from tenferro.arrays.errors import TracedConversionError, UnsupportedFunctionError
from tenferro.arrays.registry import FUNCTIONS
from tenferro.primitives._aval import Aval
from tenferro.primitives._dropped import note_refusal
from tenferro.primitives._source import caller, source_text

CONVERSION = "conversion to a NumPy array"
_WIDTH = 75
_NAMESPACES = ("fft", "linalg", "special")
_MAKERS = "array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite".split()
_JOINERS = "concatenate stack hstack vstack dstack column_stack block".split()
_FLOATS = "float16 float32 float64 complex64 complex128".split()
_OF_MATH = {"pow": "power", "fabs": "abs", "atan2": "arctan2"}
_OF_MATH_SPECIAL = {"gamma": "gamma", "lgamma": "gammaln", "erf": "erf", "erfc": "erfc"}
_CHAINED = r"[<>]=?[^<>=,;:&|()]+[<>]=?"
_LOOPS = ("range", "islice", "itertools.islice", "itertools.repeat", "repeat")

_DYNAMIC = (
    "`tenferro.jit(f, dynamic=True)`, on NumPy and CuPy and around the whole program, runs what "
    "comes before and goes on with the value"
)
_SIZES = (
    "sizes and counts are part of a program: take them from `x.shape`, or compute with all "
    "elements and select by `np.where(np.arange(n) < k, x, 0)`"
)
_MASK = (
    "the number of elements is part of a program: keep all, `np.where(mask, x, 0)` instead of "
    "`x[mask]`, `x = np.where(mask, 2 * x, x)` instead of `x[mask] *= 2`, "
    "`np.sum(x, where=mask)` instead of `np.sum(x[mask])`"
)
_WHERE = (
    "write `np.where(condition, a, b)` instead of `if`, or `tenferro.cond(condition, f, g, x)`, "
    "which runs f or g alone"
)
_REPEATED = frozenset(("vmap", "map", "scan", "fori_loop", "while_loop"))
"""Transforms that trace a function once for many calls, which a loop of Python makes one by one."""

_INDEX = (
    "to index an array X of NumPy with it, write `tenferro.asarray(X)[i]`; a list becomes an "
    "Array by `np.stack`; to choose, write `np.where(condition, a, b)`"
)
_BUFFER = (
    "an array of NumPy holds numbers only: make it an Array first, as in "
    "`a = tenferro.asarray(a)` or `np.zeros_like(x)`, then `a[i] = x`; or make a new one, "
    "`a = tenferro.asarray(a).at[i].set(x)`"
)
_LISTS = "a list of Arrays becomes one by `np.stack([x, y])` or `tenferro.array([x, y])`"


def _wrapped(text: str) -> str:
    """Break a hint into lines; code in backquotes stays on one line."""
    glued = re.sub("`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)
    lines = import_module("textwrap").wrap(
        glued, _WIDTH, break_long_words=False, break_on_hyphens=False
    )
    return "\n             ".join(lines).replace("\0", " ")


# ---- conversions of what is differentiated or traced ---------------------------------------------


def refused_conversion(
    aval: Aval, asked: str, is_known: bool, transforms: Sequence[str]
) -> TracedConversionError:
    """Return the error for a conversion to numbers inside of these transforms.

    ``is_known`` says that a value exists.
    """
    found = asker()
    cure = _cure(found, asked)
    if is_known:
        state, need = (
            "is being differentiated",
            (
                "an operation that stays in the graph: the result of a conversion\n"
                "             is a plain number, and its derivative would be lost silently\n"
            ),
        )
        cure += "; for a value that is meant as a constant, write `tenferro.stop_gradient(x)`"
    else:
        state, need = (
            "is only traced",
            (
                "an operation that stays in the graph: the value is unknown while a\n"
                f"             function is traced{traced_by(transforms)}\n"
            ),
        )
    error = TracedConversionError(
        f"{_headline(found, asked)} of an array that {state}\n"
        f"  got        {aval}, on which a transform is open\n"
        f"  need       {need}"
        f"  from       {source_text(caller())}\n"
        f"  hint       {_wrapped(cure)}",
        aval=aval,
        asked=asked,
        function=found.function or asked.removesuffix("()"),
    )
    return note_refusal(error)


def _headline(found: Asker, asked: str) -> str:
    if found.operation == "STORE_SUBSCR":
        return "an assignment into an array of NumPy"
    function = found.function or (f"`{found.written}`" if asked == CONVERSION else "")
    if function.startswith("scipy.sparse"):
        return f"`{found.written or 'S @ x'}` of a sparse array: {asked}"
    own = asked.removesuffix("()")
    if function.strip("`") == "" or function == own or function.endswith(f".{own}"):
        return asked
    return f"{function}: {asked}"


def _cure(found: Asker, asked: str) -> str:
    """Suggest what to write instead of an operation that converts."""
    library, _, name = found.function.partition(".")
    if found.operation == "STORE_SUBSCR" or name in ("__setitem__", "fill", "itemset", "put"):
        return _BUFFER
    if found.operation == "BINARY_SUBSCR" and not library:
        return _INDEX
    if library == "ndarray" and asked == f"{name}()":
        return _PLAIN[asked]
    if library in _OF_LIBRARY:
        return _OF_LIBRARY[library](name)
    if found.operation == "BINARY_OP" and asked != CONVERSION:
        return (
            "a value is printed by an f-string where it is known, and under jit by "
            '`tenferro.debug.print("{x}", x=x)`'
        )
    if found.operation == "BINARY_OP":
        return "a list hides its Arrays from NumPy: make it one Array, `np.stack([x, y])`"
    return _PLAIN.get(asked, "use functions of NumPy or tenferro on it")


_SCALAR = "an Array of shape () is used as a number is"
_PLAIN = {
    "float()": f"leave out `float()`: {_SCALAR}; `x.astype(float)` converts",
    "complex()": "write `x.astype(complex)`, or `a + 1j * b` of two real Arrays",
    "round()": "write `np.round(x)`, whose derivative is 0",
    "math.trunc()": "write `np.trunc(x)`, whose derivative is 0",
    "item()": f"leave out `.item()`: {_SCALAR}; of `x.item(i)` write `x.ravel()[i]`",
    "tolist()": "write `list(x)`: its elements stay Arrays",
    "tobytes()": "return the array from the function, and take its bytes there",
    "pickling": "return the array from the function, and pickle it there",
    CONVERSION: f"leave it out: functions of NumPy take Arrays as they are; {_LISTS}",
}


def _cure_of_numpy(name: str) -> str:
    if name in _MAKERS or name == "matrix":
        return f"{_LISTS}; of a single Array leave it out, or write `x.astype(dtype)`"
    if name in _OF_NUMPY:
        return _OF_NUMPY[name]
    part = name.partition(".")[0]
    if part != name and part in _OF_PARTS_OF_NUMPY:
        return _OF_PARTS_OF_NUMPY[part]
    if name in _FLOATS:
        return f"write `x.astype(np.{name})`, which keeps the derivative"
    if name in _JOINERS:
        return f"give Arrays, not lists of them: `np.{name}([np.stack([x, y]), z])`"
    if name not in FUNCTIONS:
        return "call it on arrays that do not depend on what is differentiated or traced"
    alone = f", or Python's `{name}([x, y])`" if name in ("sum", "max", "min") else ""
    return (
        "NumPy does not see Arrays inside a list or in this argument: give one Array, "
        f"`np.stack([x, y])`, or call `tenferro.{name}`{alone}"
    )


_OF_PARTS_OF_NUMPY = {
    "polynomial": (
        "evaluate series by functions such as `np.polynomial.legendre.legval(x, c)`, where x may "
        "be an Array and c holds numbers; for coefficients that are Arrays, stack the values of "
        "the basis and multiply, or write `np.polyval(c[::-1], x)` for powers"
    ),
    "random": (
        "draw with `tenferro.random`, whose parameters may be Arrays, or draw standard numbers "
        "and write `mean + scale * numbers`"
    ),
    "testing": "return the arrays from the function, and compare them there",
}
_OF_NUMPY = {
    **dict.fromkeys(
        ("save", "savez", "savez_compressed", "savetxt"),
        "return the array from the function, and save it there",
    ),
    "r_": "write `np.hstack((x, y))` or `np.concatenate`, which take Arrays",
    "c_": "write `np.column_stack((x, y))`, which takes Arrays",
    "vectorize": "write `tenferro.vectorize(f)(x)`, or `f(x)` if f works elementwise as it is",
    "ndenumerate": "read `x[i]` for each `i` in `np.ndindex(x.shape)`",
    "full": "call `tenferro.full`, which takes an Array, or `np.ones(shape) * x`",
    "arange": "call `tenferro.arange`, or write `start + step * np.arange(n)`",
}


def _cure_of_math(name: str) -> str:
    if name in _OF_MATH_SPECIAL:
        return f"write `scipy.special.{_OF_MATH_SPECIAL[name]}(x)`"
    ours = next((x for x in (f"arc{name[1:]}", _OF_MATH.get(name, name)) if x in FUNCTIONS), None)
    if ours is None:
        return "use functions of NumPy: those of `math` take numbers only"
    return f"write `np.{ours}(x)`: functions of `math` take numbers only"


def _cure_of_method(name: str) -> str:
    instead = f"write `np.{name}(a, x)`" if name in FUNCTIONS else "use a function of NumPy"
    return f"methods of NumPy's arrays convert what they are given: {instead}"


def _cure_of_pandas(_: str) -> str:
    return (
        "tables hold numbers only: take arrays out of them, `table.to_numpy()`, and compute there"
    )


def _cure_outside(_: str) -> str:
    return "return the array from the function, and call it there"


_OF_LIBRARY = {
    "matplotlib": _cure_outside,
    "np": _cure_of_numpy,
    "pandas": _cure_of_pandas,
    "scipy": cure_of_scipy,
    "math": _cure_of_math,
    "cmath": _cure_of_math,
    "ndarray": _cure_of_method,
    "sklearn": _cure_outside,
    "xarray": _cure_outside,
}


# ---- values of a traced function -----------------------------------------------------------------


def cure_where_traced(asked: str, transforms: Sequence[str]) -> str:
    """Return what to write where a function that these transforms trace asks for a value."""
    found, untraced = asker(), _untraced(transforms)
    by_size = [*untraced, _DYNAMIC] if transforms == ["jit"] else untraced
    if asked == "bool()" and found.function.startswith("scipy."):
        return _wrapped(_cure(found, asked))
    if asked == "bool()":
        return _wrapped("; or ".join([_cure_of_decision(found), *untraced]))
    if asked in ("int()", "index()"):
        cure = _cure_of_index(found)
        return _wrapped(cure if cure is _INDEX else "; or ".join([cure, *by_size]))
    if asked in ("format()", "str()", "repr()"):
        return '`tenferro.debug.print("{x}", x=x)` prints the value each time the program runs'
    if asked == "the length of `arange`":
        return _wrapped("; or ".join([_SIZES, *by_size]))
    if asked in _PLAIN:
        return _wrapped(_cure(found, asked))
    return _wrapped("; or ".join([_MASK, *by_size]))


def _untraced(transforms: Sequence[str]) -> list[str]:
    """Say how the function is called with values that are known, if that can be said."""
    if transforms == ["jit"]:
        return ["call the function without jit, or make the argument static (`static_argnums`)"]
    loop = "in a loop of Python, " if _REPEATED.intersection(transforms) else ""
    return [f"call the function {loop}without {_quoted(transforms)}"] if transforms else []


def traced_by(transforms: Sequence[str]) -> str:
    """Return the end of "while a function is traced"."""
    return f" by {_quoted(transforms)}" if transforms else ""


def _quoted(names: Sequence[str]) -> str:
    return " and ".join([f"`{name}`" for name in names])


def _cure_of_decision(found: Asker) -> str:
    statement, name = found.statement, found.function
    if statement.startswith("assert"):
        return (
            "an assertion cannot look at values here: `tenferro.debug.callback` calls a function "
            "with them each time the program runs"
        )
    if statement.startswith("while"):
        return (
            "write `tenferro.while_loop(condition, step, start)` instead of `while`, where both "
            "functions take all that changes in the loop"
        )
    if name in ("max", "min"):
        return f"write `np.{name}imum(a, b)` instead of `{name}(a, b)`"
    if name in ("any", "all", "sorted"):
        return f"write `np.{name.removesuffix('ed')}` instead of `{name}`"
    return _in_place_of(found.operation, statement) + _WHERE


def _in_place_of(operation: str, statement: str) -> str:
    """Say what replaces the operators of Python that ask for one bool."""
    if operation == "UNARY_NOT":
        return "write `np.logical_not(x)` instead of `not x`; "
    if operation == "CONTAINS_OP":
        return "write `np.isin(x, values)` instead of `x in values`; "
    if " and " in statement or " or " in statement:
        return "write `np.logical_and`, `np.logical_or` instead of `and`, `or`; "
    if re.search(_CHAINED, statement):
        return "write `(a < x) & (x < b)` instead of `a < x < b`; "
    return ""


def _is_window(written: str) -> bool:
    """Return True for an index `i:j` with both ends."""
    start, colon, stop = written.rpartition("[")[2].removesuffix("]").partition(":")
    return bool(start.strip() and colon and stop.strip(": "))


def _cure_of_index(found: Asker) -> str:
    name = found.function or callee(found.written)
    if name in _LOOPS:
        return (
            f"`{name}` needs a number that is known: take it from `x.shape`, or loop over a fixed "
            "number and select with `np.where(i < k, new, old)`"
        )
    if found.operation in ("BINARY_SUBSCR", "BINARY_SLICE") and _is_window(found.written):
        return f"write `x[i + np.arange(k)]` for k elements from a traced place on; {_SIZES}"
    if found.operation == "BINARY_SUBSCR" and ":" not in found.written.rpartition("[")[2]:
        return _INDEX
    if name == "int":
        return f"write `x.astype(int)` for a number that stays in the program; {_SIZES}"
    return _SIZES


# ---- SciPy ---------------------------------------------------------------------------------------


def refuse_scipy() -> None:
    """Raise if functions of SciPy asked for a conversion that tenferro has under the same name.

    Functions of ``scipy.fft``, ``scipy.linalg`` and ``scipy.special`` that are no ufuncs know no
    protocol: an Array would become plain numbers in them, silently.

    Raises UnsupportedFunctionError: naming the function to call instead, if there is one.
    """
    found = asker_in("scipy")
    part, _, name = found.partition(".")[2].partition(".")
    if part not in _NAMESPACES:
        return
    names = import_module(f"tenferro.{part}").__all__
    nearest = f"tenferro.{part}.{name}" if name in names else None
    known = otherwise if nearest else cure_of_scipy
    constant = (
        "for a value that is meant as a constant, call it on "
        "`np.asarray(tenferro.stop_gradient(x))`"
    )
    hint = "; ".join(filter(None, [known(f"{part}.{name}"), constant]))
    raise UnsupportedFunctionError(
        f"{found} takes no tenferro arrays: it would make plain numbers of them\n"
        f"  from       {source_text(caller())}\n"
        + (f"  nearest    {nearest}\n" if nearest else "")
        + f"  hint       {_wrapped(hint)}",
        function=found,
        nearest=nearest,
    )
