"""Loops and branches: their plans, their source, and the calls of both."""
