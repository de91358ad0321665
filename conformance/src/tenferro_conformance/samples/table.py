"""From one table row to cases: a row names an edge and states inputs, dtypes and what is to be
differentiated.

A row whose `expected` is `ORACLE` takes its numbers from `golden/`; a row with literals states them
itself, which is how special values and conventions are written. Data only; `golden.py` computes,
`suite/` tests. Read `arithmetic.py` as an example.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tenferro_conformance.case import Case, Domain, GradPlan, Layout, Stored, TolClass

__all__ = [
    "ALL_DTYPES",
    "ALL_INTS",
    "BOOL",
    "COMPLEX",
    "F32",
    "F64",
    "FLOATS",
    "HALF",
    "INTS",
    "NUMBERS",
    "ORACLE",
    "RARE_DTYPES",
    "SIGNED",
    "UNSIGNED",
    "Grid",
    "Meaning",
    "Row",
    "Table",
    "away",
    "cgrid",
    "coarse",
    "elementwise_rows",
    "fine",
    "grid",
    "halved",
    "igrid",
    "special_values",
    "table",
]  # fmt: skip

F32, F64 = ("float32",), ("float64",)
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
HALF = ("float16", "bfloat16")
INTS = ("int32", "int64")
SIGNED = ("int8", "int16", *INTS)
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
ALL_INTS = SIGNED + UNSIGNED
BOOL = ("bool",)
NUMBERS = FLOATS + COMPLEX + INTS
#: What most rows leave out: the integers other than int32 and int64, and the half floats.
RARE_DTYPES = ("int8", "int16", *UNSIGNED, *HALF)
ALL_DTYPES = BOOL + ALL_INTS + HALF + FLOATS + COMPLEX

inf, nan = float("inf"), float("nan")

#: The numbers are computed by `oracle.py` and stored in `golden/`.
ORACLE: Any = type("_Oracle", (), {"__repr__": lambda self: "ORACLE"})()


@dataclass(frozen=True)
class Grid:
    """Numbers with a shape; the form of nested lists."""

    shape: tuple[int, ...]
    flat: tuple[Any, ...]


def grid(low: float, high: float, *shape: int) -> Grid:
    """Spread numbers over an interval in scattered order, with all 24 bits that float32 holds.

    They fill the mantissa, so that sums and products must round; they are exact in float32, so
    that one stored result serves both precisions; none is the middle of the interval.
    """
    size = _size(shape)
    step = _coprime(size)
    places = ((i * step) % size for i in range(size))
    return Grid(shape, tuple(_spread(low, high, (k + 0.375) / size) for k in places))


def _spread(low: float, high: float, place: float) -> float:
    """Return the number at a place between 0 and 1, moved by 0.3 % away from short numbers."""
    return _single((low + (high - low) * place) * (1 - 1 / 307))


def _single(x: float) -> float:
    """Round to the nearest number of single precision."""
    rounded: float = struct.unpack("f", struct.pack("f", x))[0]
    return rounded


def cgrid(radius: float, *shape: int, offset: complex = 0) -> Grid:
    """Make complex numbers in a square around `offset`, away from the axes."""
    size = _size(shape)
    numbers = grid(-radius, radius, size).flat
    turned = numbers[size // 3 :] + numbers[: size // 3]
    shift = complex(offset) + (0.125 - 0.0625j)
    pairs = zip(numbers, turned, strict=True)
    return Grid(
        shape, tuple(complex(_single(x + shift.real), _single(y + shift.imag)) for x, y in pairs)
    )


def away(low: float, high: float) -> Callable[..., Grid]:
    """Make numbers of both signs with |x| in [low, high]: away from zero."""

    def make(*shape: int) -> Grid:
        numbers = grid(low, high, *shape).flat
        return Grid(shape, tuple(x if i % 2 else -x for i, x in enumerate(numbers)))

    return make


def igrid(low: int, high: int, *shape: int) -> Grid:
    """Make integers in scattered order, `low` ≤ k < `high`."""
    size = _size(shape)
    return Grid(
        shape, tuple(low + (i * _coprime(high - low) + i // 3) % (high - low) for i in range(size))
    )


def fine(numbers: Grid) -> Grid:
    """Perturb the numbers to use all 53 bits: none fits in single precision."""
    flat = tuple(x * (1 + (2 * i + 1) / 3 * 2.0**-20) for i, x in enumerate(numbers.flat))
    return Grid(numbers.shape, flat)


def coarse(numbers: Grid) -> Grid:
    """Round the numbers to the 8 bits of bfloat16, which float16 holds, too, in its range."""
    return Grid(numbers.shape, tuple(map(_leading, numbers.flat)))


def _leading(x: float) -> float:
    """Clear the lower half of a number's single precision."""
    (bits,) = struct.unpack("I", struct.pack("f", x))
    cut: float = struct.unpack("f", struct.pack("I", bits & 0xFFFF0000))[0]
    return cut


def halved(*makers: Callable[..., Grid], wrt: tuple[int, ...] | None = None, **more: Any) -> Row:
    """Make the row of half-precision floats: inputs that both formats hold exactly."""
    axes = tuple(range(len(makers))) if wrt is None else wrt
    inputs = tuple(coarse(make(2, 3)) for make in makers)
    return Row(edge="half", inputs=inputs, dtypes=HALF, wrt=axes, **{"order": 2, **more})


def _size(shape: Sequence[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _coprime(size: int) -> int:
    """Return a step that visits every place once, far from its neighbours."""
    candidates = (7, 5, 3, 11, 13)
    return next((step for step in candidates if size % step), 1)


_OutDType = str | Callable[[str], str] | None
Meaning = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One edge of one primitive, for several dtypes.

    inputs      nested lists, numbers or `Grid`s
    kinds       per input: None takes the case's dtype; a name fixes it ("bool", "int32")
    expected    ORACLE, nested lists, or None (a law decides)
    out         dtype of the output, or a function of the case's dtype; None: the same;
                a tuple of these for several outputs, whose literals `expected` then lists
    wrt         inputs to differentiate; empty: no derivative
    tangents    directions, if the derivative is stated
    derivative  ORACLE, or the stated first derivative along the tangents; None: differences
    smooth      False at a kink, where only a convention says what the derivative is
    observe     what is looked at instead of the outputs, see `observations/`
    condition   what multiplies rounding errors: a condition number, or one over a gap
    """

    edge: str
    inputs: tuple[Any, ...]
    dtypes: tuple[str, ...] = FLOATS
    kinds: tuple[str | None, ...] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = ORACLE
    out: _OutDType | tuple[_OutDType, ...] = None
    wrt: tuple[int, ...] = ()
    order: int = 3
    tangents: tuple[Any, ...] | None = None
    derivative: Any = ORACLE
    smooth: bool = True
    layout: Layout = "contiguous"
    tol: TolClass | None = None
    size: int = 1
    features: frozenset[str] = frozenset()
    domain: Domain | None = None
    note: str = ""
    observe: str | None = None
    condition: float = 1.0
    provisional: bool = False

    def golden_kind(self, dtype: str) -> str:
        """Return the last part of the golden key: shared by the dtypes of one kind."""
        kin = [d for d in self.dtypes if _kind(d) == _kind(dtype)]
        return _kind(dtype) if len(kin) > 1 and _kind(dtype) in ("float", "complex") else dtype

    def stored_inputs(self, dtype: str) -> tuple[Stored, ...]:
        """Return the inputs for one dtype."""
        kinds = self.kinds or (None,) * len(self.inputs)
        return tuple(
            _stored(value, kind or dtype, self.layout)
            for value, kind in zip(self.inputs, kinds, strict=True)
        )

    def out_dtypes(self, dtype: str) -> tuple[str, ...]:
        """Return the dtypes of the outputs for one dtype."""
        outs = self.out if isinstance(self.out, tuple) else (self.out,)
        return tuple(out(dtype) if callable(out) else out or dtype for out in outs)


@dataclass(frozen=True, kw_only=True)
class Table:
    """All rows of one primitive.

    meaning     what an elementwise primitive computes, as a function of mpmath and the entries;
                longer definitions stand in `oracle/`
    refuses     what an elementwise primitive refuses, by the words of `errors.REFUSED_DTYPES`:
                "shapes" (of two operands, the shapes or dtypes differ), "no_integers", …
    """

    primitive: str
    rows: tuple[Row, ...]
    level: int
    tol: TolClass
    tol_complex: TolClass
    meaning: Meaning | None = None
    refuses: str = ""

    def entries(self) -> Iterator[tuple[str, Row, str]]:
        """(golden key, row, dtype) of every case."""
        for row in self.rows:
            for dtype in row.dtypes:
                yield f"{self.primitive}/{row.edge}/{row.golden_kind(dtype)}", row, dtype

    def cases(self, golden: Mapping[str, Mapping[str, Any]]) -> Iterator[Case]:
        """Yield the cases, with stored numbers from `golden` if a row asks for them."""
        for key, row, dtype in self.entries():
            yield self._case(row, dtype, golden.get(key, {}))

    def _case(self, row: Row, dtype: str, stored: Mapping[str, Any]) -> Case:
        inputs = row.stored_inputs(dtype)
        outs = row.out_dtypes(dtype)
        out = outs[0]
        expected = _expected(row, stored, outs)
        return Case(
            id=f"{self.primitive}/{row.edge}/{dtype}",
            primitive=self.primitive,
            params={
                name: value(dtype) if callable(value) else value
                for name, value in row.params.items()
            },
            inputs=inputs,
            expected=expected,
            level=self.level,
            features=row.features | _features([dtype, *outs, *(x.dtype for x in inputs)]),
            tol=row.tol or (self.tol_complex if "complex" in dtype else self.tol),
            scale=(_restored(stored["scale"], _real(out)),) if "scale" in stored else None,
            size=row.size,
            grad=_plan(row, dtype, out, inputs, stored),
            domain=row.domain,
            note=row.note,
            observe=row.observe,
            condition=row.condition,
            provisional=row.provisional,
        )


def table(
    primitive: str,
    *rows: Row,
    level: int,
    tol: TolClass = "exact",
    tol_complex: TolClass | None = None,
    meaning: Meaning | None = None,
    refuses: str = "",
) -> Table:
    """Make a table; names of edges are unique per dtype."""
    names = [f"{row.edge}/{dtype}" for row in rows for dtype in row.dtypes]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{primitive}: named twice: {sorted(twice)}")
    return Table(
        primitive=primitive,
        rows=rows,
        level=level,
        tol=tol,
        tol_complex=tol_complex or tol,
        meaning=meaning,
        refuses=refuses,
    )


def _expected(
    row: Row, stored: Mapping[str, Any], outs: Sequence[str]
) -> tuple[Stored, ...] | None:
    if row.expected is None:
        return None
    if row.expected is ORACLE:
        return (_restored(stored["expected"], outs[0]),) if stored else None
    literals = row.expected if isinstance(row.out, tuple) else (row.expected,)
    return tuple(
        _stored(value, out, "contiguous") for value, out in zip(literals, outs, strict=True)
    )


def _plan(
    row: Row, dtype: str, out: str, inputs: Sequence[Stored], stored: Mapping[str, Any]
) -> GradPlan | None:
    if not row.wrt:
        return None
    is_stated = row.derivative is not ORACLE and row.tangents is not None
    if not is_stated and "tangents" not in stored:
        return GradPlan(wrt=row.wrt, order=row.order, smooth=row.smooth)
    if is_stated:
        tangents = tuple(
            _stored(v, inputs[i].dtype, "contiguous")
            for i, v in zip(row.wrt, row.tangents or (), strict=True)
        )
        derivatives = (
            ((_stored(row.derivative, out, "contiguous"),),) if row.derivative is not None else ()
        )
        return GradPlan(
            wrt=row.wrt,
            order=row.order,
            tangents=tangents,
            derivatives=derivatives,
            smooth=row.smooth,
        )
    return GradPlan(
        wrt=row.wrt,
        order=row.order,
        tangents=tuple(
            _restored(t, inputs[i].dtype) for i, t in zip(row.wrt, stored["tangents"], strict=True)
        ),
        derivatives=tuple((_restored(d, out),) for d in stored["derivatives"]),
        scale=(_restored(stored["derivative_scale"], _real(out)),),
        smooth=row.smooth,
    )


def _features(dtypes: Sequence[str]) -> frozenset[str]:
    found = set()
    for dtype in dtypes:
        found |= {"f64"} if dtype in ("float64", "complex128") else set()
        found |= {"complex"} if dtype.startswith("complex") else set()
        found |= {"int64"} if dtype == "int64" else set()
        found |= {"f16"} if dtype == "float16" else set()
        found |= {"bf16"} if dtype == "bfloat16" else set()
        found |= {"ints"} if dtype in _RARE_INTS else set()
    return frozenset(found)


_RARE_INTS = set(RARE_DTYPES) - set(HALF)


def _kind(dtype: str) -> str:
    return dtype.rstrip("0123456789")


def _real(dtype: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def _flatten(value: Any) -> Grid:
    """Flatten nested lists to shape and numbers."""
    if isinstance(value, Grid):
        return value
    if not isinstance(value, list | tuple):
        return Grid((), (value,))
    parts = [_flatten(entry) for entry in value]
    shape = (len(parts), *(parts[0].shape if parts else ()))
    return Grid(shape, tuple(entry for part in parts for entry in part.flat))


def _stored(value: Any, dtype: str, layout: Layout) -> Stored:
    flat = _flatten(value)
    usable: Layout = layout if flat.shape and flat.flat else "contiguous"
    return Stored(shape=flat.shape, dtype=dtype, data=flat.flat, layout=usable)


@cache
def _number(text: str) -> float:
    return float.fromhex(text)


def _restored(entry: Mapping[str, Any], dtype: str) -> Stored:
    """Restore a stored array from its golden entry."""
    data = _numbers(entry["data"], entry["kind"])
    low = _numbers(entry["low"], entry["kind"]) if "low" in entry else None
    return Stored(shape=tuple(entry["shape"]), dtype=dtype, data=data, low=low)


def _numbers(data: Sequence[Any], kind: str) -> tuple[Any, ...]:
    if kind == "exact":
        return tuple(data)
    numbers = tuple(map(_number, data))
    if kind == "real":
        return numbers
    return tuple(complex(re, im) for re, im in zip(numbers[::2], numbers[1::2], strict=True))


# --- rows that every elementwise primitive has --------------------------------------------------


def elementwise_rows(
    *inputs: Callable[..., Grid],
    complex_inputs: Sequence[Callable[..., Grid]] = (),
    integer_inputs: Sequence[Callable[..., Grid]] = (),
    wrt: tuple[int, ...] | None = None,
    domain: Domain | None = None,
    half: bool = True,
    unsigned: bool = True,
    **common: Any,
) -> tuple[Row, ...]:
    """Return the shape edges of an elementwise primitive; each input maps a shape to numbers."""
    where = tuple(range(len(inputs))) if wrt is None else wrt
    common["domain"] = domain

    def row(
        edge: str,
        shape: tuple[int, ...],
        makers: Sequence[Callable[..., Grid]],
        dtypes: tuple[str, ...],
        axes: tuple[int, ...],
        **more: Any,
    ) -> Row:
        return Row(edge=edge, inputs=tuple(make(*shape) for make in makers), dtypes=dtypes,
            wrt=axes,
                   **{**common, **more})  # fmt: skip

    rows = [
        row("scalar", (), inputs, FLOATS, where),
        row("empty", (0, 3), inputs, F64, where, order=1),
        row("size1_axis", (1, 3), inputs, F64, where),
        row("wide", (2, 4), inputs, FLOATS, where),
        row("tall", (4, 2), inputs, F64, where, order=1),
        row("non_contiguous", (3, 2), inputs, F64, where, order=1, layout="strided"),
        row("transposed", (3, 2), inputs, F64, (), layout="transposed"),
        row("full_precision", (2, 3), [_finely(make) for make in inputs], F64, where, order=1),
    ]
    if complex_inputs:
        rows.append(row("complex", (2, 3), complex_inputs, COMPLEX, where))
        rows.append(row("complex_scalar", (), complex_inputs, ("complex128",), where))
        finely = [_finely(make) for make in complex_inputs]
        rows.append(row("complex_full_precision", (3,), finely, ("complex128",), ()))
    if integer_inputs:
        rows.append(row("integers", (2, 3), integer_inputs, SIGNED, ()))
        if unsigned:
            rows.append(row("unsigned", (2, 3), _made_positive(integer_inputs), UNSIGNED, ()))
    if half:
        rows.append(halved(*inputs, wrt=where, **common))
    return tuple(rows)


def _finely(make: Callable[..., Grid]) -> Callable[..., Grid]:
    return lambda *shape: fine(make(*shape))


def _made_positive(makers: Sequence[Callable[..., Grid]]) -> list[Callable[..., Grid]]:
    """Make small positive integers; their squares and differences fit in uint8."""

    def moved(make: Callable[..., Grid], place: int) -> Callable[..., Grid]:
        def shifted(*shape: int) -> Grid:
            numbers = make(*shape).flat
            return Grid(shape, tuple(x % 3 + 1 if place else abs(x) + 3 for x in numbers))

        return shifted

    return [moved(make, place) for place, make in enumerate(makers)]


def special_values(*, infs: Any, zeros: Any = None) -> tuple[Row, ...]:
    """NaN stays NaN; stated results at (inf, −inf) and at (−0, 0)."""
    rows = [
        Row(edge="nan", inputs=([nan, nan],), expected=[nan, nan]),
        Row(edge="inf", inputs=([inf, -inf],), expected=infs),
    ]
    if zeros is not None:
        rows.append(Row(edge="negative_zero", inputs=([-0.0, 0.0],), expected=zeros))
    return tuple(rows)
