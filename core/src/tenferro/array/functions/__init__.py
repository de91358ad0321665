"""User-level functions: promotion and broadcasting over the primitives, one file per family."""
