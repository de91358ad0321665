"""`progress=True`: loops on known values show how far they are, and compute the same."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.control import progress as module

X = np.linspace(-1.0, 1.0, 257)


def scanned(x, progress=False, **more):
    step = lambda c, r: (np.sin(c) + r, (c * r, c))  # noqa: E731
    return tn.scan(step, 0.3, x, progress=progress, **more)


def halved(x, progress=False, **more):
    return tn.while_loop(lambda c: c > 1e-300, lambda c: c * 0.7, x[-1], progress=progress, **more)


LOOPS = {
    "scan": (scanned, "scan: 257 of 257 steps"),
    "reverse": (lambda x, progress: scanned(x, progress, reverse=True), "scan: 257 of 257 steps"),
    "unroll": (lambda x, progress: scanned(x, progress, unroll=2), "scan: 257 of 257 steps"),
    "short": (lambda x, progress: scanned(x[:3], progress), "scan: 3 of 3 steps"),
    "while_loop": (halved, "while_loop: 1937 steps"),
    "max_steps": (
        lambda x, progress: halved(x, progress, max_steps=2000), "while_loop: 2000 of 2000 steps"
    ),
    "fori_loop": (
        lambda x, progress: tn.fori_loop(0, 9, lambda i, c: c + i * x, x, progress=progress),
        "fori_loop: 9 of 9 steps",
    ),
    "fori_loop of arrays": (
        lambda x, progress: tn.fori_loop(
            0, tn.asarray(9), lambda i, c: c + i * x, x, progress=progress
        ),
        "fori_loop: 9 steps",
    ),
    "map": (lambda x, progress: tn.map(np.sin, x, progress=progress), "map: 257 of 257 steps"),
    "map of batches": (
        lambda x, progress: tn.map(np.sin, x, batch_size=16, progress=progress),
        "map: 16 of 16 steps",
    ),
}  # fmt: skip


def leaves(tree):
    return [x for part in tree for x in leaves(part)] if isinstance(tree, tuple) else [tree]


@pytest.mark.parametrize("name", LOOPS)
def test_values_keep_every_bit_and_the_line_counts_all_steps(name, monkeypatch, capsys):
    """loop(progress=True) = loop(), and standard error gets one line where rich is missing"""
    monkeypatch.setattr(module, "rich_progress", lambda: None)
    loop, line = LOOPS[name]
    got, need = leaves(loop(X, True)), leaves(loop(X, False))
    assert [type(x) for x in got] == [type(x) for x in need]
    for x, y in zip(got, need, strict=True):
        np.testing.assert_array_equal(x, y)
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", line + "\n")


def test_rich_shows_a_bar(capsys):
    pytest.importorskip("rich")
    scanned(X, True)
    assert "257/257" in capsys.readouterr().err


def test_arrays_stay_arrays(monkeypatch):
    monkeypatch.setattr(module, "rich_progress", lambda: None)
    last, _ = scanned(tn.asarray(X), True)
    assert isinstance(last, tn.Array)
    assert isinstance(halved(tn.asarray(X), True), tn.Array)


@pytest.mark.parametrize("transform", [tn.jit, tn.grad, tn.vmap])
@pytest.mark.parametrize("loop", [scanned, halved])
def test_inside_a_transform_it_is_refused(transform, loop):
    x = np.stack([X, X]) if transform is tn.vmap else X
    with pytest.raises(tn.BodyError, match="progress=True shows a loop while it runs"):
        transform(lambda x: np.sum(leaves(loop(x, True))[0]))(x)


def test_a_closure_that_is_followed_is_refused():
    for transform in (tn.jit, tn.grad):
        with pytest.raises(tn.BodyError, match="progress=True"):
            transform(lambda w: tn.scan(lambda c, r: (c * w + r, None), 0.0, X, progress=True)[0])(
                0.5
            )


def test_an_error_ends_the_line(monkeypatch, capsys):
    monkeypatch.setattr(module, "rich_progress", lambda: None)
    with tn.debug_nans(), pytest.raises(tn.NonFiniteError):
        tn.scan(lambda c, r: (c + np.log(r), None), 0.0, 1.0 - X - 1e-9, progress=True)
    assert capsys.readouterr().err.endswith("of 257 steps\n")


@pytest.mark.parametrize("given", [1, "yes", None])
def test_bad_values_are_refused(given):
    with pytest.raises(TypeError, match="progress is True or False"):
        scanned(X, given)
    with pytest.raises(TypeError, match="progress is True or False"):
        halved(X, given)
