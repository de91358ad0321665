"""The boundary of public functions: typed errors, outermost names, users' errors untouched."""

import contextlib
import gc
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
    names |= {"__name__": "tenferro.example"}
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


def test_a_typed_error_survives_a_pickle():
    with pytest.raises(tn.TenferroError) as found:
        tn.reshape(np.ones(3), (2, 2))
    again = pickle.loads(pickle.dumps(found.value))
    assert (type(again), str(again), again.fields) == (
        type(found.value),
        str(found.value),
        found.value.fields,
    )


def test_the_traceback_leads_to_the_place_that_raised():
    f = bounded("g")(ours("def f(x):\n    def inside(): raise ValueError('wrong')\n    inside()"))
    with pytest.raises(tn.ArgumentValueError) as found:
        f(1)
    assert found.traceback[-1].name == "inside"


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
