"""The backend acme, for tenferro."""

__all__: list[str] = []
