"""Families of functions load when one of their names is asked for, and not before."""

import subprocess
import sys

import pytest

HEAD = """
import sys
import tenferro as tn
table = lambda: sys.modules["tenferro.array._registry"].FUNCTIONS
late = lambda: "tenferro.array.functions.quantiles" in sys.modules
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
        "assert not hasattr(tn, 'no_such_name')",
        "import numpy as np; assert np.quantile(tn.asarray(1.0), 0.5).shape == ()",
    ],
)
def test_a_family_loads_when_it_is_asked_for(question):
    program = f"{HEAD}\n{question}\nassert late()"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_list_becomes_an_array_where_nobody_imported_numpy():
    program = "import tenferro as tn; assert tn.asarray([[1.0, 2.0]]).shape == (1, 2)"
    subprocess.run([sys.executable, "-c", program], check=True)
