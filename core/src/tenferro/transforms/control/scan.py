"""``scan``: a loop with a carry, over rows, as one equation of the graph.

The body is recorded once, whatever the number of steps. Read next: ``fori_loop.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.primitives import Handle, constant
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.control import Scan
from tenferro.transforms.control.body import (
    Leaf,
    Recorded,
    closed,
    delivered,
    finished,
    fitting,
    given_arrays,
    held,
    leaf_of,
    output,
    record_body,
    retyped,
    with_effect,
)
from tenferro.transforms.control.offload import Offload
from tenferro.transforms.control.progress import checked_progress, in_blocks
from tenferro.transforms.control.revolve import Revolve
from tenferro.transforms.control.row_work import before_loop
from tenferro.transforms.control.segments import STORES, stepped
from tenferro.transforms.control.unrolled import is_unrolling, steps_of_scan
from tenferro.transforms.errors import check_function, refused_body
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.effects import perform
from tenferro.transforms.recording.run_or_record import found_again
from tenferro.transforms.recording.unrolled import strong

__all__ = ["scan"]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    unroll: int = 1,
    checkpoint: str | Revolve | Offload = "auto",
    progress: bool = False,
) -> tuple[Any, Any]:
    """Run ``carry, y = f(carry, x)`` for every row x of ``xs``; return the last carry and all y.

    The loop is one equation of the graph: its size, and the time to compile it, do not depend on
    the number of steps. The body is recorded once, on values that are not known, also outside
    ``jit``. Derivatives are loops again; in reverse mode a loop stores per step what its derivative
    reads, or the carry if that is smaller.

    Parameters
    ----------
    f : callable
        Body of the loop: carry and one row of ``xs`` to the next carry and y. Pytrees of arrays;
        the carry keeps its structure, shapes and dtypes.
    init : pytree of arrays
        The first carry. A Python number takes the dtype that the body gives it.
    xs : pytree of arrays, optional
        Arrays of shape [length, ...], which agree in their first axis. None: the body receives
        None.
    length : int, optional
        Number of steps; needed only without ``xs``.
    reverse : bool, default False
        Take the last row first. Row k of the results belongs to row k of ``xs`` all the same.
    unroll : int, default 1
        Number of steps in one iteration of the loop that runs. Values and derivatives are the
        same. The program is larger, and each iteration costs less around its steps where the
        backend starts each operation on a device. On NumPy it makes loops over numbers slower.
    checkpoint : {"auto", "all", "none", "sqrt"}, revolve(slots) or offload(), default "auto"
        What reverse mode stores. "auto": per step what the derivative reads, or the carry,
        whichever is fewer bytes. "all": what the derivative reads, whatever its size, so that no
        step is computed again. "none": the carry of every step; each step is computed again.
        "sqrt": the carries of about √length steps; the steps between two of them are computed again
        when the reverse sweep reaches them. For n steps that is memory for about 2√n carries, and
        one more evaluation of each step. ``tn.revolve(slots)``: that many carries at most.
        ``tn.offload(directory)``: what "auto" stores, in a temporary file instead of in memory.
    progress : bool, default False
        Show on standard error how far the loop is, by rich where it is installed. Only at top
        level, on values that are known.

    Returns
    -------
    carry : pytree of arrays
        The last carry, structured as ``init``.
    ys : pytree of arrays
        All y, each of shape [length, ...].

    Raises
    ------
    BodyError
        If the body changes the structure, shape or dtype of the carry, or sizes do not agree; with
        ``progress=True`` inside a transform.
    ValueError
        If ``checkpoint`` is none of these, has too few slots, or ``unroll`` is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> total, sums = tn.scan(lambda s, x: (s + x, s + x), 0.0, np.array([1.0, 2.0, 3.0]))
    >>> float(total), sums
    (6.0, array([1., 3., 6.]))
    """
    check_function(f, "scan")
    return scan_for("scan", f, init, xs, length, reverse, unroll, checkpoint, progress)


def scan_for(
    name: str,
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int = 1,
    checkpoint: str | Revolve | Offload = "auto",
    progress: bool = False,
    rename: Callable[[str], str] = str,
    counter: int | None = None,
) -> tuple[Any, Any]:
    """Run ``scan`` for the public function ``name``, which its errors and progress show.

    ``rename`` makes of the path of a leaf of ``init`` the path that the user knows. ``counter``
    is the position of a leaf of the carry that counts.
    """
    _check_checkpoint(checkpoint)
    together, shows = _unroll(unroll), checked_progress(progress, name)
    given = _given(name, f, init, xs, length, rename)
    if counter is not None:
        given.leaves[counter] = given.leaves[counter].counting()
    if given.steps and is_unrolling():
        return _unrolled(name, given, bool(reverse))
    recorded, outputs, leaves = _recorded(name, given)
    carry = [fitting(name, y, leaf) for y, leaf in zip(outputs.carry, leaves, strict=True)]
    start = [held(x, leaf.aval) for x, leaf in zip(given.start, leaves, strict=True)]
    rows, steps = given.rows, given.steps
    consts: list[Array] = []
    found: Sequence[Handle]
    if not steps:
        empty = [constant(0, y.dtype, (0, *y.shape)) for y in outputs.ys]
        found = [*map(strong, start), *[Array(y.key) for y in empty]]
    else:
        _perform(recorded, carry, start, rows, steps, bool(reverse))
        roots = [x.key for x in (*carry, *outputs.ys)]

        def made() -> list[Handle]:
            inside, xs = before_loop(recorded, roots, len(carry), rows, steps, checkpoint)
            body, read = closed(inside, roots)
            consts.extend(read)
            chosen = tuple(range(len(roots)))
            loop = Scan(body, len(read), len(carry), steps, chosen, bool(reverse))

            def run(part: Scan, *given: Any) -> list[Handle]:
                return stepped(part, together, checkpoint, *given) if chosen else []

            return (in_blocks if shows else _at_once)(name, loop, run, read, start, xs)

        if shows or recorded.effect is not None:
            found = made()
        else:
            kind = (name, steps, bool(reverse), together, checkpoint)
            keys = [*roots, *[x.key for x in (*start, *rows)], *recorded.inputs]
            found = [Array(y) for y in found_again(kind, keys, lambda: [y.key for y in made()])]
    if shows:
        results = finished(found, [*start, *rows], given.plain, consts, name)
    else:
        results = delivered(found, given.plain, consts, name)
    return given.pair(results, outputs.ys_spec)


class _Given(NamedTuple):
    """A body and the operands of its loop: the first carry, and rows."""

    f: Callable[[Any, Any], Any]
    start: list[Array]
    carry_spec: Any
    leaves: list[Leaf]
    rows: list[Array]
    rows_spec: Any
    row_leaves: list[Leaf]
    steps: int
    plain: bool

    def call(self, values: Sequence[Array]) -> Any:
        """Call the body on the leaves of a carry and of one row."""
        count = len(self.start)
        carry = _tree.unflatten(self.carry_spec, values[:count])
        return self.f(carry, _tree.unflatten(self.rows_spec, values[count:]))

    def pair(self, results: Sequence[Any], ys_spec: Any) -> tuple[Any, Any]:
        """Return the last carry and the stacked results, of their leaves."""
        count = len(self.start)
        carry = _tree.unflatten(self.carry_spec, results[:count])
        return carry, _tree.unflatten(ys_spec, results[count:])


def _given(
    name: str,
    f: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    length: int | None,
    rename: Callable[[str], str],
) -> _Given:
    """Split the operands into arrays, and name them."""
    start, carry_spec, carry_paths, plain = given_arrays(init, "init")
    leaves = [leaf_of(x, rename(path)) for x, path in zip(start, carry_paths, strict=True)]
    rows, rows_spec, row_paths, rows_plain = given_arrays(xs, "xs")
    steps = _length(name, rows, row_paths, length)
    row_leaves = [
        Leaf(path, x.aval.with_shape(x.shape[1:])) for x, path in zip(rows, row_paths, strict=True)
    ]
    both_plain = plain and rows_plain
    return _Given(f, start, carry_spec, leaves, rows, rows_spec, row_leaves, steps, both_plain)


def _check_checkpoint(checkpoint: Any) -> None:
    """Raise ValueError for what is not a way to store the values of a loop."""
    if isinstance(checkpoint, (Revolve, Offload)) or checkpoint in STORES:
        return
    text = f"scan: unknown checkpoint {checkpoint!r}\n"
    text += f"  need       {', '.join(STORES)}, revolve(slots) or offload()"
    raise at_user_line(ValueError(text))


def _perform(
    recorded: Recorded,
    carry: Sequence[Array],
    start: Sequence[Array],
    rows: Sequence[Array],
    steps: int,
    reverse: bool,
) -> None:
    """Let the effects of the body happen at every step, by a loop of their own.

    Derivatives of the other loop do not contain them, and passes may move it.
    """
    if recorded.effect is None:
        return
    body, consts = with_effect(recorded, [x.key for x in carry])
    loop = Scan(body, len(consts), len(carry), steps, (len(carry),), reverse)
    perform([token.key for token in bind_all(loop, *consts, *start, *rows)])


def _at_once(name: str, loop: Scan, run: Any, *given: Any) -> list[Handle]:
    found: list[Handle] = run(loop, *given)
    return found


def _unrolled(name: str, given: _Given, reverse: bool) -> tuple[Any, Any]:
    """Run Python's loop."""
    specs = []

    def step(values: Sequence[Array]) -> tuple[Sequence[Array], Sequence[Array]]:
        result = given.call(list(values))
        flat = [output(name, y) for y in _tree.flatten(result)[0]]
        outputs = _outputs(name, result, flat, given.carry_spec)
        specs.append(outputs.ys_spec)
        return outputs.carry, outputs.ys

    start, rows = given.start, given.rows
    carry, ys = steps_of_scan(name, step, start, given.leaves, rows, given.steps, reverse)
    results = finished([*carry, *ys], [*start, *rows], given.plain, [], name)
    return given.pair(results, specs[0])


class _Outputs(NamedTuple):
    carry: list[Array]
    ys: list[Array]
    ys_spec: Any


def _recorded(name: str, given: _Given) -> tuple[Recorded, _Outputs, list[Leaf]]:
    """Record the body; where it promotes the carry, record it again for the promoted one.

    Also return the leaves of the carry for which it was recorded.
    """

    def attempt(leaves: Sequence[Leaf]) -> tuple[Recorded, _Outputs]:
        recorded = record_body(name, given.call, [*leaves, *given.row_leaves], has_effects=True)
        found = _outputs(name, recorded.result, recorded.outputs, given.carry_spec)
        return recorded, found

    leaves = given.leaves
    recorded, outputs = attempt(leaves)
    while (promoted := retyped(leaves, outputs.carry)) != leaves:
        leaves = promoted
        recorded, outputs = attempt(leaves)
    return recorded, outputs, leaves


def _outputs(name: str, result: Any, leaves: list[Array], spec: Any) -> _Outputs:
    """Split the leaves of what a body returned.

    Raises BodyError: if it is not a pair, or the carry has another structure.
    """
    if not isinstance(result, tuple) or len(result) != 2:
        is_tuple = isinstance(result, tuple)
        got = f"a tuple of {len(result)}" if is_tuple else type(result).__name__
        raise refused_body(name, "the body does not return a pair", got, "(carry, y)")
    flat, found = _tree.flatten(result[0])
    if not _tree.same_structure(found, spec):
        got, need = _tree.describe(found), _tree.describe(spec)
        raise refused_body(name, "the body changes the structure of the carry", got, need)
    return _Outputs(leaves[: len(flat)], leaves[len(flat) :], _tree.flatten(result[1])[1])


def _unroll(unroll: Any) -> int:
    """Return the number of steps in one iteration."""
    if type(unroll) is not int or unroll < 1:
        text = f"scan: unroll is a number of steps\n  got        {unroll!r:.60}"
        raise at_user_line(ValueError(text + "\n  need       an integer, 1 or more"))
    return unroll


def _length(name: str, rows: Sequence[Array], paths: Sequence[str], length: Any) -> int:
    """Return the number of steps.

    Raises BodyError: if it is unknown, or rows differ in their number.
    """
    if length is not None:
        try:
            steps = index(length)
        except TypeError:
            raise refused_body(name, "length is an integer", repr(length), "an integer") from None
        if steps < 0:
            raise refused_body(name, "length is not negative", repr(length), "0 or more")
        found: dict[int, str] = {steps: "length"}
    else:
        found = {}
    for x, path in zip(rows, paths, strict=True):
        if not x.ndim:
            need = "an array of rank 1 or more"
            raise refused_body(name, f"{path} has no rows", str(x.aval), need, leaf=path)
        found.setdefault(x.shape[0], path)
    if len(found) == 1:
        return next(iter(found))
    got = ", ".join(f"{path} {size}" for size, path in found.items())
    if not got:
        fact, got = "the number of steps is unknown", "no xs and no length"
        raise refused_body(name, fact, got, "one of them")
    raise refused_body(name, "numbers of rows differ", got, "the same number of rows in all")
