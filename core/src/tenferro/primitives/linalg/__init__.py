"""Linear algebra: one factorization per file, and what is defined through factorizations.

Matrices stand in the last two axes, everything before them is a batch. A primitive here is linear
in what it solves for and has a JVP in the matrix that it factorizes; reverse mode is the transpose
of the JVP, whose parts are products, masks and triangular solves. ``_matrices`` has the words that
the rules are written in. Read next: ``triangular_solve.py``.
"""
