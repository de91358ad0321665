"""What `tools/generate.py` finds; `tox -e lint` compares its lists with the sources."""

import importlib.util
import re

import pytest


@pytest.fixture
def generate(root):
    spec = importlib.util.spec_from_file_location("generate", root / "tools/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_name_that_is_not_listed_is_found(generate):
    """text with another `__all__` ≠ text"""
    path = generate.CORE / "transforms/__init__.py"
    text = path.read_text("utf-8")
    assert generate.package_text("transforms") == text
    tampered = generate.replaced(text, "public names", ["__all__ = []"])
    assert tampered != text
    assert re.search(r'^ +"grad"', tampered, re.MULTILINE) is None


def test_only_what_stands_between_the_marks_is_replaced(generate):
    text = "a\n# generated: x\nb\n# end generated\nc\n"
    assert generate.replaced(text, "x", ["d"]) == text.replace("b\n", "d\n")


def test_a_missing_mark_is_named(generate):
    with pytest.raises(SystemExit, match="generated: other"):
        generate.replaced("# generated: x\n# end generated\n", "other", [])
