"""Fused elementwise regions, run tile by tile."""
