"""Arrays of a few numbers, computed number by number."""
