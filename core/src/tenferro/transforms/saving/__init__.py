"""Functions in files: recorded once, saved as data, loaded anywhere.

Read in this order: ``save``, ``load``, ``structures`` (nested arguments as JSON), ``archive`` (the
file).
"""
