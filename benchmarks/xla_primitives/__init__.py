"""Every lowering of the XLA plugin beside JAX's own function: times and errors, as a page."""
