"""Small faults put into the sources, each of which some test must find.

One row is one fault: a name that says what is wrong, the file, the text that is replaced (it
stands exactly once in the file), the text instead, and the tests to run, most likely ones first.
Tests are written as pytest takes them; `xla:` before them runs them over XLA, and
`kit numpy: std::mul` runs the cases of these primitives in the conformance kit. Every area has
further tests, which run where those of the row all pass. `run.py` runs the table, and
`test_source_mutants.py` sees that its texts still stand in the sources.
"""

from typing import NamedTuple

ON = "core/tests/on_backend"
PLUGIN = "plugins/numpy_backend/tests"
SOURCES = {
    "tenferro": "core/src",
    "tenferro_numpy": "plugins/numpy_backend/src",
    "tenferro_xla": "plugins/xla_backend/src",
}


class Mutant(NamedTuple):
    """A fault: where it is, and the tests that are asked first."""

    name: str
    module: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def file(self) -> str:
        """The file of the module, from the root of the repository."""
        return f"{SOURCES[self.module.partition('.')[0]]}/{self.module.replace('.', '/')}.py"


class Area(NamedTuple):
    """Mutants of one part of the project, and the tests that are asked last."""

    name: str
    tests: tuple[str, ...]
    mutants: tuple[Mutant, ...]


def _kit(name, module, old, new, primitive, backend="numpy"):
    backends = [backend, "loopback"] if ".numpy_like." in module else [backend]
    return Mutant(name, module, old, new, tuple([f"kit {b}: {primitive}" for b in backends]))


def _xla(name, module, old, new, primitive):
    return _kit(name, module, old, new, primitive, "xla")


def _in(folder):
    """A row whose tests are in a folder."""

    def row(name, module, old, new, *tests):
        return Mutant(name, module, old, new, tuple([f"{folder}/{test}" for test in tests]))

    return row


def _row(name, module, old, new, *tests):
    return Mutant(name, module, old, new, tests)


_plan, _pass, _transform = _in(PLUGIN), _in("core/tests/passes"), _in(f"{ON}/transforms")


RULES = Area(
    "derivative rules",
    (
        "core/tests/primitives/test_rules.py",
        f"{ON}/transforms/test_derivatives_of_functions.py",
        f"{ON}/linalg",
    ),
    (
        _kit(
            "div: sign of the derivative in y",
            "tenferro.primitives.arithmetic",
            "return -(z / y) * dy",
            "return (z / y) * dy",
            "std::div",
        ),
        _kit(
            "div: transpose without conj",
            "tenferro.primitives.arithmetic",
            "return ct / conj(y)",
            "return ct / y",
            "std::div",
        ),
        _kit(
            "mul: transpose without conj",
            "tenferro.primitives.arithmetic",
            "        return ct * conj(y)",
            "        return ct * y",
            "std::mul",
        ),
        _kit(
            "maximum: each side gets all at a tie",
            "tenferro.primitives.arithmetic",
            "half = full_like(dx, 0.5)",
            "half = full_like(dx, 1.0)",
            "std::maximum",
        ),
        _kit(
            "clamp: active at the lower bound",
            "tenferro.primitives.arithmetic",
            "logical_or(le(x, lo), ge(x, hi))",
            "logical_or(lt(x, lo), ge(x, hi))",
            "std::clamp",
        ),
        _kit(
            "pow: no guard at 0 to the 0",
            "tenferro.primitives.arithmetic",
            "ge(exponent, zeros_like(exponent))",
            "gt(exponent, zeros_like(exponent))",
            "std::pow",
        ),
        _kit(
            "abs: direction without conj",
            "tenferro.primitives.arithmetic",
            "return real(conj(_direction(x, y)) * dx)",
            "return real(_direction(x, y) * dx)",
            "std::abs",
        ),
        _kit(
            "atan2: sign of the derivative in x",
            "tenferro.primitives.trigonometric",
            "return -_over_square(y, hypot(x, y)) * dx",
            "return _over_square(y, hypot(x, y)) * dx",
            "std::atan2",
        ),
        _kit(
            "rsqrt: sign",
            "tenferro.primitives.arithmetic",
            "return -0.5 * (y / x)",
            "return 0.5 * (y / x)",
            "std::rsqrt",
        ),
        _kit(
            "logistic: y² instead of y(1 - y)",
            "tenferro.primitives.elementwise",
            "return y * logistic(-x)",
            "return y * logistic(x)",
            "std::logistic",
        ),
        _kit(
            "logaddexp: shares exchanged",
            "tenferro.primitives.elementwise",
            "return logistic(excess(x, y)) * dx",
            "return logistic(excess(y, x)) * dx",
            "std::logaddexp",
        ),
        _kit(
            "imag: sign of the transpose",
            "tenferro.primitives.complex",
            "return complex(zeros_like(ct), ct)",
            "return complex(zeros_like(ct), -ct)",
            "std::imag",
        ),
        _kit(
            "cumsum: transpose in the same direction",
            "tenferro.primitives.cumulative",
            "return cumsum(ct, self.axis, reverse=not self.reverse)",
            "return cumsum(ct, self.axis, reverse=self.reverse)",
            "std::cumsum",
        ),
        _kit(
            "reduce_max: ties get the sum, not the mean",
            "tenferro.primitives.reduction",
            "return reduce_sum(select(loses, zeros_like(dx), dx), reduced) / count",
            "return reduce_sum(select(loses, zeros_like(dx), dx), reduced)",
            "std::reduce_max",
        ),
        _kit(
            "reduce_prod: sign in the product rule",
            "tenferro.primitives.reduction",
            "return a * b, da * b + a * db",
            "return a * b, da * b - a * db",
            "std::reduce_prod",
        ),
        _kit(
            "pad: cotangent of the value from inside",
            "tenferro.primitives.structural",
            "select(reached, zeros_like(ct), ct)",
            "select(reached, ct, zeros_like(ct))",
            "std::pad",
        ),
        _kit(
            "scatter: a lost update gets a cotangent",
            "tenferro.primitives.indexing",
            "return select(remains, self.read(ct, indices, updates), zeros_like(updates))",
            "return self.read(ct, indices, updates)",
            "std::scatter",
        ),
        _kit(
            "scatter_add: what is dropped reads a neighbour",
            "tenferro.primitives.indexing",
            'mode="fill" if self.mode == "drop" else self.mode',
            'mode="clip" if self.mode == "drop" else self.mode',
            "std::scatter std::scatter_add",
        ),
        _kit(
            "dynamic_update_slice: the block keeps its cotangent",
            "tenferro.primitives.indexing",
            "return dynamic_update_slice(ct, zeros_like(update), starts)",
            "return ct",
            "std::dynamic_update_slice",
        ),
        _kit(
            "dot_general: contracted axes in the wrong order",
            "tenferro.primitives.contraction",
            "return [axis for _, axis in sorted(zip(other, mine, strict=True))]",
            "return list(mine)",
            "std::dot_general",
        ),
        _kit(
            "cholesky: sign in the second derivative",
            "tenferro.primitives.linalg.cholesky",
            "return matmul(dl, half_lower(inner)) - cholesky_tangent(",
            "return matmul(dl, half_lower(inner)) + cholesky_tangent(",
            "std::cholesky std::cholesky_tangent",
        ),
        _kit(
            "triangular_solve: sign",
            "tenferro.primitives.linalg.triangular_solve",
            "return self._solve(a, -product",
            "return self._solve(a, product",
            "std::triangular_solve",
        ),
        _kit(
            "triangular_solve: transpose without conj",
            "tenferro.primitives.linalg.triangular_solve",
            "conjugate=a.dtype.is_complex != self.conjugated",
            "conjugate=self.conjugated",
            "std::triangular_solve",
        ),
        _kit(
            "triangular_solve: the unit diagonal is read",
            "tenferro.primitives.linalg.triangular_solve",
            "(a, strict=self.unit_diagonal)",
            "(a, strict=False)",
            "std::triangular_solve",
        ),
        _kit(
            "qr: turn is Hermitian",
            "tenferro.primitives.linalg.qr",
            "turn = below - adjoint(below)",
            "turn = below + adjoint(below)",
            "std::qr",
        ),
        _kit(
            "qr: phases turn backwards",
            "tenferro.primitives.linalg.qr",
            "return turn + diagonal_matrix(",
            "return turn - diagonal_matrix(",
            "std::qr",
        ),
        _kit(
            "svd: sign of the turn of V",
            "tenferro.primitives.linalg.svd",
            "into_u, into_v = even + odd, odd - even",
            "into_u, into_v = even + odd, even - odd",
            "std::svd",
        ),
        _kit(
            "eigh: values without conj",
            "tenferro.primitives.linalg.eigh",
            "return real(reduce_sum(conj(x) * y,",
            "return real(reduce_sum(x * y,",
            "std::eigh",
        ),
        _kit(
            "svdvals: without conj",
            "tenferro.primitives.linalg.svd",
            "ds = real(reduce_sum(conj(u) * moved",
            "ds = real(reduce_sum(u * moved",
            "std::svdvals",
        ),
    ),
)

LOWERINGS = Area(
    "lowerings of NumPy and of namespaces like it",
    (
        f"{PLUGIN}/test_families.py",
        f"{PLUGIN}/test_lowerings_of_others.py",
        "plugins/cupy_backend/tests/test_lowerings.py",
        PLUGIN,
    ),
    (
        _kit(
            "gather: the last window counts as outside",
            "tenferro.backend.numpy_like.indexing",
            "xp.less_equal(start, most)",
            "xp.less(start, most)",
            "std::gather",
        ),
        _kit(
            "dynamic_slice: negative starts are not clamped",
            "tenferro.backend.numpy_like.indexing",
            "return xp.minimum(xp.maximum(start, 0), most)",
            "return xp.minimum(start, most)",
            "std::dynamic_slice std::dynamic_update_slice",
        ),
        _kit(
            "scatter: the first update remains",
            "tenferro.backend.numpy_like.indexing",
            "order = xp.argsort(positions * positions.size + xp.arange(positions.size))",
            "order = xp.argsort(positions * positions.size - xp.arange(positions.size))",
            "std::scatter",
        ),
        _kit(
            "gather: a masked window keeps what it read",
            "tenferro.backend.numpy_like.indexing",
            "windows = xp.where(mask, windows, xp.zeros_like(windows))",
            "pass",
            "std::gather",
        ),
        _kit(
            "cumulative: a reversed result is not turned back",
            "tenferro.backend.numpy_like.cumulative",
            "return function(x[backwards], op.axis)[backwards]",
            "return function(x[backwards], op.axis)",
            "std::cumsum std::cumprod std::cummax std::cummin",
        ),
        _kit(
            "sort: keys in the wrong order",
            "tenferro.backend.numpy_like.sorting",
            "for key in reversed(keys[:-1]):",
            "for key in keys[:-1]:",
            "std::sort",
        ),
        _kit(
            "searchsorted: right as left",
            "tenferro.backend.numpy_like.sorting",
            "return xp.logical_or(xp.less_equal(x, value), is_nan)",
            "return xp.logical_or(xp.less(x, value), is_nan)",
            "std::searchsorted",
        ),
        _kit(
            "pad: crops between elements",
            "tenferro.backend.numpy_like.structural",
            "begin = low + first * step",
            "begin = low + first",
            "std::pad",
        ),
        _kit(
            "polygamma: sign",
            "tenferro.backend.numpy_like.special",
            "(-1.0) ** (n + 1)",
            "(-1.0) ** n",
            "std::polygamma",
        ),
        _kit(
            "dot_general: free axes of the sides exchanged",
            "tenferro.backend.numpy_like.contraction",
            "return xp.reshape(product, batch + rows + columns)",
            "return xp.reshape(product, batch + columns + rows)",
            "std::dot_general",
        ),
        _kit(
            "clamp: crossed bounds give lo",
            "tenferro_numpy.lowerings.arithmetic",
            '"{p0}({p1}({1}, {0}), {2})"',
            '"{p1}({p0}({1}, {2}), {0})"',
            "std::clamp",
        ),
        _kit(
            "reduce_sum: narrow integers are widened",
            "tenferro_numpy.lowerings.reduction",
            "bound = (function.reduce, axis, np.dtype(result.dtype.name))",
            "bound = (function.reduce, axis, None)",
            "std::reduce_sum",
        ),
        _kit(
            "argmax: always int64",
            "tenferro_numpy.lowerings.reduction",
            "if native == np.dtype(np.intp):",
            "if native:",
            "std::argmax",
        ),
        _kit(
            "div: one zero among divisors is let through",
            "tenferro_numpy.lowerings.arithmetic",
            "if not np.all(y):",
            "if not np.any(y):",
            "std::div",
        ),
        Mutant(
            "x³ may be written over x",
            "tenferro_numpy.lowerings.arithmetic",
            '    into="{p0}({0}, {p1}({0}, {out}), {out})",\n',
            '    into="{p0}({0}, {p1}({0}, {out}), {out})",\n    in_place=True,\n',
            (f"{PLUGIN}/test_arithmetic.py", f"{PLUGIN}/test_regions.py"),
        ),
        Mutant(
            "clamp may be written over a bound",
            "tenferro_numpy.lowerings.arithmetic",
            '    into="{p0}({p1}({1}, {0}, out={out}), {2}, out={out})",\n',
            '    into="{p0}({p1}({1}, {0}, out={out}), {2}, out={out})",\n    in_place=True,\n',
            (f"{PLUGIN}/test_arithmetic.py", f"{PLUGIN}/test_regions.py"),
        ),
    ),
)

XLA_LOWERINGS = Area(
    "lowerings of XLA",
    (
        "plugins/xla_backend/tests/test_elementwise.py",
        "plugins/xla_backend/tests/as_users_compile",
        "plugins/xla_backend/tests/test_semantics.py",
        "plugins/xla_backend/tests",
    ),
    (
        _xla(
            "reduce_min: starts at 0",
            "tenferro_xla.lowerings.reduction",
            "lax.min, lax.le, np.inf",
            "lax.min, lax.le, 0.0",
            "std::reduce_min",
        ),
        _xla(
            "cummax: nan loses",
            "tenferro_xla.lowerings.cumulative",
            "lax.bitwise_or(wins(a, b), is_nan(a))",
            "wins(a, b)",
            "std::cummax",
        ),
        _xla(
            "cumprod: never reversed",
            "tenferro_xla.lowerings.cumulative",
            "lax.cumprod(x, op.axis, op.reverse)",
            "lax.cumprod(x, op.axis)",
            "std::cumprod",
        ),
        _xla(
            "div: integers by 0 as the machine has it",
            "tenferro_xla.lowerings.arithmetic",
            "return lax.select(lax.eq(y, zero), zero, quotient)",
            "return quotient",
            "std::div",
        ),
        _xla(
            "sign: of -0.0",
            "tenferro_xla.lowerings.arithmetic",
            "return lax.select(lax.gt(size, like(x, 0)), lax.sign(x), size)",
            "return lax.sign(x)",
            "std::sign",
        ),
        _xla(
            "pow: 1 to a negative power is 0",
            "tenferro_xla.lowerings.arithmetic",
            "lax.bitwise_and(negative, lax.bitwise_not(unit))",
            "negative",
            "std::pow",
        ),
        _xla(
            "scatter over XLA: the first update remains",
            "tenferro_xla.lowerings.indexing",
            "last = lax.scatter_max(none,",
            "last = lax.scatter_min(none,",
            "std::scatter",
        ),
        _xla(
            "gather: fills with nan",
            "tenferro_xla.lowerings.indexing",
            "fill_value=0",
            "fill_value=None",
            "std::gather",
        ),
        _xla(
            "dynamic_slice: negative starts count from the end",
            "tenferro_xla.lowerings.indexing",
            "op.sizes, allow_negative_indices=False",
            "op.sizes, allow_negative_indices=True",
            "std::dynamic_slice",
        ),
        _xla(
            "dot_general: sums in the dtype of its operands",
            "tenferro_xla.lowerings.contraction",
            "np.dtype(op.preferred.name) if op.preferred else lhs.dtype",
            "lhs.dtype",
            "std::dot_general",
        ),
        _xla(
            "sort: nan in the imaginary part counts as a number",
            "tenferro_xla.lowerings.sorting",
            "lax.add(lax.add(of_re, of_re), of_im)",
            "of_re",
            "std::sort",
        ),
        _xla(
            "convert: the imaginary part",
            "tenferro_xla.lowerings.structural",
            "x = lax.real(x)",
            "x = lax.imag(x)",
            "std::convert",
        ),
        _xla(
            "logaddexp: equal infinities",
            "tenferro_xla.lowerings.elementwise",
            "gap = lax.select(lax.eq(x, y), like(x, 0), gap)",
            "pass",
            "std::logaddexp",
        ),
    ),
)

PASSES = Area(
    "graph passes",
    ("core/tests/passes", f"{ON}/passes"),
    (
        _pass(
            "x + 0.0 is x",
            "tenferro.passes.rewrites.arithmetic",
            "return rw.avals[zero].dtype.is_integer or negative is not subtracted",
            "return True",
            "test_simplify.py",
        ),
        _pass(
            "division by 2ᵏ becomes a subnormal factor",
            "tenferro.passes.rewrites.arithmetic",
            "if inverse is None or abs(inverse) < dtype.smallest_normal:",
            "if inverse is None:",
            "test_simplify.py",
        ),
        _pass(
            "|z|² is z² of complex z",
            "tenferro.passes.rewrites.arithmetic",
            "return rw.emit(op, before) if is_real(rw.avals[before]) else None",
            "return rw.emit(op, before)",
            "test_simplify.py",
        ),
        _pass(
            "Im conj z is Im z",
            "tenferro.passes.rewrites.arithmetic",
            "return part if is_real_part else rw.emit(Neg(), part)",
            "return part",
            "test_simplify.py",
        ),
        _pass(
            "select of not p: branches stay",
            "tenferro.passes.rewrites.arithmetic",
            "return rw.emit(op, rw.operands[pred][0], on_false, on_true)",
            "return rw.emit(op, rw.operands[pred][0], on_true, on_false)",
            "test_simplify.py",
        ),
        _pass(
            "(-x)·y though others read -x",
            "tenferro.passes.rewrites.arithmetic",
            "if not rw.is_read_once(negative) and not rw.is_there(op, positive, other):",
            "if False:",
            "test_simplify.py",
        ),
        _pass(
            "Re z + i Im w is z",
            "tenferro.passes.rewrites.arithmetic",
            "return z if rw.operands[im][0] == z else None",
            "return z",
            "test_simplify.py",
        ),
        _pass(
            "max(0.0, -0.0) is folded",
            "tenferro.passes.rewrites.folding",
            "if cls in (Maximum, Minimum) and values[0] == values[1]:",
            "if False:",
            "test_fold.py",
        ),
        _pass(
            "0.0 joined with -0.0",
            "tenferro.passes.rewrites.folding",
            "if other is None or repr(other) != repr(value) or other != value:",
            "if other is None or other != value:",
            "test_fold.py",
        ),
        _pass(
            "a sum that the dtype does not hold is folded",
            "tenferro.passes.rewrites.folding",
            "if not holds_integer(total, aval.dtype) or not",
            "if not",
            "test_fold.py",
        ),
        _pass(
            "a conversion that loses is left out",
            "tenferro.passes.rewrites.moves",
            "if not _holds(between, first) or not _same_directly(first, between, op.dtype):",
            "if not _same_directly(first, between, op.dtype):",
            "test_moves.py",
        ),
        _pass(
            "float16 holds bfloat16",
            "tenferro.passes.rewrites.moves",
            "return a is b or a.bits < b.bits",
            "return a is b or a.bits <= b.bits",
            "test_moves.py",
        ),
        _pass(
            "two transposes composed the other way",
            "tenferro.passes.rewrites.moves",
            "[inner.permutation[i] for i in order]",
            "[order[i] for i in inner.permutation]",
            "test_moves.py",
        ),
        _pass(
            "two reversals of one axis are one",
            "tenferro.passes.rewrites.moves",
            "axes ^= set(inner.dimensions)",
            "axes |= set(inner.dimensions)",
            "test_moves.py",
        ),
        _pass(
            "overlapping slices are joined",
            "tenferro.passes.rewrites.moves",
            "if a is None or b is None or a.limit[axis] != b.start[axis]:",
            "if a is None or b is None or a.limit[axis] < b.start[axis]:",
            "test_moves.py",
        ),
        _pass(
            "padding of padding with another constant",
            "tenferro.passes.rewrites.moves",
            "if inner is None or any(inner.interior) or rw.operands[x][1] != filler:",
            "if inner is None or any(inner.interior):",
            "test_moves.py",
        ),
        _pass(
            "transposed operand whose free axes change places",
            "tenferro.passes.rewrites.contractions",
            "return found if list(found.free) == sorted(found.free) else side",
            "return found",
            "test_contract.py",
        ),
        _pass(
            "a subtracted part is added",
            "tenferro.passes.rewrites.paddings",
            "if part.negative is not box.negative:",
            "if False:",
            "test_sums.py",
        ),
    ),
)

AD = Area(
    "tidu",
    (
        "core/tests/tidu",
        "core/tests/primitives/test_templates.py",
        f"{ON}/transforms/test_nesting.py",
        "kit numpy:",
    ),
    (
        _row(
            "a value twice in wrt",
            "tenferro.tidu._push",
            "if len(set(wrt)) == len(wrt):",
            "if len(wrt):",
            "core/tests/tidu",
        ),
        _row(
            "template of a rule without its active inputs",
            "tenferro.tidu._rule_cache",
            "entry = (operation, *_seen_of(operation, inputs), *[t is None for t in tangents])",
            "entry = (operation, *_seen_of(operation, inputs))",
            "core/tests/primitives/test_templates.py",
            f"{ON}/transforms/test_interface.py",
        ),
        _row(
            "template of a rule without avals",
            "tenferro.tidu._rule_cache",
            "entry = (operation, *_seen_of(operation, inputs))\n",
            "entry = (operation, len(inputs))\n",
            "core/tests/primitives/test_templates.py",
            f"{ON}/transforms/test_interface.py",
        ),
        _row(
            "tangent of an earlier sweep, whatever the tangents of the inputs",
            "tenferro.tidu._rule_cache",
            "if noted is not None and noted[0] == given:",
            "if noted is not None:",
            "core/tests/primitives/test_templates.py",
        ),
        _row(
            "tangent of an earlier sweep that has no history",
            "tenferro.tidu._rule_cache",
            "if tangent is not None and tangent.definition is not None:",
            "if tangent is not None:",
            "core/tests/primitives/test_templates.py",
        ),
        _row(
            "template of a transpose without the outputs that have a cotangent",
            "tenferro.tidu._rule_cache",
            "entry = (operation, active, given, *_seen_of(operation, inputs))",
            "entry = (operation, active, *_seen_of(operation, inputs))",
            "core/tests/primitives/test_templates.py",
            f"{ON}/transforms/test_interface.py",
            "kit numpy: std::svd",
        ),
        _row(
            "template of a transpose without avals",
            "tenferro.tidu._rule_cache",
            "entry = (operation, active, given, *_seen_of(operation, inputs))",
            "entry = (operation, active, given)",
            "core/tests/primitives/test_templates.py",
            f"{ON}/transforms/test_interface.py",
        ),
        _row(
            "cotangents overwrite each other",
            "tenferro.tidu._pull",
            "terms[x] = ct_x if x not in terms else _joined(terms[x], ct_x)",
            "terms[x] = ct_x",
            "core/tests/tidu",
            f"{ON}/transforms/test_interface.py",
        ),
        _row(
            "repeated outputs share one seed",
            "tenferro.tidu._pull",
            "leaf = cotangent_leaf(output.key, output.aval, sweep.id, index)",
            "leaf = cotangent_leaf(output.key, output.aval, sweep.id, 0)",
            "core/tests/tidu",
        ),
        _row(
            "a forward output may depend on a transposed input",
            "tenferro.tidu._graph_forms",
            "if end is not None and end.key in flowing:",
            "if end is None:",
            "core/tests/tidu",
        ),
        _row(
            "a rule may return a constant for a tangent",
            "tenferro.tidu._apply_rules",
            "if not rule.space.is_zero(value.key):",
            "if False:",
            "core/tests/tidu",
        ),
        _row(
            "replayed steps are not simplified beside literals",
            "tenferro.tidu._template",
            "if maker.literal or (names and maker.name in names):",
            "if names and maker.name in names:",
            "core/tests/primitives/test_templates.py",
        ),
        _row(
            "operands change places, their activity does not",
            "tenferro.tidu._template",
            "x, y, role, mask = y, x, swapped_role, mask and mask[::-1]",
            "x, y, role, mask = y, x, swapped_role, mask",
            "core/tests/primitives/test_templates.py",
            f"{ON}/transforms/test_nesting.py",
        ),
        _row(
            "of the inputs of a node only the first lives",
            "tenferro.tidu._linearization",
            "needed.update(compress(inputs, mask))",
            "needed.update(inputs[:1])",
            "core/tests/tidu",
        ),
    ),
)

GRAPHS = Area(
    "computegraph",
    ("core/tests/computegraph", f"{ON}/array/test_lazy.py", f"{ON}/transforms/test_interface.py"),
    (
        _row(
            "operands of any operation are sorted",
            "tenferro.computegraph._materialize",
            "is_swapped = operation.commutative and inputs[0] > inputs[1]",
            "is_swapped = len(inputs) == 2 and inputs[0] > inputs[1]",
            "core/tests/computegraph/test_materialize.py",
        ),
        _row(
            "all outputs are the first one",
            "tenferro.computegraph._materialize",
            "number[key] = base + definition[2]",
            "number[key] = base",
            "core/tests/computegraph/test_materialize.py",
        ),
        _row(
            "cache key without the output that is asked for",
            "tenferro.computegraph._signature",
            "items += operation, slot, 3 + len(application.inputs)",
            "items += operation, 3 + len(application.inputs)",
            "core/tests/computegraph/test_materialize.py",
            f"{ON}/transforms/test_interface.py",
        ),
        _row(
            "cache key without which other output",
            "tenferro.computegraph._signature",
            "items += _ANOTHER_OUTPUT, there, slot",
            "items += _ANOTHER_OUTPUT, there",
            "core/tests/computegraph/test_materialize.py",
            f"{ON}/transforms/test_interface.py",
        ),
        _row(
            "structure without the inputs of nodes",
            "tenferro.computegraph._signature",
            "items += node[1]",
            "items.append(len(node[1]))",
            "core/tests/computegraph/test_materialize.py",
        ),
        _row(
            "structure without the outputs",
            "tenferro.computegraph._signature",
            "self._items = (*items, None, *outputs)",
            "self._items = (*items, None)",
            "core/tests/computegraph/test_materialize.py",
            f"{ON}/array/test_lazy.py",
        ),
        _row(
            "declared inputs may repeat",
            "tenferro.computegraph._materialize",
            "if len(known) != len(declared):",
            "if False:",
            "core/tests/computegraph/test_materialize.py",
        ),
        _row(
            "a literal that is known loses its definition",
            "tenferro.computegraph._keys",
            "if definition is None or definition[0].literal:",
            "if definition is None:",
            "core/tests/computegraph/test_materialize.py",
            f"{ON}/array/test_lazy.py",
        ),
        _row(
            "integers carry open traces",
            "tenferro.computegraph._keys",
            "if traces and kind is ValueKey and not definition[0].carries(aval):",
            "if False:",
            "core/tests/computegraph/test_keys.py",
            f"{ON}/transforms/test_interface.py",
        ),
        _row(
            "a value of two inputs has no open traces",
            "tenferro.computegraph._derive",
            "    return tuple(given), depth, traces",
            "    return tuple(given), depth, NO_TRACES",
            "core/tests/computegraph/test_keys.py",
            f"{ON}/transforms/test_interface.py",
        ),
    ),
)

PLANNER = Area(
    "planner and executor of NumPy",
    (f"{PLUGIN}/test_random_programs.py", f"{PLUGIN}/test_regions.py", PLUGIN),
    (
        _plan(
            "the last tile of one row is left out",
            "tenferro_numpy.kernels.tile_layout",
            "starts = range(0, shape[axis], rows)",
            "starts = range(0, shape[axis] - 1, rows)",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "memory in Fortran's order is read in C's",
            "tenferro_numpy.kernels.region",
            "views = [x if x.ndim == 1 else x.reshape(-1, order=order) for x in views]",
            "views = [x if x.ndim == 1 else x.reshape(-1) for x in views]",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "a region writes into memory of another shape, or read-only",
            "tenferro_numpy.kernels.region",
            "            if old is not None and old.shape == self.shape:"
            "  # it may have been left unexpanded\n"
            "                flags = old.flags\n"
            '                if (flags.f_contiguous if order == "F" else flags.c_contiguous)'
            " and flags.writeable:\n",
            "            if old is not None:\n                if True:\n",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
            "test_reuse.py",
        ),
        _plan(
            "a reduction across tiles and within them",
            "tenferro_numpy.kernels.tile_reductions",
            "if not (divided <= set(axes) or not divided & set(axes)):",
            "if False:",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "partial sums of later tiles are lost",
            "tenferro_numpy.kernels.tile_reductions",
            "if self._single or not partial:",
            "if not partial:",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "a region overwrites an operand that it reads later",
            "tenferro_numpy.memory.reuse",
            "        if written and operand in write.operands:\n            return False\n",
            "",
            "test_reuse.py",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "a region overwrites an operand of a line that is not in place",
            "tenferro_numpy.memory.reuse",
            "            if operand in write.operands and not write.in_place:\n"
            "                return False\n",
            "",
            "test_reuse.py",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "memory is free though a view of it lives",
            "tenferro_numpy.memory.ownership",
            "last = self.alive[name] == 1 and slot in self.dying[self.now]",
            "last = slot in self.dying[self.now]",
            "test_reuse.py",
        ),
        _plan(
            "memory is free though foreign code has seen it",
            "tenferro_numpy.memory.ownership",
            "return last and name not in self.seen",
            "return last",
            "test_reuse.py",
            "test_lowerings_of_others.py",
        ),
        _plan(
            "two results share memory",
            "tenferro_numpy.memory.ownership",
            "own = name != _NOBODY and name not in self.given and name not in taken",
            "own = name != _NOBODY and name not in self.given",
            "test_executor.py",
            "test_reuse.py",
        ),
        _plan(
            "a result is a view of more",
            "tenferro_numpy.memory.ownership",
            "own = whole.size == aval.size and whole.dtype is aval.dtype",
            "pass",
            "test_executor.py",
            "test_reuse.py",
        ),
        _plan(
            "a donated array that overlaps another is written to",
            "tenferro_numpy.execution.donation",
            "any(np.may_share_memory(x, y) for y in others)",
            "False",
            "test_donated.py",
        ),
        _plan(
            "a donated array that overlaps itself is written to",
            "tenferro_numpy.execution.donation",
            "if shared or _may_overlap_itself(x):",
            "if shared:",
            "test_donated.py",
        ),
        _plan(
            "a region that waits for itself",
            "tenferro.backend.regions.grouping",
            "if needed & group.bit or any(needed & other.bit for other in merged):",
            "if any(needed & other.bit for other in merged):",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "waiting is not transitive",
            "tenferro.backend.regions.grouping",
            "found |= self.open[low.bit_length() - 1].waits_for",
            "found |= low",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "merged regions forget what they wait for",
            "tenferro.backend.regions.grouping",
            "        self.add_waits(group, other.waits_for)\n",
            "",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "scratch is released before it is written over",
            "tenferro_numpy.plan_passes.fusion.build",
            "                out = self.take(target)\n                self.release(dying)\n",
            "                self.release(dying)\n                out = self.take(target)\n",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
            "test_arithmetic.py",
        ),
        _plan(
            "what a reduction reads is written over",
            "tenferro_numpy.plan_passes.fusion.build",
            "if last[slot] is step and slot not in self.held and self.place[slot] >= self.first",
            "if last[slot] is step and self.place[slot] >= self.first",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "equal regions that write elsewhere are one",
            "tenferro_numpy.kernels.region",
            "self.folds, self.moves, self.tiling, tuple(self.reuse.items()),",
            "self.folds, self.moves, self.tiling,",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
            "test_reuse.py",
        ),
        _plan(
            "equal regions with other reductions are one",
            "tenferro_numpy.kernels.region",
            "self.folds, self.moves, self.tiling, tuple(self.reuse.items()),",
            "self.moves, self.tiling, tuple(self.reuse.items()),",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "a division is computed again",
            "tenferro_numpy.plan_passes.fusion.choice",
            "        np.add, np.subtract, np.multiply,",
            "        np.divide, np.add, np.subtract, np.multiply,",
            "test_regions.py",
            "test_region_tiles.py",
            "test_random_regions.py",
        ),
        _plan(
            "a subtracted window is added",
            "tenferro_numpy.plan_passes.padded_sums",
            "negated = tuple([term._replace(function=_opposite(term)) for term in negated])",
            "pass",
            "test_structural.py",
            "test_parts.py",
            "test_random_programs.py",
        ),
        _plan(
            "a padded term that others read is not written",
            "tenferro_numpy.plan_passes.padded_sums",
            "or self.summed[target] < self.reads[target]:",
            ":",
            "test_structural.py",
            "test_parts.py",
            "test_random_programs.py",
        ),
        _plan(
            "a cropping pad is taken for a window",
            "tenferro_numpy.plan_passes.padded_sums",
            "if not zero or not shape or 0 in shape or min(*op.low, *op.high) < 0:",
            "if not zero or not shape or 0 in shape:",
            "test_structural.py",
            "test_parts.py",
            "test_random_programs.py",
        ),
        _plan(
            "numbers are counted as masks",
            "tenferro_numpy.plan_passes.mask_counts",
            "if not avals[mask].dtype.is_bool or",
            "if",
            "test_mask_counts.py",
        ),
        _plan(
            "terms of other rows are kept as those of finite maxima",
            "tenferro_numpy.plan_passes.finite_maxima",
            "if parts is None or wide is None or of != parts[:1]:",
            "if parts is None or wide is None:",
            "test_finite_maxima.py",
        ),
        _plan(
            "filters ignore how columns count",
            "tenferro_numpy.plan_passes.circulants",
            "or of.twice is op.twice:",
            "or False:",
            "test_circulants.py",
        ),
        _plan(
            "sums of terms with several maxima look at the first one",
            "tenferro_numpy.plan_passes.short_arrays.shares",
            "if any([len({kept.finite[i] for i in row}) > 1 for row in stage.rows]):",
            "if not stage.rows:",
            "test_finite_maxima.py",
        ),
        _plan(
            "every selection counts from the end",
            "tenferro_numpy.plan_passes.index_arrays",
            "if negative.operands[0] == i == added.operands[0]:",
            "if True:",
            "test_index_arrays.py",
        ),
        _plan(
            "preferred lowerings do not run on short arrays",
            "tenferro_numpy.plan_passes.short_arrays.rewriting",
            "form_of(op, given, result, scalar_of) if own else None",
            "form_of(op, given, result, scalar_of)",
            "test_lowerings_of_others.py",
        ),
        _plan(
            "literals -0.0 and 0.0 are one number",
            "tenferro_numpy.plan_passes.short_arrays.rewriting",
            "name = repr(number)",
            "name = str(number + 0.0)",
            "test_short_arrays.py",
        ),
        _plan(
            "an exponent 0.5 takes roots of -inf",
            "tenferro_numpy.lowerings._powers",
            "np.where(is_root & ((x == 0) | (x == -np.inf)), np.absolute(x), x)",
            "x",
            "test_arithmetic.py",
        ),
        _plan(
            "a block takes in what waits for it",
            "tenferro.backend.row_blocks.find",
            "if how is not None and waits_not(inputs) and",
            "if how is not None and",
            "test_blocks.py",
        ),
        _plan(
            "the last rows of a block are left out",
            "tenferro.backend.row_blocks.find",
            "return (self.rows, rest) if rest else (self.rows,)",
            "return (self.rows,)",
            "test_blocks.py",
        ),
        _plan(
            "blocks that wait for each other",
            "tenferro.backend.row_blocks.find",
            "if not _has_order(self.program, joined):",
            "if False:",
            "test_blocks.py",
        ),
    ),
)

TRANSFORMS = Area(
    "transforms",
    (
        f"{ON}/transforms/test_interface.py",
        f"{ON}/transforms/test_nesting.py",
        f"{ON}/transforms/test_vmap.py",
        f"{ON}/transforms/test_jit.py",
        f"{ON}/transforms/test_custom.py",
    ),
    (
        _transform(
            "vmap: cache key without in_axes",
            "tenferro.transforms.batching.vmap",
            'kind = ("vmap", size, tuple([m.axis for m in self._leaves]), tuple(places))',
            'kind = ("vmap", size, tuple(places))',
            "test_vmap.py",
        ),
        _transform(
            "vmap: cache key without out_axes",
            "tenferro.transforms.batching.vmap",
            'kind = ("vmap", size, tuple([m.axis for m in self._leaves]), tuple(places))',
            'kind = ("vmap", size, tuple([m.axis for m in self._leaves]))',
            "test_vmap.py",
        ),
        _transform(
            "vmap: cache key without the size",
            "tenferro.transforms.batching.vmap",
            'kind = ("vmap", size, tuple([m.axis for m in self._leaves]), tuple(places))',
            'kind = ("vmap", tuple([m.axis for m in self._leaves]), tuple(places))',
            "test_vmap.py",
        ),
        _transform(
            "vmap: negative out_axes",
            "tenferro.transforms.batching.vmap",
            "return moved(found, 0, axis % found.ndim)",
            "return moved(found, 0, axis)",
            "test_vmap.py",
        ),
        _transform(
            "vmap: a rule may return another shape",
            "tenferro.transforms.batching.batch",
            "if aval.dtype is one.dtype and aval.shape[1:] == one.shape and "
            "aval.shape[:1] == (size,):",
            "if True:",
            "test_batching_fallbacks.py",
            "test_batching_rules.py",
            "test_rules_when_called.py",
        ),
        _transform(
            "jit: an Array is donated",
            "tenferro.transforms.compilation.jitted",
            "return tuple([i for i in found if not isinstance(call.leaves[i], Array)])",
            "return tuple(found)",
            "test_donation.py",
        ),
        _transform(
            "jit: a borrowed argument is captured",
            "tenferro.transforms.compilation.traced",
            "return snapshot(key.operand) if isinstance(key.identity, Name) else",
            "return",
            "test_borrowed_arguments.py",
            "test_jit_closures.py",
        ),
        _transform(
            "jit: a trace that reads an outer transform is kept",
            "tenferro.transforms.compilation.jitted",
            "return traced if traced.is_open else self._kept",
            "return traced if False else self._kept",
            "test_jit.py",
            "test_jit_closures.py",
            "test_nesting.py",
        ),
        _transform(
            "jit: the function changes its argument while it is traced",
            "tenferro.transforms.compilation.jitted",
            "return traced, [x if x is h or _same_bits(x, h) else h for x, h in pairs]",
            "return traced, [x for x, h in pairs]",
            "test_borrowed_arguments.py",
            "test_jit_calls.py",
            "test_jit.py",
        ),
        _transform(
            "custom_vjp: a cotangent that does not depend on the one given",
            "tenferro.transforms.custom_rules.vjp",
            "if not is_reached and value is not None and not is_known_zero(value):",
            "if False:",
            "test_custom_refusals.py",
            "test_custom.py",
        ),
        _transform(
            "custom_jvp: a tangent that does not depend on tangents",
            "tenferro.transforms.custom_rules.linear_part",
            "if not is_reached and value is not None and not is_known_zero(value):",
            "if False:",
            "test_custom_refusals.py",
            "test_custom.py",
        ),
        _transform(
            "custom_jvp: only the first of several rules",
            "tenferro.transforms.custom_rules.jvp",
            "total = [p if type(t) is float else t + p for t, p in zip(total, parts, strict=True)]",
            "total = parts",
            "test_custom.py",
        ),
    ),
)

ARRAYS = Area(
    "arrays",
    (
        f"{ON}/array/test_dtypes.py",
        f"{ON}/array/test_indexing.py",
        f"{ON}/array/test_snapshots.py",
        f"{ON}/array/test_expressions.py",
    ),
    (
        _row(
            "uint8 with int8 is int8",
            "tenferro.primitives._dtype",
            "bits = max(2 * a.bits, b.bits)",
            "bits = max(a.bits, b.bits)",
            "core/tests/primitives/test_dtype.py",
        ),
        _row(
            "float16 with bfloat16 is float16",
            "tenferro.primitives._dtype",
            "    if a is not b and a.bits == b.bits:\n        return float32\n",
            "",
            "core/tests/primitives/test_dtype.py",
        ),
        _row(
            "int16 with float16 is float16",
            "tenferro.primitives._dtype",
            "{8: b.real_dtype, 16: float32}",
            "{8: b.real_dtype, 16: b.real_dtype}",
            "core/tests/primitives/test_dtype.py",
        ),
        _row(
            "0.0 and -0.0 are one number",
            "tenferro.arrays.promotion.broadcast",
            "text = repr(value) if value == 0 or kind is complex else None",
            "text = None",
            f"{ON}/array/test_expressions.py",
            f"{ON}/array/test_lazy.py",
        ),
        _row(
            "an argument that was a Python number is strong",
            "tenferro.arrays.promotion.broadcast",
            "if x_weak is not y_weak:",
            "if False:",
            f"{ON}/array/test_dtypes.py",
            f"{ON}/transforms/test_jit.py",
        ),
        _row(
            "negative positions are off by one",
            "tenferro.arrays.indexing.plan",
            "found[found < 0] += n",
            "found[found < -1] += n",
            f"{ON}/array/test_indexing.py",
        ),
        _row(
            "the index behind the last is let through",
            "tenferro.arrays.indexing.plan",
            "elif not -n <= i < n:",
            "elif not -n <= i <= n:",
            f"{ON}/array/test_indexing.py",
        ),
        _row(
            "index arrays apart keep their place",
            "tenferro.arrays.indexing.gathering",
            "first = 0 if plan.separated else axes[0]",
            "first = axes[0]",
            f"{ON}/array/test_indexing.py",
        ),
        _row(
            "a negative step begins at the wrong end",
            "tenferro.arrays.indexing.plan",
            "        taken = taken[::-1]\n",
            "",
            f"{ON}/array/test_indexing.py",
        ),
        _row(
            "a read-only view of writeable memory is not copied",
            "tenferro.backend._snapshots",
            "            if base is None:\n                return bool(x.flags.owndata)\n",
            "            return True\n",
            f"{ON}/array/test_snapshots.py",
        ),
        _row(
            "a jitted function looks at a number once for all",
            "tenferro.arrays.handle.weak",
            "    if level == VALUE:\n        return kind, value\n",
            "",
            f"{ON}/array/test_python_integers.py",
            f"{ON}/transforms/test_jit_calls.py",
        ),
    ),
)

AREAS = (RULES, LOWERINGS, XLA_LOWERINGS, PASSES, AD, GRAPHS, PLANNER, TRANSFORMS, ARRAYS)
