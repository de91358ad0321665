"""Where a loop stores rows is a parameter that is checked."""

import pytest

from tenferro.computegraph import Fragment
from tenferro.primitives import InvalidParameterError, Scan, add, variable

C, X = variable("c", (), "f64"), variable("x", (), "f64")
BODY = Fragment.of([C.key, X.key], [add(C, X).key, C.key])
LOOP = (BODY, 0, 1, 5, (0, 1))


@pytest.mark.parametrize("marks", [(0,), (2,), (-1,), (1.0,), (True,), [1], None, "1"])
def test_only_stacked_results_lie_in_a_file(marks):
    with pytest.raises(InvalidParameterError) as caught:
        Scan(*LOOP, offload="", offloaded=marks)
    assert caught.value.parameter == "offloaded"


@pytest.mark.parametrize("directory", [1, b"there", ("",), True])
def test_the_directory_is_a_string(directory):
    with pytest.raises(InvalidParameterError) as caught:
        Scan(*LOOP, offload=directory)
    assert caught.value.parameter == "offload"


def test_rows_in_a_file_need_a_directory():
    with pytest.raises(InvalidParameterError):
        Scan(*LOOP, offloaded=(1,))


def test_the_directory_is_part_of_what_a_loop_is():
    """loops are equal if they store in the same place"""
    places = (None, "", "a")
    assert len({Scan(*LOOP, offload=place) for place in places}) == 3
    assert Scan(*LOOP, offload="a", offloaded=(1,)) == Scan(*LOOP, offload="a", offloaded=(1,))
    assert Scan(*LOOP, offload="").shown["offload"] == ""
    assert "offload" not in Scan(*LOOP).shown
