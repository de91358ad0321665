"""Convolutions and recursive filters that are differentiable here, by the names of scipy.signal.

SciPy converts what it is given, and refuses Arrays. Read next: ``_convolution.py``.

>>> import tenferro as tn
>>> tn.signal.convolve([1.0, 2.0, 3.0], [1.0, 1.0])
array([1., 3., 5., 3.])
"""

from __future__ import annotations

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.primitives._boundary import publish as _publish
from tenferro.signal._convolution import convolve, correlate, fftconvolve
from tenferro.signal._filters import lfilter

__all__ = ["convolve", "correlate", "fftconvolve", "lfilter"]

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
