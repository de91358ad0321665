"""Tensor networks and their derivatives, each beside an independent result; see README.md."""
