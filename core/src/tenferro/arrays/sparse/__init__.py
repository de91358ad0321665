"""Sparse matrices of programs: patterns, and entries that are Arrays.

Read in this order: ``pattern``, ``scipy_parts``, ``matrix``, ``operators``, ``products``,
``solving``.
"""
