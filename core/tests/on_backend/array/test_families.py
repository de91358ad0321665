"""Families of functions load when one of their names is asked for, and not before."""

import os
import subprocess
import sys

import pytest

from tenferro.arrays.families import FAMILIES
from tenferro.arrays.registry import FUNCTIONS

HEAD = """
import sys
import tenferro as tn
table = lambda: sys.modules["tenferro.arrays.registry"].FUNCTIONS
late = lambda: "tenferro.arrays.functions.quantiles" in sys.modules
assert not late()
tn.sin(tn.asarray(1.0) + 2.0) * 3 > 0
getattr(tn, "_no_such_name", None)
assert not late()
"""


@pytest.mark.parametrize(
    "question",
    [
        "assert callable(tn.quantile)",
        "assert 'quantile' in table()",
        "assert 'quantile' in list(table())",
        "import numpy as np; assert np.quantile(tn.asarray(1.0), 0.5).shape == ()",
    ],
)
def test_a_family_loads_when_it_is_asked_for(question):
    program = f"{HEAD}\n{question}\nassert late()"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each family loads in a copy of a process")
def test_a_family_has_the_functions_that_are_listed_for_it():
    """in a process that loaded one family alone"""
    names = {family: listed.split() for family, listed in FAMILIES.items()}
    program = f"""
import os
import sys
import tenferro
table = sys.modules["tenferro.arrays.registry"].FUNCTIONS
for family, names in {names}.items():
    child = os.fork()
    if not child:
        __import__(f"tenferro.arrays.functions.{{family}}")
        missing = [name for name in names if not dict.__contains__(table, name)]
        print(family, *missing, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert done.stdout.splitlines() == list(FAMILIES)


def test_every_function_is_listed_once():
    listed = [name for names in FAMILIES.values() for name in names.split()]
    assert len(listed) == len(set(listed))
    FUNCTIONS.load()
    family = "tenferro.arrays.functions."
    elsewhere = {n for n in FUNCTIONS if not FUNCTIONS[n].__module__.startswith(family)}
    assert set(FUNCTIONS) - elsewhere == set(listed)


def test_the_name_of_no_function_loads_nothing():
    program = f"{HEAD}\nassert not hasattr(tn, 'no_such_name') and not late()"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_list_becomes_an_array_where_nobody_imported_numpy():
    program = "import tenferro as tn; assert tn.asarray([[1.0, 2.0]]).shape == (1, 2)"
    subprocess.run([sys.executable, "-c", program], check=True)
