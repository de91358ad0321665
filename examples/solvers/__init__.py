"""Solvers written with tenferro: loops that stay rolled, and derivatives of solutions.

Each module is meant to be read, copied and changed. `krylov` is used by `fixed_points`; all others
stand alone.
"""
