"""All rows: a table per topic, in the files `against_numpy_*.py` beside this one."""

from importlib import import_module
from pathlib import Path

TABLES = sorted(
    file.stem
    for file in Path(__file__).parent.glob("against_numpy_*.py")
    if file.stem != Path(__file__).stem
)
ROWS = [row for name in TABLES for row in import_module(name).ROWS]
