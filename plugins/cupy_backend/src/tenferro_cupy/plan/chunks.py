"""Loops whose steps are launches of their own; a capture holds a chunk of steps, not all of them.

A graph of all steps of a long loop takes long to capture and much memory. So a chunk of steps is
captured once and launched again and again. Carried values stay at their addresses between chunks.
The rows of a chunk are copied to one place before it, and its results to their places after it.
Read next: ``recording.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.backend.numpy_like.control import Body, looped
from tenferro.primitives.control import Scan
from tenferro_cupy.plan.recording import RECORDER, Recorder, Repeated

__all__ = ["SteppedLoop"]

#: A loop of more launches is captured in chunks of at most as many.
MAX_LAUNCHES = 1024


class SteppedLoop:
    """A loop as a function of its operands: Python's, or in chunks inside of a capture.

    launches   those of all steps, about
    """

    def __init__(self, op: Scan, body: Body, launches_of_body: int, cupy: Any) -> None:
        self.op = op
        self.body = body
        self.cupy = cupy
        self.stacked = [i for i in dict.fromkeys(op.outputs) if i >= op.carried]
        self.launches_of_step = max(launches_of_body + len(self.stacked), 1)
        self.launches = op.length * self.launches_of_step

    def __call__(self, *operands: Any) -> list[Any]:
        """Return the outputs."""
        recorder = RECORDER.get()
        is_short = self.launches <= MAX_LAUNCHES
        if recorder is None or is_short or self.op.offload is not None:  # which is refused there
            return looped(self.op, self.body, self.cupy, operands)
        return _Chunks(self, operands).recorded(recorder)


class _Chunks:
    """The memory of one loop in a capture.

    rows    operands with a row for each step, in the order of the steps
    given   the rows of a chunk
    stacks  results with a row for each step, in the order of the steps
    made    their rows of a chunk
    """

    def __init__(self, loop: SteppedLoop, operands: Sequence[Any]) -> None:
        op, cupy = loop.op, loop.cupy
        self.loop, self.op = loop, op
        self.steps = max(MAX_LAUNCHES // loop.launches_of_step, 1)  # of a chunk
        self.consts = operands[: op.consts]
        self.carry = [x.copy() for x in operands[op.consts : op.rows]]
        order = slice(None, None, -1 if op.reverse else 1)
        self.rows = [x[order] for x in operands[op.rows :]]
        self.given = [cupy.empty((self.steps, *x.shape[1:]), x.dtype) for x in self.rows]
        avals = [op.body.output_avals[i] for i in loop.stacked]
        self.outputs, self.made = [
            [cupy.empty((length, *aval.shape), aval.dtype.name) for aval in avals]
            for length in (op.length, self.steps)
        ]
        self.stacks = [x[order] for x in self.outputs]

    def recorded(self, recorder: Recorder) -> list[Any]:
        """Record all chunks; return the outputs."""
        whole, rest = divmod(self.op.length, self.steps)
        parts = [self._part(whole, self.steps, 0)]
        if rest:
            parts.append(self._part(1, rest, whole * self.steps))
        recorder.repeat(parts)
        outputs = dict(zip(self.loop.stacked, self.outputs, strict=True))
        return [outputs[i] if i in outputs else self.carry[i] for i in self.op.outputs]

    def _part(self, times: int, steps: int, first: int) -> Repeated:
        """Return chunks of so many steps, from the first one."""

        def place(chunk: int) -> slice:
            return slice(first + chunk * steps, first + (chunk + 1) * steps)

        def before(chunk: int) -> None:
            for x, given in zip(self.rows, self.given, strict=True):
                given[:steps] = x[place(chunk)]

        def after(chunk: int) -> None:
            for stack, made in zip(self.stacks, self.made, strict=True):
                stack[place(chunk)] = made[:steps]

        return Repeated(lambda: self._run(steps), times, before, after)

    def _run(self, steps: int) -> None:
        """Run the steps of a chunk."""
        count, stacked = self.op.carried, self.loop.stacked
        carry: Sequence[Any] = self.carry
        for k in range(steps):
            found = self.loop.body(*self.consts, *carry, *[x[k] for x in self.given])
            carry = found[:count]
            for i, made in zip(stacked, self.made, strict=True):
                made[k] = found[i]
        self._carry_on(carry)

    def _carry_on(self, carry: Sequence[Any]) -> None:
        """Overwrite the carried values; those that are read for others are saved before."""
        changed = [(place, x) for place, x in zip(self.carry, carry, strict=True) if x is not place]
        saved = [
            (place, x.copy() if any(x.base is y or x is y for y in self.carry) else x)
            for place, x in changed
        ]
        for place, x in saved:
            place[...] = x
