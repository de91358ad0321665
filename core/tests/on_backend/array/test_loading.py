"""What `import tenferro` leaves for its first use."""

import subprocess
import sys
from importlib import import_module

import pytest

from tenferro.backend import select_backend

CODE = """
import sys, tenferro as tn
rare = {"numpy_protocols.ufuncs", "numpy_protocols.ufunc_methods", "handle.at", "handle.flat"}
assert not {f"tenferro.arrays.{name}" for name in rare} & set(sys.modules)
import numpy as np
x = tn.asarray([1.0, 2.0])
print(x.at[0].set(5.0).tolist(), list(map(float, x.flat)), float(np.add.reduce(x)))
print(np.add(x, x, dtype="float32").dtype)
"""


@pytest.mark.skipif(select_backend().name != "numpy", reason="one backend tells it")
def test_import_leaves_what_few_programs_need_for_its_first_use():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == "[5.0, 2.0] [1.0, 2.0] 3.0\nfloat32\n"


PROGRAM = """
import sys, tenferro as tn, numpy as np
tn.grad(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x)))(np.ones(10))
print(*sys.modules)
"""
#: What only programs with large arrays need.
UNNEEDED = (
    "tenferro.passes.rewrites.residuals",
    "tenferro_numpy.plan_passes.fusion.build",
    "tenferro_numpy.plan_passes.fusion.choice",
    "tenferro_numpy.kernels.region",
)


@pytest.mark.skipif(select_backend().name != "numpy", reason="one backend tells it")
def test_a_small_gradient_loads_no_pass_for_large_arrays():
    for name in UNNEEDED:
        import_module(name)  # so that a name that has changed is noticed
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "tenferro.passes.rewrites.arithmetic" in loaded
    assert not loaded & set(UNNEEDED)
