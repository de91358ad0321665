"""A name of another library is refused with what to write instead."""

import inspect
import re

import pytest

import tenferro as tn
from tenferro.arrays.diagnosis.missing_names import INSTEAD


@pytest.mark.parametrize("name", INSTEAD)
def test_a_name_of_another_library_says_what_to_write(name):
    module, _, last = name.rpartition(".")
    where = tn.random if module else tn
    assert not hasattr(where, last)
    with pytest.raises(tn.UnsupportedAttributeError, match="tenferro has no") as raised:
        getattr(where, last)
    line = inspect.currentframe().f_lineno - 1
    assert f"{__file__.rpartition('/')[2]}:{line}" in str(raised.value)
    assert raised.value.attribute == name


@pytest.mark.parametrize("name", INSTEAD)
def test_what_it_says_is_there(name):
    """Each `tenferro.a.b` of a hint can be read"""
    for dotted in re.findall(r"tenferro\.([\w.]+)", INSTEAD[name]):
        found = tn
        for part in dotted.rstrip(".").split("."):
            found = getattr(found, part)


def test_other_names_fail_as_in_any_module():
    for module in (tn, tn.random):
        with pytest.raises(AttributeError, match="has no attribute 'of_nobody'"):
            module.of_nobody  # noqa: B018
