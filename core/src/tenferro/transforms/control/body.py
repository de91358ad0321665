"""The body of a loop or branch: recorded once, on values that are not known.

What the body reads from outside becomes a const, an input that every step reads whole. So does what
it computes of such values alone: that is done once, before the loop. Where the body calls a
function that brings its own derivative, all of it stays inside: the function must show what it
closes over. So does all that a branch computes, which runs only if it is taken. Read next:
``scan.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, evaluate_keys, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS, evaluable
from tenferro.arrays.handle.bodies import recording_body
from tenferro.arrays.handle.convert import ScalarName, is_operand, memo_here
from tenferro.arrays.handle.weak import WeakName, is_counter, is_weak
from tenferro.arrays.promotion.broadcast import weak
from tenferro.backend import select_backend
from tenferro.computegraph import (
    Definition,
    Fragment,
    ValueKey,
    inputs_of,
    is_literal,
    new_leaf,
    outputs_of,
    postorder,
)
from tenferro.primitives import Handle, concatenate, convert, reshape
from tenferro.primitives._aval import Aval
from tenferro.primitives._source import caller
from tenferro.primitives.reduction import reduce_or
from tenferro.tidu import Trace, flow_of, in_rule, is_pin, pinned_leaf
from tenferro.transforms.errors import BodyError, refused_body
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import Name, has_dtype, make_known, own_handle
from tenferro.transforms.recording.effects import collecting
from tenferro.transforms.recording.loans import nested_body, remembered_leaf
from tenferro.transforms.recording.run_or_record import (
    deliver,
    known_array,
    pending,
    run_or_record,
)

_SCALARS = frozenset(SCALARS)
_RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


class Leaf(NamedTuple):
    """An input of a body: what to call it, its aval, and whether its dtype yields to others.

    That of a counter yields to floats and complex numbers only.
    """

    label: str
    aval: Aval
    weak: bool = False
    is_counter: bool = False

    def counting(self) -> Leaf:
        """Return the same input as a counter."""
        return self._replace(weak=True, is_counter=True)

    def named(self, serial: int) -> Name | WeakName:
        """Return the name of the input with this serial."""
        if not self.weak:
            return Name(self.label, serial)
        return WeakName(self.label, serial, is_counter=self.is_counter)


class Recorded(NamedTuple):
    """A body that was called: its inputs, its outputs, and how the result was structured.

    A remembered body has values that earlier calls of the function around it recorded, from serial
    ``start`` on. What a call records anew before the body counts as inside: `closed` hoists it.
    """

    inputs: list[ValueKey]
    outputs: list[Array]
    spec: Any
    result: Any
    start: int  # serial of a key that was made before anything inside
    effect: ValueKey | None = None  # a token that says that all effects have happened

    def definitions_inside(self) -> Callable[[ValueKey], Definition | None]:
        """Return the function that gives the definitions of values that were made inside."""
        inputs, start = set(self.inputs), self.start

        def definition_of(key: ValueKey) -> Definition | None:
            return None if key in inputs or key.serial < start else key.definition

        return definition_of


#: What such a body makes of its closure must stay in it: outside, it would be computed and
#: differentiated although the body does not run. A memo finds values from before the body.
_MAY_NOT_RUN = frozenset(("cond", "switch", "while_loop"))
#: Where a remembered function records such a body, later calls find its values again.
_REMEMBERED = frozenset(("fori_loop", "scan"))


def record_body(
    name: str,
    call: Callable[[list[Array]], Any],
    leaves: Sequence[Leaf],
    has_effects: bool = False,
    is_remembered: bool = False,
) -> Recorded:
    """Call the body on fresh values.

    Where a remembered function records a body that ``is_remembered``, later calls find its values
    again, as those of ``scan``.

    Raises BodyError: if it prints or calls back, unless it is one that ``has_effects``.
    """
    if name in _MAY_NOT_RUN and (memo := memo_here()) is not None:
        memo.end()
    nested = nested_body(name, leaves) if is_remembered or name in _REMEMBERED else None
    trace = Trace(abstract=True, sealed=name) if nested is None else nested.trace
    pins = [] if nested is None else nested.pins
    if not pins:
        pins.append(new_leaf("start", None))
        pins += _inputs(leaves, trace, remembered=nested is not None)
    start, inputs = pins[0].serial, pins[1:]
    try:
        with recording_body(name, _cure(name)), collecting(every_step=has_effects) as effects:
            result = call([Array(key) for key in inputs])
        effect = _one_token(effects) if effects else None
    finally:
        trace.open = False
    if effects and not has_effects:
        raise refused_body(
            name,
            "the body has an effect, such as `debug.print`",
            "an effect",
            "a body without effects",
            hint="`with tn.debug.unrolled():` runs Python's loop, in which they work",
        )
    flat, spec = _tree.flatten(result)
    outputs = [output(name, x) for x in flat]
    return Recorded(inputs, outputs, spec, result, start, effect)


def _inputs(leaves: Sequence[Leaf], trace: Trace, remembered: bool) -> list[ValueKey]:
    """Make the inputs of a body; later calls of a remembered function have them, too."""
    serial = trace.id.serial
    make: Any = remembered_leaf if remembered else pinned_leaf
    return [make(leaf.named(serial), leaf.aval, trace) for leaf in leaves]


def _cure(name: str) -> str:
    """Return what to write instead of an assignment to an array from outside."""
    if name in ("scan", "fori_loop", "while_loop"):
        return "make the array a part of the carry: take it from the carry and return it"
    return "return the new value as a result, and assign it behind the call"


def _one_token(effects: Sequence[ValueKey]) -> ValueKey:
    """Return a token of rank 0 for all effects, which keeps their order."""
    tokens = [Handle(key) for key in effects]
    if len(tokens) == 1 and not tokens[0].ndim:
        return effects[0]
    rows = [reshape(x, (x.size,)) for x in tokens]  # an operation that does not reorder its inputs
    return reduce_or(concatenate(rows, 0), (0,)).key


def with_effect(recorded: Recorded, carry: Sequence[ValueKey]) -> tuple[Fragment, list[Array]]:
    """Return the body as a closed graph of the next carry and the token of its effects.

    Nothing of it moves out of the loop, so that effects happen at every step.
    """
    assert recorded.effect is not None
    outputs = [*carry, recorded.effect]
    consts = read_from_outside(recorded, outputs, hoists=False)
    body = Fragment.of([*consts, *recorded.inputs], outputs, is_pin)
    return body, [outer_array(key) for key in consts]


def output(name: str, leaf: Any) -> Array:
    """Return a leaf of what a body returned as an Array.

    Raises BodyError: for anything but arrays and numbers.
    """
    if isinstance(leaf, Array):
        return _no_number(leaf)
    if type(leaf) in _SCALARS:
        return as_array(leaf)
    if is_operand(leaf) and has_dtype(leaf):
        return as_array(leaf)
    got = type(leaf).__name__
    raise refused_body(name, "wrong result of the body", got, "arrays and numbers")


def closed(recorded: Recorded, outputs: Sequence[ValueKey]) -> tuple[Fragment, list[Array]]:
    """Return the body as a closed graph whose first inputs are what it reads from outside."""
    consts = read_from_outside(recorded, outputs)
    body = Fragment.of([*consts, *recorded.inputs], outputs, is_pin)
    return body, [outer_array(key) for key in consts]


def outer_array(key: ValueKey) -> Array:
    """Return a value from outside, with the flow that it carries."""
    return Array(key, flow_of(key))


def read_from_outside(
    recorded: Recorded, outputs: Sequence[ValueKey], hoists: bool = True
) -> list[ValueKey]:
    """Return the values from outside that the outputs need, or what depends on these alone.

    A branch does not hoist: what it computes is not computed where another one is taken.
    """
    inside = set(recorded.inputs)
    order, definitions, leaves = postorder(outputs, recorded.definitions_inside())
    if not hoists or any([definition[0].volatile for definition in definitions]):
        outside = [key for key in leaves if key not in inside]
        return [key for key in outside if not is_literal(key)]
    read: dict[ValueKey, None] = {}
    for key, definition in zip(order, definitions, strict=True):
        given = inputs_of(definition)
        if not inside.isdisjoint(given):
            inside.update(outputs_of(key, definition))
            read.update(dict.fromkeys([x for x in given if x not in inside]))
    read.update(dict.fromkeys([key for key in outputs if key not in inside]))
    return [key for key in read if not is_literal(key)]


def given_arrays(tree: Any, name: str) -> tuple[list[Array], Any, list[str], bool]:
    """Return the arrays of an argument, its structure, their paths, and if all came as operands."""
    flat, spec = _tree.flatten(tree)
    paths = _tree.paths(tree, name)
    plain = True
    arrays = []
    for leaf, path in zip(flat, paths, strict=True):
        if isinstance(leaf, Array):
            plain = False
            make_known(leaf)
            leaf = _no_number(leaf)
        elif not (type(leaf) in _SCALARS or (is_operand(leaf) and has_dtype(leaf))):
            text = f"{path} is not an array\n  got        {leaf!r:.60}"
            text += "\n  need       arrays and numbers"
            error = BodyError(text, got=type(leaf).__name__, need="arrays and numbers", leaf=path)
            raise at_user_line(error)
        arrays.append(as_array(leaf))
    return arrays, spec, paths, plain


def _no_number(x: Array) -> Array:
    """Return another handle on the value of an Array, for which `is_number` is False.

    ``asarray(2.0)`` is of float64, and stays so; it shares its input with the number 2.0.
    """
    key = x.key
    return known_array(key.operand, x.aval) if type(key.identity) is ScalarName else own_handle(x)


def is_number(x: Array) -> bool:
    """Return True for a number, or an argument that was one, whose dtype yields to others.

    It is asked for what `given_arrays` and `output` return.
    """
    return is_weak(x) or type(x.key.identity) is ScalarName


def fits(x: Array, aval: Aval) -> bool:
    """Return True for a value of this aval, or a number that it can hold: 1 as a float, not 1.5
    as an integer.
    """
    if x.aval == aval:
        return True
    rank, most = _RANK[x.dtype.category], _RANK[aval.dtype.category]
    return x.shape == aval.shape and is_number(x) and rank <= most


def held(x: Array, aval: Aval) -> Array:
    """Return a value that fits in the dtype of the aval; a Python integer must be in its range.

    It may be one of a body whose call is over: the conversion belongs to that body.
    """
    key = x.key
    if x.aval == aval:
        return x
    if type(key.operand) in _SCALARS and key.definition is None and not key.traces:
        return weak(key.operand, aval)
    y = convert(Handle(key, x.flow), aval.dtype)
    y.key.source = y.key.source or key.source or caller()
    return Array(y.key, y.flow)


def highest(values: Sequence[Array]) -> Array:
    """Return the value whose dtype all numbers among the values yield to."""
    others = [x for x in values if not is_number(x)]
    return others[0] if others else max(values, key=lambda x: _RANK[x.dtype.category])


def leaf_of(x: Array, label: str) -> Leaf:
    """Return the input of a body that stands for a carried value."""
    return Leaf(label, x.aval, is_number(x), is_counter(x))


def retyped(leaves: Sequence[Leaf], outputs: Sequence[Array]) -> list[Leaf]:
    """Return the inputs again, each number in the dtype that the body gives it.

    All stay as they are if no dtype differs. A number stays one if the body makes a number of the
    same dtype of it: a count of steps next to a sum that takes the dtype of an array. A float does
    not become an integer: what the body returns is refused then.
    """
    if all([y.dtype is leaf.aval.dtype for leaf, y in zip(leaves, outputs, strict=True)]):
        return [*leaves]
    return [_retyped(leaf, y) for leaf, y in zip(leaves, outputs, strict=True)]


def _retyped(leaf: Leaf, y: Array) -> Leaf:
    if leaf.weak and y.dtype is leaf.aval.dtype and is_number(y):
        return leaf
    if leaf.weak and _RANK[leaf.aval.dtype.category] <= _RANK[y.dtype.category]:
        return Leaf(leaf.label, leaf.aval.with_dtype(y.dtype))
    return leaf._replace(weak=False)


def fitting(name: str, y: Array, leaf: Leaf) -> Array:
    """Return the next carry in the dtype of the carry.

    Raises BodyError: if it has another shape, or another dtype that is not that of a number.
    """
    if y.aval == leaf.aval:
        return y
    if fits(y, leaf.aval):
        return held(y, leaf.aval)
    path = leaf.label.replace("init", "carry", 1)
    hint = "convert the first carry, or what the body returns: `x.astype(…)`"
    if y.shape != leaf.aval.shape:
        hint = "make the first carry as large as it gets; parts are `buffer.at[i].set(y)`"
    fact, got, need = f"the body changes {path}", str(y.aval), str(leaf.aval)
    raise refused_body(name, fact, got, need, leaf=path, hint=hint)


def check_carry(name: str, result: Any, spec: Any) -> None:
    """Raise BodyError unless what a body returned is structured as the carry."""
    found = _tree.flatten(result)[1]
    if not _tree.same_structure(found, spec):
        got, need = _tree.describe(found), _tree.describe(spec)
        raise refused_body(name, "the body changes the structure of the carry", got, need)


def delivered(
    values: Sequence[Handle], plain: bool, consts: Sequence[Array], name: str
) -> list[Any]:
    """Return results: as operands if everything came as such, else as Arrays."""
    keys = [y.key for y in values]
    if plain and keys and not any([x.flow for x in consts]):
        return run_or_record((name,), keys, (), lambda found: found, True)
    return pending(keys)


def finished(
    values: Sequence[Any], given: Sequence[Array], plain: bool, consts: Sequence[Array], name: str
) -> list[Any]:
    """Return results, which may be known, as operands or Arrays, whichever the arguments were."""
    arrays = [as_array(x) for x in values]
    keys = [x.key for x in arrays]
    if in_rule() or any([is_traced(key) or not evaluable(key) for key in keys]):
        return delivered(arrays, plain, consts, name)
    evaluate_keys(keys)  # who looks at values has computed most of them
    operands = [key.operand for key in keys]
    chosen, avals = select_backend(None, operands), [x.aval for x in arrays]
    return deliver(operands, avals, chosen, [x.key.operand for x in given], plain)
