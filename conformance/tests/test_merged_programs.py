"""Programs of several cases run as one, within a length; each case has its own result or error."""

import numpy as np
import pytest

from tenferro.backend import host
from tenferro.backend.lowering import key_of
from tenferro_conformance.kit import Kit
from tenferro_conformance.profile import Profile
from tenferro_conformance.running import programs, session


class Watched:
    """A backend that writes down what it compiles, and refuses programs that `refuses` picks."""

    def __init__(self, refuses=lambda program: False):
        self.backend = host().backend("numpy")
        self.refuses = refuses
        self.lengths = []
        self.programs = []

    def compiled(self, key):
        """Programs of this operation alone."""
        found = [p for p in self.programs if len(p) == 1]
        return [p for p in found if key_of(p.nodes[0].operation) == key]

    def compile(self, program, avals, options=None):
        self.lengths.append(len(program))
        self.programs.append(program)
        if self.refuses(program):
            raise ZeroDivisionError("refused")
        return self.backend.compile(program, avals, options)

    def __getattr__(self, name):
        return getattr(self.backend, name)


@pytest.fixture(scope="module")
def cases():
    """Cases of tanh in float64."""
    kit = Kit(["numpy"], None)
    found = kit.selected("numpy", grad=True)
    return [c for c in found if c.primitive == "std::tanh" and c.id.endswith("float64")]


HEAVY = {"std::tanh": session.MOST_EQUATIONS + 1}


def run(backend, cases, weights=None):
    """The values of all cases by their names, or their errors."""
    opened = session.Session("watched", backend, Profile(level=2, weights=weights or {}))
    found = {}
    for case in cases:
        try:
            found[case.id] = opened.outcome(programs.adjoint, case, cases).all("jv")
        except ZeroDivisionError as error:
            found[case.id] = error
    return found


@pytest.mark.parametrize("most", [1, 15, 40, 10_000])
def test_a_merged_program_is_no_longer_than_allowed(monkeypatch, cases, most):
    """length ≤ most, unless it is that of one case; the results are those of the cases alone"""
    alone = {case.id: run(Watched(), [case])[case.id] for case in cases}
    monkeypatch.setattr(session, "MOST_EQUATIONS", most)
    backend = Watched()
    found = run(backend, cases)
    longest_of_one = 10
    assert max(backend.lengths) <= max(most, longest_of_one)
    assert len(backend.lengths) == 1 or most < 10_000
    for name, values in alone.items():
        np.testing.assert_array_equal(found[name], values)


def test_programs_with_heavy_operations_run_node_by_node_except_in_typical_cases(cases):
    """whole(typical), nodes(others); the results are the same"""
    typical = [case for case in cases if programs.is_typical(case)]
    whole, single = Watched(), Watched()
    want, found = run(whole, cases), run(single, cases, HEAVY)
    assert len(whole.lengths) == 1
    assert sorted(n for n in single.lengths if n > 1) == [
        n for case in typical for n in lengths_alone(case)
    ]
    for name, values in want.items():
        np.testing.assert_array_equal(found[name], values)


def test_laws_share_what_is_compiled_of_a_heavy_operation(cases):
    """compiled(tanh) ≤ classes of operands, after two laws"""
    backend = Watched()
    others = [case for case in cases if not programs.is_typical(case)]
    opened = session.Session("watched", backend, Profile(level=2, weights=HEAVY))
    for build in (programs.value, programs.adjoint):
        for case in others:
            opened.outcome(build, case, others)
    classes = {(x.shape, x.dtype) for case in others for x in case.inputs}
    assert len(backend.compiled("std::tanh")) == len(classes)


def lengths_alone(case):
    """Lengths of the programs that are compiled for one case."""
    backend = Watched()
    run(backend, [case])
    return backend.lengths


def test_the_error_of_one_case_is_that_of_no_other(cases):
    """If the program of one case does not compile, the others have their results."""
    bad = cases[len(cases) // 2]
    shapes = {x.shape for x in bad.inputs}
    others = [case for case in cases if not shapes & {x.shape for x in case.inputs}]
    backend = Watched(lambda program: any(a.shape in shapes for a in program.input_avals))
    found = run(backend, [*others, bad])
    assert isinstance(found[bad.id], ZeroDivisionError)
    assert others
    assert not any(isinstance(found[case.id], Exception) for case in others)
