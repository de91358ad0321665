"""Recording: run a function on arrays that a transform follows, and evaluate what it recorded."""
