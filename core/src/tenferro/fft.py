"""Discrete Fourier transforms, by the names of np.fft.

All are differentiable, those of real numbers too, in every order and mode. ``np.fft.fft(x)`` of an
Array comes here by NumPy's protocol; ``scipy.fft.fft(x)`` does in the context
``scipy.fft.set_backend(tenferro.fft)``, and refuses Arrays outside of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.arrays import Array as _Array
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.primitives._boundary import publish as _publish

# fmt: off
# isort: off
# generated: functions
from tenferro.arrays.functions.fft import (
    fft, fft2, fftfreq, fftn, fftshift, hfft, ifft, ifft2, ifftn, ifftshift, ihfft, irfft, irfft2,
    irfftn, rfft, rfft2, rfftfreq, rfftn,
)
# end generated
# fmt: on
# isort: on

__ua_domain__ = "numpy.scipy.fft"
_IGNORED = ("overwrite_x", "workers", "plan")  # how SciPy is to compute, not what


def __ua_function__(method: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a function of ``scipy.fft`` that is given an Array; SciPy handles all other
    arguments.
    """
    given = {name: value for name, value in kwargs.items() if name not in _IGNORED}
    if "x" in given:
        args = (given.pop("x"), *args)
    name = method.__name__
    if name not in __all__ or not args or not isinstance(args[0], _Array):
        return NotImplemented
    return globals()[name](*args, **given)


# fmt: off
# generated: public names
__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]
# end generated
# fmt: on

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
