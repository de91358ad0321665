"""Applications of the primitives of linear algebra, of Fourier transforms and of random words."""

from itertools import count

from tenferro import primitives as p
from tenferro.primitives.linalg.linear_solve import factorized
from tenferro.primitives.linalg.sylvester_solve import solve_sylvester_equation

_names = count()


def _var(shape, dtype):
    return p.variable(f"m{next(_names)}", shape, dtype)


def _of(function, *shapes, dtypes=("f64", "c128")):
    """A function of matrices, for real and complex ones."""
    return [(function, tuple(_var(shape, dtype) for shape in shapes)) for dtype in dtypes]


_SQUARE, _TALL, _WIDE = (2, 2), (3, 2), (2, 3)


def _factorizations():
    return {
        p.Cholesky: _of(p.cholesky, _SQUARE),
        p.CholeskyTangent: _of(p.cholesky_tangent, _SQUARE, _SQUARE),
        p.Lu: _of(lambda a: p.lu(a)[0], _TALL) + _of(lambda a: p.lu(a)[0], _WIDE),
        p.LuPermutation: _of(
            lambda a: p.convert(p.lu_permutation(p.lu(a)[1], 3), "f64"), _TALL, dtypes=("f64",)
        ),
        p.Qr: _of(lambda a: p.qr(a)[0], _TALL) + _of(lambda a: p.qr(a)[1], _WIDE),
        p.PivotedQr: _of(lambda a: p.pivoted_qr(a)[0], _TALL)
        + _of(lambda a: p.pivoted_qr(a)[1], _WIDE),
        p.Svd: _of(lambda a: p.svd(a)[0], _TALL) + _of(lambda a: p.svd(a)[2], _TALL),
        p.Svdvals: _of(p.svdvals, _WIDE),
        p.Eigh: _of(lambda a: p.eigh(a)[1], _SQUARE),
        p.Eigvalsh: _of(p.eigvalsh, _SQUARE),
        p.Eig: _of(lambda a: p.eig(a)[1], _SQUARE),
        p.Eigvals: _of(p.eigvals, _SQUARE),
        p.Schur: _of(lambda a: p.schur(a)[0], _SQUARE),
    }


def _built_on_them():
    def solved(a, b):
        return p.linear_solve(a, *factorized(a), b)

    def solved_by_values(a, q):
        fixed = p.stop_gradient(a)
        return p.positive_sylvester(a, p.real(p.reduce_sum(fixed, (0,))), fixed, q)

    rows, columns = p.table((1, 0, 1), "int32"), p.table((0, 0, 1), "int32")

    def multiplied(entries, x):
        return p.sparse_product(entries, rows, columns, x, size=3)

    def sparsely_solved(entries, b):
        return p.sparse_solve(entries, rows, columns, b)

    return {
        p.SparseProduct: _of(multiplied, (3,), _SQUARE),
        p.SparseSolve: _of(sparsely_solved, (3,), _SQUARE),
        p.TriangularSolve: _of(p.triangular_solve, _SQUARE, _TALL[::-1]),
        p.TriangularSylvester: _of(p.triangular_sylvester, _SQUARE, _SQUARE, _SQUARE),
        p.SylvesterSolve: _of(solve_sylvester_equation, _SQUARE, _SQUARE, _SQUARE),
        p.BandedSolve: _of(lambda ab, b: p.banded_solve(ab, b, 1, 1), (3, 4), (4, 2)),
        p.Pfaffian: _of(p.pfaffian, _SQUARE),
        p.PfaffianAdjugate: _of(p.pfaffian_adjugate, _SQUARE),
        p.PfaffianSlope: _of(lambda a, e: p.bind(p.PfaffianSlope(), a, e), _SQUARE, _SQUARE),
        p.PolarIsometry: _of(p.polar_isometry, _TALL) + _of(p.polar_isometry, _WIDE),
        p.PositiveSylvester: _of(solved_by_values, _SQUARE, _SQUARE),
        p.LinearSolve: _of(solved, _SQUARE, _WIDE),
        p.Det: _of(p.det, _SQUARE),
        p.Adjugate: _of(p.adjugate, _SQUARE),
        p.Slogdet: _of(lambda a: p.slogdet(a)[1], _SQUARE)
        + _of(lambda a: p.slogdet(a)[0], _SQUARE, dtypes=("c128",)),
        p.Pinv: _of(lambda a: p.pinv(a, 1e-15), _TALL),
        p.MatrixFunction: _of(lambda a: p.matrix_function("expm", a), _SQUARE),
    }


def _turns():
    def turned(a, x):
        w, v = p.eigh(a)
        return p.turn(a, w, v, x, is_hermitian=True)

    def doubled(a):
        (u, s, vh), once = p.svd(a), p.transpose(a, (1, 0))
        return p.svd_turns(once, once, a, (u, s, vh), 1e-12)[0]

    def divided(a):
        return p.svd_quotient(p.transpose(a, (1, 0)), a, p.svd(a), 1e-12)

    def valued(a):
        u, s, vh = p.svd(a)
        return p.svd_values(s, a, u, vh)

    def varying(x):
        w = p.reduce_sum(p.real(x), (0,))
        return p.vectors_vary([x, x], w, x, w, epsilon=1e-12)[0]

    def seen(x):
        return p.vectors_seen([x, x], p.reduce_sum(p.real(x), (0,)), epsilon=1e-12)[0]

    rows = _of(turned, _SQUARE, _SQUARE, dtypes=("f64",))
    return {
        **dict.fromkeys((p.Spectrum, p.Turn), rows),
        p.SvdTurns: _of(doubled, _SQUARE),
        p.SvdQuotient: _of(divided, _SQUARE),
        p.SvdValues: _of(valued, _SQUARE),
        p.VectorsVary: _of(varying, _SQUARE),
        p.VectorsSeen: _of(seen, _SQUARE),
    }


def _transforms():
    return {
        p.Fft: _of(lambda x: p.fft(x, (1,)), _WIDE, dtypes=("c128",)),
        p.Rfft: _of(lambda x: p.rfft(x, (1,)), _WIDE, dtypes=("f64",)),
        p.Irfft: _of(lambda x: p.irfft(x, (1,), 5), _WIDE, dtypes=("c128",)),
    }


def _random():
    key, word = _var((2,), "u32"), _var((3,), "u32")
    return {
        p.Threefry2x32: [(lambda *xs: p.threefry2x32(*xs)[0], (word,) * 4)],
        p.RandomBits: [(lambda key: p.random_bits(key, (3,), "u32"), (key,))],
        p.RandomLogGamma: [(lambda a: p.random_log_gamma(key, a), (_var((3,), "f64"),))],
    }


def tables():
    """For every primitive of these families, functions and their arguments."""
    return [_factorizations(), _built_on_them(), _turns(), _transforms(), _random()]
