"""Sparse matrices of SciPy as constants, as arguments and in systems: values and derivatives are
those of the dense matrix.
"""

import numpy as np
import pytest

import tenferro as tn

sp = pytest.importorskip("scipy.sparse")

#: rows without entries, a row with all, and an entry that is stored and zero
DENSE = np.array([[2.0, 0, -1, 0], [0, 0, 0, 0], [1, 4, 3, -2.5], [0, 0.5, 0, 0], [0, 0, 0, 6]])
SQUARE = np.array([[4.0, 0, 1, 0], [0, 3, 0, -1], [0.5, 0, 5, 0], [0, 2, 0, 7]])
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]
CLASSES = [*[f"{f}_array" for f in FORMATS], "csr_matrix", "csc_matrix", "coo_matrix"]
V, W = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.5, 1.0, -1.0, 2.0, 1.5])
X = np.arange(8.0).reshape(4, 2) - 3


def made(name, dense=DENSE):
    """The matrix in a format of SciPy."""
    return getattr(sp, name)(dense)


def square_sum(y):
    return np.sum(np.real(y * np.conj(y)))


PRODUCTS = {  # of a matrix and an array, and the array
    "A @ v": (lambda A, x: A @ x, V),
    "A @ X": (lambda A, x: A @ x, X),
    "w @ A": (lambda A, x: x @ A, W),
    "Y @ A": (lambda A, x: x @ A, np.stack([W, 2 * W, W - 1])),
    "A.T @ w": (lambda A, x: A.T @ x, W),
    "A.dot(v)": (lambda A, x: A.dot(x), V),
}


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("name", CLASSES)
def test_a_constant_matrix_multiplies(name, product):
    """f(A x) and its gradient in x are those of the dense matrix, eager and compiled"""
    if product == "A.dot(v)" and name.startswith("coo"):
        pytest.skip("`dot` of this class converts its argument, and is refused")
    function, x = PRODUCTS[product]
    A = made(name)
    sparse = lambda x: square_sum(function(A, x))  # noqa: E731
    dense = lambda x: square_sum(function(tn.asarray(DENSE), x))  # noqa: E731
    for transform in (tn.value_and_grad, lambda f: tn.jit(tn.value_and_grad(f))):
        for found, want in zip(transform(sparse)(x), transform(dense)(x), strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-13)


@pytest.mark.parametrize("name", ["csr_matrix", "csc_matrix", "dia_matrix"])
def test_a_star_of_old_classes_is_a_product(name):
    """A * x and x * A of sparse matrices are A @ x and x @ A"""
    A = made(name)
    np.testing.assert_allclose(A * tn.asarray(V), DENSE @ V)
    np.testing.assert_allclose(tn.asarray(W) * A, W @ DENSE)


def test_products_with_arrays_are_lazy():
    """A @ x of an Array is an Array, also where the value is known"""
    found = made("csr_array") @ tn.asarray(V)
    assert type(found) is tn.Array
    np.testing.assert_allclose(found, DENSE @ V)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_the_derivative_by_a_matrix_is_one_of_its_class(name, compiled):
    """The gradient in A has the entries of the dense gradient, in the pattern of A"""
    A = made(name)
    gradient = tn.grad(lambda A, x: square_sum(A @ x))
    found = (tn.jit(gradient) if compiled else gradient)(A, V)
    assert type(found) is type(A)
    dense = tn.grad(lambda A: square_sum(A @ V))(DENSE)
    np.testing.assert_allclose(found.toarray(), np.where(DENSE, dense, 0), rtol=1e-13)


def test_entries_that_are_stored_belong_to_the_pattern():
    """A zero that is stored has a derivative; two entries of one place have it once"""
    A = sp.csr_array((np.array([0.0, 2.0]), ([0, 1], [1, 0])), shape=(2, 2))
    found = tn.grad(lambda A: np.sum(A @ np.array([3.0, 5.0])))(A)
    np.testing.assert_array_equal(found.toarray(), [[0, 5], [3, 0]])
    twice = sp.coo_array((np.array([1.0, 2.0]), ([0, 0], [1, 1])), shape=(2, 2))
    found = tn.grad(lambda A: np.sum(A @ np.array([3.0, 5.0])))(twice)
    np.testing.assert_array_equal(found.toarray(), [[0, 5], [0, 0]])


def test_a_program_is_one_of_a_pattern():
    """jit records once for matrices of one pattern, and again for another"""
    calls = []

    @tn.jit
    def product(A, x):
        calls.append(A.shape)
        return A @ x

    for factor in (1.0, 2.0):
        np.testing.assert_allclose(product(factor * made("csr_array"), V), factor * DENSE @ V)
    assert len(calls) == 1
    np.testing.assert_allclose(
        product(made("csr_array", DENSE * (DENSE > 0)), V), [2, 0, -5.5, -1, 18]
    )
    assert len(calls) == 2


def test_a_matrix_that_changes_is_read_again():
    """gradients of a function that closes over A follow the entries of A"""
    A = made("csr_array")
    gradient = tn.grad(lambda x: square_sum(A @ x))
    for factor in (2.0, 3.0, 0.5):
        A.data *= factor
        np.testing.assert_allclose(gradient(V), 2 * A.T @ (A @ V))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128", "int64"])
def test_dtypes_are_promoted_as_those_of_arrays(dtype):
    """The dtype of A @ x is that of the dense product"""
    A = made("csr_array", (DENSE * 2).astype(dtype))
    for x in (V.astype("float32"), V, V * (1 + 2j)):
        found, want = A @ tn.asarray(x), (DENSE * 2).astype(dtype) @ x
        assert str(found.dtype) == str(tn.matmul(A.toarray(), x).dtype)
        np.testing.assert_allclose(found, want, rtol=1e-6)


def test_derivatives_of_complex_entries():
    """check_grads to second order in a complex matrix and a complex vector"""
    A = made("csr_array", DENSE * (1 - 0.5j))
    tn.check_grads(
        lambda d, x: tn.linalg.sparse_array((d, A.tocoo().coords), A.shape) @ x,
        (A.data, V * (1 + 1j)),
        order=2,
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_batches_of_vectors(axis):
    """vmap of A @ x is the product with the matrix of all vectors"""
    A, rows = made("csc_array"), np.stack([V, 2 * V, V**2], axis)
    found = tn.vmap(lambda x: A @ x, in_axes=axis, out_axes=axis)(rows)
    np.testing.assert_allclose(found, DENSE @ rows if axis else rows @ DENSE.T)
    of_entries = tn.vmap(lambda s: tn.linalg.spsolve(s * made("csr_array", SQUARE), V))(
        np.array([1.0, 2.0])
    )
    want = np.linalg.solve(SQUARE, V)
    np.testing.assert_allclose(of_entries, [want, want / 2], rtol=1e-12)


def test_in_the_body_of_a_loop():
    """Steps x ← A x / 4 of a scan have the derivative of the unrolled steps"""
    A = made("csr_array", SQUARE)

    def steps(x):
        return square_sum(tn.scan(lambda x, _: (A @ x / 4, None), x, None, length=3)[0])

    power = np.linalg.matrix_power(SQUARE / 4, 3)
    np.testing.assert_allclose(tn.grad(steps)(V), 2 * power.T @ power @ V, rtol=1e-12)
    np.testing.assert_allclose(tn.jit(tn.grad(steps))(V), 2 * power.T @ power @ V, rtol=1e-12)


ALGEBRA = {
    "s A": lambda A, s: s * A,
    "A s": lambda A, s: A * s,
    "A / s": lambda A, s: A / s,
    "-A": lambda A, s: -A * s,
    "A + s I": lambda A, s: A + s * sp.eye_array(4),
    "s I - A": lambda A, s: s * sp.eye_array(4) - A,
    "A - s A": lambda A, s: A - s * A,
}


@pytest.mark.parametrize("name", ALGEBRA)
def test_sums_and_multiples(name):
    """The sum of the entries squared, and its derivative in s, are those of dense matrices"""
    function = ALGEBRA[name]
    A = tn.linalg.sparse_array(made("csc_array", SQUARE))
    sparse = lambda s: square_sum(function(A, s) @ X)  # noqa: E731
    identity = np.eye(4)
    dense = {
        "A + s I": lambda s: SQUARE + s * identity,
        "s I - A": lambda s: s * identity - SQUARE,
    }.get(name, lambda s: function(SQUARE, s))
    want = tn.value_and_grad(lambda s: square_sum(dense(s) @ X))(1.5)
    for transform in (tn.value_and_grad(sparse), tn.jit(tn.value_and_grad(sparse))):
        np.testing.assert_allclose(transform(1.5), want, rtol=1e-12)


def test_a_matrix_is_assembled_of_entries():
    """Entries in any order, several in one place, as finite elements give them"""
    places = [0, 1, 1, 0, 1], [0, 1, 1, 1, 0]

    def displacement(t):
        K = tn.linalg.sparse_array((np.stack([t, t, 2 * t, -t, -t]), places), (2, 2))
        return np.sum(tn.linalg.spsolve(K, np.ones(2)))

    # K = t [[1, -1], [-1, 3]], so the sum of the solution is 3/t
    np.testing.assert_allclose(displacement(2.0), 1.5, rtol=1e-12)
    np.testing.assert_allclose(tn.grad(displacement)(2.0), -0.75, rtol=1e-12)
    np.testing.assert_allclose(tn.jit(tn.grad(tn.grad(displacement)))(2.0), 0.75, rtol=1e-12)


@pytest.mark.parametrize("name", ["csr_array", "csc_matrix"])
@pytest.mark.parametrize("b", [V, X], ids=["vector", "matrix"])
@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
def test_a_system_has_the_derivatives_of_the_dense_one(name, b, is_complex):
    """x = A⁻¹ b: value, gradient in A and b, and the second derivative along both"""
    dense = SQUARE * (1 + 0.5j) + 0.25j * np.diag(V) if is_complex else SQUARE
    A, b = made(name, dense), b * (1 - 2j) if is_complex else b
    sparse = lambda A, b: square_sum(tn.linalg.spsolve(A, b))  # noqa: E731
    full = lambda A, b: square_sum(np.linalg.solve(A, b))  # noqa: E731
    np.testing.assert_allclose(tn.linalg.spsolve(A, b), np.linalg.solve(dense, b), rtol=1e-12)

    def along(f):
        return tn.jit(lambda A, b: tn.jvp(tn.grad(f, argnums=(0, 1)), (A, b), (A, b))[1])

    for transform in (lambda f: tn.grad(f, argnums=(0, 1)), along):
        found, want = transform(sparse)(A, b), transform(full)(dense, b)
        assert type(found[0]) is type(A)
        np.testing.assert_allclose(found[0].toarray(), np.where(dense, want[0], 0), rtol=1e-10)
        np.testing.assert_allclose(found[1], want[1], rtol=1e-10)


def as_dense(y):
    """The array of a result, and of a sparse one."""
    return y.toarray() if hasattr(y, "toarray") else y


BINARY = {
    "+": (lambda a, b: a + b, "matrix row column sparse"),
    "-": (lambda a, b: a - b, "matrix row column sparse"),
    "*": (lambda a, b: a * b, "matrix row column number sparse"),
    "/": (lambda a, b: a / b, "matrix row column number"),
    "@": (lambda a, b: a @ b, "matrix row sparse"),
    "==": (lambda a, b: a == b, "matrix row number sparse"),
    "!=": (lambda a, b: a != b, "matrix number sparse"),
    "<": (lambda a, b: a < b, "matrix column number sparse"),
    ">=": (lambda a, b: a >= b, "matrix number sparse"),
}
OTHERS = {
    "matrix": SQUARE.T + 0.5,
    "row": np.array([1.0, 3.0, -2.0, 7.0]),
    "column": np.array([[4.0], [3.0], [-2.0], [0.5]]),
    "number": 3.0,
    "sparse": np.array([[4.0, 0, 2, 0], [0, 0, 0, -1], [0, 0, 5, 0], [1, 2, 0, 0]]),
}


def of_all_operators(side, other, is_old):
    """A function of A and x: a weighted sum of squares of every A ∘ x, and these squares alone."""

    def function(A, x):
        found = []
        for name, (operator, others) in BINARY.items():
            if other not in others or (name, side) == ("/", "right"):
                continue
            is_product = name == "*" and is_old and other != "number"
            if is_product and other == "column" and side == "right":
                continue
            operator = BINARY["@"][0] if is_product and isinstance(A, tn.Array) else operator
            y = as_dense(operator(A, x) if side == "left" else operator(x, A))
            found.append(square_sum(y * (1.0 + np.arange(4))))
        squares = np.stack(found)
        return squares @ np.sqrt(np.arange(2.0, 2.0 + len(found))), squares

    return function


@pytest.mark.parametrize("name", ["csr_array", "csr_matrix"])
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_operators_are_those_of_dense_matrices(side, other, name):
    """A ∘ x and x ∘ A, A sparse: value, and gradients by both, eager and compiled

    `*` of old classes is a product. Entries outside of the pattern have no derivative.
    """
    A, x = made(name, SQUARE), OTHERS[other]
    given = made(name, x) if other == "sparse" else x
    function = of_all_operators(side, other, name == "csr_matrix")
    with_slopes = tn.value_and_grad(function, argnums=(0, 1), has_aux=True)
    (_, values), (by_A, by_x) = with_slopes(SQUARE, x)
    by_A, by_x = np.where(SQUARE, by_A, 0), np.where(x, by_x, 0) if other == "sparse" else by_x
    for transform in (lambda f: f, tn.jit):
        (_, found), slopes = transform(with_slopes)(A, given)
        np.testing.assert_allclose(found, values, rtol=1e-13)
        assert type(slopes[0]) is type(A)
        np.testing.assert_allclose(slopes[0].toarray(), by_A, rtol=1e-12)
        np.testing.assert_allclose(as_dense(slopes[1]), by_x, rtol=1e-12)
    if other != "sparse":
        np.testing.assert_allclose(function(A, tn.asarray(x))[1], values, rtol=1e-13)
        compiled = tn.jit(lambda x: function(A, x)[1])
        np.testing.assert_allclose(compiled(x), values, rtol=1e-13)


@pytest.mark.parametrize("name", ["coo_array", "dia_array", "csc_matrix", "dok_matrix"])
def test_constants_of_any_format_stand_on_both_sides(name):
    """A * x, A / x, A == x and A + x of a traced x, for a matrix that SciPy asks first"""
    A, x = made(name, SQUARE), SQUARE.T + 0.5
    product = SQUARE @ x if name.endswith("matrix") else SQUARE * x
    want = [product, SQUARE / x, SQUARE == x, SQUARE + x, x - SQUARE]
    for transform in (tn.jit, lambda f: f):
        found = transform(lambda x: [as_dense(y) for y in (A * x, A / x, A == x, A + x, x - A)])(
            tn.asarray(x)
        )
        for given, wanted in zip(found, want, strict=True):
            np.testing.assert_allclose(np.asarray(given, float), wanted, rtol=1e-14)


def test_products_of_sparse_matrices_have_derivatives_of_every_order():
    """f(d) = ‖(A(d) B A(d)ᵀ) v‖² to second order, for real and complex B"""
    A = made("csr_array", DENSE)
    places = A.tocoo().coords
    for B in (made("csr_array", SQUARE), made("csr_array", SQUARE * (1 - 2j))):

        def f(d, B=B):
            matrix = tn.linalg.sparse_array((d, places), A.shape)
            return square_sum((matrix @ B @ matrix.T) @ W)

        def dense(d, B=B):
            matrix = tn.zeros(A.shape, d.dtype).at[places].set(d)
            return square_sum((matrix @ tn.asarray(B.toarray()) @ matrix.T) @ W)

        np.testing.assert_allclose(tn.hessian(f)(A.data), tn.hessian(dense)(A.data), rtol=1e-11)
    found = tn.linalg.sparse_array(A) @ made("csr_array", SQUARE)
    assert found.nnz == (A @ made("csr_array", SQUARE)).nnz
    batch = tn.vmap(lambda s: ((s * A) @ (s * A).T).toarray())(np.array([1.0, 2.0]))
    np.testing.assert_allclose(batch, [DENSE @ DENSE.T, 4 * DENSE @ DENSE.T])
    empty = tn.linalg.sparse_array(sp.csr_array((3, 4))) @ sp.csr_array((4, 2))
    assert empty.shape == (3, 2)
    np.testing.assert_array_equal(empty.toarray(), np.zeros((3, 2)))


def test_sums_of_lists_and_powers_of_entries():
    """sum([A, B]) starts at 0; A ** 2 and abs(A) are those of the entries"""
    A = tn.linalg.sparse_array(made("csr_array", SQUARE))
    np.testing.assert_array_equal(sum([A, A]).toarray(), 2 * SQUARE)
    np.testing.assert_array_equal((A**2).toarray(), SQUARE**2)
    np.testing.assert_array_equal(abs(-A).toarray(), abs(SQUARE))
    assert (A == None) is False  # noqa: E711


REFUSED = {
    "too long": (lambda A, x: A @ x, np.ones(3), tn.ShapeMismatchError),
    "rank 3": (lambda A, x: A @ x, np.ones((4, 2, 2)), ValueError),
    "a sum with a number": (lambda A, x: A + x, 2.0, tn.SparseResultError),
    "a number minus": (lambda A, x: x - A, 2.0, tn.SparseResultError),
    "a sum that broadcasts": (lambda A, x: A + x, np.ones((3, 5, 4)), tn.ShapeMismatchError),
    "a factor of another size": (lambda A, x: x * A, np.ones((5, 3)), tn.ShapeMismatchError),
    "a quotient by a matrix": (lambda A, x: x / A, np.ones((5, 4)), tn.SparseResultError),
    "a truth value": (lambda A, x: bool(tn.linalg.sparse_array(A)) * x, 2.0, tn.SparseResultError),
    "a remainder": (lambda A, x: x % A, np.ones((5, 4)), tn.SparseResultError),
    "an element": (lambda A, x: tn.linalg.sparse_array(A)[0, 0] * x, V, TypeError),
    "not square": (tn.linalg.spsolve, V, tn.ShapeMismatchError),
    "a dense matrix": (lambda A, x: tn.linalg.spsolve(DENSE, x), V, tn.UnknownOperandError),
    "two of other sizes": (lambda A, x: (A * x[0]) @ A, V, tn.ShapeMismatchError),
    "a vector": (lambda A, x: tn.linalg.sparse_array(sp.coo_array(V)), V, tn.SparseResultError),
    "outside": (
        lambda A, x: tn.linalg.sparse_array((x, ([0, 1, 2, 5], [0, 1, 2, 3])), (4, 4)),
        V, tn.ShapeMismatchError,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name):
    """No product with a sparse matrix becomes an array of objects, or a number without a
    derivative
    """
    function, x, error = REFUSED[name]
    with pytest.raises(error):
        tn.grad(lambda x: tn.sum(function(made("csr_array"), x)))(x)


def test_matrices_without_entries_and_without_rows():
    """Empty patterns and sizes of zero have empty products and derivatives"""
    for shape in ((3, 4), (0, 4), (3, 0), (0, 0)):
        A = sp.csr_array(shape)
        x = np.ones(shape[1])
        np.testing.assert_array_equal(A @ tn.asarray(x), np.zeros(shape[0]))
        np.testing.assert_array_equal(tn.grad(lambda x, A=A: np.sum(A @ x))(x), np.zeros(shape[1]))
        assert tn.grad(lambda A, x=x: np.sum(A @ x))(A).shape == shape
