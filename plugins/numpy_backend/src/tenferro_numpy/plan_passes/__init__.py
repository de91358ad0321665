"""Rewrites of the steps of a plan, in the order that `planner.py` states."""
