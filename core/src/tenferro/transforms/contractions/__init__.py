"""Contraction plans that are prepared once: ``contract_expression``.

``einsum`` itself is a function on arrays; what is here needs loops and checkpoints besides. Read in
this order: ``expression``, ``slices``, ``sliced``.
"""
