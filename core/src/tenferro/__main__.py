"""``python -m tenferro``: the same program as the console script ``tenferro``."""

from __future__ import annotations

import sys

from tenferro._cli import main

if __name__ == "__main__":
    sys.exit(main())
