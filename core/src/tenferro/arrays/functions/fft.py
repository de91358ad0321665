"""Discrete Fourier transforms, by NumPy's names: one axis, two, or any number.

Each is one primitive, after the elements were cut or padded with zeros to the size that is asked
for. Integers are transformed in double precision, halves in single. The scales of a norm are
those of NumPy. Read next: ``tenferro/fft.py``, the module of these names.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, NoReturn

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._out import into
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.functions.creation import on_device
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.rearranging import roll
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, normalize_axis
from tenferro.arrays.registry import covers
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    InvalidParameterError,
    ShapeMismatchError,
    structural,
)
from tenferro.primitives.fourier import fft as c2c
from tenferro.primitives.fourier import irfft as c2r
from tenferro.primitives.fourier import rfft as r2c

_FORWARD = {None: "sum", "backward": "sum", "ortho": "ortho", "forward": "mean"}
_BACKWARD = {None: "mean", "backward": "mean", "ortho": "ortho", "forward": "sum"}


@covers("fft.fft")
def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Array:
    """Compute Σ_j a_j exp(-2πi jk/n) along an axis, truncated or zero-padded to n elements.

    a: [*s, m]   →   y: c[*s, n]   with n = m by default

    Raises InvalidParameterError: if n < 1, or for an unknown norm; AxisError: for no axis of a.

    >>> import tenferro as tn
    >>> tn.fft.fft([1.0, 2.0])
    array([ 3.+0.j, -1.+0.j])
    """
    x, sizes, axes = _line("fft.fft", a, n, axis)
    return into(out, _complex("fft.fft", x, sizes, axes, norm), "fft.fft")


@covers("fft.ifft")
def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Array:
    """Compute the inverse of ``fft`` along an axis: 1/n Σ_k a_k exp(2πi jk/n).

    a: [*s, m]   →   y: c[*s, n]   with n = m by default

    Raises InvalidParameterError: if n < 1, or for an unknown norm; AxisError: for no axis of a.

    >>> import tenferro as tn
    >>> tn.fft.ifft([3.0, -1.0])
    array([1.+0.j, 2.+0.j])
    """
    x, sizes, axes = _line("fft.ifft", a, n, axis)
    return into(out, _complex("fft.ifft", x, sizes, axes, norm, inverse=True), "fft.ifft")


@covers("fft.rfft")
def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Array:
    """Compute the elements 0 … n//2 of ``fft`` for real input; the others are their conjugates.

    a: f[*s, m]   →   y: c[*s, n//2 + 1]   with n = m by default

    Raises InvalidParameterError: if n < 1, or for an unknown norm; DTypeMismatchError: if a is
    complex.

    >>> import tenferro as tn
    >>> tn.fft.rfft([1.0, 2.0, 3.0, 4.0])
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    x, sizes, axes = _line("fft.rfft", a, n, axis)
    return into(out, _from_real("fft.rfft", x, sizes, axes, norm), "fft.rfft")


@covers("fft.irfft")
def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Array:
    """Compute the inverse of ``rfft``: n real numbers, where n is even by default.

    a: [*s, m]   →   y: f[*s, n]   with n = 2 (m - 1) by default

    Imaginary parts that no spectrum of real numbers has are dropped.

    Raises InvalidParameterError: if n < 1, or for an unknown norm; AxisError: for no axis of a.

    >>> import tenferro as tn
    >>> tn.fft.irfft([10.0, -2.0 + 2.0j, -2.0])
    array([1., 2., 3., 4.])
    """
    x, sizes, axes = _line("fft.irfft", a, n, axis, halved=True)
    return into(out, _to_real("fft.irfft", x, sizes, axes, norm), "fft.irfft")


@covers("fft.hfft")
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Array:
    """Compute the real ``fft`` of a Hermitian signal, given its elements 0 … n//2.

    a: [*s, m]   →   y: f[*s, n]   with n = 2 (m - 1) by default

    Raises InvalidParameterError: if n < 1, or for an unknown norm; AxisError: for no axis of a.

    >>> import tenferro as tn
    >>> tn.fft.hfft([1.0, 2.0])
    array([ 3., -1.])
    """
    x, sizes, axes = _line("fft.hfft", a, n, axis, halved=True)
    x = conj(x) if x.dtype.is_complex else x
    return into(out, _to_real("fft.hfft", x, sizes, axes, norm, _FORWARD), "fft.hfft")


@covers("fft.ihfft")
def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Array:
    """Compute the inverse of ``hfft``: the elements 0 … n//2 of ``ifft`` for real input.

    a: f[*s, m]   →   y: c[*s, n//2 + 1]   with n = m by default

    Raises InvalidParameterError: if n < 1, or for an unknown norm; DTypeMismatchError: if a is
    complex.

    >>> import tenferro as tn
    >>> tn.fft.ihfft([1.0, 2.0, 3.0, 4.0])
    array([ 2.5-0.j , -0.5-0.5j, -0.5-0.j ])
    """
    x, sizes, axes = _line("fft.ihfft", a, n, axis)
    return into(out, conj(_from_real("fft.ihfft", x, sizes, axes, norm, _BACKWARD)), "fft.ihfft")


@covers("fft.fftn")
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Array:
    """Compute ``fft`` along several axes, by default along all; ``s`` holds their sizes.

    a: [*m]   →   y: c[*m with the sizes s along axes]

    Raises ShapeMismatchError: if s and axes differ in length; InvalidParameterError: if a size is
    below 1, or for an unknown norm; AxisError: for no axis of a.

    >>> import tenferro as tn
    >>> tn.fft.fftn([[1.0, 2.0], [3.0, 4.0]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    x, sizes, along = _grid("fft.fftn", a, s, axes)
    return into(out, _complex("fft.fftn", x, sizes, along, norm), "fft.fftn")


@covers("fft.ifftn")
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Array:
    """Compute ``ifft`` along several axes, by default along all; ``s`` holds their sizes.

    a: [*m]   →   y: c[*m with the sizes s along axes]

    Raises as ``fftn``.

    >>> import tenferro as tn
    >>> tn.fft.ifftn([[10.0, -2.0], [-4.0, 0.0]])
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]])
    """
    x, sizes, along = _grid("fft.ifftn", a, s, axes)
    return into(out, _complex("fft.ifftn", x, sizes, along, norm, inverse=True), "fft.ifftn")


@covers("fft.rfftn")
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Array:
    """Compute ``rfft`` along the last of several axes, ``fft`` along the others.

    a: f[*m]   →   y: c[*m with the sizes s along axes, the last n//2 + 1]

    Raises as ``fftn``, and DTypeMismatchError: if a is complex.

    >>> import tenferro as tn
    >>> tn.fft.rfftn([[1.0, 2.0], [3.0, 4.0]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    x, sizes, along = _grid("fft.rfftn", a, s, axes)
    return into(out, _from_real("fft.rfftn", x, sizes, along, norm), "fft.rfftn")


@covers("fft.irfftn")
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Array:
    """Compute ``irfft`` along the last of several axes, ``ifft`` along the others.

    a: [*m]   →   y: f[*m with the sizes s along axes; the last is 2 (m - 1) by default]

    Raises as ``fftn``, and InvalidParameterError: for no axes.

    >>> import tenferro as tn
    >>> tn.fft.irfftn([[10.0, -2.0], [-4.0, 0.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    x, sizes, along = _grid("fft.irfftn", a, s, axes, halved=True)
    return into(out, _to_real("fft.irfftn", x, sizes, along, norm), "fft.irfftn")


@covers("fft.fft2")
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Array:
    """Compute ``fft`` along two axes, by default the last ones.

    Shapes and errors are those of ``fftn``.

    >>> import tenferro as tn
    >>> tn.fft.fft2([[1.0, 2.0], [3.0, 4.0]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return fftn(a, s, axes, norm, out)


@covers("fft.ifft2")
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Array:
    """Compute ``ifft`` along two axes, by default the last ones.

    Shapes and errors are those of ``ifftn``.

    >>> import tenferro as tn
    >>> tn.fft.ifft2([[10.0, -2.0], [-4.0, 0.0]])
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]])
    """
    return ifftn(a, s, axes, norm, out)


@covers("fft.rfft2")
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Array:
    """Compute ``rfft`` along the second of two axes, ``fft`` along the first.

    Shapes and errors are those of ``rfftn``.

    >>> import tenferro as tn
    >>> tn.fft.rfft2([[1.0, 2.0], [3.0, 4.0]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return rfftn(a, s, axes, norm, out)


@covers("fft.irfft2")
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Array:
    """Compute ``irfft`` along the second of two axes, ``ifft`` along the first.

    Shapes and errors are those of ``irfftn``.

    >>> import tenferro as tn
    >>> tn.fft.irfft2([[10.0, -2.0], [-4.0, 0.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    return irfftn(a, s, axes, norm, out)


# ---- the three kinds -----------------------------------------------------------------------------


def _complex(
    name: str, x: Array, sizes: Sequence[int], axes: Sequence[int], norm: Any, inverse: bool = False
) -> Array:
    scale = _scale(name, norm, _BACKWARD if inverse else _FORWARD)
    if not axes:
        return another_handle(x)
    if len(set(axes)) < len(axes):  # an axis that is named twice is transformed twice
        for size, axis in zip(sizes[::-1], axes[::-1], strict=True):
            x = _complex(name, x, [size], [axis], norm, inverse)
        return x
    x = _fitted(x, sizes, axes)
    return c2c(cast(x, x.dtype.complex_dtype), axes, inverse=inverse, norm=scale)


def _from_real(
    name: str,
    x: Array,
    sizes: Sequence[int],
    axes: Sequence[int],
    norm: Any,
    scales: dict[Any, str] = _FORWARD,
) -> Array:
    scale = _scale(name, norm, scales)
    if x.dtype.is_complex:
        _refuse_complex(name, x)
    if len(set(axes)) < len(axes):
        y = _from_real(name, x, sizes[-1:], axes[-1:], norm)
        return _complex(name, y, sizes[:-1], axes[:-1], norm)
    dtype = x.dtype.complex_dtype.real_dtype
    return r2c(cast(_fitted(x, sizes, axes), dtype), axes, norm=scale)


def _to_real(
    name: str,
    x: Array,
    sizes: Sequence[int],
    axes: Sequence[int],
    norm: Any,
    scales: dict[Any, str] = _BACKWARD,
) -> Array:
    scale = _scale(name, norm, scales)
    if len(set(axes)) < len(axes):
        for size, axis in zip(sizes[:-1], axes[:-1], strict=True):
            x = _complex(name, x, [size], [axis], norm, inverse=True)
        sizes, axes = sizes[-1:], axes[-1:]
    length, dtype = sizes[-1], x.dtype
    x = _fitted(x, [*sizes[:-1], length // 2 + 1], axes)
    y = c2r(cast(x, dtype.complex_dtype), axes, length, norm=scale)
    return cast(y, dtype) if dtype.is_float and len(axes) == 1 else y  # halves come back, as there


def _refuse_complex(name: str, x: Array) -> NoReturn:
    error = DTypeMismatchError.of(
        name,
        "the operand is complex",
        got=x.aval,
        need="real numbers; `fft` and `ifft` take complex ones",
        dtypes=(x.dtype,),
    )
    raise at_user_line(error)


# ---- arguments -----------------------------------------------------------------------------------


def _line(
    name: str, a: Any, n: Any, axis: Any, halved: bool = False
) -> tuple[Array, list[int], list[int]]:
    """Return the array, the size and the axis of a transform along one axis."""
    x = as_array(a)
    along = normalize_axis(axis, x.ndim, name)
    size = _whole(x, along, halved) if n is None else index(n)
    return x, _positive(name, "n", [size]), [along]


def _grid(
    name: str, a: Any, s: Any, axes: Any, halved: bool = False
) -> tuple[Array, list[int], list[int]]:
    """Return the array, sizes and axes of a transform along several axes; -1 keeps a size."""
    x = as_array(a)
    if axes is None:
        axes = range(-(x.ndim if s is None else len(s)), 0)
    along = [normalize_axis(axis, x.ndim, name) for axis in axes]
    wanted = [None] * len(along) if s is None else list(s)
    if len(wanted) != len(along):
        error = ShapeMismatchError.of(
            name, "the number of sizes differs from the number of axes",
            got=f"s={s}, axes={tuple(axes)}",
            need="as many sizes as axes", shapes=(tuple(wanted),),
        )  # fmt: skip
        raise at_user_line(error)
    if halved and not along:
        _refuse_parameter(name, "axes", tuple(axes), "no axis for the half spectrum", "one axis")
    last = len(along) - 1
    sizes = [
        _whole(x, axis, halved and i == last) if n is None else index(n)
        for i, (n, axis) in enumerate(zip(wanted, along, strict=True))
    ]
    sizes = [x.shape[axis] if n == -1 else n for n, axis in zip(sizes, along, strict=True)]
    return x, _positive(name, "s", sizes), along


def _whole(x: Array, axis: int, halved: bool) -> int:
    """Return the size of an axis, or the even size whose half spectrum it is."""
    return 2 * (x.shape[axis] - 1) if halved else x.shape[axis]


def _positive(name: str, parameter: str, sizes: list[int]) -> list[int]:
    if any(n < 1 for n in sizes):
        value = sizes[0] if parameter == "n" else tuple(sizes)
        _refuse_parameter(
            name, parameter, value, "there is nothing to transform", "sizes of 1 or more"
        )
    return sizes


def _scale(name: str, norm: Any, scales: dict[Any, str]) -> str:
    if norm not in scales:
        need = 'None, "backward", "ortho" or "forward"'
        _refuse_parameter(name, "norm", norm, "unknown norm", need)
    return scales[norm]


def _refuse_parameter(name: str, parameter: str, value: object, fact: str, need: str) -> NoReturn:
    error = InvalidParameterError.of(
        name, fact, got=f"{parameter}={value!r}", need=need, parameter=parameter, value=value
    )
    raise at_user_line(error)


def _fitted(x: Array, sizes: Sequence[int], axes: Sequence[int]) -> Array:
    """Truncate or zero-pad the array at the end of axes to the given sizes."""
    shape = list(x.shape)
    for size, axis in zip(sizes, axes, strict=True):
        shape[axis] = size
    none, more = [0] * x.ndim, [n - m for n, m in zip(shape, x.shape, strict=True)]
    if max(more, default=0) > 0:
        return structural.pad(x, 0, none, more, none)  # type: ignore[return-value]
    return structural.slice(x, none, shape) if any(more) else x


# ---- order and places of frequencies -------------------------------------------------------------


@covers("fft.fftshift")
def fftshift(x: Any, axes: Any = None) -> Array:
    """Shift the zero frequency from the start to the middle of axes; of all axes by default.

    x: [*s]   →   y: [*s]

    Raises AxisError: for no axis of x.

    >>> import tenferro as tn
    >>> tn.fft.fftshift([0, 1, 2, -2, -1])
    array([-2, -1,  0,  1,  2])
    """
    return _shifted(as_array(x), axes, "fft.fftshift", 1)


@covers("fft.ifftshift")
def ifftshift(x: Any, axes: Any = None) -> Array:
    """Undo ``fftshift``. For an even size both are the same.

    x: [*s]   →   y: [*s]

    Raises AxisError: for no axis of x.

    >>> import tenferro as tn
    >>> tn.fft.ifftshift([-2, -1, 0, 1, 2])
    array([ 0,  1,  2, -2, -1])
    """
    return _shifted(as_array(x), axes, "fft.ifftshift", -1)


def _shifted(x: Array, axes: Any, name: str, sign: int) -> Array:
    given = range(x.ndim) if axes is None else axes
    given = given if hasattr(given, "__iter__") else (given,)
    along = [normalize_axis(axis, x.ndim, name) for axis in given]
    return roll(x, [sign * (x.shape[axis] // 2) for axis in along], along)


@covers("fft.fftfreq")
def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Array:
    """Return the frequencies of ``fft`` for n samples at distance d, in cycles per unit of d.

    >>> import tenferro as tn
    >>> tn.fft.fftfreq(4, 0.5)
    Array([ 0. ,  0.5, -1. , -0.5])
    """
    count = _count("fft.fftfreq", n)
    halves = arange((count + 1) // 2), arange(-(count // 2), 0)
    return _frequencies(concatenate(halves), count, d, device, dtype)


@covers("fft.rfftfreq")
def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Array:
    """Return the frequencies of ``rfft`` for n samples at distance d: (0 … n//2) / (n d).

    >>> import tenferro as tn
    >>> tn.fft.rfftfreq(4, 0.5)
    Array([0. , 0.5, 1. ])
    """
    count = _count("fft.rfftfreq", n)
    return _frequencies(arange(count // 2 + 1), count, d, device, dtype)


def _count(name: str, n: Any) -> int:
    count = index(n)
    return _positive(name, "n", [count])[0]


def _frequencies(places: Array, n: int, d: Any, device: Any, dtype: Any) -> Array:
    found = places * (1.0 / (n * d))
    return on_device(found if dtype is None else cast(found, DType.of(dtype)), device)
