"""GradBench's gmm: the log likelihood of a Gaussian mixture, ADBench's definition.

It is W1's function in one of W19's ways, at a small size.
Read next: `benchmarks/formulations/gmm.py`.
"""

from __future__ import annotations

from benchmarks.formulations.gmm import einsum_of_differences
from benchmarks.w01_gmm import inputs

from .small import program

MIXTURE = program("gmm", inputs, 500, 10, (0, 1, 2))
MIXTURE.way("einsum of differences")(einsum_of_differences)
