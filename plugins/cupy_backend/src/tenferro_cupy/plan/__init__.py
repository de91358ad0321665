"""A program as a sequence of steps: kernels of regions, and calls of lowerings.

Read in this order: ``step``, ``regions``, ``chains``, ``planned``, ``loops``, ``element_loops``,
``bodies``.
"""
