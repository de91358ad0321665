"""The table of mutants follows the sources: a text that is gone is a mutant that tests nothing."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from run import ROOT, evenly_spaced, stands_once
from source_mutants import AREAS

MUTANTS = [mutant for area in AREAS for mutant in area.mutants]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_the_text_of_a_mutant_stands_once_in_its_file(mutant):
    """count(old in file) = 1, and the replacement differs"""
    assert stands_once(mutant), f"{mutant.file} has changed: say the fault for the new text"
    assert mutant.new != mutant.old


def test_the_tests_of_a_mutant_exist():
    named = {t for area in AREAS for mutant in area.mutants for t in (*mutant.tests, *area.tests)}
    paths = {p for t in named if not t.startswith("kit ") for p in t.removeprefix("xla: ").split()}
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_mutants_have_names_of_their_own():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 60


def test_a_sample_has_mutants_of_every_area():
    """of 30 mutants, evenly spaced, each area has one; no row comes twice"""
    rows = [(area.name, mutant.name) for area in AREAS for mutant in area.mutants]
    sample = evenly_spaced(rows, 30)
    assert len(set(sample)) == 30
    assert {area for area, _ in sample} == {area.name for area in AREAS}
    assert evenly_spaced(rows, None) == evenly_spaced(rows, 1000) == rows
