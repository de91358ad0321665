"""Profiles state deviations and cannot rot."""

import datetime
import subprocess
import sys

import pytest

from tenferro.backend import records
from tenferro_conformance.errors import ProfileError
from tenferro_conformance.profile import (
    FEATURES,
    Exclude,
    Profile,
    Slow,
    Tol,
    until_has_passed,
    validate,
)

IDS = ["std::svd/wide/complex64", "std::svd/wide/float64", "std::sv/d/float64"]


def _bug(pattern, **more):
    return Exclude(
        pattern, kind="known_bug", reason="r", issue="https://example.org/1", until="2.1", **more
    )


def test_importing_a_profile_imports_nothing_heavy():
    program = "import sys, tenferro_conformance.profile; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "pytest", "tenferro", "mpmath"} & set(loaded)


@pytest.mark.parametrize(
    "pattern, matches",
    [
        ("std::svd/*/complex64", [0]),
        ("std::svd/wide/float64", [1]),
        ("std::sv", []),
        ("std::sv*", [0, 1, 2]),
        ("std::sv[dx]/*", []),
    ],
)
def test_patterns_are_exact_ids_or_explicit_globs(pattern, matches):
    exclusion = Exclude(pattern, kind="unsupported", reason="r")
    assert [i for i, case_id in enumerate(IDS) if exclusion.matches(case_id)] == matches


@pytest.mark.parametrize(
    "make",
    [
        lambda: Exclude("x", kind="unsupported", reason=" "),
        lambda: Exclude("x", kind="known_bug", reason="r"),
        lambda: Exclude("x", kind="known_bug", reason="r", issue="i"),
        lambda: Exclude("x", kind="flaky", reason="r"),
        lambda: Slow(cases=("std::svd/*",), reason=""),
        lambda: Tol(reason="", ulp=3),
        lambda: Tol(reason="r"),
        lambda: Tol(reason="r", ulp=3, tol="special"),
    ],
)
def test_incomplete_entries_are_refused(make):
    with pytest.raises(ProfileError):
        make()


def test_an_exclusion_that_matches_nothing_is_an_error():
    with pytest.raises(ProfileError, match="matches no case"):
        validate(Profile(exclusions=[Exclude("std::qr/*", kind="unsupported", reason="r")]), IDS)


def test_an_override_for_nothing_is_an_error():
    with pytest.raises(ProfileError, match="no cases"):
        validate(Profile(tolerance={("std::qr", "float32"): Tol(ulp=6, reason="r")}), IDS)


def test_an_exclusion_past_its_until_is_an_error():
    validate(Profile(exclusions=[_bug("std::svd/wide/*")]), IDS, version="2.0.9")
    with pytest.raises(ProfileError, match="has passed"):
        validate(Profile(exclusions=[_bug("std::svd/wide/*")]), IDS, version="2.1")


@pytest.mark.parametrize(
    "until, version, passed",
    [
        ("", "9", False),
        ("2.1", "2.0", False),
        ("2.1", "2.1.0rc1", True),
        ("2025-01-31", "0", False),
        ("2025-01-30", "0", True),
    ],
)
def test_until_is_a_version_or_a_date(until, version, passed):
    assert until_has_passed(until, version, datetime.date(2025, 1, 31)) is passed


def test_a_known_bug_names_its_laws():
    profile = Profile(exclusions=[_bug("std::svd/wide/float64", laws=("adjoint",))])
    assert profile.known_bug(IDS[1], "adjoint") is not None
    assert profile.known_bug(IDS[1], "value") is None


@pytest.mark.parametrize(
    "slow, rotten",
    [
        (Slow(cases=("std::svd/*", "std::qr/*"), reason="r"), "std::qr/*"),
        (Slow(cases=("std::svd/*",), but={"value": ("*/int8",)}, reason="r"), "*/int8"),
    ],
)
def test_a_pattern_of_slow_cases_matches_some(slow, rotten):
    with pytest.raises(ProfileError, match="matches no case") as error:
        validate(Profile(slow=[slow]), IDS)
    assert repr(rotten) in str(error.value)


def test_slow_cases_of_one_law_may_be_quick_for_another():
    profile = Profile(slow=[Slow(cases=("std::svd/*",), but={"value": ("*/float64",)}, reason="r")])
    assert profile.is_slow(IDS[1], "adjoint")
    assert not profile.is_slow(IDS[1], "value")
    assert profile.is_slow(IDS[0], "value")
    assert not profile.is_slow(IDS[2], "adjoint")


def test_a_slow_law_and_all_laws_of_a_slow_case_are_not_quick():
    slow = Slow(cases=("std::svd/*",), but={"value": ("*/float64",)}, reason="r")
    profile = Profile(slow=[slow], slow_laws={"batching"})
    assert not profile.may_be_quick(IDS[1], "value")
    assert not profile.may_be_quick(IDS[2], "batching")
    assert profile.may_be_quick(IDS[2], "value")


def test_a_slow_law_of_some_cases_leaves_their_other_laws_quick():
    profile = Profile(slow=[Slow(cases=("std::svd/*",), laws=("order 3",), reason="r")])
    assert profile.is_slow(IDS[1], "order 3")
    assert not profile.is_slow(IDS[1], "value")
    assert not profile.may_be_quick(IDS[1], "order 3")
    assert profile.may_be_quick(IDS[1], "value")


def test_features_are_words_that_backends_know():
    """A word that was mistyped would make cases unsupported, and nobody would see it."""
    assert FEATURES == records.FEATURES
    with pytest.raises(ProfileError, match="complx"):
        Profile(features={"f64", "complx"})
