"""Runs of the suite: their backends and cases, and how programs are recorded and run.

Read `recorder.py` and `session.py` for one case, `selection.py` and `collection.py` for a run, and
`children.py` for the processes of several backends.
"""
