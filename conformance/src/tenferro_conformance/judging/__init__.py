"""Judgement of the laws: inner products, comparisons, refusals, graphs and finite differences.

The statements of the laws are the tests of `suite/`. Read `laws.py` next.
"""
