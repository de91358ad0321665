"""Look into a program while it runs: ``debug.print`` and ``debug.callback``.

Both work wherever a value is: at once where it is known, inside ``grad`` and ``jvp`` too, and each
time the program runs where it is traced (``jit``), once per example where it is batched
(``vmap``), once per step in the body of a loop, and in a branch if it is taken. They have no result
and change no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import evaluable
from tenferro.computegraph import UNKNOWN
from tenferro.primitives import debug_callback
from tenferro.primitives._boundary import bounded
from tenferro.primitives._tracebacks import full_traceback
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.effects import is_every_step, is_silent, perform
from tenferro.transforms.recording.unrolled import unrolled


class debug:
    """Tools that look into a program while it runs.

    >>> import tenferro as tn
    >>> def f(x):
    ...     tn.debug.print("x = {}", x)
    ...     return x * x
    >>> tn.grad(f)(3.0)
    x = 3.0
    np.float64(6.0)
    """

    @staticmethod
    @bounded("debug.callback")
    def callback(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        """Call a function for its effect, with NumPy arrays in the places of arrays.

        Arguments are pytrees. In a jitted function it is called each time the program runs, in
        program order; under ``vmap`` once per example. What it returns is dropped.

        >>> import tenferro as tn
        >>> seen = []
        >>> y = tn.jit(lambda x: tn.debug.callback(seen.append, x) or x + 1)(2.0)
        >>> [float(x) for x in seen]
        [2.0]
        """
        given: object = function
        if not callable(given):
            text = f"debug.callback takes a function, not {type(given).__name__}"
            raise at_user_line(TypeError(text))
        leaves, spec = _tree.flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Array)]

        def call(*arrays: Any) -> None:
            filled = list(leaves)
            for i, array in zip(places, arrays, strict=True):
                filled[i] = array if array.ndim else array[()]
            given, named = _tree.unflatten(spec, filled)
            function(*given, **named)

        _call(call, [leaves[i] for i in places])

    @staticmethod
    @bounded("debug.print")
    def print(text: str, /, *args: Any, **kwargs: Any) -> None:
        """Print a text with values filled in, as ``str.format`` does.

        >>> import tenferro as tn
        >>> tn.debug.print("{} and {name}", tn.asarray([1.0, 2.0]), name=3)
        [1. 2.] and 3
        """
        _check_fields(text, args, kwargs)

        def show(*given: Any, **named: Any) -> None:
            print(text.format(*given, **named))

        debug.callback(show, *args, **kwargs)

    full_traceback = staticmethod(full_traceback)
    unrolled = unrolled


def _check_fields(text: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse a text that names a value which is not given, before a program runs with it."""
    if not isinstance(text, str):
        kind = type(text).__name__
        raise at_user_line(TypeError(f"debug.print: the text is a string, not {kind}"))
    count = 0
    for _, field, _, _ in Formatter().parse(text):
        if field is None:
            continue
        name = field.replace("[", ".").partition(".")[0] or str(count)
        count += 1
        if name not in kwargs and not (name.isdigit() and int(name) < len(args)):
            given = ", ".join([*map(str, range(len(args))), *kwargs]) or "none"
            raise at_user_line(
                ValueError(
                    f"debug.print: the text names a value that is not given\n"
                    f"  got        {{{field}}} in {text!r:.60}\n"
                    f"  need       one of the values: {given}"
                )
            )


def _call(function: Callable[..., None], arrays: Sequence[Array]) -> None:
    """Call it now if all values are known, else when the program runs."""
    if is_silent():
        return
    is_known = all([x.key.operand is not UNKNOWN or evaluable(x.key) for x in arrays])
    if is_known and not is_every_step():
        function(*[x._concrete("debug.callback") for x in arrays])
        return
    perform([debug_callback(function, *arrays).key])
