"""Findings of a run: the report, and its two readers `matrix` and `diff`.

Read `report.py` next.
"""
