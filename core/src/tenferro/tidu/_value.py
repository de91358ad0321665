"""Values as rules see them, and the sweeps whose flow they carry.

A value is a key together with its flow: the sweeps in which it is active. Flow belongs to the
handle and not to the key, because one value can be primal and tangent at once (``jvp(f, x, x)``),
and because a rule may itself run a transform, so that several sweeps are open together.
Read next: ``_primitive.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from tenferro._runtime import after_fork_in_child
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Definition, Operation, ValueKey, inputs_of, outputs_of

if TYPE_CHECKING:
    from tenferro.tidu._linear_space import LinearSpace

_process = ""


def _name_process() -> None:
    """Give this process, which may be a forked child, a name of its own."""
    global _process
    _process = os.urandom(6).hex()


_name_process()
after_fork_in_child(_name_process)
_serials = count()


class SweepId(NamedTuple):
    """Identity of one run of a transform: unique over processes, so it survives pickling."""

    process: str
    serial: int


def fresh_id() -> SweepId:
    """Return an identity that no other call has returned."""
    return SweepId(_process, next(_serials))


Mask = tuple[bool, ...]


class LinearNode(NamedTuple):
    """One equation of linear flow: its first output, and the inputs through which flow runs."""

    key: ValueKey
    definition: Definition
    active_mask: Mask

    @property
    def operation(self) -> Any:
        """The operation that is applied."""
        return self.definition[0]

    @property
    def inputs(self) -> tuple[ValueKey, ...]:
        """Inputs of the operation."""
        return inputs_of(self.definition)

    @property
    def outputs(self) -> tuple[ValueKey, ...]:
        """All that it makes."""
        return outputs_of(self.key, self.definition)


_new_node: Callable[[tuple[Any, ...]], LinearNode] = partial(tuple.__new__, LinearNode)  # in C


class LinearNodes(NamedTuple):
    """Equations of linear flow in the order of emission, as three lists that run together."""

    keys: list[ValueKey]
    definitions: list[Definition]
    masks: list[Mask]

    def each(self) -> Iterator[LinearNode]:
        """Yield the equations one by one."""
        return map(_new_node, zip(self.keys, self.definitions, self.masks, strict=True))

    def backward(self) -> Iterator[tuple[ValueKey, Definition, Mask]]:
        """Yield keys, definitions and masks, last equation first."""
        columns = reversed(self.keys), reversed(self.definitions), reversed(self.masks)
        return zip(*columns, strict=True)


class Sweep:
    """One walk of a transform over equations: what it has emitted so far, in order."""

    __slots__ = ("id", "kept", "nodes", "operation", "rule", "seeds", "source", "space",
                 "transposed")  # fmt: skip

    def __init__(self, space: LinearSpace, transposed: bool, kept: bool = False) -> None:
        self.id = fresh_id()
        self.space = space
        self.transposed = transposed
        self.kept = kept  # its nodes will be applied again or transposed
        self.nodes: dict[ValueKey, Mask] = {}  # by the first output: the inputs that are active
        self.seeds: set[ValueKey] = set()  # fresh ones only: a given one may be a primal too
        self.operation: Operation | None = None  # whose rule is running, for messages
        self.rule = "transpose" if transposed else "jvp"
        self.source: Any = None  # where the operation was recorded: what its rule emits is there


Flow = tuple[Sweep, ...]  # by age, oldest first
NO_FLOW: Flow = ()


def join_flow(left: Flow, right: Flow) -> Flow:
    """Return the sweeps of both, oldest first."""
    if not left or left is right:
        return right
    joined = {*left, *right}
    return left if len(joined) == len(left) else tuple(sorted(joined, key=lambda p: p.id.serial))


class Value:
    """A graph value in the hands of a rule."""

    __slots__ = ("flow", "key")

    def __init__(self, key: ValueKey, flow: Flow = NO_FLOW) -> None:
        self.key = key
        self.flow = flow

    @property
    def aval(self) -> Any:
        """Abstract value."""
        return self.key.aval

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"


def is_kept(values: Sequence[Value]) -> bool:
    """Return True if one of the values is active in a sweep whose nodes are kept."""
    return any([sweep.kept for value in values for sweep in value.flow])


def joint_flow(values: Sequence[Value | None]) -> Flow:
    """Return the joint flow of values."""
    flow = NO_FLOW
    for value in values:
        if value is not None:
            flow = join_flow(flow, value.flow)
    return flow


class Residual(NamedTuple):
    """An input of a linear operation that carries no flow: a coefficient."""

    value: Value


class FlowInput(NamedTuple):
    """An input of a linear operation that carries flow: only its abstract value may be read.

    ``primal`` is the key of the value whose tangent this is, where there is one.
    """

    aval: Any
    primal: ValueKey | None = None
