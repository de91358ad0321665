"""Derivatives: directional ones, gradients, Jacobians, Hessians, linear maps."""
