"""The rows beside the test are importable in it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
