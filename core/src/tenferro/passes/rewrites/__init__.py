"""One file for each pass: what it rewrites, and what it may change of a result.

A pass on single equations is a table of rules, named like the pass in capitals; ``_selection.py``
lists the passes in their order. Read next: ``arithmetic.py``, then ``factors.py``.
"""
