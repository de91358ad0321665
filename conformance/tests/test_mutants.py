"""A suite that cannot fail is no evidence: each mutant is caught by the law that
is named for it.
"""

import pytest
from mutants import MUTANTS

#: other sizes of the numbers that the mutants are about, and laws that need no backend
NARROW = "float16 or float32 or complex64 or int8 or int16 or int32 or uint or identity or closure"

_WITHOUT = {"swallows an unsupported case": "complex"}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(run_suite, name):
    mutant = MUTANTS[name]
    done, report = run_suite(
        mutant.file,
        mutant.select,
        mutant=name,
        without=_WITHOUT.get(name, ""),
        primitives=[mutant.primitive] if mutant.primitive else [],
    )
    failed = {entry.law for entry in report.failed("loopback")} | {e.law for e in report.failed("")}
    assert done.returncode == 1, done.stdout
    assert mutant.law in failed, done.stdout


@pytest.mark.parametrize("part", [f"{k}/12" for k in range(1, 13)])
def test_loopback_passes_every_law(run_suite, part):
    """The backend that the mutants are made from is right, in the dtypes that they are run in."""
    select = f"(not golden_ or g_m1_) and not ({NARROW})"
    done, report = run_suite(select=select, extra=[f"--tenferro-shard={part}"])
    assert done.returncode == 0, done.stdout[-3000:]
    assert report.failed("loopback") == []
    assert report.executed("loopback") > 350


def test_loopback_without_complex_numbers(run_suite):
    """What it cannot do it refuses, and the report says so."""
    done, report = run_suite("test_unsupported.py", without="complex")
    assert done.returncode == 1, "nothing else ran, so the backend executed no case"
    assert report.counts("loopback")["unsupported"] > 100
    assert report.failed("loopback") == []
