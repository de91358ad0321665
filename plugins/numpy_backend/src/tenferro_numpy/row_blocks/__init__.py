"""Parts of a program that run some rows at a time, so that they stay in the cache."""
