"""einsum: any expression is NumPy's, its derivatives are right, its graph is a binary tree.

The keywords and the refusals beside NumPy's are rows of ``against_numpy_einsum.py``.
"""

import re
import subprocess
import sys

import numpy as np
import pytest
from against_numpy import sample
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy_rows import REDUCED

import tenferro as tn

few = settings(max_examples=10 if REDUCED else 60, deadline=None)
fewer = settings(max_examples=3 if REDUCED else 15, deadline=None)


def einsum(*operands, **keywords):
    """einsum of Arrays, through NumPy's protocol."""
    return np.einsum(*[as_ours(x) for x in operands], **keywords)


def as_ours(x):
    return tn.asarray(x) if isinstance(x, np.ndarray) else x


# ---- random expressions --------------------------------------------------------------------------


@st.composite
def expressions(draw, operands=4, labels="abcdE", sizes=(1, 2, 3), rank=3, broadcast=True):
    """Subscripts and shapes that NumPy takes: labels repeat, broadcast, are kept or summed."""
    size = {label: draw(st.sampled_from(sizes)) for label in labels}
    count = draw(st.integers(1, operands))
    terms = [draw(st.text(labels, max_size=rank)) for _ in range(count)]
    shapes = []
    for term in terms:
        narrow = {x for x in term if broadcast and draw(st.integers(0, 7)) == 0}
        shapes.append(tuple(1 if x in narrow else size[x] for x in term))
    hidden = draw(st.lists(st.sampled_from((1, 2)), max_size=2))
    for i in range(count):
        if hidden and draw(st.booleans()):
            depth, place = draw(st.integers(0, len(hidden))), draw(st.integers(0, len(terms[i])))
            own = [1 if draw(st.booleans()) else n for n in hidden[len(hidden) - depth :]]
            terms[i] = terms[i][:place] + "..." + terms[i][place:]
            shapes[i] = (*shapes[i][:place], *own, *shapes[i][place:])
    used = sorted(set("".join(terms)) - {"."})
    output = "".join(draw(st.permutations(used))[: draw(st.integers(0, len(used)))])
    place = draw(st.integers(0, len(output)))
    output = output[:place] + "..." + output[place:]
    return ",".join(terms) + draw(st.sampled_from(["", f"->{output}"])), shapes


METHODS = st.sampled_from([True, False, "greedy", "optimal", "eager"])


@given(expression=expressions(), dtype=st.sampled_from(["float64", "complex128", "int64", "bool"]),
       method=METHODS)  # fmt: skip
@few
def test_any_expression_is_numpys(expression, dtype, method):
    subscripts, shapes = expression
    xs = [sample(dtype, shape, seed=i) for i, shape in enumerate(shapes)]
    want = np.asarray(np.einsum(subscripts, *xs))
    got = np.asarray(einsum(subscripts, *xs, optimize=method))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


#: Its complex gradient is small: what rounding errors make of differences looked like a kink.
ROUNDED = "d,Ea,aa", [(2,), (1, 1), (2, 2)]


@pytest.mark.skipif(REDUCED, reason="derivatives of primitives are compared by the kit")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@example(expression=ROUNDED)
@given(expression=expressions(operands=3, sizes=(1, 2)))
@fewer
def test_first_and_second_derivatives_are_those_of_differences(dtype, expression):
    subscripts, shapes = expression
    xs = [sample(dtype, shape, seed=i) for i, shape in enumerate(shapes)]
    assume(sum(x.size for x in xs) <= 60)
    tn.check_grads(lambda *xs: tn.sum(np.einsum(subscripts, *xs) ** 2), xs, order=2)


@pytest.mark.skipif(REDUCED, reason="one comparison is enough")
@given(expression=expressions(operands=3, labels="abc", sizes=(1, 2)))
@settings(max_examples=4, deadline=None)  # XLA compiles each
def test_gradients_and_hessians_are_those_of_jax(expression):
    jax = pytest.importorskip("jax")
    subscripts, shapes = expression
    xs = [sample("float64", shape, seed=i) for i, shape in enumerate(shapes)]
    with jax.enable_x64(True):
        loss = lambda x: jax.numpy.sum(jax.numpy.einsum(subscripts, x, *xs[1:]) ** 3)  # noqa: E731
        want = [np.asarray(f(loss)(xs[0])) for f in (jax.grad, jax.hessian)]
    loss = lambda x: tn.sum(np.einsum(subscripts, x, *xs[1:]) ** 3)  # noqa: E731
    for f, theirs in zip((tn.grad, tn.hessian), want, strict=True):
        np.testing.assert_allclose(f(loss)(xs[0]), theirs, rtol=1e-10, atol=1e-10)


@given(expression=expressions(operands=3, broadcast=False))
@fewer
def test_vmap_is_one_more_label(expression):
    subscripts, shapes = expression
    assume("->" in subscripts)
    xs = [sample("float64", (2, *shape), seed=i) for i, shape in enumerate(shapes)]
    left, _, right = subscripts.partition("->")
    wide = ",".join("z" + term for term in left.split(",")) + "->z" + right
    got = tn.vmap(lambda *xs: np.einsum(subscripts, *xs))(*xs)
    np.testing.assert_allclose(np.asarray(got), np.einsum(wide, *xs), rtol=1e-12, atol=1e-12)


# ---- what NumPy refuses --------------------------------------------------------------------------

M, V = sample("float64", (2, 3)), sample("float64", (3,))


@pytest.mark.parametrize("subscripts", ["ij->ii", "i...->i...i", "ij->jji"])
def test_a_label_stands_in_the_output_once(subscripts):
    with pytest.raises(tn.InvalidParameterError, match="twice"):
        einsum(subscripts, tn.asarray(M))
    with pytest.raises(ValueError, match="multiple times"):
        np.einsum(subscripts, M)


def test_interleaved_labels_stand_in_the_output_once():
    with pytest.raises(tn.InvalidParameterError, match="twice"):
        einsum(tn.asarray(M), [0, 1], [0, 0])


def test_labels_are_any_letters_and_any_integers():
    assert float(einsum("é,ß->", V, V)) == pytest.approx(V.sum() ** 2)
    assert float(einsum(V, [1000], V, [1000])) == pytest.approx(V @ V)


def test_a_sum_of_bools_never_wraps():
    """Nine sums of 256 ones, each true: counted together they are 2⁷², which is 0 in any integer"""
    ones = np.ones((256, 256), bool)
    assert bool(einsum("ab,bc,cd,de,ef,fg,gh,hi,ij,jk->", *[ones] * 10))


def test_the_result_is_not_the_operands_handle():
    x = tn.asarray(V)
    y = np.einsum("i->i", x)
    with pytest.warns(tn.CopyAssignmentWarning):  # in NumPy it is a view
        y[0] = 7
    assert float(x[0]) == V[0]


# ---- the tree ------------------------------------------------------------------------------------


def chain(length, bond=3):
    """An overlap of two matrix product states, as arguments of einsum."""
    found = []
    for i in range(length):
        for side in (0, 1):
            shape = (1 if i == 0 else bond, 2, 1 if i == length - 1 else bond)
            labels = [3 * i + side, 3 * i + 2, 3 * i + side + 3]
            found += [sample("float64", shape, seed=i + side), labels]
    return [*found, []]


def contractions(function, *args):
    return str(tn.trace(function, *args)).count(" = dot_general")


@pytest.mark.parametrize("length", [2, 8, 32])
def test_a_gradient_costs_three_times_the_value(length):
    """No more than two products beside each product of the tree, for any number of operands"""
    given = chain(length)
    tensors, labels = given[:-1:2], given[1::2]

    def overlap(tensors):
        pairs = zip(tensors, labels, strict=True)
        return np.einsum(*[x for pair in pairs for x in pair], [])

    value = contractions(overlap, tensors)
    assert value == 2 * length - 1
    assert contractions(tn.grad(overlap), tensors) <= 3 * value


def test_the_graph_is_a_binary_tree(golden):
    function = lambda a, b, c, d: np.einsum("iaa,ib,bc,b,k->kc", a, b, c, d, d)  # noqa: E731
    shapes = ((2, 3, 3), (2, 4), (4, 5), (4,))
    golden("einsum_tree", tn.trace(function, *[tn.Aval(shape, "float64") for shape in shapes]))


def test_no_transpose_is_recorded_where_an_order_of_operands_avoids_it():
    a, b = tn.Aval((2, 3), "float64"), tn.Aval((3, 4), "float64")
    loss = lambda a, b: tn.sum(np.einsum("ij,jk->ki", a, b) ** 2)  # noqa: E731
    assert "transpose[" not in str(tn.trace(loss, a, b))
    plain = lambda a, b: tn.sum(np.einsum("ij,jk->ik", a, b) ** 2)  # noqa: E731
    assert "transpose[" not in str(tn.trace(tn.grad(plain, (0, 1)), a, b))


# ---- paths ---------------------------------------------------------------------------------------

PRODUCT = "ij,jk,kl->il"
SHAPES = ((20, 3), (3, 40), (40, 5))


def path_of(*operands, **keywords):
    return np.einsum_path(*[as_ours(x) for x in operands], **keywords)


def test_the_path_and_its_cost_are_those_of_opt_einsum():
    contract_path = pytest.importorskip("opt_einsum").contract_path
    xs = [np.ones(shape) for shape in SHAPES]
    path, info = path_of(PRODUCT, *xs)
    want, theirs = contract_path(PRODUCT, *SHAPES, shapes=True)
    assert path == ["einsum_path", *want]
    assert (info.flops, info.naive_flops) == (theirs.opt_cost, theirs.naive_cost)
    assert info.largest_intermediate == theirs.largest_intermediate


LETTERS = "abcdefghijklmnopqrstuvwxyz"
CHAIN = [LETTERS[i : i + 2] for i in range(16)]
SITES = [*zip(LETTERS, LETTERS[10:18], LETTERS[1:], strict=False)]
NETWORKS = {
    "chain of three": (["ab", "bc", "cd"], "ad"),
    "chain of four": (["ab", "bc", "cd", "de"], "ae"),
    "equal labels": (["ab", "ab", "bc", "bc"], "ac"),
    "outer product": (["a", "b", "c"], "abc"),
    "sums of one operand": (["ab", "cd", "ef", "b"], "c"),
    "numbers": (["", "ab", ""], ""),
    "long chain": (CHAIN, "aq"),
    "ring": ([*CHAIN, "qa"], ""),
    "star": ([f"a{x}" for x in LETTERS[1:17]], LETTERS[1:4]),
    "label of all": ([f"z{pair}" for pair in CHAIN], "a"),
    "many numbers and equal labels": (["", "ab", "bc"] * 5, "ac"),
    "matrix product states": (
        [t for a, p, b in SITES for t in (a + p + b, a.upper() + p + b.upper())],
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_orders_that_are_found_here_cost_no_more_than_those_of_opt_einsum(name):
    """For few operands and for many, with sizes that differ."""
    contract_path = pytest.importorskip("opt_einsum").contract_path
    terms, output = NETWORKS[name]
    shapes = [tuple(2 + ord(label) % 3 for label in term) for term in terms]
    subscripts = f"{','.join(terms)}->{output}"
    xs = [np.ones(shape) for shape in shapes]
    theirs, _ = contract_path(subscripts, *shapes, shapes=True)
    _, found = path_of(subscripts, *xs)
    _, given = path_of(subscripts, *xs, optimize=theirs)
    assert found.flops <= given.flops
    np.testing.assert_allclose(einsum(subscripts, *xs), einsum(subscripts, *xs, optimize=theirs))


def test_a_path_may_be_given_back():
    xs = [sample("float64", shape) for shape in SHAPES]
    path, _ = path_of(PRODUCT, *xs)
    np.testing.assert_allclose(einsum(PRODUCT, *xs, optimize=path), np.einsum(PRODUCT, *xs))


@pytest.mark.parametrize("path", [[(0, 2), (0, 1)], [(0, 1, 2)], [(1,), (0, 1), (0, 1)]])
def test_any_path_gives_the_value(path):
    xs = [sample("float64", shape) for shape in SHAPES]
    got = einsum(PRODUCT, *xs, optimize=["einsum_path", *path])
    np.testing.assert_allclose(got, np.einsum(PRODUCT, *xs))


def test_the_printed_path(golden):
    _, info = path_of(PRODUCT, *[np.ones(shape) for shape in SHAPES])
    golden("einsum_path", info)


def test_a_path_is_searched_once_per_shapes(monkeypatch):
    paths = pytest.importorskip("opt_einsum.paths")
    searches = []
    search = lambda *args: searches.append(args) or [(0, 1)] * 4  # noqa: E731
    monkeypatch.setattr(paths, "get_path_fn", lambda name: search)
    for size in (7, 7, 8, 7):
        einsum("xy,yz,zw,wu,uv->xv", *[np.ones((size, size))] * 5)
    assert len(searches) == 2


def test_opt_einsum_is_imported_only_where_its_own_methods_are_wanted():
    code = """
import sys, numpy as np, tenferro as tn
x = tn.asarray(np.ones((2, 2)))
np.einsum("ij,jk", x, x); np.einsum("ij,jk,kl,lm", x, x, x, x)
np.einsum(*[part for i in range(20) for part in (x, [i, i + 1])])
print("opt_einsum" in sys.modules)
np.einsum("ij,jk,kl,lm,mn", x, x, x, x, x); print("opt_einsum" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


# ---- errors --------------------------------------------------------------------------------------

P, Q = tn.asarray(np.ones((2, 3))), tn.asarray(np.ones((4, 5)))
ERRORS = [
    (lambda: np.einsum("ij,jk", P, Q), tn.ShapeMismatchError,
     {"label": "j", "operands": (0, 1), "shapes": ((2, 3), (4, 5))}),
    (lambda: np.einsum("ii", P), tn.ShapeMismatchError, {"label": "i", "operands": (0, 0)}),
    (lambda: np.einsum("ij,k", P, Q), tn.ShapeMismatchError,
     {"operand": 1, "shapes": ((4, 5),)}),
    (lambda: np.einsum("ij->ik", P), tn.InvalidParameterError,
     {"parameter": "subscripts", "label": "k"}),
    (lambda: np.einsum("ij,jk", P), tn.InvalidParameterError,
     {"parameter": "subscripts", "value": "ij,jk"}),
    (lambda: np.einsum("ij,jk,kl", P, P.T, P, optimize="best"), tn.InvalidParameterError,
     {"parameter": "optimize", "value": "best"}),
    (lambda: np.einsum("ij,jk,kl", P, P.T, P, optimize=[(0, 1)]), tn.InvalidParameterError,
     {"parameter": "optimize"}),
    (lambda: np.einsum("ij,jk,kl", P, P.T, P, optimize=[(0, 7), (0, 1)]),
     tn.InvalidParameterError, {"parameter": "optimize"}),
    (lambda: np.einsum("ij->i", P, dtype="int8"), tn.DTypeMismatchError, {}),
    (lambda: np.einsum("ij->i", P, out=tn.asarray(np.ones((1, 2)))), tn.ShapeMismatchError,
     {"shapes": ((1, 2), (2,))}),
    (lambda: np.einsum("ij->i", P, out=np.ones(2)), tn.ImmutableArrayError, {}),
    (lambda: np.linalg.multi_dot([P, Q]), tn.ShapeMismatchError, {"shapes": ((2, 3), (4, 5))}),
    (lambda: np.linalg.multi_dot([P]), tn.InvalidParameterError, {"parameter": "arrays"}),
]  # fmt: skip


@pytest.mark.parametrize("call, error, fields", ERRORS)
def test_an_error_says_what_and_where(call, error, fields):
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error
    assert {name: raised.value.fields[name] for name in fields} == fields
    notes = getattr(raised.value, "__notes__", [str(raised.value)])
    assert re.search(r"from +test_einsum\.py:\d+", "\n".join(notes))


def test_the_text_of_an_error(golden):
    with pytest.raises(tn.ShapeMismatchError) as raised:
        np.einsum("ij,jk->ik", P, Q)
    golden("error_einsum", str(raised.value))
