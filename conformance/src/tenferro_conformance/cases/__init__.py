"""Subjects of tests: cases and their expectations, stored numbers, tolerances, tables of functions.

Data and what reads it; nothing here runs a program. Read `case.py` next.
"""
