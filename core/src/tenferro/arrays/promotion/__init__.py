"""Promotion of dtypes and broadcasting of shapes."""
