"""Loops that store less for reverse mode, or that take several steps at once.

"sqrt" makes a loop of k segments of m steps each, with k·m ≤ n and m ≈ √n; the remaining steps
follow as one more segment. The outer loop stores a carry per segment. The reverse sweep computes a
segment again, and stores what its derivative reads while it goes through it (Chen et al. 2016).
With ``unroll`` the body of the loop is several steps, one behind the other.
Read next: ``revolve.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt
from typing import Any

from tenferro.computegraph import Fragment, new_leaf
from tenferro.primitives import Handle, concatenate, reshape
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.control import Checkpoint, Scan
from tenferro.primitives.control.unrolled import rows_between, steps_of
from tenferro.transforms.control.offload import Offload
from tenferro.transforms.control.revolve import Revolve, split

STORES = ("auto", "all", "none", "sqrt")
Store = str | Revolve | Offload


def segmented(
    loop: Scan,
    store: Store,
    consts: Sequence[Handle],
    carry: Sequence[Handle],
    rows: Sequence[Handle],
) -> list[Handle]:
    """Run a loop that gives all its outputs, and stores for reverse mode what ``store`` says."""
    if store == "auto":
        return list(bind_all(loop, *consts, *carry, *rows))
    if isinstance(store, Offload):
        return list(bind_all(loop.replaced(offload=store.directory), *consts, *carry, *rows))
    if store == "all":
        return list(bind_all(loop.replaced(stores_all=True), *consts, *carry, *rows))
    if isinstance(store, Revolve):
        return _revolved(loop, store.slots, {}, [*consts, *carry, *rows])
    if store == "none" or loop.length <= 3:
        return list(bind_all(loop.replaced(body=again(loop.body)), *consts, *carry, *rows))
    size = isqrt(loop.length - 1) + 1
    count, left = divmod(loop.length, size)
    outer = loop.replaced(body=again(_segment(loop, size)), length=count)
    end = Checkpoint(_segment(loop, left)) if left else None
    run = lambda *xs: list(bind_all(outer, *xs))  # noqa: E731
    return _by_parts(loop, size, run, end, consts, carry, rows)


def stepped(
    loop: Scan,
    unroll: int,
    store: Store,
    consts: Sequence[Handle],
    carry: Sequence[Handle],
    rows: Sequence[Handle],
) -> list[Handle]:
    """Run a loop as ``segmented`` does, with ``unroll`` steps in its body."""
    size = min(unroll, loop.length)
    if size == 1:
        return segmented(loop, store, consts, carry, rows)
    count, left = divmod(loop.length, size)
    outer = loop.replaced(body=_steps(loop, size), length=count)

    def run(*xs: Handle) -> list[Handle]:
        first, after = loop.consts, loop.rows
        return segmented(outer, store, xs[:first], xs[first:after], xs[after:])

    end = loop.replaced(length=left) if left else None
    return _by_parts(loop, size, run, end, consts, carry, rows)


def _revolved(
    loop: Scan, slots: int, known: dict[tuple[int, int], Fragment], operands: Sequence[Handle]
) -> list[Handle]:
    """Run a loop whose carries reverse mode stores in so many slots; see ``revolve.py``."""
    fixed, carry = operands[: loop.consts], operands[loop.consts : loop.rows]
    done, found = 0, []
    for steps, own in split(loop.length, slots):
        start = loop.length - done - steps if loop.reverse else done
        rows = [rows_between(x, start, start + steps) for x in operands[loop.rows :]]
        part = loop.replaced(length=steps)
        if done + steps == loop.length:
            results: Sequence[Handle] = bind_all(
                part.replaced(body=again(part.body)), *fixed, *carry, *rows
            )
        else:
            if (steps, own) not in known:
                known[steps, own] = _closed(
                    part, lambda part, xs, own=own: _revolved(part, own, known, xs)
                )
            results = bind_all(Checkpoint(known[steps, own]), *fixed, *carry, *rows)
        carry = results[: loop.carried]
        found.append(results[loop.carried :])
        done += steps
    ordered = found[::-1] if loop.reverse else found
    stacks = [ys[0] if len(ys) == 1 else concatenate(ys, 0) for ys in zip(*ordered, strict=True)]
    return [*carry, *stacks]


def again(body: Fragment) -> Fragment:
    """Return a closed graph whose derivative computes its values again."""
    inputs = [Handle(new_leaf(f"x{i}", aval)) for i, aval in enumerate(body.input_avals)]
    outputs = bind_all(Checkpoint(body), *inputs)
    return Fragment.of([x.key for x in inputs], [y.key for y in outputs])


def _by_parts(
    loop: Scan,
    size: int,
    run: Callable[..., list[Handle]],
    end: Any,
    consts: Sequence[Handle],
    carry: Sequence[Handle],
    rows: Sequence[Handle],
) -> list[Handle]:
    """Run whole parts of ``size`` steps by ``run``, and the rest by the operation ``end``."""
    count, left = divmod(loop.length, size)
    whole = count * size
    first = left if loop.reverse else 0  # of the rows that belong to whole parts
    split = [
        reshape(rows_between(x, first, first + whole), (count, size, *x.shape[1:])) for x in rows
    ]
    found = run(*consts, *carry, *split)
    last = list(found[: loop.carried])
    stacks = [reshape(y, (whole, *y.shape[2:])) for y in found[loop.carried :]]
    if end is None:
        return [*last, *stacks]
    start = 0 if loop.reverse else whole
    rest = [rows_between(x, start, start + left) for x in rows]
    ends = bind_all(end, *consts, *last, *rest)
    pairs = zip(stacks, ends[loop.carried :], strict=True)
    joined = [concatenate((b, a) if loop.reverse else (a, b), 0) for a, b in pairs]
    return [*ends[: loop.carried], *joined]


def _segment(loop: Scan, size: int) -> Fragment:
    """Return some steps of a loop as a closed graph that is a loop."""
    return _closed(loop.replaced(length=size), lambda part, xs: bind_all(part, *xs))


def _steps(loop: Scan, size: int) -> Fragment:
    """Return some steps of a loop as a closed graph, one behind the other."""
    return _closed(loop.replaced(length=size), steps_of)


def _closed(part: Scan, run: Callable[..., Sequence[Handle]]) -> Fragment:
    count = len(part.body.input_avals)
    inputs = [Handle(new_leaf(f"x{i}", part.input_aval(i))) for i in range(count)]
    outputs = run(part, inputs)
    return Fragment.of([x.key for x in inputs], [y.key for y in outputs])
