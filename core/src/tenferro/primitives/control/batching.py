"""Batches of loops and branches: their bodies, batched. Read next: ``unrolled.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph import Fragment, ValueKey, new_leaf
from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import bind_all, in_front
from tenferro.primitives.arithmetic import clamp
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.constants import constant
from tenferro.primitives.control.effects import has_effects
from tenferro.primitives.control.scan import Scan
from tenferro.primitives.control.switch import Switch
from tenferro.primitives.control.while_loop import WhileLoop
from tenferro.primitives.indexing import dynamic_slice
from tenferro.primitives.reduction import argmax, reduce_or
from tenferro.primitives.structural import broadcast_in_dim, convert, reshape, transpose
from tenferro.tidu import MissingRuleError, is_pin


def batched_scan(
    loop: Scan, batch: Callable[..., Any], size: int, batched: Sequence[bool], xs: Sequence[Handle]
) -> list[Handle]:
    """Return the outputs of a loop for all examples, with their axis in front."""
    on = list(batched)
    while True:
        leaves, outputs, plain = batched_body(loop.body, batch, size, on)
        more = [
            i for i in range(loop.carried) if outputs[i] is not None and not on[loop.consts + i]
        ]
        if not more:
            break
        for i in more:
            on[loop.consts + i] = True
    is_batched = [
        y is not None or (i < loop.carried and on[loop.consts + i]) for i, y in enumerate(outputs)
    ]
    triples = zip(outputs, plain, is_batched, strict=True)
    results = [_whole_output(y, key, b, size).key for y, key, b in triples]
    operands = []
    for i, x in enumerate(xs):
        if on[i] and i >= loop.rows:  # steps first, then examples
            operands.append(transpose(x, (1, 0, *range(2, x.ndim))))
        else:
            operands.append(in_front(x, batched[i], size) if on[i] else x)
    whole = loop.replaced(body=Fragment.of(leaves, results, is_pin))
    found = bind_all(whole, *operands)
    return [
        _examples_first(y, i >= loop.carried, is_batched[i], size)
        for y, i in zip(found, loop.outputs, strict=True)
    ]


def _whole_output(y: Handle | None, plain: ValueKey, is_batched: bool, size: int) -> Handle:
    """Return an output of a body: for all examples if ``is_batched``, else of one."""
    if y is not None:
        return y
    return in_front(Handle(plain), False, size) if is_batched else Handle(plain)


def _examples_first(y: Handle, is_stacked: bool, is_batched: bool, size: int) -> Handle:
    """Return a result with the axis of examples in front."""
    if is_stacked and is_batched:
        return transpose(y, (1, 0, *range(2, y.ndim)))
    return in_front(y, is_batched, size)


def batched_body(
    body: Fragment, batch: Callable[..., Any], size: int, on: Sequence[bool]
) -> tuple[list[ValueKey], list[Handle | None], list[ValueKey]]:
    """Return fresh inputs, and outputs for all examples where they differ, and for one.

    Inputs that ``on`` marks stand for all examples.
    """
    leaves = []
    examples: dict[ValueKey, Handle] = {}
    inputs = []
    for i, (aval, is_on) in enumerate(zip(body.input_avals, on, strict=True)):
        one = new_leaf(f"x{i}", aval)
        inputs.append(one)
        if not is_on:
            leaves.append(one)
            continue
        every = new_leaf(f"x{i}", _with_examples(aval, size))
        examples[one] = Handle(every)
        leaves.append(every)
    outputs = body.apply(inputs)
    return leaves, batch(outputs, examples, size), outputs


def _with_examples(aval: Aval, size: int) -> Aval:
    return aval.with_shape((size, *aval.shape))


def refuse_effects(operation: Switch | WhileLoop, what: str) -> None:
    """Raise MissingRuleError if examples differ in what they do, and a body has effects."""
    if has_effects(operation):
        raise MissingRuleError(
            f"{operation.name}: a body with effects, such as `debug.print`, under vmap\n"
            f"  got        a batch whose examples differ in {what}\n"
            "  need       a body without effects, or one condition for all examples\n"
            "  hint       call the function per example, or leave the effect out",
            primitive=operation.key,
            rule="batch",
            provider=type(operation).__module__,
        )


def batched_switch(
    switch: Switch,
    batch: Callable[..., Any],
    size: int,
    batched: Sequence[bool],
    xs: Sequence[Handle],
) -> Sequence[Handle]:
    """Return the outputs of a choice for all examples, with their axis in front."""
    on = batched[1:]
    branches = tuple([every_example(branch, batch, size, on) for branch in switch.branches])
    if not batched[0]:
        return bind_all(Switch(branches, switch.is_linear), *xs)
    refuse_effects(switch, "the branch that is taken")
    return _each_its_branch(switch, branches, size, on, xs)


def every_example(
    branch: Fragment, batch: Callable[..., Any], size: int, on: Sequence[bool]
) -> Fragment:
    """Return a branch for all examples; every result has their axis in front."""
    leaves, outputs, plain = batched_body(branch, batch, size, on)
    results = [
        in_front(Handle(key), False, size).key if y is None else y.key
        for y, key in zip(outputs, plain, strict=True)
    ]
    return Fragment.of(leaves, results, is_pin)


def _each_its_branch(
    switch: Switch,
    branches: Sequence[Fragment],
    size: int,
    on: Sequence[bool],
    xs: Sequence[Handle],
) -> list[Handle]:
    """Run each branch that an example takes, on these examples alone, and choose results.

    In the places of the other examples the branch is given the operands of the first that takes it,
    so that no value and no derivative comes from where the branch is not taken.
    """
    index = _within(xs[0], len(branches))
    results: list[Handle] = []
    for number, branch in enumerate(branches):
        taken = eq(index, constant(number, index.dtype, (size,)))
        first = convert(argmax(convert(taken, "int32"), 0), "int32")
        operands = [
            _where(taken, x, _repeated(x, first, size)) if is_on else x
            for x, is_on in zip(xs[1:], on, strict=True)
        ]
        runs = convert(reduce_or(taken, (0,)), "int32")
        inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(branch.input_avals)]
        nothing = [constant(0, y.dtype, y.shape).key for y in branch.output_avals]
        either = Switch((Fragment.of(inputs, nothing), branch), switch.is_linear)
        found = bind_all(either, runs, *operands)
        if not results:
            results = list(found)
        else:
            pairs = zip(results, found, strict=True)
            results = [_where(taken, y, before) for before, y in pairs]
    return results


def _within(index: Handle, count: int) -> Handle:
    """Return an index between the first and the last branch."""
    low = constant(0, index.dtype, index.shape)
    high = constant(count - 1, index.dtype, index.shape)
    return clamp(low, index, high)


def _repeated(x: Handle, row: Handle, size: int) -> Handle:
    """Return one row of an array in the places of all."""
    zero = constant(0, row.dtype, ())
    found = dynamic_slice(x, (row, *[zero] * (x.ndim - 1)), (1, *x.shape[1:]))
    return in_front(reshape(found, x.shape[1:]), False, size)


def _where(mask: Handle, x: Handle, y: Handle) -> Handle:
    """Choose whole examples."""
    return select(broadcast_in_dim(mask, x.shape, (0,)), x, y)


def batched_while(
    loop: WhileLoop,
    batch: Callable[..., Any],
    size: int,
    batched: Sequence[bool],
    xs: Sequence[Handle],
) -> list[Handle]:
    """Return the outputs of a loop for all examples; one that has finished keeps its carry."""
    on = list(batched)
    carries = range(loop.carried)
    while True:
        leaves, outputs, plain = batched_body(loop.body, batch, size, on)
        tested, going, (goes,) = batched_body(loop.condition, batch, size, on)
        each_ends = going[0] is not None  # every example has its own number of steps
        more = [
            loop.consts + i
            for i in carries
            if not on[loop.consts + i] and (each_ends or outputs[i] is not None)
        ]
        if not more:
            break
        for i in more:
            on[i] = True
    results = [_whole_output(outputs[i], plain[i], on[loop.consts + i], size) for i in carries]
    if going[0] is not None:
        refuse_effects(loop, "the number of steps")
        again = Handle(Fragment.of(tested, [going[0].key], is_pin).apply(leaves)[0])
        goes = reduce_or(going[0], (0,)).key
        kept = [Handle(leaf) for leaf in leaves[loop.consts :]]
        results = [_where(again, y, before) for y, before in zip(results, kept, strict=True)]
    whole = WhileLoop(
        Fragment.of(tested, [goes], is_pin),
        Fragment.of(leaves, [y.key for y in results], is_pin),
        loop.consts,
        loop.outputs,
        loop.is_linear,
    )
    operands = [in_front(x, b, size) if o else x for x, b, o in zip(xs, batched, on, strict=True)]
    found = bind_all(whole, *operands)
    return [
        in_front(y, on[loop.consts + i], size) for y, i in zip(found, loop.outputs, strict=True)
    ]
