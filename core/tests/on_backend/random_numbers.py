"""Random numbers of a kind. A test module keeps its generator: ``conftest.py`` resets it."""


def drawn(generator, kind, *shape):
    """Draw normal numbers of a kind, "real" or "complex"."""
    re, im = generator.normal(size=(2, *shape))
    return re + 1j * im if kind == "complex" else re
