"""Loops, branches and checkpoints as users call them; each is one equation of the graph.

The primitives that they record, with their derivatives, are in ``primitives/control``. Read in this
order: ``body`` (recorded once), ``scan``, ``while_loop``, ``cond``, ``checkpoint``.
"""
