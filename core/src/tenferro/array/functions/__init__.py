"""User-level functions: promotion and broadcasting over the primitives, one file per family.

A family loads when ``tenferro.array`` names one of its functions, or with all others, in
``_all.py``, when the table of covered functions is asked for a name that it lacks.
"""
