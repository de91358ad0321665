"""``jit(f, memory_budget=…)``: store less and compute more, until a program fits.

``profile`` predicts the memory of a graph, ``loops`` cuts loops into segments that the reverse
sweep runs again, ``values`` chooses values that are computed again before they are read, and
``schedule`` applies both. Read in this order: ``profile``, ``loops``, ``values``, ``schedule``.
"""
