"""What the tests of the repository share: where it is, and which distributions it holds."""

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "core",
    "plugins/numpy_backend",
    "plugins/cupy_backend",
    "plugins/xla_backend",
    "conformance",
)

sys.path.insert(0, str(Path(__file__).parent))  # tests import the tools in this folder


@pytest.fixture
def root():
    return ROOT


@pytest.fixture(params=FOLDERS)
def folder(request):
    """The folder of one distribution; a test that takes it runs once for each."""
    return ROOT / request.param


@pytest.fixture
def metadata(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))


@pytest.fixture
def folders():
    return tuple(ROOT / name for name in FOLDERS)
