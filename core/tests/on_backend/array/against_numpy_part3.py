"""Rows of linear algebra and Fourier transforms: a table per topic, in files beside this one."""

from importlib import import_module
from pathlib import Path

TOPICS = ("einsum", "fft", "linalg")
TABLES = sorted(
    file.stem
    for topic in TOPICS
    for file in Path(__file__).parent.glob(f"against_numpy_{topic}*.py")
)
ROWS = [row for name in TABLES for row in import_module(name).ROWS]
