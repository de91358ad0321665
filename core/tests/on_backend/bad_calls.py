"""Bad calls of the public surface and how each is answered.

The calls that a person wrote are in `errors/bad_calls.txt` with the others, which are generated:
every public name with something that is no operand, with an axis that does not exist or is none,
and with what names no dtype. Each row of that file is one call, the class of its error, and the
base among Python's errors. `python core/tests/on_backend/bad_calls.py` writes the file anew.
"""

import builtins
import contextlib
import inspect
import io
import linecache
import re
import warnings
from contextvars import copy_context
from pathlib import Path

import numpy as np

import tenferro as tn

TABLE = Path(__file__).parent / "errors/bad_calls.txt"
FILE = "program_of_a_user.py"
QUOTED = "    return ...\n"
NAMESPACES = {
    "tn": tn,
    **{f"tn.{n}": getattr(tn, n) for n in ("linalg", "fft", "special", "random")},
}
NO_ARRAYS = {  # functions of values that are no arrays, or of whatever there is
    *("host", "use", "prefer", "set_default", "debug", "debug_nans", "numpy_functions", "explain"),
    *("graph_of", "check_grads", "custom_jvp", "custom_vjp", "custom_linear", "finfo", "iinfo"),
    *("can_cast", "result_type", "promote_types", "isdtype", "evaluate", "stop_gradient"),
    *("barrier", "name", "checkpoint", "mesh"),
    *("export", "load_exported"),  # the backends that are installed decide
    *("shape", "ndim", "size", "isrealobj", "iscomplexobj", "may_share_memory", "shares_memory"),
    *(
        "array_repr",
        "array_str",
        "array2string",
        "apply_along_axis",
        "apply_over_axes",
        "piecewise",
    ),
    *("fromfunction", "mask_indices", "grad", "value_and_grad", "jvp", "vjp", "linearize", "hvp"),
    *("hessian", "jacobian", "jacfwd", "jacrev", "vmap", "jit", "trace", "eval_shape"),
    *("scan", "while_loop", "fori_loop", "cond", "switch", "map", "associative_scan"),
    *("einsum", "einsum_path", "array_equal", "array_equiv", "__array_namespace_info__"),
}
OPERANDS = ("S", "v", "i", "[v, v]", "2", "(2, 2)", "0.5")
OPTIONS = {
    "axis": ("99", "'a'", "1.5"),
    "dtype": ("'q9'", "object", "3.5"),
    "axes": ("99", "'ab'"),
    "out": ("'x'", "np.ones(3)"),
    "shape": ("-1", "'a'", "2.5"),
}


def functions():
    """(name as it is written, function) of every public function."""
    for prefix, namespace in NAMESPACES.items():
        for name in sorted(namespace.__all__):
            function = getattr(namespace, name)
            if name not in NO_ARRAYS and inspect.isfunction(function):
                yield f"{prefix}.{name}", function


def operands_of(function):
    """The names of the parameters that must be given by position."""
    return [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def generated():
    """Bad calls of every public function: no operand, no axis, no dtype, no such option."""
    for name, function in functions():
        count = len(operands_of(function))
        for bad in ("object()", "'a'", "{'a': 1}") if count else ():
            yield f"{name}({', '.join([bad] * count)})"
        good = next((x for x in OPERANDS if answer(f"{name}({', '.join([x] * count)})") is None), 0)
        for option in OPTIONS.keys() & inspect.signature(function).parameters if good else ():
            if option not in operands_of(function) and (name, option) != ("tn.reshape", "shape"):
                for bad in OPTIONS[option]:
                    yield f"{name}({', '.join([good] * count)}, {option}={bad})"


def name_of(call):
    """The function that the user called; empty for operators, indices, and calls in a callback."""
    found = re.match(r"(?:np|tn|[a-zA-Z]\d?)(?:\.\w+)*\.([a-z]\w*)\(", call)
    return "" if found is None or "lambda" in call or "int8" in call else found[1]


def names():
    """What the calls may use; new for each, since some of them write."""
    square = lambda x: np.sum(x * x)  # noqa: E731

    def with_vjp(forward, backward):
        made = tn.custom_vjp(lambda x: x)
        made.defvjp(forward, backward)
        return made

    def with_jvp(rule):
        made = tn.custom_jvp(lambda x: x)
        made.defjvp(rule)
        return made

    return {
        **bodies(),
        "np": np, "tn": tn, "f": square, "g": tn.grad(square), "cvj": with_vjp, "cjv": with_jvp,
        "nan": float("nan"), "inf": float("inf"), "rag": [[1, 2], [3]],
        "obj": np.array([1, "a", None], dtype=object),
        "x3": np.ones(3), "X": np.ones((3, 4)), "S": tn.asarray(np.eye(3)),
        "a3": tn.asarray(np.ones(3)), "A": tn.asarray(np.ones((3, 4))),
        "z3": tn.asarray(np.ones(3) + 0j), "i3": tn.asarray(np.arange(3)),
        "b3": tn.asarray(np.array([True, False, True])),
        "v": tn.asarray(np.ones(3)), "i": tn.asarray(np.arange(3)),
    }  # fmt: skip


def bodies():
    """Functions for loops and branches, most of which do not fit."""
    x3 = np.ones(3)
    return {
        "pair": lambda c, x: (c, x), "alone": lambda c, x: c, "three": lambda c, x: (c, x, x),
        "nesting": lambda c, x: ((c, c), x), "wider": lambda c, x: (np.stack([c, c]), x),
        "turning": lambda c, x: (c * 1j, x), "letter": lambda c, x: (c, "a"),
        "printing": lambda c, x: (tn.debug.print("{c}", c=c), x),
        "small": lambda x: x < 3, "next_one": lambda x: x + 1, "both": lambda x: (x, x),
        "kept": lambda i, c: c, "doubled": lambda i, c: (c, c),
        "one": lambda: 1.0, "zero": lambda: 0.0, "vector": lambda: x3,
        "two_numbers": lambda: (1.0, 2.0), "letter_a": lambda: "a", "letter_b": lambda: "b",
        "same": lambda x: x, "part": lambda x: x[:2],
        "first_of": lambda x, y: x, "first_part": lambda x, y: x[:1],
    }  # fmt: skip


def answer(call):
    """The error that a call is answered with; None if there is none."""
    source = f"def run():\n    return {call}\n"
    quoted = ["def run():\n", QUOTED]  # not the call: the text itself has to name the function
    linecache.cache[FILE] = (len(source), None, quoted, FILE)
    scope = names()
    exec(compile(source, FILE, "exec"), scope)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            copy_context().run(scope["run"])
        except Exception as error:
            return error
    return None


def text_of(error):
    """What a traceback shows below the line that failed."""
    return "\n".join((str(error), *getattr(error, "__notes__", ())))


def base_of(error):
    """The error of Python that it may be caught as."""
    known = [cls for cls in type(error).__mro__ if cls in vars(builtins).values()]
    return known[0].__name__


def row(call):
    """The call, the class of its error and its base, as the file has them."""
    error = answer(call)
    found = ("accepted", "-") if error is None else (type(error).__name__, base_of(error))
    return "\t".join((call, *found))


def table():
    """The rows of the file."""
    return [tuple(line.split("\t")) for line in TABLE.read_text("utf-8").splitlines()]


def main():
    """Write the answers anew: of the calls in the file, and of those that are generated."""
    written = [call for call, *_ in table()] if TABLE.exists() else []
    calls = dict.fromkeys([*written, *sorted(generated())])
    TABLE.write_text("\n".join([row(call) for call in calls]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
