"""Arrays that are split over many devices: meshes, constraints, placement, and checkpoints."""
