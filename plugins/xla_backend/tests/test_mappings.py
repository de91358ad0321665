"""Machine code is given up where mappings become scarce, and made again where it is needed."""

import numpy as np
import pytest

from tenferro.primitives import Aval, add, mul, sin
from tenferro_xla import _mappings

F64 = Aval((3,), "float64")
X = np.array([0.5, 1.0, 2.0])


def twice_the_sine(x):
    return add(sin(x), sin(x))


def square(x):
    return mul(x, x)


@pytest.fixture
def alone(monkeypatch):
    """Forget the executables of other tests."""
    monkeypatch.setattr(_mappings, "_alive", type(_mappings._alive)())


@pytest.fixture
def let_mappings_be(monkeypatch):
    """Say how many mappings there are; they are counted at each compile."""

    def set_number(number):
        monkeypatch.setattr(_mappings, "INTERVAL", 1)
        monkeypatch.setattr(_mappings, "mappings", lambda: number)
        monkeypatch.setattr(_mappings, "allowed", lambda: 65_530)

    return set_number


def is_released(executable):
    return executable._own is None


def test_what_did_not_run_since_the_last_release_gives_up_its_code(
    programs, alone, let_mappings_be
):
    idle = programs.compile(square, F64)
    busy = programs.compile(twice_the_sine, F64)
    idle.used = False
    let_mappings_be(40_000)
    programs.compile(lambda x: sin(sin(x)), F64)
    assert is_released(idle)
    assert not is_released(busy)


def test_where_all_have_run_the_older_half_gives_up_its_code(programs, alone, let_mappings_be):
    made = [programs.compile(f, F64) for f in (square, twice_the_sine, sin, lambda x: sin(sin(x)))]
    let_mappings_be(40_000)
    _mappings.make_room(1)
    assert [is_released(executable) for executable in made] == [True, True, False, False]


def test_nothing_is_released_where_mappings_are_plenty(programs, alone, let_mappings_be):
    executable = programs.compile(square, F64)
    executable.used = False
    let_mappings_be(30_000)
    programs.compile(twice_the_sine, F64)
    assert not is_released(executable)


def test_a_released_program_runs_explains_and_profiles_as_before(programs):
    executable = programs.compile(twice_the_sine, F64)
    for use in (executable, executable.profile, lambda x: executable.explain()):
        executable.release()
        use(X)
        assert not is_released(executable)
    executable.release()
    (found,) = executable(X)
    np.testing.assert_allclose(np.asarray(found), 2 * np.sin(X), rtol=1e-14)


def test_a_released_program_of_several_segments_gives_the_same_again(programs):
    executable = programs.compile(lambda x: sin(mul(sin(sin(x)), x)), F64, segment_size=2)
    (want,) = executable(X)
    executable.release()
    (found,) = executable(X)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(want))
