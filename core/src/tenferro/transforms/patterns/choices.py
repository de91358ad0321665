"""The options of derivatives that say how a matrix is computed and given.

Read next: ``patterns/sparse_results.py``.
"""

from __future__ import annotations

from tenferro.arrays.errors import at_user_line


def check_choices(name: str, compress: object, sparse: object) -> None:
    """Raise TypeError for anything but the values that these options take."""
    if not any([compress is known for known in (None, True, False)]):
        text = f"{name}: compress is None, True or False, not {compress!r}"
        raise at_user_line(TypeError(text))
    if sparse is not True and sparse is not False:
        raise at_user_line(TypeError(f"{name}: sparse is True or False, not {sparse!r}"))
