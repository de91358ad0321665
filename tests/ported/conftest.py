"""The ported programs are importable in their test."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
