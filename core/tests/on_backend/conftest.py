"""Tests that need a backend, whichever is installed. `against_numpy` is importable everywhere here.

They run in the environment of each backend, with that backend alone, and select nothing.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
