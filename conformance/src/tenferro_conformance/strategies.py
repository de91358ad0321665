"""Random programs as a strategy of hypothesis (`pip install "tenferro-conformance[property]"`).

The graphs are recorded without any simplification. Elements of their operands are those that break
identities: both zeros, infinities, nan, subnormal and huge numbers; shapes have axes of size 0
and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from hypothesis import strategies as st

from tenferro.computegraph import derive, flatten, input_key
from tenferro.primitives import Aval, DType
from tenferro.primitives import arithmetic as a
from tenferro.primitives import comparison as c
from tenferro.primitives import elementwise as e
from tenferro.primitives import reduction as r
from tenferro.primitives import structural as s
from tenferro.primitives.complex import Complex, Conj, Imag, Real
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.contraction import DotGeneral

__all__ = ["Dag", "Kind", "dag", "dags"]

Kind = Literal["any", "plain", "tame"]
T = TypeVar("T")

INF, NAN = float("inf"), float("nan")
FLOATS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -4.0, 3.7, INF, -INF, NAN, 1e30, 1e-40, 1e-3]
TAME_NUMBERS = [0.0, 1.0, -1.0, 2.0, 0.5, -4.0, 3.7, 0.25]
UNSTABLE = ["convert", "compare"]
NEUTRAL: dict[str, list[Any]] = {
    "float": [0.0, -0.0, 1.0, -1.0, 2.0, 0.25, 3.0],
    "int64": [0, 1, -1, 7],
}
SHAPES = [(), (1,), (3,), (0,), (2, 3), (1, 3), (2, 1), (2, 0), (2, 3, 2), (1, 1)]
FLOATING = ["float64", "float32", "float16"]
WHOLE = ["int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool"]

KINDS = {
    "any": [*FLOATING, "complex128", "complex64", *WHOLE],
    "plain": [*FLOATING, *WHOLE],
    "tame": ["float64", "complex128"],
}

UNARY = [a.Neg(), a.Abs(), a.Square(), s.StopGradient(), a.Sqrt(), e.Exp()]
BINARY = [a.Add(), a.Sub(), a.Mul(), a.Div(), a.Maximum(), a.Minimum()]
COMPARISONS = [c.Eq(), c.Ne(), c.Lt(), c.Ge()]
LOGIC = [c.LogicalAnd(), c.LogicalOr(), c.LogicalXor()]


class Dag(NamedTuple):
    """A `MaterializedGraph`, and NumPy arrays for its inputs."""

    graph: Any
    operands: list[Any]

    def __repr__(self) -> str:
        rows = [f"%{i} = {x!r}" for i, x in enumerate(self.operands)]
        return "\n".join([str(self.graph), *rows])


class _Builder:
    def __init__(self, seed: int, kind: Kind) -> None:
        self.random, self.elements = Random(seed), TAME_NUMBERS if kind == "tame" else FLOATS
        self.kind = kind
        self.keys: list[Any] = []
        self.operands: list[Any] = []
        self.values: list[Any] = []

    def pick(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def coin(self) -> bool:
        return self.random.random() < 0.5

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def shuffled(self, items: Iterable[T]) -> list[T]:
        found = list(items)
        self.random.shuffle(found)
        return found

    def apply(self, operation: Any, *keys: Any) -> None:
        self.values += derive(operation, keys)

    def number(self, dtype: str) -> Any:
        if dtype == "bool":
            return self.pick([False, True])
        if dtype.startswith("complex"):
            return complex(self.pick(self.elements), self.pick(self.elements))
        if dtype.startswith("float"):
            return self.pick(self.elements)
        return self.pick([0, 1, 2, 3, 100] + ([-1, -128] if dtype.startswith("int") else []))

    def input(self, dtype: str, shape: tuple[int, ...]) -> None:
        key = input_key(f"x{len(self.keys)}", Aval(shape, dtype))
        size = int(np.prod(shape))
        elements = np.array([self.number(dtype) for _ in range(size)])
        with np.errstate(all="ignore"):
            self.operands.append(np.asarray(elements).astype(dtype).reshape(shape))
        self.keys.append(key)
        self.values.append(key)

    def like(self, x: Any) -> Any:
        """Return a value of the same aval: an existing one, a constant, or a repeated one."""
        same = [v for v in self.values if v.aval is x.aval]
        kind = self.pick(["there", "constant", "repeated"])
        if kind == "there":
            return self.pick(same)
        name, shape = x.aval.dtype.name, x.aval.shape
        if kind == "constant":
            number = self.pick(NEUTRAL[name[:5]]) if name[:5] in NEUTRAL else self.number(name)
            return derive(Constant(number, name, shape), ())[0]
        rest = [v for v in self.values if v.aval.dtype is x.aval.dtype and _fits(v, shape)]
        found = self.pick(rest or same)
        if found.aval is x.aval:
            return found
        first = len(shape) - found.aval.ndim
        return derive(s.BroadcastInDim(shape, tuple(range(first, len(shape)))), (found,))[0]

    def step(self) -> None:
        x = self.pick(self.values[-4:] if self.coin() else self.values)
        dtype = x.aval.dtype
        kinds = ["move", "move", "reduce", "convert"]
        kinds += ["logic", "select"] if dtype.is_bool else ["unary", "binary", "binary", "compare"]
        kinds += ["part"] if dtype.is_complex else []
        kinds += ["contract"] if dtype.is_inexact else []
        unwanted = UNSTABLE if self.kind == "tame" else ["contract"]
        kinds = [kind for kind in kinds if kind not in unwanted]
        getattr(self, self.pick(kinds))(x)

    def unary(self, x: Any) -> None:
        dtype = x.aval.dtype
        allowed = {"any": UNARY, "plain": UNARY[:-1], "tame": UNARY[:4]}[self.kind]
        allowed = allowed if dtype.is_float else [*UNARY[:4], Conj()]
        self.apply(self.pick(allowed), x)

    def binary(self, x: Any) -> None:
        dtype = x.aval.dtype
        if self.kind == "tame":
            dtype = x.aval.dtype.of("int64")  # no division
        allowed = BINARY if dtype.is_float else BINARY[:4] if dtype.is_complex else BINARY[:3]
        pair = [x, self.like(x)]
        self.apply(self.pick(allowed), *(pair if self.coin() else pair[::-1]))

    def compare(self, x: Any) -> None:
        allowed = COMPARISONS[:2] if x.aval.dtype.is_complex else COMPARISONS
        self.apply(self.pick(allowed), x, self.like(x))

    def logic(self, x: Any) -> None:
        if self.coin():
            self.apply(c.LogicalNot(), x)
        else:
            self.apply(self.pick(LOGIC), x, self.like(x))

    def select(self, x: Any) -> None:
        others = [v for v in self.values if v.aval.shape == x.aval.shape]
        y = self.pick(others)
        self.apply(c.Select(), x, y, self.like(y))

    def part(self, x: Any) -> None:
        kind = self.pick(["real", "imag", "both"])
        if kind != "imag":
            self.apply(Real(), x)
        if kind != "real":
            self.apply(Imag(), x)
        if kind == "both":
            self.apply(Complex(), *self.values[-2:])

    def convert(self, x: Any) -> None:
        source = x.aval.dtype
        targets = ["bool", "float64", "float32"]
        targets += ["complex128", "complex64"] if self.kind != "plain" else []
        if not source.is_inexact:
            targets += ["int64", "int8", "uint8", "float16"]
        if source.is_float:
            targets.append("float16")
        self.apply(s.Convert(DType.of(self.pick(targets))), x)

    def reduce(self, x: Any) -> None:
        aval = x.aval
        axes = tuple(i for i in range(aval.ndim) if self.coin())
        empty = 0 in [aval.shape[i] for i in axes]
        allowed: list[Any] = [r.ReduceAnd, r.ReduceOr] if aval.dtype.is_bool else []
        if aval.dtype.is_integer or (self.kind == "tame" and aval.dtype.is_inexact):
            allowed.append(r.ReduceSum)
        if not (aval.dtype.is_bool or aval.dtype.is_complex or empty):
            allowed += [r.ReduceMax, r.ReduceMin]
        if allowed:
            self.apply(self.pick(allowed)(axes), x)

    def move(self, x: Any) -> None:
        getattr(self, self.pick(MOVES))(x)

    def reshape(self, x: Any) -> None:
        same = [shape for shape in SHAPES if int(np.prod(shape)) == x.aval.size]
        self.apply(s.Reshape(self.pick([*same, (x.aval.size,), (1, *x.aval.shape)])), x)

    def transpose(self, x: Any) -> None:
        self.apply(s.Transpose(tuple(self.shuffled(range(x.aval.ndim)))), x)

    def broadcast(self, x: Any) -> None:
        shape = tuple(self.pick([2, 3]) if n == 1 else n for n in x.aval.shape)
        place = self.between(0, len(shape))
        wide = (*shape[:place], self.pick([0, 1, 2]), *shape[place:])
        dimensions = tuple(i for i in range(len(wide)) if i != place)
        if len(wide) <= 3:
            self.apply(s.BroadcastInDim(wide, dimensions), x)

    def slice(self, x: Any) -> None:
        start = [self.between(0, n) for n in x.aval.shape]
        limit = [self.between(i, n) for i, n in zip(start, x.aval.shape, strict=False)]
        strides = [self.between(1, 2) for _ in start]
        self.apply(s.Slice(tuple(start), tuple(limit), tuple(strides)), x)

    def pad(self, x: Any) -> None:
        low, high, interior = [], [], []
        for n in x.aval.shape:
            interior.append(self.pick([0, 0, 1]))
            low.append(self.pick([0, 0, 1, -1]))
            high.append(self.pick([0, 0, 2, -1]))
            if n + max(n - 1, 0) * interior[-1] + low[-1] + high[-1] < 0:
                low[-1] = high[-1] = 0
        name = x.aval.dtype.name
        filler = derive(Constant(self.pick([0, self.number(name)]), name, ()), ())[0]
        self.apply(s.Pad(tuple(low), tuple(high), tuple(interior)), x, filler)

    def concatenate(self, x: Any) -> None:
        if x.aval.ndim:
            axis = self.between(0, x.aval.ndim - 1)
            self.apply(s.Concatenate(axis), x, self.like(x))

    def reverse(self, x: Any) -> None:
        axes = tuple(i for i in range(x.aval.ndim) if self.coin())
        self.apply(s.Reverse(axes), x)

    def count(self, x: Any) -> None:
        shape = self.pick([(1, 3), (3,), (2, 1)])
        self.apply(Iota(shape, self.between(0, len(shape) - 1), DType.of("int64")))

    def contract(self, x: Any) -> None:
        y = self.like(x)
        if self.coin():
            y = derive(s.Transpose(tuple(range(y.aval.ndim))[::-1]), (y,))[0]
        shapes = list(x.aval.shape), list(y.aval.shape)
        pairs = [(i, j) for i, n in enumerate(shapes[0]) for j, m in enumerate(shapes[1]) if n == m]
        chosen: list[tuple[int, int]] = []
        batch: list[tuple[int, int]] = []
        for i, j in self.shuffled(pairs):
            taken = [*chosen, *batch]
            if all(i != p and j != q for p, q in taken):
                self.pick([chosen, batch, []]).append((i, j))
        left, right = ([[p[k] for p in part] for part in (chosen, batch)] for k in (0, 1))
        if x.aval.ndim + y.aval.ndim - 2 * len(chosen) - len(batch) <= 3:
            operation = DotGeneral(tuple(left[0]), tuple(right[0]), tuple(left[1]), tuple(right[1]))
            self.apply(operation, x, y)


MOVES = ["reshape", "transpose", "broadcast", "slice", "pad", "concatenate", "reverse", "count"]


def _fits(value: Any, shape: tuple[int, ...]) -> bool:
    """Return True if a value can be broadcast to a shape."""
    own = value.aval.shape
    return len(own) <= len(shape) and all(
        n in (1, m) for n, m in zip(own, shape[len(shape) - len(own) :], strict=False)
    )


def dag(seed: int, steps: int, kind: Kind = "any") -> Dag:
    """Make the program of this many steps that a seed determines.

    Its outputs are all values that nothing reads, and one more.
    """
    builder = _Builder(seed, kind)
    for _ in range(builder.between(1, 3)):
        builder.input(builder.pick(KINDS[kind]), builder.pick(SHAPES))
    for _ in range(steps):
        builder.step()
    read = {key for value in builder.values for key in value.inputs}
    outputs = [value for value in builder.values if value not in read]
    outputs.append(builder.pick(builder.values))
    return Dag(flatten(builder.keys, outputs, lambda key: key.definition), builder.operands)


def dags(kind: Kind = "any", max_steps: int = 25) -> st.SearchStrategy[Dag]:
    """Make random programs of up to `max_steps` steps, each one operation or a few.

    ``any``: of all dtypes, without sums of floating-point numbers, whose order follows the layout
    of their operands; ``plain``: also without complex numbers and without operations that one loop
    rounds unlike another; ``tame``: with sums and contractions of small numbers and nothing that
    magnifies what their order changes.

    ```
    @given(made=dags())
    def test_my_backend(made):
        program = compile_program(made.graph)
        results = my_backend.compile(program, program.input_avals)(*made.operands)
    ```
    """
    return st.builds(dag, st.integers(0, 2**32), st.integers(1, max_steps), st.just(kind))
