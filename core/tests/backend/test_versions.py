"""Version ranges: the plain ones are compared without `packaging`, and as `packaging` does."""

import random

import pytest
from packaging.specifiers import SpecifierSet

from tenferro.backend.discovery.versions import plain_fit, range_problem


def _random(source):
    return ".".join(str(source.randrange(3)) for _ in range(source.randrange(1, 4)))


def test_plain_ranges_agree_with_packaging():
    source = random.Random(7)
    for _ in range(2000):
        clauses = ",".join(
            source.choice([">=", "<=", "==", "!=", "<", ">"]) + _random(source)
            for _ in range(source.randrange(3))
        )
        version = _random(source)
        wanted = SpecifierSet(clauses).contains(version, prereleases=True)
        assert plain_fit(f"tenferro {clauses}", version) is wanted, (clauses, version)


@pytest.mark.parametrize(
    "line, version",
    [
        ("tenferro~=0.1", "0.1"),
        ("tenferro[extra]>=0.1", "0.1"),
        ("tenferro>=0.1; python_version>'3'", "0.1"),
        ("tenferro>=0.1", "0.1.dev3"),
        ("tenferro>=0.1rc1", "0.1"),
        ("tenferro @ https://example.org/x.whl", "0.1"),
    ],
)
def test_what_is_not_plain_is_left_to_packaging(line, version):
    assert plain_fit(line, version) is None


@pytest.mark.parametrize(
    "line, version, fits",
    [
        ("tenferro~=0.1", "0.5", True),
        ("tenferro~=0.1.0", "0.2", False),
        ("tenferro>=0.2", "0.2.dev1", False),
        ("tenferro>=0.1", "0.2.dev1", True),
        ("tenferro>=9; extra == 'x'", "0.1", True),
        ("tenferro @ https://example.org/x.whl", "0.1", True),
    ],
)
def test_the_others(line, version, fits):
    """Ranges, development versions, extras and addresses are read as pip reads them"""
    assert (range_problem([line], "tenferro", version) == "") is fits


def test_an_unreadable_requirement_is_a_problem():
    assert "cannot be read" in range_problem(["tenferro>=>1"], "tenferro", "0.1")


def test_nothing_is_compared_where_core_is_no_distribution():
    assert range_problem(["tenferro>=9"], "tenferro", "") == ""
