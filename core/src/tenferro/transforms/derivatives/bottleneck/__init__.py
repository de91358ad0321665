"""Jacobians over a narrow waist: as the product of two factors, plus what bypasses the waist."""
