"""`vmap`: batch a recorded program."""
