"""A small sample of the random programs, the same at every run; `tox -e fuzz` runs fresh ones."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import compare
from accepted import ACCEPTED
from programs import program
from sparse import compare_sparse
from vectors import vector_function


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_programs_give_the_values_of_numpy(first):
    """f(x) in tenferro = f(x) in NumPy, eagerly and under jit"""
    for made in map(program, range(first, first + 20)):
        assert not compare.compare_values(made), made.text


@pytest.mark.parametrize("seed", range(6))
def test_gradients_are_those_of_jax(seed):
    """∇f in tenferro = ∇f in JAX, eagerly and under jit"""
    pytest.importorskip("jax")
    made = program(seed, "smooth")
    found = compare.compare_gradient(made)
    if found and found[0].startswith("unsupported"):
        pytest.skip(found[0])
    assert not found, made.text


@pytest.mark.parametrize("first", [0, 3])
def test_sparse_derivatives_are_the_dense_ones(first):
    """J, J v, w J, their derivatives and H, sparse and dense, eagerly and under jit"""
    for made in map(vector_function, range(first, first + 3)):
        assert not compare_sparse(made), made.text


def test_a_difference_is_found():
    assert compare.difference(1.001, 1.0, 1e-8)
    assert compare.difference([1, 2], [1, 3], 1e-8)
    assert compare.difference([1.0], 1.0, 1e-8)
    assert not compare.difference(1.0 + 1e-12, 1.0, 1e-8)


@pytest.mark.parametrize("make", [program, vector_function])
def test_a_seed_stands_for_one_program(make):
    assert make(5).text == make(5).text


def test_every_accepted_class_has_a_reason():
    assert all(known.reason.endswith(".") and known.message for known in ACCEPTED)
