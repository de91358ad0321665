"""From one table row to cases: a row names an edge and states inputs, dtypes and what is to be
differentiated.

A row whose `expected` is `ORACLE` takes its numbers from `golden/`; a row with literals states them
itself, which is how special values and conventions are written. Data only; `oracle/golden.py`
computes, `suite/` tests. Read `arithmetic.py` as an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args

from tenferro_conformance.cases.case import Case, Domain, GradPlan, Layout, Stored, TolClass
from tenferro_conformance.samples.numbers import FLOATS, HALF, RARE_DTYPES, Grid, real_dtype

__all__ = ["ORACLE", "Meaning", "Row", "Table", "dtype_features", "table"]


#: The numbers are computed by `oracle/golden.py` and stored in `golden/`.
ORACLE: Any = type("_Oracle", (), {"__repr__": lambda self: "ORACLE"})()
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
            features=row.features
            | special_feature(self.primitive)
            | dtype_features([dtype, *outs, *(x.dtype for x in inputs)]),
            tol=row.tol or (self.tol_complex if "complex" in dtype else self.tol),
            scale=(_restored(stored["scale"], real_dtype(out)),) if "scale" in stored else None,
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
    for row in rows:
        _check_numbers(primitive, row)
    classes = get_args(TolClass)
    for given in {tol, tol_complex or tol, *(row.tol or tol for row in rows)}:
        if given not in classes:
            raise ValueError(
                f"{primitive}: no class of tolerance is called {given!r}\n"
                f"  need       one of {', '.join(classes)}"
            )
    return Table(
        primitive=primitive,
        rows=rows,
        level=level,
        tol=tol,
        tol_complex=tol_complex or tol,
        meaning=meaning,
        refuses=refuses,
    )


def _check_numbers(primitive: str, row: Row) -> None:
    """Raise ValueError if a complex number is given for an operand of a real dtype."""
    kinds = row.kinds or (None,) * len(row.inputs)
    for place, (value, kind) in enumerate(zip(row.inputs, kinds, strict=True)):
        real = [name for name in ([kind] if kind else row.dtypes) if "complex" not in name]
        if real and any(type(number) is complex for number in _flatten(value).flat):
            raise ValueError(
                f"{primitive}/{row.edge}: operand {place} holds complex numbers, and its dtype is "
                f"{real[0]}\n"
                "  need       `dtypes=COMPLEX` of the row, or a complex dtype for this operand in "
                "`kinds`"
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
        scale=(_restored(stored["derivative_scale"], real_dtype(out)),),
        smooth=row.smooth,
    )


#: Functions that few array libraries have, and what is made of them: a backend claims them one by
#: one, or all of them by the feature `special`.
SPECIAL = frozenset(
    f"std::{name}"
    for name in (
        "bessel_i", "bessel_ie", "bessel_j", "bessel_k", "bessel_ke", "bessel_y", "beta_density",
        "betainc", "betainc_derivative", "betaincc", "betaln", "complex_erf", "complex_erfc",
        "dawsn", "digamma", "elliptic_integral", "erf", "erfc",
        "erfcinv", "erfcx", "erfinv", "expi", "expn", "exprel", "gamma", "gamma_density",
        "gammainc",
        "gammainc_derivative", "gammaincc", "lgamma",
        "log_ndtr", "ndtr", "ndtri", "polygamma", "polygamma_difference", "random_log_gamma",
        "scaled_expm1", "wofz", "zeta",
    )
)  # fmt: skip


def special_feature(primitive: str) -> frozenset[str]:
    """Return the feature that a special function needs; none of other primitives.

    >>> special_feature("std::erf"), special_feature("std::exp")
    (frozenset({'special'}), frozenset())
    """
    return frozenset({"special"} if primitive in SPECIAL else ())


def dtype_features(dtypes: Iterable[str]) -> frozenset[str]:
    """Return the features that a backend with these dtypes has.

    >>> sorted(dtype_features(["float32", "complex128"]))
    ['complex', 'f64']
    """
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
