"""Lets the tests of this folder use each other's functions."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
