"""The backend on PyTorch, for tenferro."""

__all__: list[str] = []
