"""The intermediate representation: expressions, steps over slots, plans over registers."""
