"""Frozen records behave as frozen dataclasses do."""

import copy
import pickle
from dataclasses import dataclass, field

import pytest

from tenferro._runtime.frozen import Frozen, made, replace


class Ours(Frozen, kw_only=False):
    x: int
    y: tuple = ()
    z: dict = made(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "y", tuple(self.y))


@dataclass(frozen=True)
class Theirs:
    x: int
    y: tuple = ()
    z: dict = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "y", tuple(self.y))


class Named(Frozen):
    x: int
    y: int = 2


USES = {
    "values": lambda t: (t(1, [2]).x, t(1, [2]).y, t(1).z),
    "names": lambda t: (t(y=[3], x=1).y, t(1, z={1: 2}).z),
    "text": lambda t: repr(t(1, [2])).replace(t.__name__, "T"),
    "equality": lambda t: (t(1) == t(1), t(1) == t(2), t(1) == (1, (), {})),
    "hash": lambda t: hash(t(1, (2,), 3)) == hash(t(1, (2,), 3)),
    "a default of its own": lambda t: t(1).z is t(1).z,
    "pickle": lambda t: pickle.loads(pickle.dumps(t(1, (2,)))) == t(1, (2,)),
    "copies": lambda t: (copy.copy(t(1)) == t(1), copy.deepcopy(t(1)) == t(1)),
}
REFUSED = [
    lambda t: t(),
    lambda t: t(1, 2, 3, 4),
    lambda t: t(1, x=1),
    lambda t: t(1, w=1),
    lambda t: hash(t(1)),
    lambda t: setattr(t(1), "x", 2),
    lambda t: delattr(t(1), "x"),
]


@pytest.mark.parametrize("use", USES)
def test_each_use_gives_the_same(use):
    assert USES[use](Ours) == USES[use](Theirs)


@pytest.mark.parametrize("call", REFUSED)
def test_what_one_refuses_the_other_refuses(call):
    for kind in (Ours, Theirs):
        with pytest.raises((TypeError, AttributeError)):
            call(kind)


def test_fields_are_given_by_name_unless_a_class_says_otherwise():
    assert Named(x=1).y == 2
    with pytest.raises(TypeError):
        Named(1)


def test_a_record_with_other_values_is_checked_as_well():
    changed = replace(Ours(1), y=[4])
    assert (changed.x, changed.y) == (1, (4,))
    with pytest.raises(TypeError):
        replace(Ours(1), w=1)
