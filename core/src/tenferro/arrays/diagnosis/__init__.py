"""Errors and warnings that name the user's line and what to write instead."""
