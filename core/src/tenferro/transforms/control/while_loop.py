"""``while_loop``: a loop that runs as long as a condition on its carry holds.

Read next: ``fori_loop.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from tenferro.arrays import Array, as_array
from tenferro.arrays.handle.weak import same_number
from tenferro.computegraph import Fragment, ValueKey, new_leaf
from tenferro.primitives import constant, convert
from tenferro.primitives._primitive import bind, bind_all
from tenferro.primitives.bitwise import bitwise_not
from tenferro.primitives.control import Bound, WhileLoop
from tenferro.tidu import is_pin
from tenferro.transforms.control.body import (
    Leaf,
    Recorded,
    check_carry,
    delivered,
    finished,
    fits,
    fitting,
    given_arrays,
    held,
    is_number,
    leaf_of,
    outer_array,
    output,
    read_from_outside,
    record_body,
    retyped,
)
from tenferro.transforms.control.cond import ANY_OR_ALL, chosen
from tenferro.transforms.control.progress import checked_progress, while_in_blocks
from tenferro.transforms.control.scan import scan_for
from tenferro.transforms.control.unrolled import is_unrolling, steps_of_while
from tenferro.transforms.errors import check_function, refused_body
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.effects import perform

__all__ = ["while_loop"]


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init: Any,
    *,
    max_steps: int | None = None,
    progress: bool = False,
) -> Any:
    """Run ``carry = body_fun(carry)`` while ``cond_fun(carry)`` holds; return the last carry.

    Forward mode (``jvp``, ``jacfwd``) needs no bound. Reverse mode (``grad``, ``vjp``) needs
    ``max_steps``: the loop is then a ``scan`` of that length, whose steps behind the end do
    nothing.

    Parameters
    ----------
    cond_fun : callable
        Condition of the carry: an array of rank 0.
    body_fun : callable
        Step: the carry to the next one, of the same structure, shapes and dtypes.
    init : pytree of arrays
        The first carry. A Python number takes the dtype that the body gives it.
    max_steps : int, optional
        Bound of the number of steps. If the condition still holds behind it, NumPy and CuPy raise
        StepLimitError; XLA gives nan in place of floats and complex numbers.
    progress : bool, default False
        Show on standard error how far the loop is, by rich where it is installed. Only at top
        level, on values that are known.

    Returns
    -------
    pytree of arrays
        The last carry, structured as ``init``.

    Raises
    ------
    BodyError
        If the body changes the carry, or the condition is not of rank 0.
    MissingRuleError
        In reverse mode without ``max_steps``.

    Examples
    --------
    >>> import tenferro as tn
    >>> def root(a):  # by Newton's method
    ...     step = lambda x: (x + a / x) / 2
    ...     return tn.while_loop(lambda x: abs(x * x - a) > 1e-12, step, 1.0 + 0 * a, max_steps=50)
    >>> float(root(2.0)), round(float(tn.grad(root)(2.0)), 6)
    (1.414213562373095, 0.353553)
    """
    check_function(cond_fun, "while_loop")
    check_function(body_fun, "while_loop")
    return while_loop_for("while_loop", cond_fun, body_fun, init, max_steps, progress)


def while_loop_for(
    name: str,
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init: Any,
    max_steps: int | None = None,
    progress: bool = False,
    rename: Callable[[str], str] = str,
    counter: int | None = None,
) -> Any:
    """Run ``while_loop`` for the public function ``name``, which its errors and progress show.

    ``rename`` makes of the path of a leaf of ``init`` the path that the user knows. ``counter``
    is the position of a leaf of the carry that counts.
    """
    bound = None if max_steps is None else _steps(max_steps)
    shows = checked_progress(progress, name)
    start, spec, paths, plain = given_arrays(init, "init")
    leaves = [leaf_of(x, rename(path)) for x, path in zip(start, paths, strict=True)]
    if counter is not None:
        leaves[counter] = leaves[counter].counting()
    if is_unrolling():
        last = _unrolled(name, cond_fun, body_fun, (start, spec), leaves, bound)
        if last is not None:
            return _tree.unflatten(spec, finished(last, start, plain, [], name))
    if bound is not None:
        return _bounded(name, cond_fun, body_fun, init, bound, shows)
    if shows:
        return while_in_blocks(name, while_loop_for, cond_fun, body_fun, init, rename, counter)
    body, outputs = _recorded(name, body_fun, leaves, spec)
    while (promoted := retyped(leaves, outputs)) != leaves:
        leaves = promoted
        body, outputs = _recorded(name, body_fun, leaves, spec)
    results = [fitting(name, y, x) for y, x in zip(outputs, leaves, strict=True)]
    test = record_body(name, lambda values: cond_fun(_tree.unflatten(spec, values)), leaves)
    goes_on = _condition(test.outputs)
    keys = [y.key for y in results]
    consts = dict.fromkeys(
        [*read_from_outside(body, keys), *read_from_outside(test, [goes_on.key])]
    )
    loop = WhileLoop(
        Fragment.of([*consts, *test.inputs], [goes_on.key], is_pin),
        Fragment.of([*consts, *body.inputs], keys, is_pin),
        len(consts),
        tuple(range(len(start))),
    )
    outer = [outer_array(key) for key in consts]
    first = [held(x, leaf.aval) for x, leaf in zip(start, leaves, strict=True)]
    _perform(body, test, keys, goes_on.key, first)
    values = bind_all(loop, *outer, *first) if first else ()
    return _tree.unflatten(spec, delivered(values, plain, outer, name))


def _perform(
    body: Recorded,
    test: Recorded,
    carry: Sequence[ValueKey],
    goes_on: ValueKey,
    start: Sequence[Array],
) -> None:
    """Let the effects of the body happen at every step, by a loop that carries their token."""
    if body.effect is None:
        return
    outputs = [*carry, body.effect]
    consts = dict.fromkeys(
        [*read_from_outside(body, outputs, False), *read_from_outside(test, [goes_on])]
    )
    token = new_leaf("token", body.effect.aval)
    loop = WhileLoop(
        Fragment.of([*consts, *test.inputs, token], [goes_on], is_pin),
        Fragment.of([*consts, *body.inputs, token], outputs, is_pin),
        len(consts),
        (len(carry),),
    )
    outer = [outer_array(key) for key in consts]
    perform([y.key for y in bind_all(loop, *outer, *start, constant(False, "bool", ()))])


def _bounded(name: str, cond_fun: Any, body_fun: Any, init: Any, steps: int, shows: bool) -> Any:
    """Run the loop as a scan, in which steps behind the end do nothing."""
    same = lambda carry: carry  # noqa: E731

    def step(carry: Any, _: Any) -> tuple[Any, None]:
        leaves, spec = _tree.flatten(carry)
        numbers: list[bool] = []

        def checked(given: Any) -> Any:
            found = body_fun(given)
            check_carry(name, found, spec)
            outputs = [output(name, y) for y in _tree.flatten(found)[0]]
            for y, x, path in zip(outputs, leaves, _tree.paths(carry, "init"), strict=True):
                _check_leaf(name, y, x, path)
                numbers.append(is_number(y) and y.dtype is x.dtype)
            return found

        goes_on = _condition([output(name, y) for y in _tree.flatten(cond_fun(carry))[0]])
        after = chosen(name, convert(goes_on, "int32"), (same, checked), (carry,), False)
        rows = zip(_tree.flatten(after)[0], leaves, numbers, strict=True)
        kept = [same_number(y, x) if stays else y for y, x, stays in rows]
        return _tree.unflatten(spec, kept), None

    last, _ = scan_for(name, step, init, None, steps, progress=shows)
    leaves, spec = _tree.flatten(last)
    operation = Bound(steps)
    plain = not any([isinstance(x, Array) for x in leaves])
    arrays = [as_array(x) for x in leaves]
    ended = bitwise_not(convert(as_array(cond_fun(_tree.unflatten(spec, arrays))), "bool"))
    values = [bind(operation, x, ended) for x in arrays]
    return _tree.unflatten(spec, delivered(values, plain, [], name))


def _check_leaf(name: str, y: Array, x: Array, path: str) -> None:
    """Raise BodyError if the next carry fits the carry in neither direction."""
    if not (fits(y, x.aval) or fits(x, y.aval)):
        fitting(name, y, Leaf(path, x.aval))


def _recorded(
    name: str, body_fun: Callable[[Any], Any], leaves: Sequence[Leaf], spec: Any
) -> tuple[Recorded, list[Array]]:
    recorded = record_body(
        name, lambda values: body_fun(_tree.unflatten(spec, values)), leaves, True
    )
    check_carry(name, recorded.result, spec)
    return recorded, recorded.outputs


def _unrolled(
    name: str,
    cond_fun: Any,
    body_fun: Any,
    init: tuple[list[Array], Any],
    leaves: Sequence[Leaf],
    bound: Any,
) -> list[Array] | None:
    """Run Python's loop; None if the condition is not known."""
    start, spec = init

    def goes_on(values: Sequence[Array]) -> Array:
        found = _tree.flatten(cond_fun(_tree.unflatten(spec, values)))[0]
        return _condition([output(name, y) for y in found])

    def step(values: Sequence[Array]) -> list[Array]:
        found = body_fun(_tree.unflatten(spec, values))
        check_carry(name, found, spec)
        return [output(name, y) for y in _tree.flatten(found)[0]]

    return steps_of_while(name, goes_on, step, start, leaves, bound)


def _condition(outputs: Sequence[Array]) -> Array:
    if len(outputs) != 1 or outputs[0].shape:
        got = ", ".join([str(y.aval) for y in outputs]) or "nothing"
        hint = ANY_OR_ALL if len(outputs) == 1 else ""
        fact = "the condition is not a scalar"
        raise refused_body("while_loop", fact, got, "bool[]", hint=hint)
    return convert(outputs[0], "bool")


def _steps(max_steps: Any) -> int:
    try:
        found = index(max_steps)
    except TypeError:
        found = -1
    if found < 0 or isinstance(max_steps, bool):
        raise refused_body("while_loop", "max_steps is an integer", repr(max_steps), "0 or more")
    return found
