"""Sparse Jacobians: which elements depend on which, and directions that share a colour."""
