"""Rows of einsum, its path, and products of chains."""

import numpy as np
from numpy_rows import ALL, INEXACT, NUMERIC, X, row

A, B, C, D = X(2, 3), X(3, 4, seed=1), X(4, 2, seed=2), X(2, 3, 4, seed=3)
S, V, W = X(3, 3), X(3, seed=4), X(1, seed=5)
FEW = ("bool", "int8", "float32", "float64", "complex128")


def einsum(subscripts, *operands, dtypes=FEW, grad=True, **keywords):
    """A row of einsum; most have derivatives."""
    return row("einsum", subscripts, *operands, dtypes=dtypes, grad=grad, **keywords)


ONE = [
    einsum("ij->ij", A, dtypes=ALL),
    einsum("ba", A),
    einsum("aB", A),
    einsum("ij->", A, dtypes=ALL),
    einsum("ij->j", A),
    einsum("ii", S),
    einsum("ii->", S),
    einsum("ii->i", S),
    einsum("iij->ji", X(3, 3, 2)),
    einsum("iii->i", X(2, 2, 2)),
    einsum("ijij->ji", X(2, 3, 2, 3)),
    einsum("...ii->...i", X(2, 3, 3)),
    einsum("i...->...i", D),
    einsum("...", A),
    einsum(" i j -> j i ", A),
    einsum("", X()),
    einsum("->", X()),
    einsum("ij->i", X(0, 3)),
    einsum("ij->i", X(3, 0)),
    einsum("ii->i", X(0, 0)),
]
TWO = [
    einsum("ij,jk->ik", A, B, dtypes=ALL),
    einsum("ij,jk->ki", A, B),
    einsum("ij,jk", A, B),
    einsum("ij,ji->", A, X(3, 2, seed=6)),
    einsum("i,i", V, X(3), dtypes=ALL),
    einsum("i,i->i", V, X(3), dtypes=ALL),
    einsum("i,j->ij", V, X(2)),
    einsum("i,j->ji", V, X(2)),
    einsum("ij,j->ij", A, V),
    einsum("i,ij->ji", V, B),
    einsum("ij,ji->ij", A, X(3, 2, seed=6)),
    einsum("bij,bjk->bik", X(5, 2, 3), X(5, 3, 2)),
    einsum("bij,bjk->ikb", X(5, 2, 3), X(5, 3, 2)),
    einsum("ibj,kjb->bki", X(2, 5, 3), X(4, 3, 5)),
    einsum("ab,bcd->dac", A, X(3, 2, 2)),
    einsum("ij,kl->", A, B),
    einsum("ij,kj->i", A, X(4, 3)),
    einsum("ii,ij->j", S, B),
    einsum("ii,jj->ij", S, S),
    einsum(",ij->ji", X(), A),
    einsum(",i", 2, V, dtypes=("int8", "float32", "complex64")),
    einsum(",", X(), 3.0, dtypes=("int8", "float64")),
    einsum("...ij,...jk->...ik", X(5, 1, 2, 3), X(4, 3, 2)),
    einsum("...a,...a->...", X(2, 1, 3), X(5, 3)),
    einsum("i...,j->ij...", A, X(4)),
    einsum("...,...", X(3, 1), X(2)),
    einsum("i->...i", V),
    einsum("i,i->i", W, V),
    einsum("ij,jk->ik", X(2, 1), B),
    einsum("ii,i->i", X(1, 1), V),
    einsum("i,i->i", X(0), W),
    einsum("ij,jk->ik", X(2, 0), X(0, 3)),
    einsum("ij,jk->ik", X(0, 2), X(2, 3)),
]
MANY = [
    einsum("ij,jk,kl->il", A, B, C, dtypes=ALL),
    einsum("ij,jk,kl", A, B, C, optimize=False),
    einsum("ij,jk,kl->li", A, B, C, optimize=True),
    einsum("ij,jk,ki", A, B, C, optimize="greedy"),
    einsum("ij,jk,kl->il", A, B, C, optimize="optimal"),
    einsum("ij,jk,kl->il", A, B, C, optimize=("greedy", 100)),
    einsum("ij,jk,kl->il", A, B, C, optimize=["einsum_path", (0, 1), (0, 1)]),
    einsum("ij,jk,kl->il", A, B, C, optimize=["einsum_path", (0, 1, 2)]),
    einsum("i,i,i->i", V, V, X(3)),
    einsum("i,i,i", V, W, X(3)),
    einsum("ij,ij,ij->j", A, A, X(2, 3, seed=7)),
    einsum("ib,jb,kb->ijkb", A, X(4, 3), X(2, 3)),
    einsum("a,b,c->cab", W, X(2), V),
    einsum("ijk,ilm,njm,nlk,abc->abc", D, X(2, 5, 2), X(3, 3, 2), X(3, 5, 4), X(1, 2, 1),
           dtypes=("float64", "complex128")),
    einsum("ea,fb,abcd,gc,hd->efgh", X(2, 2), X(2, 2), X(2, 2, 2, 2), X(2, 2), X(2, 2),
           dtypes=("float64",)),
    einsum("...i,...ij,j->...", X(4, 2), X(4, 2, 3), V),
]  # fmt: skip
INTERLEAVED = [
    row("einsum", A, [0, 1], B, [1, 2], [0, 2], dtypes=FEW, grad=True),
    row("einsum", A, [1, 0], dtypes=FEW),
    row("einsum", A, [27, 1], dtypes=FEW),
    row("einsum", D, [..., 1], V, [0], [0, ...], dtypes=FEW),
    row("einsum", A, (0, 1), B, (1, 2), C, (2, 3), dtypes=FEW),
    row("einsum", S, [0, 0], dtypes=FEW),
    row("einsum", S, [0, 0], [], dtypes=FEW),
]
KEYWORDS = [
    einsum("ij,jk->ik", A, B, dtype="float64", dtypes=("int8", "float32")),
    einsum(
        "ij,jk->ik", A, B, dtype="float32", casting="same_kind", dtypes=("float64",), grad=False
    ),
    einsum("ij,jk->ik", A, X(3, 4, dtype="float64"), dtypes=("float32", "int8", "complex64")),
    *[einsum("ij,jk->ik", A, B, order=order, dtypes=("float64",)) for order in "CFAK"],
]
REFUSED = [
    row("einsum", *args, dtypes=("float64",), after=list, **keywords)
    for args, keywords in [
        (("ij,jk", A, A), {}),
        (("ij", V), {}),
        (("ij", D), {}),
        (("ii", A), {}),
        (("ii", X(1, 3)), {}),
        (("i,j", V), {}),
        (("i", V, V), {}),
        (("i->j", V), {}),
        (("i.j", A), {}),
        (("......", A), {}),
        (("i1", A), {}),
        (("i>i", V), {}),
        (("i->->i", V), {}),
        (("...->", A), {}),
        (("...i->i", A), {}),
        (("i...,i...->...", X(3, 2), B), {}),
        (("i,i->i", X(0), V), {}),
        ((A, [0, -1]), {}),
        ((A, ["a", "b"]), {}),
        ((A,), {}),
        (("ij,jk", A, B), {"dtype": "float32"}),
        (("ij,jk", A, B), {"order": "Q"}),
        (("ij,jk", A, B), {"casting": "foo"}),
        (("i,i", X(3, dtype="float32"), V), {"casting": "no"}),
        (("i,i,i", V, V, V), {"optimize": 3}),
    ]
]
PATHS = [
    row("einsum_path", "ij,jk,kl->il", X(2, 30), X(30, 4), X(4, 50), after=lambda r: r[0]),
    row("einsum_path", "ij,jk", A, B, after=lambda r: r[0], dtypes=("float64",)),
    row("einsum_path", "ij", A, after=lambda r: r[0], dtypes=("float64",)),
    row("einsum_path", A, [0, 1], B, [1, 2], after=lambda r: r[0], dtypes=("float64",)),
    row("einsum_path", "ij,jk,kl->il", X(2, 30), X(30, 4), X(4, 50), optimize="optimal",
        after=lambda r: r[0], dtypes=("float64",)),
]  # fmt: skip
CHAINS = [
    row("linalg.multi_dot", [A, B], grad=True),
    row("linalg.multi_dot", [A, B, C], dtypes=NUMERIC, grad=True),
    row("linalg.multi_dot", (X(2), A, B, C, X(2)), dtypes=INEXACT, grad=True),
    row("linalg.multi_dot", [X(10, 2), A, B, X(4, 20), X(20, 1)], dtypes=INEXACT, grad=True),
    row("linalg.multi_dot", [A, B, X(4)], dtypes=INEXACT, grad=True),
    *[row("linalg.multi_dot", chain, dtypes=("float64",), after=list)
      for chain in ([A, A], [A], [A, V, B])],
]  # fmt: skip
PAIRS = [
    row("tensordot", A, B, np.int64(1), dtypes=FEW),
    row("tensordot", A, B, axes=(1, 0), dtypes=FEW),
    row("tensordot", A, B, axes=np.array([[1], [0]]), dtypes=FEW, grad=True),
    row("tensordot", A, B, axes=0, dtypes=FEW),
    row("tensordot", X(2, 0), X(0, 3), axes=1, dtypes=FEW),
    *[row("tensordot", A, X(2, 3), axes=axes, dtypes=("float64",), after=list)
      for axes in (([0, 1], [0]), ([0, 0], [0, 0]), ([0], [1]), ([5], [0]), 3)],
    row("matmul", A, B, axes=[(0, 1), (0, 1), (1, 0)], dtypes=FEW, grad=True),
    row("matmul", A, B, keepdims=True, dtypes=("float64",), after=list),
    row("vecdot", A, A, keepdims=True, dtypes=INEXACT, grad=True),
    row("vecdot", A, X(3, 2), axes=[0, 1, ()], dtypes=INEXACT),
    row("matvec", D, X(4), axes=[(1, 2), 0, 1], dtypes=INEXACT),
    row("vecmat", X(2), A, axes=[0, (0, 1), 0], dtypes=INEXACT),
]  # fmt: skip
ROWS = [*PAIRS, *ONE, *TWO, *MANY, *INTERLEAVED, *KEYWORDS, *REFUSED, *PATHS, *CHAINS]
