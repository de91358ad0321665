"""Properties of the machine: caches, tile sizes, threads, memory, floating-point flags."""
