"""Whole programs as users write them: those of autograd's examples and of GradBench's evaluations.

autograd's examples (github.com/HIPS/autograd, folder `examples`) and GradBench's evaluations
(github.com/gradbench/gradbench, folder `evals`) say what is computed. The text is ours: each
program is written once, in the words of NumPy, and every library runs the same text. Sizes are
small, so that what a library adds to each operation counts.
Read next: `small.py`, then `benchmarks/w20_programs.py`.
"""
