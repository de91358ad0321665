"""Small faults put into the sources, each of which some test must find.

One row is one fault: a name that says what is wrong, the file, the text that is replaced (it
stands exactly once in the file), the text instead, and the tests to run, most likely ones first.
Tests are written as pytest takes them; `xla:` before them runs them over XLA, and
`kit numpy: EXPRESSION` runs those cases of the conformance kit whose names match. Every area has
further tests, which run where those of the row all pass. `run.py` runs the table, and
`test_source_mutants.py` sees that its texts still stand in the sources.
"""

from typing import NamedTuple

CORE = "core/src/tenferro"
NUMPY = "plugins/numpy_backend/src/tenferro_numpy"
XLA = "plugins/xla_backend/src/tenferro_xla"
ON = "core/tests/on_backend"
PLUGIN = "plugins/numpy_backend/tests"


class Mutant(NamedTuple):
    """A fault: where it is, and the tests that are asked first."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


class Area(NamedTuple):
    """Mutants of one part of the project, and the tests that are asked last."""

    name: str
    tests: tuple[str, ...]
    mutants: tuple[Mutant, ...]


def _kit(name, file, old, new, cases, backend="numpy"):
    return Mutant(name, file, old, new, (f"kit {backend}: {cases}",))


def _rule(name, file, old, new, cases):
    return _kit(name, f"{CORE}/primitives/{file}.py", old, new, cases)


def _like(name, file, old, new, cases):
    return _kit(name, f"{CORE}/backend/numpy_like/{file}.py", old, new, cases)


def _xla(name, file, old, new, cases):
    return _kit(name, f"{XLA}/lowerings/{file}.py", old, new, cases, "xla")


def _pass(name, file, old, new, tests):
    return Mutant(name, f"{CORE}/passes/{file}.py", old, new, (f"core/tests/passes/{tests}",))


def _tidu(name, file, old, new, *tests):
    return Mutant(name, f"{CORE}/tidu/{file}.py", old, new, tests)


def _graph(name, file, old, new, *tests):
    return Mutant(name, f"{CORE}/computegraph/{file}.py", old, new, tests)


def _plan(name, file, old, new, *tests):
    return Mutant(name, f"{NUMPY}/{file}.py", old, new, tuple([f"{PLUGIN}/{t}" for t in tests]))


def _transform(name, file, old, new, *tests):
    named = tuple([f"{ON}/transforms/{t}" for t in tests])
    return Mutant(name, f"{CORE}/transforms/{file}.py", old, new, named)


def _array(name, file, old, new, *tests):
    return Mutant(name, f"{CORE}/{file}.py", old, new, tests)


RULES = Area(
    "derivative rules",
    (f"{ON}/transforms/test_derivatives_of_functions.py", f"{ON}/linalg"),
    (
        _rule("div: sign of the derivative in y", "arithmetic",
              "return -(z / y) * dy", "return (z / y) * dy", "std::div/"),
        _rule("div: transpose without conj", "arithmetic",
              "return ct / conj(y)", "return ct / y", "std::div/"),
        _rule("mul: transpose without conj", "arithmetic",
              "        return ct * conj(y)", "        return ct * y", "std::mul/"),
        _rule("maximum: each side gets all at a tie", "arithmetic",
              "half = full_like(dx, 0.5)", "half = full_like(dx, 1.0)", "std::maximum/"),
        _rule("clamp: active at the lower bound", "arithmetic",
              "logical_or(le(x, lo), ge(x, hi))", "logical_or(lt(x, lo), ge(x, hi))",
              "std::clamp/"),
        _rule("pow: no guard at 0 to the 0", "arithmetic",
              "ge(exponent, zeros_like(exponent))", "gt(exponent, zeros_like(exponent))",
              "std::pow/"),
        _rule("abs: direction without conj", "arithmetic",
              "return real(conj(_direction(x, y)) * dx)", "return real(_direction(x, y) * dx)",
              "std::abs/"),
        _rule("atan2: sign of the derivative in x", "trigonometric",
              "return -_over_square(y, hypot(x, y)) * dx",
              "return _over_square(y, hypot(x, y)) * dx", "std::atan2/"),
        _rule("rsqrt: sign", "arithmetic",
              "return -0.5 * (y / x)", "return 0.5 * (y / x)", "std::rsqrt/"),
        _rule("logistic: y² instead of y(1 - y)", "elementwise",
              "return y * logistic(-x)", "return y * logistic(x)", "std::logistic/"),
        _rule("logaddexp: shares exchanged", "elementwise",
              "return logistic(_excess(x, y)) * dx", "return logistic(_excess(y, x)) * dx",
              "std::logaddexp/"),
        _rule("imag: sign of the transpose", "complex",
              "return complex(zeros_like(ct), ct)", "return complex(zeros_like(ct), -ct)",
              "std::imag/"),
        _rule("cumsum: transpose in the same direction", "cumulative",
              "return cumsum(ct, self.axis, reverse=not self.reverse)",
              "return cumsum(ct, self.axis, reverse=self.reverse)", "std::cumsum/"),
        _rule("reduce_max: ties get the sum, not the mean", "reduction",
              "return reduce_sum(select(loses, zeros_like(dx), dx), reduced) / count",
              "return reduce_sum(select(loses, zeros_like(dx), dx), reduced)", "std::reduce_max/"),
        _rule("reduce_prod: sign in the product rule", "reduction",
              "return a * b, da * b + a * db", "return a * b, da * b - a * db",
              "std::reduce_prod/"),
        _rule("pad: cotangent of the value from inside", "structural",
              "select(reached, zeros_like(ct), ct)", "select(reached, ct, zeros_like(ct))",
              "std::pad/"),
        _rule("scatter: a lost update gets a cotangent", "indexing",
              "return select(remains, self.read(ct, indices, updates), zeros_like(updates))",
              "return self.read(ct, indices, updates)", "std::scatter/"),
        _rule("scatter_add: what is dropped reads a neighbour", "indexing",
              'mode="fill" if self.mode == "drop" else self.mode',
              'mode="clip" if self.mode == "drop" else self.mode', "std::scatter"),
        _rule("dynamic_update_slice: the block keeps its cotangent", "indexing",
              "return dynamic_update_slice(ct, zeros_like(update), starts)", "return ct",
              "std::dynamic_update_slice/"),
        _rule("dot_general: contracted axes in the wrong order", "contraction",
              "return [axis for _, axis in sorted(zip(other, mine, strict=True))]",
              "return list(mine)", "std::dot_general/"),
        _rule("cholesky: sign in the second derivative", "linalg/cholesky",
              "return matmul(dl, half_lower(inner)) - cholesky_tangent(",
              "return matmul(dl, half_lower(inner)) + cholesky_tangent(", "std::cholesky"),
        _rule("triangular_solve: sign", "linalg/triangular_solve",
              "return -self._solve(a, product", "return self._solve(a, product",
              "std::triangular_solve/"),
        _rule("triangular_solve: transpose without conj", "linalg/triangular_solve",
              "conjugate=a.dtype.is_complex != self.conjugated", "conjugate=self.conjugated",
              "std::triangular_solve/"),
        _rule("triangular_solve: the unit diagonal is read", "linalg/triangular_solve",
              "(a, strict=self.unit_diagonal)", "(a, strict=False)", "std::triangular_solve/"),
        _rule("qr: turn is Hermitian", "linalg/qr",
              "turn = below - adjoint(below)", "turn = below + adjoint(below)", "std::qr/"),
        _rule("qr: phases turn backwards", "linalg/qr",
              "return turn + diagonal_matrix(", "return turn - diagonal_matrix(", "std::qr/"),
        _rule("svd: sign of the turn of V", "linalg/svd",
              "into_u, into_v = even + odd, odd - even", "into_u, into_v = even + odd, even - odd",
              "std::svd/"),
        _rule("eigh: values without conj", "linalg/eigh",
              "return real(reduce_sum(conj(x) * y,", "return real(reduce_sum(x * y,", "std::eigh/"),
        _rule("svdvals: without conj", "linalg/svd",
              "return real(reduce_sum(conj(u) * matmul(", "return real(reduce_sum(u * matmul(",
              "std::svdvals/"),
    ),
)  # fmt: skip

LOWERINGS = Area(
    "lowerings of NumPy and of namespaces like it",
    (f"{PLUGIN}/test_families.py", f"{PLUGIN}/test_lowerings_of_others.py",
     "plugins/cupy_backend/tests/test_lowerings.py"),
    (
        _like("gather: the last window counts as outside", "indexing",
              "xp.less_equal(start, most)", "xp.less(start, most)", "std::gather/"),
        _like("dynamic_slice: negative starts are not clamped", "indexing",
              "return xp.minimum(xp.maximum(start, 0), most)", "return xp.minimum(start, most)",
              "std::dynamic"),
        _like("scatter: the first update remains", "indexing",
              "order = xp.argsort(positions * positions.size + xp.arange(positions.size))",
              "order = xp.argsort(positions * positions.size - xp.arange(positions.size))",
              "std::scatter/"),
        _like("gather: a masked window keeps what it read", "indexing",
              "windows = xp.where(mask, windows, xp.zeros_like(windows))", "pass", "std::gather/"),
        _like("cumulative: a reversed result is not turned back", "cumulative",
              "return function(x[backwards], op.axis)[backwards]",
              "return function(x[backwards], op.axis)", "std::cum"),
        _like("sort: keys in the wrong order", "sorting",
              "for key in reversed(keys[:-1]):", "for key in keys[:-1]:", "std::sort/"),
        _like("searchsorted: right as left", "sorting",
              "return xp.logical_or(xp.less_equal(x, value), is_nan)",
              "return xp.logical_or(xp.less(x, value), is_nan)", "std::searchsorted/"),
        _like("pad: crops between elements", "structural",
              "begin = low + first * step", "begin = low + first", "std::pad/"),
        _like("polygamma: sign", "special",
              "(-1.0) ** (n + 1)", "(-1.0) ** n", "std::polygamma/"),
        _like("dot_general: bool counts exactly one", "contraction",
              "return xp.not_equal(counted, 0)", "return xp.equal(counted, 1)",
              "std::dot_general/"),
        _like("dot_general: free axes of the sides exchanged", "contraction",
              "return xp.reshape(product, batch + rows + columns)",
              "return xp.reshape(product, batch + columns + rows)", "std::dot_general/"),
        _kit("clamp: crossed bounds give lo", f"{NUMPY}/lowerings/arithmetic.py",
             '"{p0}({p1}({1}, {0}), {2})"', '"{p1}({p0}({1}, {2}), {0})"', "std::clamp/"),
        _kit("reduce_sum: narrow integers are widened", f"{NUMPY}/lowerings/reduction.py",
             "bound = (function.reduce, axis, np.dtype(result.dtype.name))",
             "bound = (function.reduce, axis, None)", "std::reduce_sum/"),
        _kit("argmax: always int64", f"{NUMPY}/lowerings/reduction.py",
             "if native == np.dtype(np.intp):", "if native:", "std::argmax/"),
        _kit("div: one zero among divisors is let through", f"{NUMPY}/lowerings/arithmetic.py",
             "if not np.all(y):", "if not np.any(y):", "std::div/"),
        Mutant("x³ may be written over x", f"{NUMPY}/lowerings/arithmetic.py",
               '    into="{p0}({0}, {p1}({0}, {out}), {out})",\n',
               '    into="{p0}({0}, {p1}({0}, {out}), {out})",\n    in_place=True,\n',
               (f"{PLUGIN}/test_arithmetic.py", f"{PLUGIN}/test_regions.py")),
        Mutant("clamp may be written over a bound", f"{NUMPY}/lowerings/arithmetic.py",
               '    into="{p0}({p1}({1}, {0}, out={out}), {2}, out={out})",\n',
               '    into="{p0}({p1}({1}, {0}, out={out}), {2}, out={out})",\n    in_place=True,\n',
               (f"{PLUGIN}/test_arithmetic.py", f"{PLUGIN}/test_regions.py")),
    ),
)  # fmt: skip

XLA_LOWERINGS = Area(
    "lowerings of XLA",
    ("plugins/xla_backend/tests/test_semantics.py",),
    (
        _xla("reduce_max: nan loses", "reduction",
             "lax.bitwise_or(wins(a, b), is_nan(a))", "wins(a, b)", "std::reduce_max/"),
        _xla("cummax: nan loses", "cumulative",
             "lax.bitwise_or(wins(a, b), is_nan(a))", "wins(a, b)", "std::cummax/"),
        _xla("cumprod: never reversed", "cumulative",
             "return lax.cumprod(x, op.axis, op.reverse)", "return lax.cumprod(x, op.axis)",
             "std::cumprod/"),
        _xla("div: integers by 0 as the machine has it", "arithmetic",
             "return lax.select(lax.eq(y, zero), zero, quotient)", "return quotient", "std::div/"),
        _xla("sign: of -0.0", "arithmetic",
             "return lax.select(lax.eq(x, zero), zero, lax.sign(x))", "return lax.sign(x)",
             "std::sign/"),
        _xla("pow: 1 to a negative power is 0", "arithmetic",
             "lax.bitwise_and(negative, lax.bitwise_not(unit))", "negative", "std::pow/"),
        _xla("scatter over XLA: the first update remains", "indexing",
             "last = lax.scatter_max(none,", "last = lax.scatter_min(none,", "std::scatter/"),
        _xla("gather: fills with nan", "indexing", "fill_value=0", "fill_value=None",
             "std::gather/"),
        _xla("dynamic_slice: negative starts count from the end", "indexing",
             "op.sizes, allow_negative_indices=False", "op.sizes, allow_negative_indices=True",
             "std::dynamic_slice/"),
        _xla("dot_general: sums in the dtype of its operands", "contraction",
             "np.dtype(op.preferred.name) if op.preferred else lhs.dtype", "lhs.dtype",
             "std::dot_general/"),
        _xla("sort: nan in either part alike", "sorting",
             "lax.add(lax.add(of_re, of_re), of_im)", "lax.add(of_re, of_im)", "std::sort/"),
        _xla("convert: the imaginary part", "structural",
             "x = lax.real(x)", "x = lax.imag(x)", "std::convert/"),
        _xla("logaddexp: equal infinities", "elementwise",
             "gap = lax.select(lax.eq(x, y), like(x, 0), gap)", "pass", "std::logaddexp/"),
    ),
)  # fmt: skip

PASSES = Area(
    "graph passes",
    ("core/tests/passes", f"{ON}/passes", "kit numpy: test_lowering"),
    (
        _pass("x + 0.0 is x", "arithmetic",
              "return rw.avals[zero].dtype.is_integer or negative is not subtracted",
              "return True", "test_simplify.py"),
        _pass("division by 2ᵏ becomes a subnormal factor", "arithmetic",
              "if inverse is None or abs(inverse) < dtype.smallest_normal:", "if inverse is None:",
              "test_simplify.py"),
        _pass("|z|² is z² of complex z", "arithmetic",
              "return rw.emit(op, before) if is_real(rw.avals[before]) else None",
              "return rw.emit(op, before)", "test_simplify.py"),
        _pass("Im conj z is Im z", "arithmetic",
              "return part if is_real_part else rw.emit(Neg(), part)", "return part",
              "test_simplify.py"),
        _pass("select of not p: branches stay", "arithmetic",
              "return rw.emit(op, rw.operands[pred][0], on_false, on_true)",
              "return rw.emit(op, rw.operands[pred][0], on_true, on_false)", "test_simplify.py"),
        _pass("(-x)·y though others read -x", "arithmetic",
              "if not rw.is_read_once(negative) and not rw.is_there(op, positive, other):",
              "if False:", "test_simplify.py"),
        _pass("Re z + i Im w is z", "arithmetic",
              "return z if rw.operands[im][0] == z else None", "return z", "test_simplify.py"),
        _pass("max(0.0, -0.0) is folded", "folding",
              "if cls in (Maximum, Minimum) and values[0] == values[1]:", "if False:",
              "test_fold.py"),
        _pass("integers are folded by true division", "folding",
              "if cls is Div and dtype.is_integer:", "if False:", "test_fold.py"),
        _pass("0.0 joined with -0.0", "folding",
              "if other is None or repr(other) != repr(value) or other != value:",
              "if other is None or other != value:", "test_fold.py"),
        _pass("a sum that the dtype does not hold is folded", "folding",
              "if not holds_integer(total, aval.dtype) or not", "if not", "test_fold.py"),
        _pass("a conversion that loses is left out", "moves",
              "if not _holds(between, first) or not _same_directly(first, between, op.dtype):",
              "if not _same_directly(first, between, op.dtype):", "test_moves.py"),
        _pass("float16 holds bfloat16", "moves",
              "return a is b or a.bits < b.bits", "return a is b or a.bits <= b.bits",
              "test_moves.py"),
        _pass("two transposes composed the other way", "moves",
              "[inner.permutation[i] for i in order]", "[order[i] for i in inner.permutation]",
              "test_moves.py"),
        _pass("two reversals of one axis are one", "moves",
              "axes ^= set(inner.dimensions)", "axes |= set(inner.dimensions)", "test_moves.py"),
        _pass("overlapping slices are joined", "moves",
              "if a.strides[axis] != 1 or a.limit[axis] != b.start[axis]:",
              "if a.strides[axis] != 1 or a.limit[axis] < b.start[axis]:", "test_moves.py"),
        _pass("padding of padding with another constant", "moves",
              "if inner is None or any(inner.interior) or rw.operands[x][1] != filler:",
              "if inner is None or any(inner.interior):", "test_moves.py"),
        _pass("transposed operand whose free axes change places", "contractions",
              "return found if list(found.free) == sorted(found.free) else side", "return found",
              "test_contract.py"),
        _pass("a subtracted part is added", "paddings",
              "if part.negative is not box.negative:", "if False:", "test_sums.py"),
    ),
)  # fmt: skip

AD = Area(
    "tidu",
    ("core/tests/tidu", "core/tests/primitives/test_templates.py",
     f"{ON}/transforms/test_nesting.py", "kit numpy: golden and not linalg"),
    (
        _tidu("a value twice in wrt", "_linearize",
              "if len(set(wrt)) == len(wrt):", "if len(wrt):", "core/tests/tidu"),
        _tidu("template of a rule without its active inputs", "_linearize",
              "entry = (operation, space, *map(_aval_of, inputs), *[t is None for t in incoming])",
              "entry = (operation, space, *map(_aval_of, inputs))",
              "core/tests/primitives/test_templates.py", f"{ON}/transforms/test_interface.py"),
        _tidu("template of a rule without avals", "_linearize",
              "entry = (operation, space, *map(_aval_of, inputs))\n",
              "entry = (operation, space, len(inputs))\n",
              "core/tests/primitives/test_templates.py", f"{ON}/transforms/test_interface.py"),
        _tidu("template of a transpose without the outputs that have a cotangent",
              "_linear_transpose",
              "entry = (operation, space, mask, which, *map(_aval_of, inputs))",
              "entry = (operation, space, mask, *map(_aval_of, inputs))",
              "core/tests/primitives/test_templates.py", f"{ON}/transforms/test_interface.py",
              "kit numpy: std::svd/"),
        _tidu("template of a transpose without avals", "_linear_transpose",
              "entry = (operation, space, mask, which, *map(_aval_of, inputs))",
              "entry = (operation, space, mask, which)",
              "core/tests/primitives/test_templates.py", f"{ON}/transforms/test_interface.py"),
        _tidu("cotangents overwrite each other", "_linear_transpose",
              "terms[inputs[i]] = term if found is None else with_another(found, term)",
              "terms[inputs[i]] = term", "core/tests/tidu",
              f"{ON}/transforms/test_interface.py"),
        _tidu("repeated outputs share one seed", "_linear_transpose",
              "leaf = cotangent_leaf(key, key.aval, run.id, index)",
              "leaf = cotangent_leaf(key, key.aval, run.id, 0)", "core/tests/tidu"),
        _tidu("a forward output may depend on a transposed input", "_linear_transpose",
              "if position not in turned and local is not None and local in flowing:",
              "if position not in turned and local is None:", "core/tests/tidu"),
        _tidu("a rule may return a constant for a tangent", "_linearize",
              "if rule.run not in value.flow and not rule.space.is_zero(value.key):", "if False:",
              "core/tests/tidu"),
        _tidu("replayed steps are not simplified beside literals", "_template",
              "if maker.literal or (names and maker.name in names):",
              "if names and maker.name in names:", "core/tests/primitives/test_templates.py"),
        _tidu("operands change places, their activity does not", "_template",
              "x, y, role, mask = y, x, turned, mask and mask[::-1]",
              "x, y, role, mask = y, x, turned, mask", "core/tests/primitives/test_templates.py",
              f"{ON}/transforms/test_nesting.py"),
        _tidu("only the first output of a node lives", "_linearize",
              "needed.update(compress(definition[3:], mask))",
              "needed.update(definition[3:4])", "core/tests/tidu"),
    ),
)  # fmt: skip

GRAPHS = Area(
    "computegraph",
    ("core/tests/computegraph", f"{ON}/array/test_lazy.py", f"{ON}/transforms/test_interface.py"),
    (
        _graph("operands of any operation are sorted", "_materialize",
               "if operation.commutative and inputs[0] > inputs[1]:",
               "if len(inputs) == 2 and inputs[0] > inputs[1]:",
               "core/tests/computegraph/test_materialize.py"),
        _graph("all outputs are the first one", "_materialize",
               "number[key] = base + definition[2]", "number[key] = base",
               "core/tests/computegraph/test_materialize.py"),
        _graph("cache key without the output that is asked for", "_materialize",
               "items += operation, slot, len(definition)",
               "items += operation, len(definition)", "core/tests/computegraph",
               f"{ON}/transforms/test_interface.py"),
        _graph("cache key without which other output", "_materialize",
               "items += _ANOTHER_OUTPUT, there, slot", "items += _ANOTHER_OUTPUT, there",
               "core/tests/computegraph", f"{ON}/transforms/test_interface.py"),
        _graph("structure without the inputs of nodes", "_materialize",
               "items += node[1]", "items.append(len(node[1]))",
               "core/tests/computegraph/test_materialize.py"),
        _graph("structure without the outputs", "_materialize",
               "self._items = (*items, None, *outputs)", "self._items = (*items, None)",
               "core/tests/computegraph/test_materialize.py", f"{ON}/array/test_lazy.py"),
        _graph("declared inputs may repeat", "_materialize",
               "if len(known) != len(declared):", "if False:",
               "core/tests/computegraph/test_materialize.py"),
        _graph("a literal that is known loses its definition", "_keys",
               "if definition is None or definition[0].literal:", "if definition is None:",
               "core/tests/computegraph/test_keys.py", f"{ON}/array/test_lazy.py"),
        _graph("integers carry open traces", "_keys",
               "key.traces = traces if not traces or definition[0].carries(aval) else NO_TRACES",
               "key.traces = traces", "core/tests/computegraph/test_keys.py",
               f"{ON}/transforms/test_interface.py"),
        _graph("a value of two inputs has no open traces", "_keys",
               "    return tuple(given), depth, traces",
               "    return tuple(given), depth, NO_TRACES",
               "core/tests/computegraph/test_keys.py", f"{ON}/transforms/test_interface.py"),
    ),
)  # fmt: skip

PLANNER = Area(
    "planner and executor of NumPy",
    (f"{PLUGIN}/test_random_programs.py", f"{PLUGIN}/test_regions.py", PLUGIN),
    (
        _plan("the last tile of one row is left out", "_division",
              "starts = range(0, shape[axis], rows)", "starts = range(0, shape[axis] - 1, rows)",
              "test_regions.py"),
        _plan("any order of memory is taken for Fortran's", "_tiles",
              'return "F" if all(flags.f_contiguous for flags in whole) else ""', 'return "F"',
              "test_regions.py"),
        _plan("a region writes into read-only memory", "_tiles",
              "(flags.f_contiguous if order == \"F\" else flags.c_contiguous) and flags.writeable",
              "(flags.f_contiguous if order == \"F\" else flags.c_contiguous)",
              "test_regions.py", "test_reuse.py"),
        _plan("a region writes into an unexpanded operand", "_tiles",
              "if old is not None and old.shape == self.shape:", "if old is not None:",
              "test_regions.py", "test_reuse.py"),
        _plan("a division is kept whatever operands it moves", "_tiles",
              "key = shape, elements, shapes", "key = shape, elements", "test_regions.py"),
        _plan("a reduction across tiles and within them", "_folds",
              "if not (divided <= set(axes) or not divided & set(axes)):", "if False:",
              "test_regions.py"),
        _plan("partial sums of later tiles are lost", "_folds",
              "if self._single or not partial:", "if not partial:", "test_regions.py"),
        _plan("an update in place reads what it writes", "_reuse",
              "if memory.is_free(slot) and step.operands.count(slot) == 1:",
              "if memory.is_free(slot):", "test_reuse.py"),
        _plan("a region overwrites what moves still read", "_reuse",
              "                and slot not in moved  # other tiles still read it\n", "",
              "test_reuse.py", "test_regions.py"),
        _plan("a region overwrites an operand that it reads later", "_reuse",
              "        if written and operand in write.operands:\n            return False\n", "",
              "test_reuse.py", "test_regions.py"),
        _plan("a region overwrites an operand of a line that is not in place", "_reuse",
              "            if operand in write.operands and not write.in_place:\n"
              "                return False\n", "", "test_reuse.py", "test_regions.py"),
        _plan("memory is free though a view of it lives", "_memory",
              "last = self.alive[name] == 1 and slot in self.dying[self.now]",
              "last = slot in self.dying[self.now]", "test_reuse.py"),
        _plan("memory is free though foreign code has seen it", "_memory",
              "return last and name not in self.seen", "return last", "test_reuse.py",
              "test_lowerings_of_others.py"),
        _plan("two results share memory", "_memory",
              "own = name != _NOBODY and name not in self.given and name not in taken",
              "own = name != _NOBODY and name not in self.given", "test_executor.py",
              "test_reuse.py"),
        _plan("a result is a view of more", "_memory",
              "own = whole.size == aval.size and whole.dtype is aval.dtype", "pass",
              "test_executor.py", "test_reuse.py"),
        _plan("a donated array that overlaps another is written to", "_donated",
              "any(np.may_share_memory(x, y) for y in others)", "False", "test_donated.py"),
        _plan("a donated array that overlaps itself is written to", "_donated",
              "if shared or _may_overlap_itself(x):", "if shared:", "test_donated.py"),
        _plan("a region that waits for itself", "_groups",
              "if behind & group.bit or any(behind & other.bit for other in merged):",
              "if any(behind & other.bit for other in merged):", "test_regions.py"),
        _plan("waiting is not transitive", "_groups",
              "found |= self.open[low.bit_length() - 1].reach", "found |= low", "test_regions.py"),
        _plan("merged regions forget what they wait for", "_groups",
              "        self.reaches(group, other.reach)\n", "", "test_regions.py"),
        _plan("scratch is released before it is written over", "_regions",
              "                out = self.take(target)\n                self.release(dying)\n",
              "                self.release(dying)\n                out = self.take(target)\n",
              "test_regions.py", "test_arithmetic.py"),
        _plan("what a reduction reads is written over", "_regions",
              "if last[slot] is step and slot not in self.held and self.place[slot] >= self.first",
              "if last[slot] is step and self.place[slot] >= self.first", "test_regions.py"),
        _plan("equal regions that write elsewhere are one", "_tiles",
              "self.folds, self.moves, self.tiling, tuple(self.reuse.items()),",
              "self.folds, self.moves, self.tiling,", "test_regions.py", "test_reuse.py"),
        _plan("equal regions with other reductions are one", "_tiles",
              "self.folds, self.moves, self.tiling, tuple(self.reuse.items()),",
              "self.moves, self.tiling, tuple(self.reuse.items()),", "test_regions.py"),
        _plan("a subtracted window is added", "_windows",
              "negated = tuple([term._replace(function=_opposite(term)) for term in negated])",
              "pass", "test_structural.py", "test_parts.py", "test_random_programs.py"),
        _plan("a padded term that others read is not written", "_windows",
              "or self.summed[target] < self.reads[target]:", ":", "test_structural.py",
              "test_parts.py", "test_random_programs.py"),
        _plan("a cropping pad is taken for a window", "_windows",
              "if not zero or not shape or 0 in shape or min(*op.low, *op.high) < 0:",
              "if not zero or not shape or 0 in shape:", "test_structural.py", "test_parts.py",
              "test_random_programs.py"),
        _plan("a block takes in what waits for it", "_blocks",
              "        if not self.after.isdisjoint(inputs):\n            return False\n", "",
              "test_blocks.py"),
        _plan("the last rows of a block are left out", "_blocks",
              "return (self.rows, rest) if rest else (self.rows,)", "return (self.rows,)",
              "test_blocks.py"),
        _plan("blocks that wait for each other", "_blocks",
              "if block is not None and _has_order(program, joined):", "if block is not None:",
              "test_blocks.py"),
    ),
)  # fmt: skip

TRANSFORMS = Area(
    "transforms",
    (f"{ON}/transforms/test_interface.py", f"{ON}/transforms/test_nesting.py",
     f"{ON}/transforms/test_vmap.py", f"{ON}/transforms/test_jit.py",
     f"{ON}/transforms/test_custom.py"),
    (
        _transform("vmap: cache key without in_axes", "_vmap",
                   'kind = ("vmap", size, tuple([m.axis for m in self._leaves]), tuple(places))',
                   'kind = ("vmap", size, tuple(places))', "test_vmap.py"),
        _transform("vmap: cache key without out_axes", "_vmap",
                   'kind = ("vmap", size, tuple([m.axis for m in self._leaves]), tuple(places))',
                   'kind = ("vmap", size, tuple([m.axis for m in self._leaves]))', "test_vmap.py"),
        _transform("vmap: cache key without the size", "_vmap",
                   'kind = ("vmap", size, tuple([m.axis for m in self._leaves]), tuple(places))',
                   'kind = ("vmap", tuple([m.axis for m in self._leaves]), tuple(places))',
                   "test_vmap.py"),
        _transform("vmap: negative out_axes", "_vmap",
                   "return moved(found, 0, axis % found.ndim)", "return moved(found, 0, axis)",
                   "test_vmap.py"),
        _transform("vmap: a rule may return another shape", "_batch",
                   "if aval.dtype is one.dtype and aval.shape[1:] == one.shape and "
                   "aval.shape[:1] == (size,):", "if True:", "test_batching_rules.py",
                   "test_rules_when_called.py"),
        _transform("jit: an Array is donated", "_jit",
                   "return tuple([i for i in found if not isinstance(call.leaves[i], Array)])",
                   "return tuple(found)", "test_donation.py"),
        _transform("jit: a borrowed argument is captured", "_jit",
                   "return snapshot(key.operand) if isinstance(key.identity, Name) else", "return",
                   "test_borrowed_arguments.py", "test_jit_closures.py"),
        _transform("jit: a trace that reads an outer transform is kept", "_jit",
                   "return traced if traced.is_open else self._kept",
                   "return traced if False else self._kept", "test_jit.py",
                   "test_jit_closures.py", "test_nesting.py"),
        _transform("jit: the function changes its argument while it is traced", "_jit",
                   "return traced, [x if x is h or x.tobytes() == h.tobytes() else h for x, h in "
                   "pairs]", "return traced, [x for x, h in pairs]", "test_borrowed_arguments.py",
                   "test_jit_calls.py", "test_jit.py"),
        _transform("custom_vjp: a cotangent that does not depend on the one given",
                   "_custom_vjp",
                   "if not is_reached and value is not None and not is_known_zero(value):",
                   "if False:", "test_custom_refusals.py", "test_custom.py"),
        _transform("custom_jvp: a tangent that does not depend on tangents", "_custom_jvp",
                   "if not is_reached and value is not None and not is_known_zero(value):",
                   "if False:", "test_custom_refusals.py", "test_custom.py"),
        _transform("custom_jvp: only the first of several rules", "_custom_jvp",
                   "total = [p if type(t) is float else t + p for t, p in zip(total, parts, "
                   "strict=True)]", "total = parts", "test_custom.py"),
    ),
)  # fmt: skip

ARRAYS = Area(
    "arrays",
    (f"{ON}/array/test_dtypes.py", f"{ON}/array/test_indexing.py", f"{ON}/array/test_snapshots.py",
     f"{ON}/array/test_expressions.py"),
    (
        _array("uint8 with int8 is int8", "primitives/_dtype",
               "bits = max(2 * a.bits, b.bits)", "bits = max(a.bits, b.bits)",
               "core/tests/primitives/test_dtype.py"),
        _array("float16 with bfloat16 is float16", "primitives/_dtype",
               "    if a is not b and a.bits == b.bits:\n        return float32\n", "",
               "core/tests/primitives/test_dtype.py"),
        _array("int16 with float16 is float16", "primitives/_dtype",
               "{8: b.real_dtype, 16: float32}", "{8: b.real_dtype, 16: b.real_dtype}",
               "core/tests/primitives/test_dtype.py"),
        _array("0.0 and -0.0 are one number", "array/_broadcast",
               "text = repr(value) if value == 0 or kind is complex else None", "text = None",
               f"{ON}/array/test_expressions.py", f"{ON}/array/test_lazy.py"),
        _array("an argument that was a Python number is strong", "array/_broadcast",
               "if x_weak is not y_weak:", "if False:", f"{ON}/array/test_dtypes.py",
               f"{ON}/transforms/test_jit.py"),
        _array("negative positions are off by one", "array/_indexing",
               "found[found < 0] += n", "found[found < -1] += n", f"{ON}/array/test_indexing.py"),
        _array("the index behind the last is let through", "array/_indexing",
               "elif not -n <= i < n:", "elif not -n <= i <= n:", f"{ON}/array/test_indexing.py"),
        _array("index arrays apart keep their place", "array/_indexing",
               "first = 0 if plan.apart else axes[0]", "first = axes[0]",
               f"{ON}/array/test_indexing.py"),
        _array("a negative step begins at the wrong end", "array/_indexing",
               "        taken = taken[::-1]\n", "", f"{ON}/array/test_indexing.py"),
        _array("a read-only view of writeable memory is not copied", "backend/_snapshots",
               "            if base is None:\n                return bool(x.flags.owndata)\n",
               "            return True\n", f"{ON}/array/test_snapshots.py"),
        _array("history is dropped while a sweep is under way", "array/_evaluate",
               "if not is_traced(key) and not _held.depth:", "if not is_traced(key):",
               f"{ON}/array/test_lazy.py", f"{ON}/transforms/test_interface.py"),
        _array("a jitted function looks at a number once for all", "array/_weak",
               "    if level == VALUE:\n        return kind, value\n", "",
               f"{ON}/array/test_python_integers.py", f"{ON}/transforms/test_jit_calls.py"),
    ),
)  # fmt: skip

AREAS = (RULES, LOWERINGS, XLA_LOWERINGS, PASSES, AD, GRAPHS, PLANNER, TRANSFORMS, ARRAYS)
