"""Functions that bring their own derivative rule."""
