"""`python -m tenferro_conformance` is the command `tenferro-conformance`."""

import sys

from tenferro_conformance.cli import main

if __name__ == "__main__":
    sys.exit(main())
