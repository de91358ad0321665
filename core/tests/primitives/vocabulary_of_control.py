"""Loops and branches of the vocabulary, applied."""

from tenferro import primitives as p
from tenferro.computegraph import Fragment


def var(name, shape=(), dtype="f64"):
    return p.variable(name, shape, dtype)


def fragment(inputs, outputs):
    return Fragment.of([x.key for x in inputs], [y.key for y in outputs])


W, C, R = var("w"), var("c"), var("r")
STEP = fragment((W, C, R), (p.sin(W * C) + R, C * R))
BRANCHES = fragment((W, C), (W * C,)), fragment((W, C), (p.sin(C),))
GOES_ON = fragment((W, C), (p.lt(C, W),))
NEXT = fragment((W, C), (C + C,))


def tables():
    """Return tables of functions and their arguments: one result is enough to ask for all."""
    rows, index, mask = var("rows", (5,)), var("i", (), "i32"), var("m", (), "bool")
    return [
        {
            p.Scan: [
                (lambda w, c, r: p.scan(STEP, (w,), (c,), (r,), 5)[0], (W, C, rows)),
                (lambda w, c, r: p.scan(STEP, (w,), (c,), (r,), 5, reverse=True)[1], (W, C, rows)),
            ],
            p.Switch: [(lambda w, c: p.switch(BRANCHES, index, w, c)[0], (W, C))],
            p.Checkpoint: [(lambda w, c: p.checkpoint(BRANCHES[1], w, c)[0], (W, C))],
            p.Bound: [(lambda c: p.bound(c, mask, 3), (C,))],
            p.WhileLoop: [(lambda: p.while_loop(GOES_ON, NEXT, (W,), (C,))[0], ())],
        }
    ]
