"""Rows of ``tn.einsum``: traces, diagonals, hyper-edges, ellipsis, embeddings."""

import jax.numpy as jnp
import numpy as np
from jax_rows import Operand, Row


def row(subscripts, *shapes):
    """A row for one expression; the letters of a shape are sizes."""
    return Row(
        "einsum",
        tuple(Operand(shape) for shape in shapes),
        lambda *xs: np.einsum(subscripts, *xs),
        lambda *xs: jnp.einsum(subscripts, *xs),
        {"subscripts": subscripts},
    )


ROWS = [
    row("ij,jk->ik", "m n", "n k"),
    row("ij,jk", "m n", "n k"),
    row("ii->", "n n"),
    row("ii->i", "n n"),
    row("iji->j", "n m n"),
    row("...ij,...jk->...ik", "*b m n", "*b n k"),
    row("i...,i...->...", "n *b", "n *b"),
    row("ij,jk,kl->il", "m n", "n k", "k m"),
    row("ia,ib,ic->abc", "n m", "n k", "n m"),
    row("ij,ij,j->i", "m n", "m n", "n"),
    row("i,j->ji", "m", "n"),
    row("ijk->", "m n k"),
    row("abc,ad,db,c->", "m n k", "m k", "k n", "k"),
]
