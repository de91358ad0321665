"""Every bad call of the table is refused by an error of tenferro that says who, where and why."""

import builtins
from collections import Counter

import bad_calls
import pytest

import tenferro as tn

ROWS = bad_calls.table()
#: A backend that cannot raise while a program runs gives nan beyond the bound of a loop.
MAY_BE_NAN = {call for call, name, _ in ROWS if name == "StepLimitError"}
ANEW = "run `python core/tests/on_backend/bad_calls.py` and read what it changes"


@pytest.fixture(scope="module")
def answers():
    """Of the calls in the table, and of those of functions that came after it was written"""
    calls = dict.fromkeys([*(call for call, *_ in ROWS), *bad_calls.generated()])
    found = {call: bad_calls.answer(call) for call in calls}
    return {call: error for call, error in found.items() if error or call not in MAY_BE_NAN}


def test_the_table_is_large_and_has_every_call_once():
    assert len(ROWS) >= 2400
    assert Counter(call for call, *_ in ROWS).most_common(1)[0][1] == 1


def test_no_bad_call_is_accepted(answers):
    assert [call for call, error in answers.items() if error is None] == []


def test_each_answer_is_an_error_of_tenferro_and_of_python(answers):
    """TenferroError, and one of the errors that users of NumPy expect"""
    expected = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RuntimeError)
    expected += (AssertionError, BufferError, OSError)
    wrong = [call for call, e in answers.items() if not isinstance(e, tn.TenferroError)]
    assert wrong + [call for call, e in answers.items() if not isinstance(e, expected)] == []


def test_each_answer_says_the_users_line(answers):
    said = {call: bad_calls.text_of(error) for call, error in answers.items()}
    assert [call for call, text in said.items() if f"{bad_calls.FILE}:2" not in text] == []


def test_each_answer_names_the_function_that_the_user_called(answers):
    """In the text or a note, where the line that is quoted does not show it"""
    said = {call: bad_calls.text_of(error) for call, error in answers.items()}
    assert [call for call, text in said.items() if bad_calls.name_of(call) not in text] == []


def test_nearly_all_calls_have_a_function_to_name():
    assert sum(not bad_calls.name_of(call) for call, *_ in ROWS) < 0.05 * len(ROWS)


def test_the_answers_are_those_of_the_table(answers):
    """(call, class, base): an answer that changes is written anew, and read by a person"""
    changed = []
    for call, name, base in [row for row in ROWS if row[0] in answers]:
        error = answers[call]
        if (type(error).__name__, bad_calls.base_of(error)) != (name, base):
            changed.append((call, name, type(error).__name__))
    assert changed == [], ANEW


def test_the_bases_are_errors_of_python():
    assert {base for *_, base in ROWS} <= vars(builtins).keys()
