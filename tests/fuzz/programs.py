"""Random programs of NumPy: a seed stands for the text of a function and for its arguments.

The text is Python with `np` alone, so that NumPy itself, tenferro and, where it is differentiable,
JAX run the same program. A step that NumPy refuses is not part of a program: the writer runs each
line as it writes it.
"""

from __future__ import annotations

import re
import warnings
from random import Random
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Program", "program"]

DTYPES = ["float64", "float64", "float32", "complex128", "int64", "int32", "uint8", "bool"]
SHAPES = [(), (1,), (3,), (0,), (2, 3), (3, 3), (3, 3), (1, 3), (2, 0), (2, 3, 2)]
NUMBERS = ["2", "-1", "0.5", "1.5", "True", "3", "0", "-2.5"]
SMOOTH = ["np.sin", "np.cos", "np.tanh", "np.exp", "np.arctan", "np.negative", "np.square"]
UNARY = [
    *SMOOTH, "np.abs", "np.sign", "np.floor", "np.ceil", "np.rint", "np.conj", "np.real", "np.imag",
    "np.isnan", "np.isfinite", "np.sqrt", "np.log1p", "np.cbrt", "np.logical_not", "np.ravel",
    "np.positive", "np.signbit", "np.angle", "np.nan_to_num", "np.squeeze", "np.trunc", "np.isreal",
    "np.expm1", "np.sinh", "np.arcsinh", "np.deg2rad", "np.reciprocal", "np.invert", "np.sinc",
]  # fmt: skip
SMOOTH_BINARY = ["+", "-", "*", "+", "*"]
BINARY = [
    *SMOOTH_BINARY, "/", "//", "%", "<", "<=", "==", "!=", ">", "&", "|", "^", "**",
]  # fmt: skip
CALLS = ["np.maximum", "np.minimum", "np.arctan2", "np.hypot", "np.logaddexp", "np.copysign",
         "np.fmod", "np.heaviside", "np.fmax", "np.floor_divide", "np.float_power", "np.gcd",
         "np.logical_and", "np.logical_xor", "np.isclose", "np.remainder", "np.true_divide",
         "np.outer", "np.kron", "np.fmin", "np.left_shift", "np.bitwise_or"]  # fmt: skip
REDUCTIONS = ["np.sum", "np.mean", "np.prod", "np.max", "np.min", "np.any", "np.all", "np.var",
              "np.std", "np.argmax", "np.argmin", "np.median", "np.ptp", "np.count_nonzero",
              "np.nansum", "np.linalg.norm"]  # fmt: skip
SMOOTH_REDUCTIONS = ["np.sum", "np.mean", "np.prod", "np.var"]
AXIS_MOVES = ["np.cumsum({x}, axis={a})", "np.flip({x}, axis={a})", "np.sort({x}, axis={a})",
              "np.roll({x}, 2, axis={a})", "np.expand_dims({x}, {a})",
              "np.repeat({x}, 2, axis={a})",
              "np.diff({x}, axis={a})", "np.argsort({x}, axis={a}, kind='stable')",
              "np.cumprod({x}, axis={a})", "np.take({x}, [0, -1, 0], axis={a})",
              "np.swapaxes({x}, {a}, 0)", "np.delete({x}, 0, axis={a})", "np.flipud({x})",
              "np.unwrap({x}, axis={a})", "np.gradient({x}, axis={a})"]  # fmt: skip
SMOOTH_MOVES = ["np.cumsum({x}, axis={a})", "np.flip({x}, axis={a})", "np.roll({x}, 2, axis={a})",
                "np.repeat({x}, 2, axis={a})", "np.diff({x}, axis={a})",
                "np.take({x}, np.array([0, -1, 0]), axis={a})"]  # fmt: skip
MOVES = ["{x}.T", "np.transpose({x})", "{x}.reshape(-1)", "np.broadcast_to({x}, (2,) + {x}.shape)",
         "np.atleast_2d({x})", "np.tile({x}, 2)", "np.pad({x}, 1)", "np.rot90({x})", "{x}.copy()",
         "np.triu({x})", "np.tril({x}, -1)", "np.diagonal({x})", "np.diag({x})", "np.trace({x})",
         "np.moveaxis({x}, 0, -1)", "np.array({x})", "np.zeros_like({x})", "np.ones_like({x})",
         "np.full_like({x}, 3)", "np.fliplr({x})", "np.ravel({x}, order='F')", "{x}.flatten()",
         "np.vander(np.ravel({x})[:3], 3)",
         "np.lib.stride_tricks.sliding_window_view({x}, 2, axis=-1)",
         "np.broadcast_to({x}, (3,) + {x}.shape)[::2]", "np.split({x}, 1)[0]"]  # fmt: skip
SMOOTH_FORMS = ["{x}.T", "{x}.reshape(-1)", "np.broadcast_to({x}, (2,) + {x}.shape)",
                "np.tile({x}, 2)",
                "np.pad({x}, 1)", "np.triu({x})", "np.diagonal({x})", "np.trace({x})", "{x}.copy()",
                "np.moveaxis({x}, 0, -1)"]  # fmt: skip
JOINS = ["np.concatenate([{x}, {y}])", "np.stack([{x}, {y}])", "np.hstack([{x}, {y}])",
         "np.vstack([{x}, {y}])", "np.stack([{x}, {y}], axis=-1)", "np.append({x}, {y})",
         "np.where({x} > 0, {x}, {y})", "np.where({x} != 0, {y}, {n})", "np.clip({x}, -1, {y})",
         "np.concatenate([{x}, {y}], axis=-1)", "np.select([{x} > 1, {x} < 0], [{y}, {x}], 7)",
         "np.searchsorted(np.sort(np.ravel({x})), {y})",
         "np.convolve(np.ravel({x}), np.ravel({y}))",
         "np.interp({x}, np.arange(3.0), np.arange(3.0) ** 2)"]  # fmt: skip
SMOOTH_JOINS = [*JOINS[:3], "np.stack([{x}, {y}], axis=-1)", "np.where({x} > 0.1, {x}, {y})"]
PRODUCTS = ["{x} @ {y}", "np.dot({x}, {y})", "np.matmul({x}, {y}.T)", "np.inner({x}, {y})",
            "np.einsum('ij,jk->ik', {x}, {y})", "np.einsum('ij,ij->i', {x}, {y})",
            "np.einsum('ii->i', {x})", "np.einsum('ij->ji', {x})",
            "np.einsum('...i,...i', {x}, {y})",
            "np.tensordot({x}, {y}, axes=1)", "np.vdot({x}, {y})",
            "np.einsum('i,j->ij', np.ravel({x}), np.ravel({y}))",
            "np.einsum('ij->', {x})"]  # fmt: skip
LINALG = ["np.linalg.det({x})", "np.linalg.inv({x} + 4 * np.eye(3))", "np.linalg.norm({x})",
          "np.linalg.solve({x} + 4 * np.eye(3), {y})",
          "np.linalg.cholesky({x} @ {x}.T + np.eye(3))",
          "np.linalg.eigvalsh({x} + {x}.T)", "np.linalg.svd({x}, compute_uv=False)",
          "np.linalg.matrix_power({x}, 2)", "np.linalg.slogdet({x} + 4 * np.eye(3))[1]",
          "np.linalg.qr({x})[1]", "np.linalg.pinv({x})"]  # fmt: skip
SMOOTH_LINALG = LINALG[:5]
INDICES = ["0", "-1", "..., 0", "::-1", "1:", ":-1", "::2", "None", "[0, -1]", "..., None", ":, 0",
           "0, 1", "[[0, 1], [1, 0]]", "1, ::-1", "..., ::2", "np.array([True, False, True])",
           ":, [0, 1]", "[0, 1], [1, 0]", "5:", "..., -1:", "{x} > 0", "()", "True"]  # fmt: skip
TARGETS = [i for i in INDICES if i not in ("None", "..., None", "True")]
TYPES = ["np.float32", "np.float64", "np.complex128", "np.int64", "bool", "np.int32"]
LINES = {
    "any": ["unary", "binary", "call", "number", "reduce", "axis", "move", "join", "product",
            "linalg", "index", "assign", "augment", "cast", "loop", "closure", "branch"],
    "smooth": ["unary", "binary", "number", "reduce", "axis", "move", "join", "product", "linalg",
               "index", "assign", "augment", "loop", "closure"],
}  # fmt: skip
LIMIT = 1e6
#: what jumps where a number is rounded in another way
UNSTABLE = re.compile(
    r" // | % |//=|[<>]|==|!=|floor|ceil|rint|trunc|arg|sign|fmod|remainder|sort|heaviside|angle"
    r"|isclose|arctan2|astype|nonzero|reciprocal| / |/=|unwrap|real|median|\*\*|power|log|sqrt"
    r"|any|all"
)


class Program(NamedTuple):
    """The text of `f(a, b, …)`, which returns a tuple, and its arguments."""

    seed: int
    text: str
    arguments: tuple[Any, ...]

    def function(self, xp: Any = np) -> Any:
        """The function, compiled with `np` being a namespace."""
        names: dict[str, Any] = {"np": xp}
        exec(compile(self.text, f"<program {self.seed}>", "exec"), names)
        return names["f"]


class _Writer:
    def __init__(self, seed: int, kind: str) -> None:
        self.random, self.kind, self.smooth = Random(seed), kind, kind == "smooth"
        self.names: dict[str, Any] = {"np": np}
        self.values: list[str] = []
        self.lines: list[str] = []
        self.arguments: list[Any] = []

    def pick(self, options: Any) -> Any:
        return self.random.choice(options)

    def argument(self) -> None:
        dtype = "float64" if self.smooth else self.pick(DTYPES)
        shape = self.pick([(3,), (2, 3), (3, 3), (3, 3), ()] if self.smooth else SHAPES)
        size = int(np.prod(shape))
        numbers = [round(self.random.uniform(-2, 2), 3 if self.smooth else 1) for _ in range(size)]
        x = np.array(numbers) + (0.5j if dtype == "complex128" else 0)
        x = np.abs(x * 3) if dtype == "uint8" else x
        name = f"x{len(self.arguments)}"
        self.names[name] = np.asarray(x.astype(dtype).reshape(shape))
        self.arguments.append(self.names[name].copy())
        self.values.append(name)

    def value(self) -> str:
        recent = self.values[-3:] if self.random.random() < 0.6 else self.values
        return str(self.pick(recent))

    def partner(self, x: str) -> str:
        """A value that may fit beside another."""
        shape = np.shape(self.names[x])
        fitting = [y for y in self.values if np.shape(self.names[y]) == shape]
        return str(self.pick(fitting)) if self.random.random() < 0.7 else self.value()

    def write(self) -> None:
        """Write a line if NumPy takes it and its result is small."""
        x = self.value()
        y, name = self.partner(x), f"v{len(self.lines)}"
        fields = {"x": x, "y": y, "n": self.pick(NUMBERS), "a": self.pick(["0", "-1", "1"])}
        body, result = getattr(self, self.pick(LINES[self.kind]))(fields, name)
        if not self.smooth and UNSTABLE.search(body):
            body = self.rounded(body)
        found = dict(self.names)
        found.update({k: v.copy() for k, v in found.items() if isinstance(v, np.ndarray)})
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", RuntimeWarning)
                exec(body, found)
            value = found[result]
        except Exception:
            return
        if not isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)):
            return
        if np.size(value) > 300 or (np.size(value) and not self.tame(value)):
            return
        self.names = found
        self.lines.append(body)
        if result not in self.values:
            self.values.append(result)

    def rounded(self, body: str) -> str:
        """Read operands that are not exact on a coarse grid, so that rounding makes no jump."""
        inexact = {v for v in self.values if np.asarray(self.names[v]).dtype.kind in "fc"}
        operands = sorted(inexact.intersection(re.findall(r"\b[vx]\d+\b", body)))
        lines = [f"{v} = np.round(({v} + 0.0123) * 16) / 16 + 0.0" for v in operands]
        return "\n".join([*lines, body])

    def tame(self, value: Any) -> bool:
        """Whether rounding stays small; infinities and nan are allowed where nothing is smooth."""
        size = np.abs(np.asarray(value, dtype=complex))
        finite = size[np.isfinite(size)]
        whole = len(finite) == size.size
        return bool(np.all(finite < LIMIT)) and (whole or not self.smooth)

    def of(self, every: list[str], smooth: list[str]) -> str:
        return str(self.pick(smooth if self.smooth else every))

    def unary(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {self.of(UNARY, SMOOTH)}({f['x']})", name

    def binary(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {f['x']} {self.of(BINARY, SMOOTH_BINARY)} {f['y']}", name

    def call(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {self.pick(CALLS)}({f['x']}, {f['y']})", name

    def number(self, f: dict[str, str], name: str) -> tuple[str, str]:
        sides = [f["x"], f["n"]]
        self.random.shuffle(sides)
        return f"{name} = {sides[0]} {self.of(BINARY, SMOOTH_BINARY)} {sides[1]}", name

    def reduce(self, f: dict[str, str], name: str) -> tuple[str, str]:
        axis = self.pick(["", ", axis=0", ", axis=-1", ", axis=0, keepdims=True", ", axis=(0, 1)"])
        return f"{name} = {self.of(REDUCTIONS, SMOOTH_REDUCTIONS)}({f['x']}{axis})", name

    def axis(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {self.of(AXIS_MOVES, SMOOTH_MOVES).format(**f)}", name

    def move(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {self.of(MOVES, SMOOTH_FORMS).format(**f)}", name

    def join(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {self.of(JOINS, SMOOTH_JOINS).format(**f)}", name

    def product(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {self.pick(PRODUCTS).format(**f)}", name

    def linalg(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {self.of(LINALG, SMOOTH_LINALG).format(**f)}", name

    def index(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {f['x']}[{self.pick(INDICES).format(**f)}]", name

    def cast(self, f: dict[str, str], name: str) -> tuple[str, str]:
        return f"{name} = {f['x']}.astype({self.pick(TYPES)})", name

    def assign(self, f: dict[str, str], name: str) -> tuple[str, str]:
        value = self.pick([f["y"], f["n"], f"{f['y']}[0]"])
        place = self.pick(TARGETS).replace("{x}", name)
        return f"{name} = np.copy({f['x']})\n{name}[{place}] = {value}", name

    def augment(self, f: dict[str, str], name: str) -> tuple[str, str]:
        sign = self.of(["+=", "-=", "*=", "/=", "**=", "//="], ["+=", "-=", "*="])
        repeated = [] if self.smooth else ["[[0, 0]]"]
        place = self.pick(["", "[0]", "[..., 0]", "[1:]", "[::2]", *repeated])
        value = self.pick([f["y"], f["n"]])
        return f"{name} = np.copy({f['x']})\n{name}{place} {sign} {value}", name

    def loop(self, f: dict[str, str], name: str) -> tuple[str, str]:
        step = self.pick([f"{name} = {name} * 0.5 + {f['y']}", f"{name}[i] = {f['y']}[-1] * i",
                          f"{name} += np.sin({name}) * i"])  # fmt: skip
        head = f"{name} = np.copy({f['x']})\nfor i in range({self.pick([0, 2, 3])}):"
        return f"{head}\n    {step}", name

    def closure(self, f: dict[str, str], name: str) -> tuple[str, str]:
        sign = self.pick(SMOOTH_BINARY)
        inner = f"def g_{name}(t): return np.tanh(t) {sign} {f['y']}"
        return f"{inner}\n{name} = g_{name}({f['x']})", name

    def branch(self, f: dict[str, str], name: str) -> tuple[str, str]:
        test = self.pick([f"{f['x']}.ndim > 1", f"len({f['y']}.shape) == 1", f"{f['x']}.size > 2"])
        return f"{name} = {f['x']} * 2 if {test} else {f['y']} - 1", name


def program(seed: int, kind: str = "any", steps: int = 12) -> Program:
    """Make the program that a seed stands for; `smooth` ones return one real number."""
    writer = _Writer(seed, kind)
    for _ in range(writer.random.randint(1, 3)):
        writer.argument()
    count = len(writer.arguments)
    for _ in range(6 * steps):
        if len(writer.lines) < steps:
            writer.write()
    made = writer.values[count:] or writer.values
    if kind == "smooth":
        total = " + ".join(f"0.1 * np.sum(np.tanh({v}))" for v in made[-6:])
        last = f"return {total}"
    else:
        last = f"return ({', '.join(made)},)"
    lines = [line for text in writer.lines for line in text.split("\n")]
    parameters = ", ".join(f"x{i}" for i in range(count))
    body = "\n".join(f"    {line}" for line in [*lines, last])
    return Program(seed, f"def f({parameters}):\n{body}\n", tuple(writer.arguments))
