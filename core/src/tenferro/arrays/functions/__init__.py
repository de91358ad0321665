"""User-level functions: promotion and broadcasting over the primitives, one file per family.

A family loads when one of its functions is asked for, by the lists in ``families.py``.
"""
