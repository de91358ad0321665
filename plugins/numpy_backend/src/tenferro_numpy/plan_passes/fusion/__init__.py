"""Fusion: which elementwise steps become one region."""
