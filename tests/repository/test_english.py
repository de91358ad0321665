"""The checker of English finds each fault, and help of public functions begins with a verb."""

import english
import pytest


def rules_of(source, path="core/src/tenferro/example.py"):
    return [finding.rule for finding in english.check(source, path)]


def function(docstring):
    return f'def f(x):\n    """{docstring}"""\n'


@pytest.mark.parametrize("docstring", ["The sum of x.", "A sum.", "One sum of many.", "Sums of x."])
def test_a_function_begins_with_an_imperative_verb(docstring):
    assert rules_of(function(docstring)) == ["imperative"]


@pytest.mark.parametrize(
    "docstring", ["What x is.", "Whether x holds.", "How x runs.", "Where x is."]
)
def test_an_opening_says_who_does_what(docstring):
    assert rules_of(function(docstring)) == ["headless"]
    assert rules_of(f'"""{docstring}"""\n') == ["headless"]


@pytest.mark.parametrize(
    "docstring", ["Return the sum.", "x: [*S]  →  y: [*S]", "Σ_k x_k", "A x = b", "Re x"]
)
def test_verbs_and_formulas_are_accepted(docstring):
    assert rules_of(function(docstring)) == []


def test_a_property_is_described_by_a_noun():
    assert rules_of("class A:\n    @property\n    def size(self):\n        '''The size.'''\n") == []


def test_a_law_of_the_kit_is_described_by_its_formula():
    path = "conformance/src/tenferro_conformance/suite/test_linear.py"
    assert rules_of("def test_sum():\n    '''The sum is linear.'''\n", path) == []


@pytest.mark.parametrize(
    "text", ["# it is no sum", 'E = "nobody asked"', "# what is sought", 'f"is {1} settled"']
)
def test_coined_words_are_found_in_comments_and_messages(text):
    assert rules_of(text + "\n") == ["coined"]


@pytest.mark.parametrize(
    "name", ["def _apart(): ...", "class Young: ...", "def find_lacking(): ..."]
)
def test_coined_words_are_found_in_names(name):
    assert rules_of(name + "\n") == ["coined"]
    assert rules_of("", "core/src/tenferro/_settle.py") == ["coined"]


@pytest.mark.parametrize(
    "name", ["_LARGE = 8", "FEW: int = 4", "_CROWDED = object()", "A, _MOST = 1, 2"]
)
def test_a_constant_names_its_quantity(name):
    assert rules_of(name + "\n") == ["constant"]
    assert rules_of("MIN_ELEMENTS_FOR_SELECT = 8\n") == []


def public_functions():
    import tenferro as tn

    spaces = {
        "tenferro": tn,
        **{
            n: getattr(tn, n)
            for n in "linalg fft special random signal integrate ndimage interpolate".split()
        },
        "spatial.distance": tn.spatial.distance,
    }
    spaces |= {f"stats.{n}": getattr(tn.stats, n) for n in tn.stats.__all__}
    for space, module in spaces.items():
        for name in module.__all__:
            member = getattr(module, name)
            if callable(member) and not isinstance(member, type):
                yield f"{space}.{name}", member.__doc__ or ""


def test_the_help_of_every_public_function_begins_with_a_verb():
    """Docstrings that are made from tables are not literals of a source, so they are looked up."""
    words = {name: english.first_word(text.strip()) for name, text in public_functions()}
    assert len(words) > 300
    assert [n for n, word in words.items() if (word or "").lower() not in english.VERBS] == []
