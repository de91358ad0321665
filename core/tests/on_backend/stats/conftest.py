"""The reference beside this file is importable in its tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
