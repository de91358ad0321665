"""Arguments that a function of the user owns: what it assigns into them stays inside.

An Array comes as a handle of its own, a NumPy array of up to 64 KiB as a copy. A larger one comes
as a read-only view, and writing into it is a `BorrowedWriteError`. Read next: ``loans.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.handle.array import SCALARS
from tenferro.arrays.handle.convert import is_operand, snapshot
from tenferro.backend._snapshots import is_numpy
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import own_handle
from tenferro.transforms.recording.loans import MAX_COPIED_BYTES, is_refused_write, written

_SCALARS = frozenset(SCALARS)


class Owned:
    """Arguments of one call, which the function may assign into.

    >>> import numpy as np
    >>> x = np.ones(2)
    >>> with Owned() as own:
    ...     (y,) = own((x,))
    ...     y += 1.0
    >>> x
    array([1., 1.])
    """

    __slots__ = ("_views",)

    def __init__(self) -> None:
        self._views: list[Any] = []

    def __call__(self, tree: Any) -> Any:
        """Return a tree for the function; one without arrays is returned itself."""
        leaves, spec = _tree.flatten(tree)
        if not any([is_array(leaf) for leaf in leaves]):
            return tree
        return _tree.unflatten(spec, [self._own(leaf) for leaf in leaves])

    def _own(self, leaf: Any) -> Any:
        if isinstance(leaf, Array) or not is_array(leaf):
            return own_handle(leaf)
        if not is_numpy(leaf):
            return snapshot(leaf)
        if leaf.nbytes <= MAX_COPIED_BYTES:
            return leaf.copy("K")
        view = leaf.view()
        view.flags.writeable = False
        self._views.append(view)
        return view

    def result(self, tree: Any) -> Any:
        """Return the result of the function, with copies of views of its large arguments."""
        if not self._views:
            return tree
        return _tree.map_leaves(
            lambda y: y.copy("K") if is_array(y) and is_numpy(y) and not y.flags.writeable else y,
            tree,
        )

    def __enter__(self) -> Owned:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: Any) -> None:
        if self._views and is_refused_write(error):
            raise written(self._views, traceback) from error


def is_array(leaf: Any) -> bool:
    """Return True for what a function can assign into: Arrays and arrays of other libraries."""
    if type(leaf) in _SCALARS:
        return False
    return isinstance(leaf, Array) or (is_operand(leaf) and hasattr(leaf, "__setitem__"))
