"""Golden texts: what is printed is compared with a file, and written only when told to.

`TENFERRO_GOLDEN=write pytest core/tests` writes the files anew; read the difference before you
commit it.
"""

import os
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden():
    """Compare a printed object with `golden/<name>.txt`."""

    def compare(name, printed):
        path = GOLDEN / f"{name}.txt"
        text = f"{printed}\n"
        if os.environ.get("TENFERRO_GOLDEN") == "write":
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
