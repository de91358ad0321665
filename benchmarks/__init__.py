"""What the project's speed is measured by: workloads, by hand in NumPy and by its peers.

    python -m benchmarks                              what there is
    python -m benchmarks W3 --peers jax,torch,autograd
    python -m benchmarks W3 W12 --quick --peers none  small sizes, a few seconds
    python -m benchmarks all --everything --json FILE threads, huge pages and memory too
    python -m benchmarks --page                       measures all that docs/benchmarks.md shows
    python -m benchmarks.harness.page                 writes that page from what is stored

One workload per file, `w01_gmm.py` and so on; each states its function, writes it once by hand
(value and gradient) and once as a user of each peer would; W19 writes some of them in many ways,
from `formulations/`; W20 and W21 run whole programs, from `programs/` and `untuned/`, that nobody
wrote by hand.
`harness/` runs them and knows none.
Read next: `w03_elementwise.py`, then `harness/workload.py`.
"""
