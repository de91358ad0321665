"""Factorizations that run when a program looks at their results: how many, and of what."""

import weakref

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays.evaluation import evaluate as module
from tenferro.transforms.recording import run_or_record

A = np.random.default_rng(0).normal(size=(5, 5))
S = A @ A.T + np.eye(5)
FACTORIZATIONS = ("svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals", "qr", "cholesky", "lu")


@pytest.fixture
def ran(monkeypatch):
    """Return the factorizations of all programs that run, in order."""
    found = []
    run = module._run

    def counted(graph, operands):
        for node in graph.nodes:
            name = node.operation.key.partition("::")[2]
            if name in FACTORIZATIONS:
                found.append(name)
        return run(graph, operands)

    monkeypatch.setattr(module, "_run", counted)
    compiled = run_or_record.compiled

    def counted_program(graph, *args):
        program = compiled(graph, *args)
        names = [node.operation.key.partition("::")[2] for node in graph.nodes]

        def run(*operands):
            found.extend([name for name in names if name in FACTORIZATIONS])
            return program(*operands)

        return run

    monkeypatch.setattr(run_or_record, "compiled", counted_program)
    run_or_record.TRANSFORMS.clear()
    yield found
    run_or_record.TRANSFORMS.clear()


def truncated(a):
    u, s, vh = np.linalg.svd(a)
    k = 3 if s[0] > 1e-3 else 2
    left = u[:, :k] * s[:k]
    size = np.sum(left**4)
    scale = 2.0 if size > 1e-9 else 1.0  # a second look, at vectors
    return scale * np.sum((left @ vh[:k]) ** 3)


def lowest(a):
    w, v = np.linalg.eigh(a)
    k = 2 if w[0] > 1e-9 else 3
    return np.sum(v[:, :k] ** 4) + np.sum(w[:k])


def by_values(a):
    _u, s, _vh = np.linalg.svd(a)
    k = 3 if s[0] > 1e-3 else 2
    return np.sum(s[:k] ** 2)


PROGRAMS = {
    "svd, values alone": (by_values, A, ["svd"]),
    "svd": (truncated, A, ["svd"]),
    "eigh": (lowest, S, ["eigh"]),
}


@pytest.mark.parametrize("transform", [tn.grad, tn.value_and_grad])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_gradient_that_looks_at_values_factorizes_once(name, transform, ran):
    """Looks at values and at vectors, and the sweep, share one factorization"""
    f, x, need = PROGRAMS[name]
    transform(f)(x)
    assert ran == need


@pytest.mark.parametrize("order", [1, 2])
def test_the_gradient_is_that_without_looks(order):
    f = lambda a: 2.0 * np.sum((truncated_without_looks(a)) ** 3)  # noqa: E731
    got, need = (tn.grad(f) if order == 1 else tn.hessian(f) for f in (truncated, f))
    np.testing.assert_allclose(got(A), need(A), rtol=1e-7, atol=1e-9)


def truncated_without_looks(a):
    u, s, vh = np.linalg.svd(a)
    return (u[:, :3] * s[:3]) @ vh[:3]


def test_values_that_are_looked_at_without_a_derivative_need_no_vectors(ran):
    """What u and vh cost is paid when one of them is asked for, and once for both"""
    u, s, vh = np.linalg.svd(tn.asarray(A))
    assert s[0] > 0
    one = float(u[0, 0])
    two = float(vh[0, 0])
    assert ran == ["svd", "svd"]
    assert abs(one) <= 1 + 1e-9 >= abs(two)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_gradient_looked_at_is_freed_with_it(name):
    """No cycle holds the factors: counting references frees them"""
    f, x, _ = PROGRAMS[name]
    kept = []

    def noted(a):
        found = f(a)
        kept.extend([weakref.ref(key) for trace in found.key.traces for key in trace.evaluated])
        return found

    tn.grad(noted)(x)
    assert kept
    assert [reference() for reference in kept] == [None] * len(kept)


def test_another_look_is_another_program():
    """Programs that read different results of factorizations are told apart"""

    def f(a, threshold, looks):
        u, s, vh = np.linalg.svd(a)
        if looks and s[0] > threshold:
            pass
        return np.sum((u[:, :2] * s[:2]) @ vh[:2])

    for looks in (False, True, False, True):
        for a in (A, A + 1.0):
            found = tn.grad(lambda a: f(a, 0.5, looks))(a)  # noqa: B023
            np.testing.assert_allclose(found, tn.grad(lambda a: f(a, 0, False))(a), atol=1e-12)


def test_a_look_in_an_inner_derivative_serves_the_outer_one():
    """d/dt of a gradient that looked, against differences"""
    outer = lambda t: np.sum(tn.grad(lambda a: truncated(a * t))(A) ** 2)  # noqa: E731
    numeric = (outer(1.0 + 1e-6) - outer(1.0 - 1e-6)) / 2e-6
    np.testing.assert_allclose(tn.grad(outer)(1.0), numeric, rtol=1e-5)
