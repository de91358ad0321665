"""The laws: one file each, one statement each, the same for every backend.

Each test runs once per backend and case; the program that it judges is in
`running/programs.py`, how it judges in `judging/laws.py`. Nothing here knows a backend's name:
deviations live in profiles.
"""
