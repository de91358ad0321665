"""Parser of einsum subscripts: the label of each axis of each operand.

Letters and, in the interleaved form, integers are labels as they are; the axes under an ellipsis
are labelled from the right, ``...[-1]``, so that they broadcast as in NumPy. The rules are NumPy's.
Nothing here computes.
Read next: ``_order.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.primitives import Aval, InvalidParameterError, Shape, ShapeMismatchError

Label = str | int
Labels = tuple[Label, ...]
Written = tuple[tuple[Any, ...], ...]  # labels of each operand and maybe of the output, with `...`


class Subscripts(NamedTuple):
    """An einsum: the labels of all axes, what the operands' sizes are, and the size of each label.

    An axis of size 1 may have a label of another size: then it broadcasts.
    """

    inputs: tuple[Labels, ...]
    output: Labels
    shapes: tuple[Shape, ...]
    sizes: dict[Label, int]

    def __str__(self) -> str:
        return f"{','.join(map(text_of, self.inputs))}->{text_of(self.output)}"


def text_of(labels: Iterable[Label]) -> str:
    """Join labels as NumPy writes them; integers are separated by blanks."""
    found = list(labels)
    return (" " if any(type(label) is int for label in found) else "").join(map(str, found))


def of_text(subscripts: str, count: int) -> Written:
    """Parse a text such as ``"ij,jk->ik"`` into terms.

    Raises InvalidParameterError: if it is not a text of terms, or the number of operands differs.

    >>> of_text("ij, j... -> i", 2)
    (('i', 'j'), ('j', Ellipsis), ('i',))
    """
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != count:
        raise refused(
            "the number of terms differs from the number of operands",
            subscripts,
            got=f"{subscripts!r}: {len(terms)}, and {count} operands",
            need="one term per operand, separated by commas",
        )
    return tuple(_term(term, subscripts) for term in (*terms, *([right] if arrow else ())))


def _term(term: str, subscripts: str) -> tuple[Any, ...]:
    if term.count(".") not in (0, 3) or "." in term.replace("...", "", 1):
        raise refused(
            "a dot that is not part of one ellipsis",
            subscripts,
            got=f"{term!r} in {subscripts!r}",
            need="at most one '...' per operand",
        )
    before, ellipsis, after = term.partition("...")
    for character in before + after:
        if not (character.isalpha() or ord(character) > 127):
            raise refused(
                f"{character!r} is not a label",
                subscripts,
                got=f"{term!r} in {subscripts!r}",
                need="letters, '...', ',' between operands, and one '->'",
            )
    return (*before, *([...] if ellipsis else ()), *after)


def of_lists(sublists: Sequence[Any]) -> Written:
    """Parse the interleaved form, lists of integers and ``...``, into terms.

    Raises InvalidParameterError: if there is something else in a list.

    >>> of_lists([[0, 1], [1, ...]])
    ((0, 1), (1, Ellipsis))
    """
    return tuple(tuple(_integer(item, sublist) for item in sublist) for sublist in sublists)


def _integer(item: Any, sublist: Any) -> Any:
    if item is ...:
        return item
    label = item.__index__() if hasattr(item, "__index__") else -1
    if label < 0 or list(sublist).count(...) > 1:
        raise refused(
            "an item of a list is not a label",
            sublist,
            got=f"{item!r} in {sublist!r}",
            need="integers from 0, and at most one `...`",
        )
    return int(label)


def expression_of(written: Written, avals: Sequence[Aval]) -> Subscripts:
    """Return the expression for operands of these shapes.

    Raises ShapeMismatchError: if a term has not as many labels as its operand has axes, or a label
    has two sizes; InvalidParameterError: if the output has a label that no operand has.
    """
    terms = written[: len(avals)]
    inputs = tuple(_spread(i, *pair) for i, pair in enumerate(zip(terms, avals, strict=True)))
    sizes = _sizes(inputs, avals)
    hidden = sorted({x for labels in inputs for x in labels if _is_hidden(x)}, key=_place)
    if len(written) > len(avals):
        output = _explicit(written[-1], hidden, sizes)
    else:
        counts = Counter(label for term in terms for label in term)
        output = (*hidden, *sorted(x for x in counts if x is not ... and counts[x] == 1))
    return Subscripts(inputs, output, tuple(aval.shape for aval in avals), sizes)


def _spread(number: int, term: tuple[Any, ...], aval: Aval) -> Labels:
    """Return the labels of all axes of an operand; those under the ellipsis are counted from the
    right.
    """
    extra = aval.ndim - len(term) + (... in term)
    if extra < 0 or (extra and ... not in term):
        error = ShapeMismatchError.of(
            "einsum",
            f"operand {number} does not have one axis per label",
            got=f"{_shown(term)!r} for {aval}",
            need="a label per axis, or '...' for those without one",
            shapes=(aval.shape,),
            operand=number,
        )
        raise at_user_line(error)
    if ... not in term:
        return term
    place = term.index(...)
    hidden = tuple(f"...[{axis}]" for axis in range(-extra, 0))
    return (*term[:place], *hidden, *term[place + 1 :])


def _is_hidden(label: Label) -> bool:
    return type(label) is str and len(label) > 1


def _place(hidden: Label) -> int:
    return int(str(hidden)[4:-1])


def _shown(term: Iterable[Any]) -> str:
    return text_of("..." if label is ... else label for label in term)


def _sizes(inputs: Sequence[Labels], avals: Sequence[Aval]) -> dict[Label, int]:
    """Return the size of each label. An axis of size 1 in another operand broadcasts to it."""
    sizes: dict[Label, int] = {}
    seen: dict[Label, tuple[int, int]] = {}  # where a label had its size
    for number, labels in enumerate(inputs):
        for axis, label in enumerate(labels):
            n, before = avals[number].shape[axis], sizes.get(label, 1)
            inside = labels.index(label) != axis  # the axes of a diagonal never broadcast
            found = avals[number].shape[labels.index(label)] if inside else before
            if n != found and (inside or 1 not in (n, found)):
                first = (number, labels.index(label)) if inside else seen[label]
                raise _two_sizes(label, first, (number, axis), avals)
            if label not in sizes or n != 1:
                sizes[label], seen[label] = n, (number, axis)
    return sizes


def _two_sizes(
    label: Label, first: tuple[int, int], second: tuple[int, int], avals: Sequence[Aval]
) -> Exception:
    places = [f"operand {i} {avals[i]} axis {axis}" for i, axis in (first, second)]
    sizes = [avals[i].shape[axis] for i, axis in (first, second)]
    error = ShapeMismatchError.of(
        "einsum",
        f"label {str(label)!r} has two sizes",
        got=f"{places[0]} = {sizes[0]},  {places[1]} = {sizes[1]}",
        need="one size for all axes of a label (or 1, in another operand)",
        shapes=tuple(aval.shape for aval in avals),
        label=label,
        operands=(first[0], second[0]),
    )
    return at_user_line(error)


def _explicit(term: tuple[Any, ...], hidden: Sequence[Label], known: Iterable[Label]) -> Labels:
    missing = [label for label in term if label is not ... and label not in known]
    if missing:
        raise refused(
            f"the output has label {str(missing[0])!r}, which no operand has",
            _shown(term),
            got=_shown(term),
            need=f"labels out of {text_of(x for x in known if not _is_hidden(x))!r}",
            label=missing[0],
        )
    twice = [label for label, count in Counter(term).items() if count > 1]
    if twice:
        raise refused(
            f"the output has label {str(twice[0])!r} twice",
            _shown(term),
            got=_shown(term),
            need="each label once; `np.diag` puts a vector on a diagonal",
            label=twice[0],
        )
    if hidden and ... not in term:
        raise refused(
            "axes under an ellipsis are not in the output",
            _shown(term),
            got=_shown(term),
            need="'...' in the output too; name the axes that are to be summed",
        )
    if ... not in term:
        return term
    place = term.index(...)
    return (*term[:place], *hidden, *term[place + 1 :])


def refused(fact: str, value: object, *, got: str, need: str, label: Any = None) -> Exception:
    """Make the error about subscripts."""
    error = InvalidParameterError.of(
        "einsum", fact, got=got, need=need, parameter="subscripts", value=value, label=label
    )
    return at_user_line(error)
