"""What the engine costs per operation: record, transform, compile; bytes; higher orders.

    python benchmarks/engine.py                     every section, as tables
    python benchmarks/engine.py cost --sizes 1000 10000
    python benchmarks/engine.py --json              the same as JSON (--json FILE writes a file)

Standard library and core only, on a toy vocabulary defined below, so that nothing but the engine
is measured. Every row of the section `cost` runs in a process of its own: CPU time of that process
on one thread, the best of several runs where they are short. `orders` counts equations and puts
JAX's beside them where JAX is installed. To add a section, write a function that returns a `Table`
and list it in `SECTIONS`.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import platform
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from tenferro.computegraph import (
    CompiledProgram,
    Graph,
    KeyView,
    ValueKey,
    compile_program,
    evaluate,
    input_key,
    materialize_merge,
    resolve,
    table_size,
)
from tenferro.tidu import (
    NO_TANGENT,
    LinearSpace,
    Primitive,
    Residual,
    RuleBuilder,
    Trace,
    Value,
    emit,
    linear_transpose,
    linearize,
    pin,
    pullback,
    pushforward,
)
from tenferro.tidu import Linear as Flow

# ---- the vocabulary ----------------------------------------------------------------------------


class Number(Value):
    """A value with operators."""

    __slots__ = ()

    def __add__(self, other: Number) -> Number:
        return ADD(self, other)

    def __mul__(self, other: Number) -> Number:
        return MUL(self, other)

    def __neg__(self) -> Number:
        return NEG(self)


class Numbers:
    """The linear space of numbers, all of one abstract value."""

    value: type[Value] = Number

    def add(self, x: Value, y: Value) -> Value:
        return emit(ADD, (x, y), Number)[0]

    def zeros(self, aval: object) -> Value:
        return emit(Constant(0.0), (), Number)[0]

    def is_zero(self, key: ValueKey) -> bool:
        return key.operation is IS_ZERO

    def tangent_aval(self, aval: object) -> object:
        return NO_TANGENT if aval == "int" else aval


class Toy(Primitive):
    """A primitive on numbers: `turn` is the transpose, `slope` the derivative."""

    space: ClassVar[LinearSpace] = Numbers()
    turn: ClassVar[Any] = None
    slope: ClassVar[Any] = None

    def __call__(self, *values: Value) -> Number:
        return emit(self, values, Number)[0]  # type: ignore[return-value]

    def abstract_eval(self, *avals: object) -> object:
        return "f64"

    def jvp_input(
        self, rule: RuleBuilder, index: int, tangent: Value, primals: Any, results: Any
    ) -> Sequence[Value | None]:
        return (self.slope(*primals, *results) * tangent,)

    def transpose(
        self, rule: RuleBuilder, cts: Sequence[Value | None], inputs: Sequence[Residual | Flow]
    ) -> Sequence[Value | None]:
        known = [i.value if isinstance(i, Residual) else None for i in inputs]
        ct = self.turn(cts[0], *known)
        return [ct if value is None else None for value in known]


class Constant(Toy):
    input_count = 0
    literal = True
    value: float


class Add(Toy):
    input_count = 2
    commutative = True
    linear = ((0, 1),)

    def turn(self, ct: Number, x: None, y: None) -> Number:
        return ct

    def simplify(self, x: Number, y: Number) -> Number | None:
        return x if y.key.operation is IS_ZERO else y if x.key.operation is IS_ZERO else None


class Mul(Toy):
    input_count = 2
    commutative = True
    linear = ((0,), (1,))

    def turn(self, ct: Number, x: Number | None, y: Number | None) -> Number:
        factor = x or y
        assert factor is not None
        return ct * factor

    def simplify(self, x: Number, y: Number) -> Number | None:
        return x if y.key.operation is IS_ONE else y if x.key.operation is IS_ONE else None


class Neg(Toy):
    linear = ((0,),)

    def turn(self, ct: Number, x: None) -> Number:
        return -ct

    def simplify(self, x: Number) -> Number | None:
        return Number(x.key.inputs[0], x.flow) if x.key.operation is self else None


class Exp(Toy):
    def slope(self, x: Number, y: Number) -> Number:
        return y


class Sin(Toy):
    def slope(self, x: Number, y: Number) -> Number:
        return COS(x)


class Cos(Toy):
    def slope(self, x: Number, y: Number) -> Number:
        return -SIN(x)


class Tanh(Toy):
    def slope(self, x: Number, y: Number) -> Number:
        return ONE + -(y * y)


ADD: Toy = Add()
MUL: Toy = Mul()
NEG: Toy = Neg()
EXP: Toy = Exp()
SIN: Toy = Sin()
COS: Toy = Cos()
TANH: Toy = Tanh()
IS_ZERO: Toy = Constant(0.0)
IS_ONE: Toy = Constant(1.0)
ONE = IS_ONE()
RUN: dict[type[Toy], Callable[..., float]] = {
    Add: lambda x, y: x + y,
    Mul: lambda x, y: x * y,
    Neg: lambda x: -x,
    Exp: math.exp,
    Sin: math.sin,
    Cos: math.cos,
    Tanh: math.tanh,
}


def execute(operation: Any, operands: Sequence[float]) -> tuple[float]:
    if type(operation) is Constant:
        return (operation.value,)
    return (RUN[type(operation)](*operands),)


# ---- shapes of graphs --------------------------------------------------------------------------


def chain(x: Number, count: int) -> Number:
    """sin sin … sin x: as deep as it is long."""
    for _ in range(count):
        x = SIN(x)
    return x


def wide(x: Number, count: int) -> Number:
    """A sum of products with one input, added up by a balanced tree: as flat as it can be."""
    terms: list[Number] = [Constant(i + 2.0)() * x for i in range(count // 3)]
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(terms) & ~1 :]
    return terms[0]


def dag(x: Number, count: int) -> Number:
    """Each value from two earlier ones: much sharing."""
    values = [x, SIN(x)]
    for i in range(count - 1):
        left, right = values[-1], values[-2 - i % 2]
        values.append(left + right if i % 2 else left * right)
    return values[-1]


SHAPES: dict[str, Callable[[Number, int], Number]] = {"chain": chain, "wide": wide, "dag": dag}
SIZES = (10**3, 10**4, 10**5, 10**6)


# ---- measuring ---------------------------------------------------------------------------------


class Table(NamedTuple):
    """A section of the report."""

    title: str
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()


@contextmanager
def clock(times: dict[str, float], phase: str) -> Iterator[None]:
    start = time.process_time()
    yield
    spent = time.process_time() - start
    times[phase] = min(spent, times.get(phase, math.inf))


def measure(shape: str, count: int, repeats: int) -> dict[str, Any]:
    """All phases of one graph, in µs of CPU time per recorded operation."""
    times: dict[str, float] = {}
    size = 0
    for _ in range(repeats):
        gc.collect()
        size = run_once(SHAPES[shape], count, times)
    gc.collect()
    left = table_size()
    tracemalloc.start()
    value = SHAPES[shape](Number(input_key("x", "f64")), count)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del value
    per_operation = {phase: spent / size * 1e6 for phase, spent in times.items()}
    return {
        "shape": shape,
        "N": count,
        "operations": size,
        **per_operation,
        "bytes": held / size,
        "left": left,
    }


def run_once(make: Callable[[Number, int], Number], count: int, times: dict[str, float]) -> int:
    x = Number(input_key("x", "f64"))
    with clock(times, "record"):
        y = make(x, count)
    with clock(times, "materialize"):
        flat = materialize_merge(KeyView(), [y.key], inputs=[x.key])
    with clock(times, "compile"):
        program = compile_program(flat)
    size = len(program)
    with clock(times, "evaluate"):
        evaluate(program, execute, [0.0])
    del flat, program
    with clock(times, "graph"):
        view = resolve([Graph.of([x.key], [y.key])])
    with clock(times, "linearize"):
        linear = linearize(view, [y.key], [x.key])
    with clock(times, "transpose"):
        back = linear_transpose(linear)
    del linear
    output = back.linear.output_keys
    with clock(times, "materialize ∇"):
        flat = materialize_merge(resolve([back.linear]), [y.key, *output], inputs=[x.key])
    with clock(times, "compile ∇"):
        program = compile_program(flat)
    del back, output, flat, program, view
    with clock(times, "pullback"):
        found = pullback([y.key], [x.key], [ONE], space=Toy.space)
    del found
    with clock(times, "free"):
        del y
    return size


COLUMNS = (
    *("shape", "N", "record", "materialize", "compile", "rec+mat+comp", "graph"),
    *("linearize", "transpose", "lin+tr", "pullback", "materialize ∇", "compile ∇"),
    *("evaluate", "free", "bytes"),
)


def cost(options: argparse.Namespace) -> Table:
    """µs per operation by phase, for every shape and size, each in a fresh process."""
    rows = []
    for shape in options.shapes:
        for count in options.sizes:
            print(f"cost: {shape} N={count}", file=sys.stderr)
            command = [sys.executable, __file__, "--row", shape, str(count), str(options.repeats)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout))
    for row in rows:
        row["lin+tr"] = row["linearize"] + row["transpose"]
        row["rec+mat+comp"] = row["record"] + row["materialize"] + row["compile"]
    return Table("Cost in µs of CPU time per recorded operation", COLUMNS, rows, slopes(rows))


def slopes(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """How the total time of a phase grows, by least squares in log–log; 1 is linear."""
    lines = []
    for shape in dict.fromkeys(row["shape"] for row in rows):
        own = [row for row in rows if row["shape"] == shape]
        if len(own) > 1:
            found = ", ".join(f"{p} {slope(own, p):.2f}" for p in ("rec+mat+comp", "lin+tr"))
            worst = max(row["left"] for row in own)
            lines.append(f"slope of {shape}: {found}; keys left after freeing: {worst}")
    return tuple(lines)


def slope(rows: list[dict[str, Any]], phase: str) -> float:
    points = [(math.log(row["N"]), math.log(row["N"] * row[phase])) for row in rows]
    x0, y0 = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    spread = sum((x - x0) ** 2 for x, _ in points)
    return sum((x - x0) * (y - y0) for x, y in points) / spread


# ---- higher orders -----------------------------------------------------------------------------

Function = Callable[[Any], Any]
FUNCTIONS: dict[str, Function] = {
    "exp(a x)": lambda x: EXP(Constant(2.0)() * x),
    "tanh(sin(x) x)": lambda x: TANH(SIN(x) * x),
}


def forward(function: Function) -> Function:
    def derivative(x: Number) -> Value:
        inner, y = pinned(function, x)
        (dy,) = pushforward([y.key], [inner.key], [ONE], space=Toy.space)
        assert dy is not None
        return dy

    return derivative


def reverse(function: Function) -> Function:
    def derivative(x: Number) -> Value:
        inner, y = pinned(function, x)
        (ct,) = pullback([y.key], [inner.key], [ONE], space=Toy.space)
        assert ct is not None
        return ct

    return derivative


def pinned(function: Function, x: Number) -> tuple[Number, Number]:
    trace = Trace()
    inner = Number(pin(x.key, trace))
    y = function(inner)
    trace.open = False
    return inner, y


def derivative_program(derive: Callable[[Function], Function], f: Function, order: int) -> Any:
    for _ in range(order):
        f = derive(f)
    x = Number(input_key("x", "f64"))
    return compile_program(materialize_merge(KeyView(), [f(x).key], inputs=[x.key]))


def size_and_time(
    derive: Callable[[Function], Function], f: Function, order: int
) -> tuple[int, float]:
    times: dict[str, float] = {}
    program: CompiledProgram
    with clock(times, "all"):
        program = derivative_program(derive, f, order)
    return len(program), times["all"] * 1e3


def orders(options: argparse.Namespace) -> Table:
    """Equations of the derivatives of order 1…n, by repeated forward and reverse transforms."""
    peers = jax_counters()
    rows = []
    for name, function in FUNCTIONS.items():
        for order in range(1, options.orders + 1):
            row: dict[str, Any] = {"function": name, "order": order}
            for mode, derive in (("forward", forward), ("reverse", reverse)):
                row[mode], row[f"{mode} ms"] = size_and_time(derive, function, order)
            for mode, counter in peers.items():
                row[mode] = counter(name, order) if order <= options.jax_orders else None
            rows.append(row)
    columns = ("function", "order", "forward", "forward ms", "reverse", "reverse ms", *peers)
    return Table("Equations of the derivative of order n", columns, rows)


def jax_counters() -> dict[str, Callable[[str, int], int]]:
    """How many equations JAX traces for the same derivatives, if it is installed."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return {}
    functions: dict[str, Function] = {
        "exp(a x)": lambda x: jnp.exp(2.0 * x),
        "tanh(sin(x) x)": lambda x: jnp.tanh(jnp.sin(x) * x),
    }

    def jvp(f: Function) -> Function:
        return lambda x: jax.jvp(f, (x,), (1.0,))[1]

    def counter(derive: Callable[[Function], Function]) -> Callable[[str, int], int]:
        def count(name: str, order: int) -> int:
            f = functions[name]
            for _ in range(order):
                f = derive(f)
            return equations(jax.make_jaxpr(f)(1.0).jaxpr)

        return count

    return {"jax forward": counter(jvp), "jax reverse": counter(jax.grad)}


def equations(jaxpr: Any) -> int:
    """Equations, those of called programs counted where they are called."""
    total = 0
    for equation in jaxpr.eqns:
        inner = [p.jaxpr for p in equation.params.values() if hasattr(p, "jaxpr")]
        total += sum(map(equations, inner)) if inner else 1
    return total


# ---- report ------------------------------------------------------------------------------------

SECTIONS: dict[str, Callable[[argparse.Namespace], Table]] = {"cost": cost, "orders": orders}


def environment() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "machine": platform.machine(),
        "system": platform.system(),
    }


def text(table: Table) -> str:
    columns = [c for c in table.columns if any(row.get(c) is not None for row in table.rows)]
    cells = [columns, *([cell(row.get(c)) for c in columns] for row in table.rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = ["  ".join(v.rjust(w) for v, w in zip(row, widths, strict=True)) for row in cells]
    return "\n".join([table.title, *lines, *table.notes, ""])


def cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What the engine costs per operation.")
    parser.add_argument("sections", nargs="*", help=f"some of: {', '.join(SECTIONS)} (all)")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="JSON (- is stdout)")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="N")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--repeats", type=int, default=0, help="runs per size (5 for short ones)")
    parser.add_argument("--orders", type=int, default=8, help="the highest order of derivatives")
    parser.add_argument("--jax-orders", type=int, default=6, help="the highest order given to JAX")
    parser.add_argument("--row", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    return options


def main(given: Sequence[str] | None = None) -> None:
    options = arguments(given)
    if options.row:
        shape, count, repeats = options.row[0], int(options.row[1]), int(options.row[2])
        print(json.dumps(measure(shape, count, repeats or max(1, min(5, 10**6 // count)))))
        return
    tables = {name: SECTIONS[name](options) for name in options.sections or SECTIONS}
    report = {"environment": environment(), **{n: t._asdict() for n, t in tables.items()}}
    if options.json == "-":
        print(json.dumps(report, indent=1, ensure_ascii=False))
        return
    print("\n".join(text(table) for table in tables.values()))
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
