"""Small programs of scientists, written as they would write them in NumPy.

Each is written once, in the words of NumPy, and every library runs the same text. They were written
down before anybody measured them, and no program changes because of its time. Passes have been
written after profiles of some. Models and methods have their usual definitions, which each
docstring states. Read next: `time_series.py`, then `benchmarks/w21_untuned.py`.
"""
