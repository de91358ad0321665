"""Kernels in CUDA C: regions of elementwise operations with their reductions, one kernel each.

A ``Kernel`` says what is computed for one element; a ``Layout`` says how threads go over the
elements; ``kernel_source`` writes the text of both. Nothing here imports CuPy. Read in this order:
``kernel``, ``expressions``, ``layout``, ``source``, then the headers in ``device``.
"""
