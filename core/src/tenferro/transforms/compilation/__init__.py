"""`jit`: trace once, run many times."""
