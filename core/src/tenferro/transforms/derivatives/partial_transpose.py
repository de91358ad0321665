"""Partial transpose of a linear map: some of its blocks transposed, the others as they were.

The Jacobian of f at a point consists of blocks, one per result and argument. The blocks between
chosen arguments and chosen results are transposed, and those between the others stay. A block
between a chosen and another side would have no place in the new map, so it must be zero.
Read next: ``derivatives/linear_map.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.computegraph import ValueKey
from tenferro.primitives._boundary import bounded
from tenferro.tidu import Linearization, MixedFlowError
from tenferro.transforms.derivatives.directions import flow_key, mismatch
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.loans import Loans

if TYPE_CHECKING:
    from tenferro.transforms.derivatives.linear_map import Linearized

Positions = int | Sequence[int]


class Side(NamedTuple):
    """An argument or a result of the function: its leaves, and its structure."""

    is_argument: bool
    position: int
    first: int
    spec: Any

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{'argument' if self.is_argument else 'result'} {self.position}"

    def of(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """Return its leaves among all those of arguments or results."""
        return leaves[self.first : self.first + self.spec.num_leaves]


class PartialTranspose:
    """A linear map with some arguments and results transposed.

    Call it with one value per input: cotangents of the transposed results first, then tangents of
    the other arguments. It returns a tuple: cotangents of the transposed arguments first, then
    tangents of the other results.

    >>> import tenferro as tn
    >>> y, df = tn.linearize(lambda a, b: (3 * a, 5 * b), 1.0, 1.0)
    >>> transposed = df.transpose(inputs=0, outputs=0)
    >>> transposed(10.0, 1.0)
    (np.float64(30.0), np.float64(5.0))
    """

    def __init__(self, linearized: Linearized, takes: list[Side], gives: list[Side]) -> None:
        self._linearized = linearized
        self._takes = takes
        self._gives = gives

    @bounded("linearize")
    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Apply the map to one value per input."""
        if len(values) != len(self._takes):
            need = ", ".join([_described(side) for side in self._takes])
            raise mismatch(f"{len(values)} values", f"{len(self._takes)}: {need}")
        with Loans() as loans:
            return self._apply(values, loans)

    def transpose(
        self, *, inputs: Positions | None = None, outputs: Positions | None = None
    ) -> PartialTranspose:
        """Transpose some inputs and outputs of this map, all of them by default.

        Transposing the same ones twice gives the first map back.

        Raises
        ------
        MixedFlowError
            If a transposed output depends on an input that stays, or the other way round.
        """
        into = _chosen(inputs, self._takes, "inputs")
        out = _chosen(outputs, self._gives, "outputs")
        takes = [*out, *[side for side in self._takes if side not in into]]
        gives = [*into, *[side for side in self._gives if side not in out]]
        transposed = PartialTranspose(self._linearized, takes, gives)
        transposed._check_separate()
        return transposed

    def _apply(self, values: Sequence[Any], loans: Loans) -> tuple[Any, ...]:
        found = self._linearized
        wrt, results = found.recording.wrt, found.outputs
        tangents: list[Any] = [None] * len(wrt)
        cotangents: list[Any] = [None] * len(results)
        for i, (value, side) in enumerate(zip(values, self._takes, strict=True)):
            keys, prefix, given = (
                (wrt, "d", tangents) if side.is_argument else (results, "ct", cotangents)
            )
            own = side.of(keys)
            place = slice(side.first, side.first + len(own))
            given[place] = found.directions(value, own, side.spec, prefix, loans, f"values[{i}]")
        plain = not any([isinstance(x, Array) for x in _tree.flatten(values)[0]])
        return self._delivered(*found.both_ways(tangents, cotangents), plain)

    def _delivered(self, ahead: Sequence[Any], back: Sequence[Any], plain: bool) -> tuple[Any, ...]:
        """Return the outputs of this map, given the flow at all results and all arguments."""
        found = self._linearized
        keys: list[ValueKey] = []
        for side in self._gives:
            like, flow = (found.recording.wrt, back) if side.is_argument else (found.outputs, ahead)
            pairs = zip(side.of(like), side.of(flow), strict=True)
            keys += [flow_key(key, value) for key, value in pairs]
        leaves = iter(found.delivered(keys, plain))
        trees = [(side.spec, [next(leaves) for _ in range(side.spec.num_leaves)])
                 for side in self._gives]  # fmt: skip
        return tuple([_tree.unflatten(spec, part) for spec, part in trees])

    def _check_separate(self) -> None:
        """Raise MixedFlowError if a block between a transposed and a forward side is not zero."""
        for sides, transposed in ((self._takes, "result"), (self._gives, "argument")):
            arguments = [side for side in sides if side.is_argument]
            for result in [side for side in sides if not side.is_argument]:
                for argument in arguments:
                    if _depends(self._linearized.linear, result, argument):
                        raise at_user_line(_mixed(result, argument, transposed))


def _depends(linear: Linearization, result: Side, argument: Side) -> bool:
    """Return True if something flows from an argument to a result."""
    seeds = [None if seed is None else seed.key for seed in argument.of(linear.seeds)]
    ends = [None if end is None else end.key for end in result.of(linear.ends)]
    return any(linear.between(seeds, ends).reached)


def _mixed(result: Side, argument: Side, transposed: str) -> MixedFlowError:
    """Make the error about a result and an argument where one alone is transposed."""
    first, second = (result, argument) if transposed == "result" else (argument, result)
    return MixedFlowError(
        f"{result.name} depends on {argument.name}, and only one of them is transposed\n"
        f"  got        {first.name} transposed, {second.name} as it was\n"
        f"  need       both or neither, since that part of the map would be lost\n"
        f"  hint       transpose {second.name} too, or linearize a function that closes over what"
        " is held fixed",
        output=result.position,
    )


def sides_of(linearized: Linearized) -> tuple[list[Side], list[Side]]:
    """Return the arguments and the results; each item of a tuple or list is one."""
    recording = linearized.recording
    out_spec = recording.out_spec
    tree = _tree.unflatten(out_spec, range(len(linearized.outputs)))
    specs = [out_spec]
    if type(tree) in (tuple, list):
        specs = [_tree.flatten(part)[1] for part in tree]
    return _placed(recording.specs, True), _placed(specs, False)


def _placed(specs: Sequence[Any], is_argument: bool) -> list[Side]:
    found, first = [], 0
    for position, spec in enumerate(specs):
        found.append(Side(is_argument, position, first, spec))
        first += spec.num_leaves
    return found


def _described(side: Side) -> str:
    """Return what a side stands for among the inputs of a map."""
    return f"{'tangent' if side.is_argument else 'cotangent'} of {side.name}"


def _chosen(positions: Positions | None, sides: Sequence[Side], what: str) -> list[Side]:
    """Return the sides at some positions.

    Raises ValueError: if one is named twice, or there is none at a position.
    """
    if positions is None:
        return [*sides]
    count = len(sides)
    numbers = [positions] if isinstance(positions, int) else [*positions]
    if all([type(i) is int and -count <= i < count for i in numbers]):
        found = [sides[i] for i in numbers]
        if len({side[:2] for side in found}) == len(found):
            return found
    raise at_user_line(
        ValueError(
            f"transpose: {what} are distinct positions among {count} {what} of the map\n"
            f"  got        {positions!r}"
        )
    )
