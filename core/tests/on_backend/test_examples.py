"""Examples in docstrings of public functions: what they print is what a user of the name sees."""

import doctest
import inspect

import pytest

import tenferro as tn

MODULES = [
    tn,
    tn.linalg,
    tn.fft,
    tn.special,
    tn.signal,
    tn.integrate,
    tn.interpolate,
    tn.ndimage,
    tn.spatial.distance,
    tn.random,
    *map(tn.stats.__dict__.get, tn.stats.__all__),
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def names_of(function):
    """The names that an example may use: those of its module, as users have them."""
    names = dict(vars(inspect.getmodule(inspect.unwrap(function))))
    for module in reversed(MODULES):
        public = {name for name in module.__all__ if name in names}
        names |= {name: getattr(module, name) for name in public}
    return names


def examples():
    """(name, function) of every public function with an example."""
    for module in MODULES:
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and ">>> " in (function.__doc__ or ""):
                yield f"{module.__name__}.{name}", function


FUNCTIONS = dict(examples())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_prints_what_a_user_of_the_public_name_sees(name):
    function = FUNCTIONS[name]
    test = doctest.DocTestParser().get_doctest(
        function.__doc__, names_of(function), name, None, None
    )
    said = []
    failures, _ = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=said.append)
    assert not failures, "".join(said)
