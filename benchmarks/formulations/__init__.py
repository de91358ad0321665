"""The functions of W1, W2, W5, W6 and W10, each written in the ways that different users write it.

`library` holds what the libraries name differently and collects the ways of a function. `gmm`,
`mlp`, `mps`, `factorizations`, `gaussian_process` and `rosenbrock` hold the ways, the inputs, and
one version by hand that an expert of NumPy would write. They measure nothing.
Read next: `library.py`, then `benchmarks/w19_formulations.py`.
"""
