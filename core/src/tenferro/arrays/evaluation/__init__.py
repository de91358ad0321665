"""Evaluation on demand: the form of what is pending, its program, its results."""
