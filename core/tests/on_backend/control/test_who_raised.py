"""Errors of a function that runs another one inside: they name what the user called."""

import numpy as np
import pytest

import tenferro as tn

X = np.ones(3)
forever = lambda c: True  # noqa: E731
WRONG = {
    "map without arrays": (lambda **k: tn.map(np.sin, (), **k), "xs"),
    "map of a number": (lambda **k: tn.map(np.sin, 1.0, **k), "xs"),
    "map of rows that differ": (lambda **k: tn.map(lambda x: x[0], (X, X[:2]), **k), ""),
    "map to text": (lambda **k: tn.map(lambda x: "a", X, **k), ""),
    "fori_loop from text": (lambda **k: tn.fori_loop(0, 3, lambda i, c: c, "a", **k), "init"),
    "fori_loop to text": (lambda **k: tn.fori_loop(0, 3, lambda i, c: "a", 0.0, **k), ""),
    "fori_loop to a pair": (lambda **k: tn.fori_loop(0, 3, lambda i, c: (c, c), 0.0, **k), ""),
    "fori_loop to a vector": (
        lambda **k: tn.fori_loop(0, 3, lambda i, c: c + X, 0.0, **k), "carry"
    ),
    "fori_loop to a leaf": (
        lambda **k: tn.fori_loop(0, 3, lambda i, c: {"k": c["k"] + X}, {"k": 0.0}, **k),
        "carry['k']",
    ),
    "fori_loop of Arrays": (
        lambda **k: tn.fori_loop(tn.asarray(0), 3, lambda i, c: c + X, 0.0, **k), "carry"
    ),
    "fori_loop of Arrays, pair": (
        lambda **k: tn.fori_loop(tn.asarray(0), 3, lambda i, c: (c, c), 0.0, **k), ""
    ),
    "while_loop to a vector": (
        lambda **k: tn.while_loop(forever, lambda c: c + X, 0.0, **k), "carry"
    ),
    "while_loop to a pair": (lambda **k: tn.while_loop(forever, lambda c: (c, c), 0.0, **k), ""),
    "while_loop with a bound": (
        lambda **k: tn.while_loop(forever, lambda c: c + X, 0.0, max_steps=3, **k), "carry"
    ),
    "while_loop with a bound, pair": (
        lambda **k: tn.while_loop(forever, lambda c: (c, c), 0.0, max_steps=3, **k), ""
    ),
    "while_loop with a bound, condition": (
        lambda **k: tn.while_loop(lambda c: X, lambda c: c, 0.0, max_steps=3, **k), ""
    ),
}  # fmt: skip


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("case", WRONG)
def test_an_error_names_the_function_that_was_called(case, progress):
    """And the argument as the user knows it, also where the loop shows its progress"""
    wrong, leaf = WRONG[case]
    with pytest.raises(tn.BodyError) as caught:
        wrong(progress=progress)
    assert str(caught.value).startswith((f"{case.partition(' ')[0]}: ", "init is", "xs is"))
    assert caught.value.leaf == leaf
    assert not {"scan", "cond", "init["} & set(str(caught.value).replace(":", " ").split())


@pytest.mark.parametrize("name", ["map", "fori_loop", "while_loop"])
def test_an_array_that_left_a_body_names_the_function_that_was_called(name):
    kept = []

    def keeps(*values):
        kept.append(values[-1] * 2.0)
        return kept[-1]

    {
        "map": lambda: tn.map(keeps, X),
        "fori_loop": lambda: tn.fori_loop(0, 2, keeps, 1.0),
        "while_loop": lambda: tn.while_loop(lambda c: c < 3, keeps, 1.0, max_steps=5),
    }[name]()
    with pytest.raises(tn.LeakedArrayError, match=f"traced by `{name}`"):
        kept[-1] + 1.0
