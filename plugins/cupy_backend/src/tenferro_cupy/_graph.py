"""Replay of a program as CUDA graphs: one launch for all its kernels, or a few with long loops.

The first call runs the steps, which compiles kernels and creates handles. The second call captures
them on the backend's own stream, with memory that only the graphs use. Each call copies its
operands into the graphs' inputs, and copies the results out. Streams wait for each other by
events, so the host never waits. Read next: `_graph_memory.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import Any

from tenferro.backend import UnsupportedError
from tenferro.primitives.control import Bound, Switch, WhileLoop
from tenferro_cupy._graph_memory import GraphMemory
from tenferro_cupy.plan.planned import Plan
from tenferro_cupy.plan.recording import RECORDER, Recorder

__all__ = ["GraphRunner", "check_capturable"]

#: They read a number from the device, which a capture cannot do, or call Python; cuSOLVER finds
#: eigenvalues of general matrices on the host in part.
_WAITS = frozenset(op.key for op in (Bound, Switch, WhileLoop)) | {
    *("std::debug_callback", "std::host_callback"),
    *("std::eig", "std::eigvals", "std::matrix_function"),
}


def check_capturable(plan: Plan) -> None:
    """Raise UnsupportedError if a step of a plan would wait for the device."""
    keys = set(_keys(plan.program.nodes)) & _WAITS
    if keys:
        names = ", ".join(sorted(keys))
        raise UnsupportedError(
            f"cupy: cuda_graph=True cannot capture {names}, which waits for the device\n"
            "  hint       leave the option out",
            backend="cupy",
            feature="cuda_graph",
            instead="",
        )


def _keys(nodes: Iterable[Any]) -> Iterator[str]:
    """Yield the keys of operations, and of those in their bodies."""
    waiting = [*nodes]
    while waiting:
        operation = waiting.pop()[0]
        yield getattr(operation, "key", "")
        for _, body in getattr(operation, "bodies", ()):
            waiting += body.flat.nodes


class GraphRunner:
    """Runs a function of operands, then captures it, then replays the capture."""

    def __init__(self, cupy: Any, run: Callable[..., Sequence[Any]]) -> None:
        self.cupy = cupy
        self.run = run
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.memory = GraphMemory(cupy)
        self.pieces: Sequence[Callable[[], Any]] | None = None
        self.is_warm = False
        self.lock = Lock()  # the inputs of the graphs belong to one call at a time
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def __call__(self, *operands: Any) -> list[Any]:
        """Return the results, which are copies that the next call does not write to."""
        caller = self.cupy.cuda.get_current_stream()
        with self.lock, self.stream:
            self.stream.wait_event(caller.record())
            results = self._results(operands)
            done = self.stream.record()
        caller.wait_event(done)
        return results

    def _results(self, operands: Sequence[Any]) -> list[Any]:
        if not self.is_warm:
            results = list(self.run(*operands))
            self.is_warm = True  # not after an error, which may leave kernels to be compiled
            return results
        pieces = self.pieces if self.pieces is not None else self._capture(operands)
        for place, operand in zip(self.inputs, operands, strict=True):
            place[...] = operand
        for piece in pieces:
            piece()
        return [output.copy() for output in self.outputs]

    def _capture(self, operands: Sequence[Any]) -> Sequence[Callable[[], Any]]:
        """Record the launches of one run; nothing is computed yet.

        If memory runs out, the capture ends, free memory goes back to the device, and one more
        capture begins.
        """
        for may_retry in (True, False):
            try:
                self.pieces = self._recorded(operands)
                return self.pieces
            except self.cupy.cuda.memory.OutOfMemoryError:
                self.inputs = []
                if not may_retry:
                    raise
            self.memory.free()  # after the handler: the error's frames hold arrays
        raise AssertionError("unreachable")

    def _recorded(self, operands: Sequence[Any]) -> Sequence[Callable[[], Any]]:
        """Return what a replay calls."""
        self.inputs = [self.cupy.empty(x.shape, x.dtype) for x in operands]
        recorder = Recorder(self.stream)
        token = RECORDER.set(recorder)
        try:
            with self.memory.in_use():
                recorder.begin()
                self.outputs = list(self.run(*self.inputs))
                recorder.end()
        finally:
            RECORDER.reset(token)
            recorder.abort()
        return recorder.pieces
