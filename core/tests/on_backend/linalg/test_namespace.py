"""The namespace holds what NumPy and the Array API standard have, and NumPy finds the same."""

import inspect
import subprocess
import sys

import numpy as np

import tenferro as tn
from tenferro.arrays.registry import FUNCTIONS

STANDARD = """
cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
""".split()  # data-apis.org/array-api/2024.12, the extension linalg
NO_FUNCTIONS = {"LinAlgError", "linalg", "test"}
NUMPY = {n for n in dir(np.linalg) if n[0] != "_"} - NO_FUNCTIONS


def test_all_of_the_standard_and_of_numpy():
    assert set(STANDARD) | NUMPY <= set(tn.linalg.__all__)


def test_numpy_finds_the_same_functions():
    """One function serves both: what dispatches by a name of NumPy is that of the namespace."""
    for name in NUMPY:
        assert FUNCTIONS[f"linalg.{name}"] is inspect.unwrap(getattr(tn.linalg, name)), name


def test_the_names_are_sorted_and_there():
    assert tn.linalg.__all__ == sorted(tn.linalg.__all__)
    assert all(getattr(tn.linalg, name).__doc__ for name in tn.linalg.__all__)


def test_nobody_loads_it_who_does_not_ask():
    names = "tenferro.linalg tenferro.arrays.functions.linalg"
    text = f"import sys, tenferro; sys.exit(any(n in sys.modules for n in '{names}'.split()))"
    done = subprocess.run([sys.executable, "-c", text], check=False)
    assert done.returncode == 0
