"""Every way to take the derivative of a scalar function, as functions of functions."""

import tenferro as tn

MODES = {
    "grad": lambda f: tn.grad(f),
    "value_and_grad": lambda f: lambda x: tn.value_and_grad(f)(x)[1],
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f: lambda x: tn.vjp(f, x)[1](1.0)[0],
    "linearize": lambda f: lambda x: tn.linearize(f, x)[1](1.0),
    "transposed": lambda f: lambda x: tn.linearize(f, x)[1].transpose(1.0)[0],
}
JITTED = {
    "jit of grad": lambda f: tn.jit(tn.grad(f)),
    "grad of jit": lambda f: tn.grad(tn.jit(f)),
    "jit of jvp": lambda f: tn.jit(lambda x: tn.jvp(f, (x,), (1.0,))[1]),
    "jit of vjp of jit": lambda f: tn.jit(lambda x: tn.vjp(tn.jit(f), x)[1](1.0)[0]),
}
ALL = {**MODES, **JITTED}
CLASSICAL = ("grad", "jvp", "vjp", "linearize")
