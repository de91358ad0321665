"""Indexing: boxes, and positions along axes."""
