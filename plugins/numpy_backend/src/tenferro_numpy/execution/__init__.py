"""Two executors of plans: an interpreter, and generated Python source."""
