"""Rows that say how a function of NumPy is called, and the comparison of both results.

A row is a call: ``row("clip", X(2, 3), -1, max=1)``. ``X`` stands for an operand; it is made in
every dtype of the row, as an Array for us and an ndarray for NumPy. Where NumPy refuses a dtype, so
must we. Tables are lists of rows; ``test_against_numpy.py`` runs them all.
"""

import inspect
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from against_numpy import quietly

import tenferro as tn
from tenferro.arrays.registry import FUNCTIONS

REDUCED = find_spec("tenferro_numpy") is None  # XLA compiles slowly: fewer dtypes
FLOATS = ("float16", "float32", "float64")
REAL = FLOATS[1:]
COMPLEX = ("complex64", "complex128")
INEXACT = FLOATS + COMPLEX
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMERIC = INEXACT + INTEGERS
ORDERED = ("bool", *FLOATS, *INTEGERS)
ALL = ("bool", *NUMERIC)
FEW = {"bool", "int32", "float32", "complex128"}
TOLERANCE = {
    "float16": 4e-3, "float32": 3e-5, "complex64": 3e-5, "float64": 1e-12, "complex128": 1e-12,
}  # fmt: skip


@dataclass(frozen=True)
class X:
    """An operand of a shape, irregular between low and high; ``dtype`` is the row's if not said."""

    shape: tuple
    low: float
    high: float
    seed: int
    dtype: str | None
    values: object

    def __init__(self, *shape, low=-2.0, high=2.0, seed=0, dtype=None, values=None):
        for name, value in dict(
            shape=shape, low=low, high=high, seed=seed, dtype=dtype, values=values
        ).items():
            object.__setattr__(self, name, value)

    def make(self, dtype):
        """The operand as an ndarray."""
        name = self.dtype or dtype
        if self.values is not None:
            return np.array(self.values).astype(name)
        count = np.arange(np.prod(self.shape, dtype=int)).reshape(self.shape)
        wave = 0.5 + 0.5 * np.sin(2.4 * count + 1.3 * self.seed + 0.4)
        real = np.asarray(self.low + (self.high - self.low) * wave)
        if name in COMPLEX:
            return np.asarray(real + 1j * np.cos(1.7 * count + self.seed), name)
        if name == "bool":
            return np.asarray(wave > 0.5)
        if name in INTEGERS:
            real = np.round(real * 3)
            real = np.abs(real) if name in UNSIGNED else real
        return np.asarray(real).astype(name)


@dataclass(frozen=True)
class Row:
    """One call of a function, in several dtypes."""

    name: str
    args: tuple
    keywords: dict
    dtypes: tuple = ALL
    grad: bool | str = False  # "real": derivatives for real arguments only
    by: str = "np"  # "tn": NumPy does not dispatch this function, so ours is called by our name
    after: object = None  # applied to both results first, e.g. to take what may be compared

    @property
    def numpy_function(self):
        return find(np, self.name)

    @property
    def our_function(self):
        return find(np if self.by == "np" else tn, self.name)

    def theirs(self, dtype):
        """What NumPy computes."""
        args, keywords = fill((self.args, self.keywords), lambda x: x.make(dtype))
        keywords.pop("like", None)
        return quietly(self.then(self.numpy_function), *args, **keywords)

    def ours(self, dtype):
        """The same call on Arrays."""
        args, keywords = fill((self.args, self.keywords), lambda x: tn.asarray(x.make(dtype)))
        return self.then(self.our_function)(*args, **keywords)

    def then(self, function):
        """The function, its result given to ``after``; one that returns nothing has written."""

        def call(*args, **keywords):
            result = function(*args, **keywords)
            result = args[0] if result is None else result
            return result if self.after is None else self.after(result)

        return call

    def exercised(self):
        """The parameters of NumPy's function that the call gives, as far as they are known.

        Older versions of NumPy state no parameters of functions in C, and take fewer by position.
        """
        try:
            signature = inspect.signature(self.numpy_function)
            return set(signature.bind(*self.args, **self.keywords).arguments)
        except (TypeError, ValueError):
            return set(self.keywords)

    def __str__(self):
        call = [*map(str, self.args), *(f"{k}={v}" for k, v in self.keywords.items())]
        return f"{self.name}({', '.join(call)})"


def row(name, *args, dtypes=ALL, grad=False, by="np", after=None, **keywords):
    """A row of a table; what is not named here goes to the function."""
    return Row(name, args, keywords, tuple(dtypes), grad, by, after)


def rows(names, *args, **keywords):
    """Rows that differ in nothing but the function; names are separated by blanks."""
    return [row(name, *args, **keywords) for name in names.split()]


def since_numpy(version, *rows):
    """Rows of what NumPy has since a version, and tenferro whatever NumPy is there."""
    return list(rows) if np.lib.NumpyVersion(np.__version__) >= f"{version}.0" else []


def find(module, dotted):
    for part in dotted.split("."):
        module = getattr(module, part)
    return module


def fill(tree, make):
    """The arguments with operands in the places of ``X``."""
    if isinstance(tree, X):
        return make(tree)
    if isinstance(tree, (tuple, list)) and not hasattr(tree, "_fields"):
        return type(tree)(fill(item, make) for item in tree)
    if isinstance(tree, dict):
        return {key: fill(item, make) for key, item in tree.items()}
    return tree


def dtypes_of(one):
    """The dtypes in which a row runs here."""
    wanted = [d for d in one.dtypes if d in FEW] if REDUCED else one.dtypes
    return wanted or one.dtypes[:1]


def leaves(result):
    """Arrays and other values of a result, which may be a tuple, a list or a dict of them."""
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


def attempt(call):
    """The result of a call, or the error that it raises."""
    try:
        return call()
    except (TypeError, ValueError, IndexError) as error:
        return error


def agree(cases):
    """In each case (text, ours, theirs), both raise or both give the same."""
    found = []
    for text, ours, theirs in cases:
        want, got = attempt(theirs), attempt(ours)
        refused = isinstance(want, Exception), isinstance(got, Exception)
        assert refused[0] == refused[1], f"{text}: NumPy {want!r}, tenferro {got!r}"
        if not refused[0]:
            found.append((text, got, want))
    tn.evaluate(*[x for _, got, _ in found for x in leaves(got) if isinstance(x, tn.Array)])
    for text, got, want in found:
        same(text, leaves(got), leaves(want))
    return len(found)


def same(text, got, want):
    """Values, dtypes and shapes are those of NumPy."""
    assert len(got) == len(want), f"{text}: {len(got)} results for {len(want)}"
    for ours, theirs in zip(got, want, strict=True):
        if not isinstance(theirs, (np.ndarray, np.generic)):
            assert ours == theirs, f"{text}: {ours!r} for {theirs!r}"
            continue
        assert isinstance(ours, (tn.Array, bool)), f"{text}: {type(ours)}"
        have = np.asarray(ours)
        kinds = (have.dtype, have.shape), (theirs.dtype, theirs.shape)
        assert kinds[0] == kinds[1], f"{text}: {kinds[0]} for {kinds[1]}"
        bound = TOLERANCE.get(theirs.dtype.name, 0)
        np.testing.assert_allclose(have, theirs, rtol=bound, atol=bound, err_msg=text)


# ---- what there is to say of functions -----------------------------------------------------------


def covered_names():
    """The names under which NumPy has what is covered."""
    return {name for name in FUNCTIONS if name[0] != "_" and exists(np, name)}


def exists(module, dotted):
    try:
        return callable(find(module, dotted))
    except AttributeError:
        return False


#: keywords that the oldest NumPy of the metadata lacks
NEWER = {"descending", "sorted"}


def table_of(rows):
    """For each function the primitives that its rows record, and whether it has derivatives.

    The table is the same whichever NumPy made it: keywords that only a newer one has stay out.
    """
    table = {}
    for one in rows:
        if NEWER & set(one.keywords):
            continue
        names, varies = table.get(one.name, ((), False))
        table[one.name] = {*names, *primitives_of(one)}, varies or bool(one.grad)
    return {name: (tuple(sorted(found)), varies) for name, (found, varies) in sorted(table.items())}


def primitives_of(one):
    """Names of the primitives under the results of a row; none if NumPy refuses it."""
    result = attempt(lambda: one.ours("float64" if "float64" in one.dtypes else one.dtypes[0]))
    waiting = [x.key for x in leaves(result) if isinstance(x, tn.Array)]
    seen, names = set(waiting), set()
    while waiting:
        key = waiting.pop()
        if key.operation is not None:
            names.add(key.operation.key.removeprefix("std::"))
            new = [key for key in key.inputs if key not in seen]
            seen.update(new)
            waiting += new
    return names - {"constant"}
