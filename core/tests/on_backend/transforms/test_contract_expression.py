"""``contract_expression``: a prepared contraction is the einsum, whole and in parts."""

import sys
import types

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.contractions.slices import sizes_of_part, slices_of

CHAIN = "ab,bc,cd,de->ae", [(4, 6), (6, 4), (4, 6), (6, 3)]
EXPRESSIONS = {
    "chain": (*CHAIN, 4),
    "one element at a time": (*CHAIN, 1),
    "a label of the output": ("abx,bcx,cdx->adx", [(2, 3, 4), (3, 3, 4), (3, 2, 4)], 3),
    "parts of a label of the output": ("abx,bcx,cdx->adx", [(2, 3, 6), (3, 3, 6), (3, 2, 6)], 12),
    "diagonal": ("aab,bc,cd->a", [(3, 3, 4), (4, 5), (5, 2)], 4),
    "ellipsis": ("...ab,...bc,cd->...ad", [(4, 2, 3), (1, 3, 4), (4, 2)], 8),
    "a sum of one operand": ("abz,bc,cd->ad", [(2, 3, 4), (3, 4), (4, 2)], 3),
    "implicit output": ("ab,bc,cd", [(2, 3), (3, 4), (4, 2)], 3),
    "a size that is prime": ("ab,bc,cd->ad", [(7, 5), (5, 7), (7, 5)], 10),
    "scalar": ("ab,bc,ca->", [(4, 4)] * 3, 2),
    "numbers": (",a,->a", [(), (3,), ()], 1),
    "nothing to slice": ("ab,b->a", [(2, 3), (3,)], 1),
    "empty sum": ("ab,bc,cd->ad", [(2, 0), (0, 3), (3, 2)], 1),
    "empty result": ("ab,bc,cd->ad", [(0, 2), (2, 3), (3, 2)], 1),
}


def operands(shapes, dtype):
    """Operands without equal entries."""
    rng = np.random.default_rng(3)
    found = []
    for shape in shapes:
        x = rng.integers(-3, 4, shape) if np.dtype(dtype).kind in "ib" else rng.normal(size=shape)
        imaginary = 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 0
        found.append((x + imaginary).astype(dtype))
    return found


def loss(contract):
    return lambda *xs: tn.sum(tn.abs(contract(*xs)) ** 2) + tn.real(tn.sum(contract(*xs)))


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32", "int64", "bool"])
def test_its_value_and_dtype_are_those_of_einsum(name, dtype):
    subscripts, shapes, limit = EXPRESSIONS[name]
    xs = operands(shapes, dtype)
    got = tn.contract_expression(subscripts, *shapes, memory_limit=limit)(*xs)
    want = np.einsum(subscripts, *xs)
    assert (got.shape, got.dtype) == (want.shape, dtype)
    np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-5)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_intermediate_is_within_the_limit(name):
    subscripts, shapes, limit = EXPRESSIONS[name]
    expression = tn.contract_expression(subscripts, *shapes, memory_limit=limit)
    if 0 in np.ravel(np.concatenate([np.array(s, int) for s in shapes])):
        assert not expression.slices  # there is nothing to contract
        return
    sizes = expression.info.expression.sizes
    made = [pair.result for pair in expression.info.pairs[:-1]]
    assert max([np.prod([sizes[x] for x in labels]) for labels in made], default=0) <= limit


def test_labels_are_cut_in_equal_parts_and_no_more_than_needed():
    expression = tn.contract_expression("ab,bc,cd->ad", (8, 9), (9, 8), (8, 9), memory_limit=20)
    assert expression.slices in ({"a": 4}, {"c": 4})  # 64 elements in parts of 16
    pairs, sizes = expression.info.pairs, {"a": 8, "b": 9, "c": 8, "d": 9}
    assert [set(pair.result) for pair in pairs[:-1]] == [{"a", "c"}]
    for limit in range(1, 70):
        parts = slices_of(pairs, sizes, limit)
        left = sizes_of_part(sizes, parts)
        assert all(left[label] * parts.get(label, 1) == sizes[label] for label in sizes)
        assert left["a"] * left["c"] <= limit
        assert bool(parts) == (limit < 64)


DERIVED = ["chain", "parts of a label of the output", "diagonal", "ellipsis", "scalar", "empty sum"]


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", DERIVED)
def test_its_derivatives_are_those_of_einsum(name, dtype, jitted):
    """Of both orders, forward and in reverse."""
    subscripts, shapes, limit = EXPRESSIONS[name]
    xs = operands(shapes, dtype)
    every = tuple(range(len(xs)))
    sliced = tn.contract_expression(subscripts, *shapes, memory_limit=limit)
    whole = lambda *xs: tn.einsum(subscripts, *xs)  # noqa: E731
    first = lambda f: tn.grad(loss(f), every)  # noqa: E731
    second = lambda f: tn.grad(lambda *xs: sum(tn.sum(tn.abs(g) ** 2) for g in first(f)(*xs)))  # noqa: E731
    forward = lambda f: lambda *xs: tn.jvp(f, xs, xs)[1]  # noqa: E731
    for transform in (first, second, forward):
        got, want = transform(sliced), transform(whole)
        got = tn.jit(got) if jitted else got
        for x, y in zip(*map(tree, (got(*xs), want(*xs))), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def tree(result):
    return result if isinstance(result, tuple) else (result,)


def test_in_vmap_and_in_the_body_of_a_loop():
    subscripts, shapes, limit = EXPRESSIONS["chain"]
    xs = operands(shapes, "float64")
    sliced = tn.contract_expression(subscripts, *shapes, memory_limit=limit)
    rows = np.stack([xs[0], 2 * xs[0], -xs[0]])
    want = np.stack([np.einsum(subscripts, row, *xs[1:]) for row in rows])
    np.testing.assert_allclose(tn.vmap(lambda x: sliced(x, *xs[1:]))(rows), want, atol=1e-12)
    step = lambda total, x: (total + sliced(x, *xs[1:]), None)  # noqa: E731
    total = lambda rows: tn.scan(step, np.zeros(want.shape[1:]), rows)[0]  # noqa: E731
    np.testing.assert_allclose(total(rows), want.sum(0), atol=1e-12)
    slope = tn.grad(lambda rows: tn.sum(total(rows)))(rows)
    one = tn.grad(lambda x: tn.sum(tn.einsum(subscripts, x, *xs[1:])))(xs[0])
    np.testing.assert_allclose(slope, np.stack([one] * 3), atol=1e-12)


def test_operands_of_several_dtypes_are_promoted():
    subscripts, shapes, limit = EXPRESSIONS["chain"]
    xs = operands(shapes, "float32")
    xs[1] = xs[1].astype("complex128")
    got = tn.contract_expression(subscripts, *shapes, memory_limit=limit)(*xs)
    want = np.einsum(subscripts, *xs)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("limit", [None, 4])
def test_a_result_is_assigned_or_added_to_an_array(limit):
    subscripts, shapes, _ = EXPRESSIONS["chain"]
    xs = operands(shapes, "float64")
    expression = tn.contract_expression(subscripts, *shapes, memory_limit=limit)
    want = np.einsum(subscripts, *xs)
    y = tn.zeros(want.shape)
    assert expression(*xs, out=y) is y
    y += expression(*xs)
    np.testing.assert_allclose(y, 2 * want, atol=1e-12)


# ---- optimizers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["auto-hq", "dp", "RandomGreedy", "DynamicProgramming"])
def test_optimizers_of_opt_einsum(how):
    """By name, and as objects."""
    opt_einsum = pytest.importorskip("opt_einsum")
    subscripts, shapes = CHAIN
    xs = operands(shapes, "float64")
    optimize = getattr(opt_einsum, how)() if how[0].isupper() else how
    want = np.einsum(subscripts, *xs)
    for limit in (None, 4):
        e = tn.contract_expression(subscripts, *shapes, optimize=optimize, memory_limit=limit)
        np.testing.assert_allclose(e(*xs), want, atol=1e-12)
    np.testing.assert_allclose(tn.einsum(subscripts, *xs, optimize=optimize), want, atol=1e-12)


@pytest.mark.parametrize("name, preset", [("cotengra", "auto"), ("cotengra:hyper", "hyper")])
def test_cotengra_is_asked_for_a_path_by_the_name_of_its_preset(name, preset, monkeypatch):
    asked = []

    def array_contract_path(inputs, output, size_dict, optimize):
        asked.append((len(inputs), output, size_dict["a"], optimize))
        return [(2, 3), (0, 1), (0, 1)]

    library = types.SimpleNamespace(array_contract_path=array_contract_path)
    monkeypatch.setitem(sys.modules, "cotengra", library)
    subscripts, shapes = CHAIN
    expression = tn.contract_expression(subscripts, *shapes, optimize=name)
    assert asked == [(4, ("a", "e"), 4, preset)]
    assert expression.path == ["einsum_path", (2, 3), (0, 1), (0, 1)]


@pytest.mark.parametrize("preset", ["cotengra", "cotengra:greedy"])
def test_paths_of_cotengra_itself(preset):
    pytest.importorskip("cotengra")
    subscripts, shapes = CHAIN
    xs = operands(shapes, "float64")
    got = tn.contract_expression(subscripts, *shapes, optimize=preset)(*xs)
    np.testing.assert_allclose(got, np.einsum(subscripts, *xs), atol=1e-12)
    with pytest.raises(tn.InvalidParameterError, match="no such preset"):
        tn.contract_expression(subscripts, *shapes, optimize="cotengra:nonsense")


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cotengra", None)
    subscripts, shapes = CHAIN
    with pytest.raises(tn.InvalidParameterError, match="cotengra is not installed") as raised:
        tn.contract_expression(subscripts, *shapes, optimize="cotengra")
    assert raised.value.fields["parameter"] == "optimize"


# ---- errors --------------------------------------------------------------------------------------

REFUSED = [
    (lambda: tn.contract_expression("ab,bc", (2, 3), (4, 5)), tn.ShapeMismatchError, {}),
    (lambda: tn.contract_expression("ab,bc", (2, 3)), tn.InvalidParameterError,
     {"parameter": "subscripts"}),
    (lambda: tn.contract_expression("ab", 3.5), tn.InvalidParameterError, {"parameter": "shapes"}),
    (lambda: tn.contract_expression("ab", (2, 3), memory_limit=0), tn.InvalidParameterError,
     {"parameter": "memory_limit", "value": 0}),
    (lambda: tn.contract_expression("ab", (2, 3), memory_limit=True), tn.InvalidParameterError,
     {"parameter": "memory_limit"}),
    (lambda: tn.contract_expression("ab,bc,cd", (2, 2), (2, 2), (2, 2), optimize="best"),
     tn.InvalidParameterError, {"parameter": "optimize"}),
    (lambda: tn.contract_expression("ab", (2, 3))(np.ones((3, 2))), tn.ShapeMismatchError,
     {"shapes": ((3, 2),)}),
    (lambda: tn.contract_expression("ab", (2, 3))(np.ones((2, 3)), np.ones(2)),
     tn.ShapeMismatchError, {"shapes": ((2, 3), (2,))}),
]  # fmt: skip


@pytest.mark.parametrize("call, error, fields", REFUSED)
def test_what_does_not_fit_is_refused_where_the_user_called(call, error, fields):
    with pytest.raises(error) as raised:
        call()
    assert {name: raised.value.fields[name] for name in fields} == fields
    assert "test_contract_expression.py" in "\n".join(getattr(raised.value, "__notes__", []))


def test_it_prints_its_path_and_slices():
    text = str(tn.contract_expression(*CHAIN[:1], *CHAIN[1], memory_limit=4))
    assert text.startswith("<ContractExpression ab,bc,cd,de->ae, slices: ")
    assert "Optimized FLOP count" in text


@pytest.mark.parametrize("limit", [None, 4])
def test_the_result_is_numpys_if_all_operands_are(limit):
    product = tn.contract_expression("ab,bc->ac", (3, 4), (4, 2), memory_limit=limit)
    a, b = np.ones((3, 4)), np.ones((4, 2))
    assert type(product(a, b)) is np.ndarray
    assert isinstance(product(tn.asarray(a), b), tn.Array)
