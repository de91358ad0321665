"""What the machine gives: caches, tile sizes, threads, memory, floating-point flags."""
