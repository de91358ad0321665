"""Views in the text of an expression: the name that takes the view, and whether the array is new.

In NumPy, a write into ``np.sin(x).reshape(2, 3)`` changes an array that nothing else refers to, so
that there is nothing to warn of. Read next: ``copy_warnings.py``.
"""

from __future__ import annotations

import ast

#: methods, attributes and functions whose results are views in NumPy
VIEWS = frozenset(
    (
        *("T", "mT", "transpose", "permute_dims", "matrix_transpose", "swapaxes", "moveaxis"),
        *("rollaxis", "reshape", "ravel", "squeeze", "expand_dims", "split", "array_split"),
        *("hsplit", "vsplit", "dsplit", "flip", "fliplr", "flipud", "rot90", "real", "imag"),
    )
)
_LIBRARIES = frozenset(("np", "numpy", "anp", "tn", "tenferro"))  # as users import them
_METHODS = ("copy", "astype")  # that always give an array of their own
#: beginnings of names of functions that may return their argument, or a view of it
_MAY_BE_THEIR_ARGUMENT = (
    *("as", "atleast_", "broadcast", "diag", "einsum", "matrix_power", "nan_to_num"),
    *("real_if_close", "require", "trim_zeros", "unstack"),
)
_NEW = (ast.BinOp, ast.UnaryOp, ast.Compare)


def parsed(written: str) -> ast.expr | None:
    """Return the tree of an expression, or ``None`` if the text is not a whole one."""
    try:
        return ast.parse(written.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def taken_by(tree: ast.expr | None) -> str:
    """Return the last name that an expression calls or reads: ``T`` of ``x.T``."""
    tree = tree.func if isinstance(tree, ast.Call) else tree
    return str(getattr(tree, "attr", None) or getattr(tree, "id", ""))


def is_of_new_array(tree: ast.expr | None) -> bool:
    """Return True if the view is that of an array that the expression itself makes.

    ``x[0]`` is not, and neither is what an unknown function returns, which may be kept elsewhere.
    """
    base = tree
    while base is not None and (below := _below(base)) is not base:
        base = below
    return isinstance(base, _NEW) or (isinstance(base, ast.Call) and _makes_new(base))


def _below(tree: ast.expr) -> ast.expr | None:
    """Return what a view is taken of; the tree itself if it is not a view."""
    if isinstance(tree, ast.Subscript):
        return tree.value
    if taken_by(tree) not in VIEWS:
        return tree
    if isinstance(tree, ast.Call):
        of_library = not isinstance(tree.func, ast.Attribute) or _root(tree.func) in _LIBRARIES
        if of_library:
            return tree.args[0] if tree.args else None
        tree = tree.func
    return tree.value if isinstance(tree, ast.Attribute) else tree


def _makes_new(call: ast.Call) -> bool:
    """Return True if a function or a method gives an array of its own."""
    name = taken_by(call)
    if any([keyword.arg in ("out", "copy", None) for keyword in call.keywords]):
        return False
    if _root(call.func) in _LIBRARIES:
        return not name.startswith(_MAY_BE_THEIR_ARGUMENT)
    return name in _METHODS and isinstance(call.func, ast.Attribute)


def _root(tree: ast.expr) -> str:
    """Return the first name of a path: ``np`` of ``np.linalg.inv``; empty for anything else."""
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    return tree.id if isinstance(tree, ast.Name) else ""
