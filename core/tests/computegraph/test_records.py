"""Named tuples whose constructors share code behave as those of ``typing``."""

import copy
import inspect
import pickle
import typing

import pytest

from tenferro._runtime.records import NamedTuple


class Ours(NamedTuple):
    x: int
    y: str = "one"
    z: object = None

    @property
    def both(self):
        return self.x, self.y


class Theirs(typing.NamedTuple):
    x: int
    y: str = "one"
    z: object = None

    @property
    def both(self):
        return self.x, self.y


class Derived(Ours):
    def first(self):
        return self.x


USES = {
    "fields": lambda t: (t._fields, t._field_defaults, t.__match_args__),
    "signature": lambda t: [(p.name, p.default) for p in inspect.signature(t).parameters.values()],
    "defaults": lambda t: tuple(t(1)),
    "by name": lambda t: tuple(t(y=2, x=1)),
    "by both": lambda t: tuple(t(1, z=3)),
    "values": lambda t: (t(1, 2, 3).x, t(1, 2, 3).y, t(1, 2, 3)[2], len(t(1))),
    "property": lambda t: t(1, 2).both,
    "replace": lambda t: tuple(t(1)._replace(z=4)),
    "dict": lambda t: t(1)._asdict(),
    "make": lambda t: tuple(t._make([1, 2, 3])),
    "text": lambda t: repr(t(1, "a", [2])).replace(t.__name__, "T"),
    "equality": lambda t: (t(1) == (1, "one", None), t(1) == t(2), hash(t(1)) == hash(t(1))),
    "order": lambda t: t(1) < t(2),
    "pickle": lambda t: tuple(pickle.loads(pickle.dumps(t(1, "b")))),
    "pickled class": lambda t: type(pickle.loads(pickle.dumps(t(1)))) is t,
    "copies": lambda t: (tuple(copy.copy(t(1))), tuple(copy.deepcopy(t(1, [2])))),
    "is a tuple": lambda t: isinstance(t(1), tuple),
    "no dict": lambda t: hasattr(t(1), "__dict__"),
}
REFUSED = [
    lambda t: t(),
    lambda t: t(1, 2, 3, 4),
    lambda t: t(1, x=1),
    lambda t: t(1, w=2),
    lambda t: t(1)._replace(w=2),
    lambda t: t._make([]),
]


@pytest.mark.parametrize("use", USES)
def test_each_use_gives_the_same(use):
    assert USES[use](Ours) == USES[use](Theirs)


@pytest.mark.parametrize("call", REFUSED)
def test_what_one_refuses_the_other_refuses(call):
    for kind in (Ours, Theirs):
        with pytest.raises((TypeError, ValueError)):
            call(kind)


def test_fields_cannot_be_set():
    with pytest.raises(AttributeError):
        Ours(1).x = 2


def test_fields_are_matched():
    match Ours(1, 2):
        case Ours(x, y=2):
            assert x == 1


def test_a_class_derived_from_one_has_its_fields():
    assert Derived(5).first() == 5
    assert Derived._fields == Ours._fields
