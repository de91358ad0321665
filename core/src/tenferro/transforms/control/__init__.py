"""Loops and branches that stay in the graph: ``scan``, ``fori_loop``, ``map``."""
