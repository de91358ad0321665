"""The boundary of public functions: typed errors, outermost names, users' errors untouched."""

import contextlib
import functools
import gc
import json
import pickle
import weakref

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives._boundary import at_user_line, bounded, public

PLAIN = {
    TypeError: tn.ArgumentTypeError,
    ValueError: tn.ArgumentValueError,
    IndexError: tn.ArgumentIndexError,
    OverflowError: tn.ArgumentOverflowError,
    KeyError: tn.ArgumentValueError,
    AttributeError: tn.ArgumentTypeError,
    ZeroDivisionError: tn.ArgumentValueError,
    BufferError: tn.ArgumentBufferError,
}


def ours(source: str, **names):
    """A function as one of tenferro's own files would define it."""
    names = {"__name__": "tenferro.example", **names}
    exec(source, names)
    return names["f"]


@pytest.mark.parametrize("plain", PLAIN)
def test_a_plain_error_of_ours_is_typed_and_named(plain):
    """f raises E  ⇒  public f raises a TenferroError that names f and the user's line"""
    f = public("zeros", ours("def f(x): raise E('wrong')", E=plain))
    with pytest.raises(PLAIN[plain], match=r"^zeros: ") as found:
        f(1)
    assert isinstance(found.value, tn.TenferroError)
    assert found.value.function == "zeros"
    assert "test_boundary.py" in found.value.__notes__[-1]


@pytest.mark.parametrize("plain", [RuntimeError, StopIteration, MemoryError, FloatingPointError])
def test_an_error_about_no_argument_is_left_as_it_is(plain):
    f = public("zeros", ours("def f(x): raise E('wrong')", E=plain))
    with pytest.raises(plain) as found:
        f(1)
    assert type(found.value) is plain


def test_an_error_of_the_users_code_is_left_as_it_is():
    """The callback's error, its cause and its text come through as they were raised"""

    def callback():
        raise KeyError("mine") from OSError("cause")

    f = public("each", ours("def f(x): return x()"))
    with pytest.raises(KeyError) as found:
        f(callback)
    assert type(found.value) is KeyError
    assert type(found.value.__cause__) is OSError
    assert not hasattr(found.value, "__notes__")


def test_an_error_inside_of_the_users_code_keeps_the_inner_name():
    """outer(lambda: inner(bad)) reports inner: the user called it"""
    inner = public("inner", ours("def f(x): raise ValueError('wrong')"))
    outer = public("outer", ours("def f(x): return x()"))
    with pytest.raises(tn.ArgumentValueError, match=r"^inner: wrong") as found:
        outer(lambda: inner(1))
    assert found.value.function == "inner"


def test_the_outermost_public_name_is_reported():
    inner = public("inner", ours("def f(x): raise ValueError('inner: wrong')"))
    outer = public("outer", ours("def f(x): return inner(x)", inner=inner))
    with pytest.raises(tn.ArgumentValueError, match=r"^outer: wrong") as found:
        outer(1)
    assert found.value.function == "outer"


def test_a_longer_name_of_the_same_function_stays():
    with pytest.raises(tn.TenferroError, match=r"^random.normal: ") as found:
        tn.random.normal(7, (2,))
    assert found.value.function == "normal"


def test_a_missing_argument_is_said_of_the_public_name():
    f = public("pad", ours("def f(array, *, width=1): return array"))
    with pytest.raises(tn.ArgumentTypeError, match=r"^pad: missing 1 required"):
        f()
    with pytest.raises(tn.ArgumentTypeError, match=r"^logpdf: missing 1 required"):
        tn.stats.gamma.logpdf(1.0)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: np.trapezoid(tn.ones(3), np.ones(4)), "x of 3 places"),
        (lambda: tn.fft.rfft(tn.ones(3) * 1j), "the operand is complex"),
        (lambda: np.fft.fft(tn.array(1.0)), "an array of rank 1 or more"),
        (lambda: tn.linalg.spectral_function(np.eye(2), 3), "spectral_function takes a function"),
    ],
)
def test_what_is_needed_is_said_of_the_arguments(call, said):
    """Not of what was computed from them on the way"""
    with pytest.raises((ValueError, TypeError), match=said):
        call()


def test_an_attribute_that_is_an_error_of_ours_says_what_it_is():
    with pytest.raises(tn.ArgumentTypeError, match="'float' object cannot be interpreted"):
        tn.linspace(0, 1, 2.5)


def test_a_primitive_below_is_not_named():
    """zeros(-1) speaks of zeros; the primitive stays in the field"""
    with pytest.raises(tn.InvalidParameterError, match=r"^zeros: shape out of range") as found:
        tn.zeros(-1)
    assert "constant" not in str(found.value)
    assert (found.value.function, found.value.operation) == ("zeros", "constant")


@pytest.mark.parametrize("names", ["x", "x, y", "x, y=1", "*xs", "x, /, *, k=2"])
def test_a_public_function_is_the_function(names):
    """Signature, documentation and results are those of the function"""
    f = ours(f"def f({names}):\n  '''Doc.'''\n  return 7")
    assert public("f", f).__doc__ == "Doc."
    assert public("f", f)(*[1] * (names.count(",") + 1 if "=" not in names else 1)) == 7


@pytest.mark.parametrize("f", [tn.zeros, tn.sin, tn.linalg.inv, tn.special.psi, tn.grad])
def test_public_functions_can_be_pickled(f):
    assert pickle.loads(pickle.dumps(f)) is f


def test_an_error_at_the_users_line_keeps_its_notes():
    error = ValueError("wrong")
    error.add_note("a note")
    found = at_user_line(error)
    assert isinstance(found, tn.ArgumentValueError)
    assert found.__notes__[0] == "a note"


def test_wrappers_of_the_standard_library_are_not_the_users_line():
    """A cached property of ours: Python calls it from functools.py"""
    source = (
        "class A:\n    @cached_property\n    def y(self): raise at_user_line(ValueError('wrong'))"
    )
    names = {"cached_property": functools.cached_property, "at_user_line": at_user_line}
    with pytest.raises(tn.ArgumentValueError) as found:
        ours(f"{source}\ndef f(): return A().y", **names)()
    assert "test_boundary.py" in found.value.__notes__[0]


def test_a_typed_error_survives_a_pickle():
    with pytest.raises(tn.TenferroError) as found:
        tn.reshape(np.ones(3), (2, 2))
    again = pickle.loads(pickle.dumps(found.value))
    assert (type(again), str(again), again.fields) == (
        type(found.value),
        str(found.value),
        found.value.fields,
    )


def frames(traceback):
    """The names of the functions of a traceback, and whether a file of tenferro has them."""
    found = []
    while traceback is not None:
        frame = traceback.tb_frame
        package = frame.f_globals["__name__"].partition(".")[0]
        found.append((frame.f_code.co_name, package.startswith("tenferro")))
        traceback = traceback.tb_next
    return found


RAISES = "def f(x):\n    def inside(): raise ValueError('wrong')\n    inside()"


def test_the_whole_traceback_leads_to_the_place_that_raised():
    f = bounded("g")(ours(RAISES))
    with pytest.raises(tn.ArgumentValueError) as found:
        f(1)
    assert frames(tn.debug.full_traceback(found.value))[-1] == ("inside", True)
    assert frames(found.value.__traceback__)[-1] == ("call", True)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("raised", ["ours", "users"])
def test_a_traceback_has_the_frames_of_the_user_and_one_of_ours(depth, raised, monkeypatch):
    """user → boundary → user → … : between two frames of the user there is at most one of ours"""
    monkeypatch.delenv("TENFERRO_TRACEBACKS", raising=False)
    outer = public("outer", ours("def f(x):\n    def below(): return x()\n    return below()"))
    failing = public("failing", ours(RAISES))

    def user():
        return failing(1) if raised == "ours" else {}["mine"]

    function = user
    for _ in range(depth):
        function = lambda inner=function: outer(inner)  # noqa: E731
    with pytest.raises(tn.ArgumentValueError if raised == "ours" else KeyError) as found:
        function()
    short, whole = frames(found.value.__traceback__), frames(tn.debug.full_traceback(found.value))
    of_users = [frame for frame in short if not frame[1]]
    assert of_users == [frame for frame in whole if not frame[1]]
    assert sum([is_ours for _, is_ours in short]) == 1
    assert sum([is_ours for _, is_ours in whole]) == 3 * depth + 3 * (raised == "ours")


def test_a_variable_leaves_all_frames(monkeypatch):
    monkeypatch.setenv("TENFERRO_TRACEBACKS", "full")
    f = bounded("g")(ours(RAISES))
    with pytest.raises(tn.ArgumentValueError) as found:
        f(1)
    assert frames(found.value.__traceback__)[-1] == ("inside", True)


def test_frames_of_libraries_that_the_user_calls_stay(monkeypatch):
    monkeypatch.delenv("TENFERRO_TRACEBACKS", raising=False)
    f = public("outer", ours("def f(x): return x()"))
    with pytest.raises(ValueError, match="Expecting") as found:
        f(lambda: json.loads("{"))
    assert ("raw_decode", False) in frames(found.value.__traceback__)


def test_an_error_of_the_users_code_can_be_pickled_with_a_short_traceback():
    f = public("each", ours("def f(x): return x()"))
    with pytest.raises(KeyError) as found:
        f(lambda: {}["mine"])
    again = pickle.loads(pickle.dumps(found.value))
    assert again.args == ("mine",)
    assert tn.debug.full_traceback(again) is None


BUGS = {
    "an attribute of None": "def f(x):\n    y = None\n    return y.shape",
    "a private attribute": "def f(x): return x._missing",
    "a name that does not exist": "def f(x): return missing",
    "an assertion": "def f(x): assert x is None",
    "a key of ours": "def f(x): return {}['ours']",
    "a call with too few arguments": "def f(x):\n    def g(a, b): pass\n    g(x)",
    "operands of ours": "def f(x): return None + 'a'",
    "a list of ours": "def f(x): return [1, 2][5]",
    "an unpacking": "def f(x):\n    a, b = (1,)",
}
ARGUMENTS = {
    "a count": ("def f(x): return range(x)", "3"),
    "an element": ("def f(x): return [range(n) for n in x]", (1, ["a"])),
    "a key of a dict": ("def f(x): return [range(n) for n in x]", {"a": 1}),
    "no sequence": ("def f(x): return len(x)", 3),
    "an operand": ("def f(x): return 1 - x", "a"),
    "a key": ("def f(x): return {}[x]", "linear"),
    "an attribute": ("def f(x): return x.__index__()", 2.5),
    "a check": ("def f(x): raise TypeError('it is no number')", 1),
    "too many to unpack": ("def f(x):\n    a, b = x", (1, 2, 3)),
}


@pytest.mark.parametrize("name", BUGS)
@pytest.mark.parametrize("argument", [1.5, np.ones(2), "text"], ids=["float", "array", "str"])
def test_an_error_that_no_argument_explains_is_reported_as_a_bug(name, argument):
    """The error names the function, what Python said and where, and keeps all frames"""
    f = public("solve", ours(BUGS[name]))
    with pytest.raises(tn.InternalError, match=r"^solve: an error inside tenferro") as found:
        f(argument)
    error = found.value
    assert not isinstance(error, (TypeError, ValueError, LookupError, AttributeError))
    assert error.function == "solve"
    assert error.error.partition(": ")[0] in str(error)
    assert "please report it" in str(error)
    assert error.place.endswith(("in f", "in g"))
    assert frames(error.__traceback__)[-1][0] in ("f", "g")
    assert "test_boundary.py" in error.__notes__[-1]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_error_that_an_argument_explains_is_the_users(name):
    source, argument = ARGUMENTS[name]
    f = public("solve", ours(source, __name__="tenferro.arrays.functions.example"))
    with pytest.raises((tn.ArgumentError, tn.RefusalError)) as found:
        f(argument)
    assert found.value.function == "solve"


class Callback:
    def __call__(self):
        """Take no argument."""


TAKES_NOTHING = {
    "lambda": lambda: 0.0,
    "partial": functools.partial(lambda a, b, c, d: a, 1.0),
    "object": Callback(),
    "builtin": globals,
}
CALLS = {
    "scan": lambda f: tn.scan(f, 0.0, np.ones(2)),
    "fori_loop": lambda f: tn.fori_loop(0, 2, f, 0.0),
    "while_loop": lambda f: tn.while_loop(lambda c: c < 1, f, 0.0),
    "cond": lambda f: tn.cond(True, f, f, 0.0),
    "map": lambda f: tn.map(f, np.ones(2)),
    "associative_scan": lambda f: tn.associative_scan(f, np.ones(2)),
    "custom_root": lambda f: tn.custom_root(lambda x: x, 1.0, f, lambda g, y: y),
    "custom_linear_solve": lambda f: tn.custom_linear_solve(f, np.ones(2), lambda m, b: b),
    "grad": lambda f: tn.grad(lambda a: tn.custom_root(lambda x: x - a, 1.0, lambda g, x: x, f))(
        1.0
    ),
}


@pytest.mark.parametrize("given", TAKES_NOTHING)
@pytest.mark.parametrize("name", CALLS)
def test_a_function_that_does_not_take_what_it_is_called_with_is_the_users(name, given):
    """Callbacks of control flow and of solvers: a TypeError of the caller, not a bug of ours"""
    with pytest.raises(tn.ArgumentTypeError, match=f"^{name}: .*argument") as found:
        CALLS[name](TAKES_NOTHING[given])
    assert "test_boundary.py" in found.value.__notes__[-1]


def test_a_bug_below_a_public_function_is_told_of_the_outermost():
    inner = public("inner", ours("def f(x): return x._missing"))
    outer = public("outer", ours("def f(x): return inner(x)", inner=inner))
    with pytest.raises(tn.InternalError, match=r"^outer: an error inside") as found:
        outer(1)
    assert found.value.function == "outer"
    assert frames(found.value.__traceback__)[-1][0] == "f"


@pytest.mark.parametrize("plain", [ValueError, RuntimeError])
def test_a_handled_error_keeps_no_argument_alive(plain):
    """No cycle of error, traceback and frame: memory is free without the collector"""

    class Large:
        pass

    f = public("zeros", ours("def f(x): raise E('wrong')", E=plain))
    argument = Large()
    alive = weakref.ref(argument)
    gc.disable()
    try:
        with contextlib.suppress(plain):
            f(argument)
        del argument
        assert alive() is None
    finally:
        gc.enable()


ROW = [1.0, 2.0]


@pytest.mark.parametrize(
    "call, hint",
    [
        (lambda: tn.grad(np.sum, argnum=1), "did you mean `argnums`?"),
        (lambda: tn.vmap(np.sum, in_axis=1), "did you mean `in_axes`?"),
        (lambda: tn.hvp(np.sum, ROW, ROW), "write `hvp(f)(x, v)`"),
        (lambda: tn.hvp(np.sum)(ROW), "write `hvp(f)(x, v)`"),
        (lambda: tn.jit(np.sum, ROW), "write `jit(f)(x)`"),
        (lambda: tn.checkpoint(np.sum, ROW), "write `checkpoint(f)(x)`"),
        (lambda: tn.jvp(np.sum)(ROW, ROW), "write `jvp(f, (x,), (v,))`"),
    ],
)
def test_a_call_in_the_way_of_another_library_is_told_ours(call, hint):
    with pytest.raises(tn.ArgumentTypeError) as found:
        call()
    assert str(found.value).endswith(f"\n  hint       {hint}")
